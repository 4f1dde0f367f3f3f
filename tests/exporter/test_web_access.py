import base64

import bcrypt
import pytest

from exporter.web_access import Logins, TokenBucket, parse_basic
from exporter.web_config import RateLimit

USERS = {name: bcrypt.hashpw(f"{name}'s".encode(), bcrypt.gensalt(4)) for name in ("a", "b")}


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("header", "credentials"),
    [
        (basic("a:b"), ("a", b"b")),
        (basic("a:b:c"), ("a", b"b:c")),
        (basic("a:"), ("a", b"")),
        (basic("ä:ö"), ("ä", "ö".encode())),
        (basic("a:b").replace("Basic", "bAsIc"), ("a", b"b")),
        (basic("a"), None),
        (basic("a:b\0c"), None),
        ("Basic !!!", None),
        ("Basic", None),
        ("Bearer abc", None),
        ("Basic " + base64.b64encode(b"\xff:x").decode(), None),
        ("", None),
    ],
)
def test_authorization_header(header, credentials):
    assert parse_basic(header) == credentials


@pytest.fixture
def hashed(monkeypatch):
    calls = []
    real = bcrypt.checkpw

    def counting(password, expected):
        calls.append(expected)
        return real(password, expected)

    monkeypatch.setattr(bcrypt, "checkpw", counting)
    return calls


def test_good_login_is_hashed_once(hashed):
    logins = Logins()
    assert not logins.remembers(USERS, "a", b"a's")
    assert logins.check(USERS, "a", b"a's")
    assert logins.remembers(USERS, "a", b"a's")
    assert len(hashed) == 1


def test_bad_login_is_not_remembered_and_says_nothing_of_the_name(hashed):
    logins = Logins()
    for name, password in (("a", b"wrong"), ("nobody", b"a's"), ("b", b"a's"), ("", b"")):
        assert not logins.check(USERS, name, password)
        assert not logins.remembers(USERS, name, password)
    assert len(hashed) == 4  # the same work for unknown names


def test_work_for_unknown_names_is_that_of_the_dearest_hash(hashed):
    dear = bcrypt.hashpw(b"x", bcrypt.gensalt(6))
    assert not Logins().check({**USERS, "dear": dear}, "nobody", b"x")
    assert hashed == [dear]


def test_changed_password_needs_a_new_login():
    logins = Logins()
    assert logins.check(USERS, "a", b"a's")
    changed = {"a": bcrypt.hashpw(b"new", bcrypt.gensalt(4))}
    assert not logins.remembers(changed, "a", b"a's")
    assert not logins.check(changed, "a", b"a's")
    assert not logins.remembers({}, "a", b"a's")


def test_passwords_are_not_kept():
    logins = Logins()
    logins.check(USERS, "a", b"a's")
    assert b"a's" not in repr(vars(logins)).encode()


def test_long_passwords_are_cut_as_bcrypt_does():
    users = {"a": bcrypt.hashpw(b"x" * 72, bcrypt.gensalt(4))}
    assert Logins().check(users, "a", b"x" * 80)


def test_memory_of_logins_is_bounded():
    logins = Logins()
    names = [f"user{n}" for n in range(200)]
    hashed = bcrypt.hashpw(b"x", bcrypt.gensalt(4))
    for name in names:
        assert logins.check({name: hashed}, name, b"x")
    assert len(logins._good) <= 128


def test_bucket_gives_a_burst_and_then_one_an_interval(clock):
    bucket = TokenBucket(clock.monotonic)
    limit = RateLimit(interval_seconds=2.0, burst=3)
    assert [bucket.take(limit) for _ in range(4)] == [True, True, True, False]
    clock.now += 2.0
    assert [bucket.take(limit) for _ in range(2)] == [True, False]
    clock.now += 100.0
    assert [bucket.take(limit) for _ in range(4)] == [True, True, True, False]
