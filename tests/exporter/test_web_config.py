"""The web configuration file: what it may say, and how it says what is wrong."""

import shutil
import ssl
from pathlib import Path

import pytest

from exporter import web_tls
from exporter.files import read_file
from exporter.web_config import RateLimit, WebConfigError, WebConfigFile, load

CERTIFICATES = Path(__file__).parent / "certificates"
HASH = "$2y$04$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze"


@pytest.fixture
def folder(tmp_path):
    for source in CERTIFICATES.glob("*.*"):
        shutil.copy(source, tmp_path)
    return tmp_path


def write(folder, text):
    path = folder / "web.yml"
    path.write_text(text)
    return path


TLS = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"


def test_empty_file_is_plain_http_for_everyone(folder):
    config = load(write(folder, ""))
    assert (config.tls, config.users, config.headers, config.rate_limit) == (None, {}, (), None)


def test_everything_the_format_has(folder):
    config = load(
        write(
            folder,
            TLS
            + """\
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.pem
  client_allowed_sans: [prometheus.test]
  min_version: TLS12
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: false
  curve_preferences: [CurveP256]
http_server_config:
  http2: false
  headers:
    Content-Security-Policy: "default-src 'none'"
    X-Frame-Options: deny
    X-Content-Type-Options: nosniff
    X-XSS-Protection: ""
    Strict-Transport-Security: max-age=31536000
basic_auth_users:
  alice: """
            + HASH
            + "\nrate_limit:\n  interval: 1s\n  burst: 20\n",
        )
    )
    assert config.tls.verify_mode is ssl.CERT_REQUIRED
    assert config.tls.minimum_version is ssl.TLSVersion.TLSv1_2
    offered = {cipher["name"] for cipher in config.tls.get_ciphers()}
    assert {name for name in offered if not name.startswith("TLS_")} == {
        "ECDHE-ECDSA-AES128-GCM-SHA256"
    }
    assert not config.tls.options & ssl.OP_CIPHER_SERVER_PREFERENCE
    assert config.allowed_sans == {"prometheus.test"}
    assert dict(config.headers)["X-Frame-Options"] == "deny"
    assert "X-XSS-Protection" not in dict(config.headers)
    assert config.users == {"alice": HASH.encode()}
    assert config.rate_limit == RateLimit(1.0, 20)


def test_certificate_and_key_may_stand_in_the_file(folder):
    def block(name):
        return "".join(f"    {line}\n" for line in (folder / name).read_text().splitlines())

    config = load(
        write(
            folder,
            f"tls_server_config:\n  cert: |\n{block('server.pem')}  key: |\n{block('server.key')}"
            f"  client_auth_type: VerifyClientCertIfGiven\n  client_ca: |\n{block('ca.pem')}",
        )
    )
    assert config.tls.verify_mode is ssl.CERT_OPTIONAL
    assert not list(filter(_is_memory, Path("/proc/self/fd").iterdir()))


def _is_memory(descriptor):
    try:
        return "memfd:pem" in str(descriptor.readlink())
    except OSError:
        return False


def test_default_is_tls_12_or_newer(folder):
    config = load(write(folder, TLS))
    assert config.tls.minimum_version is ssl.TLSVersion.TLSv1_2
    assert config.tls.maximum_version is ssl.TLSVersion.TLSv1_3
    assert config.tls.verify_mode is ssl.CERT_NONE


@pytest.mark.parametrize("interval", ["0", "0s"])
def test_interval_of_zero_is_no_limit(folder, interval):
    limit = load(write(folder, f"rate_limit: {{interval: {interval}, burst: 1}}")).rate_limit
    assert limit is None


WRONG = [
    ("tls_server_confg: {}", "line 1", "tls_server_confg is not known"),
    ("\n\nhttp_server_config: {headers: {Server: x}}", "line 3", "headers.Server is not known"),
    ("- a", "line 1", "must be a mapping"),
    ("a: b: c", "line 1", "mapping values"),
    ("\x00", "web.yml", ""),
    ("a: &x 1\nbasic_auth_users: *x", "line 2", "aliases"),
    ("rate_limit: {}\nrate_limit: {}", "line 2", "rate_limit is there twice"),
    ("? [a]\n: b", "line 1", "plain text"),
    ("1: x", "line 1", "1 must be text"),
    ("tls_server_config: {cert_file: server.pem}", "line 1", "key_file is missing"),
    ("tls_server_config:\n  key_file: server.key", "line 1", "cert_file is missing"),
    (TLS.replace("server.pem", "none.pem"), "line 2", "cert_file"),
    (TLS.replace("server.key", "none.key"), "line 3", "key_file"),
    (TLS.replace("server.key", "client.key"), "line 2", "not that of the certificate"),
    (TLS.replace("server.pem", "README.md"), "line 2", "no usable PEM"),
    (TLS.replace("server.key", "locked.key"), "line 2", "passphrase"),
    (TLS + "  cert: x", "line 4", "cert and cert_file are both there"),
    (TLS + "  min_version: TLS9", "line 4", "must be one of TLS10"),
    (TLS + "  min_version: 1.2", "line 4", "must be text"),
    (TLS + "  min_version: TLS13\n  max_version: TLS12", "line 4", "above max_version"),
    (TLS + "  cipher_suites: [X]", "line 4", "'X' is no cipher suite"),
    (TLS + "  cipher_suites: X", "line 4", "must be a list"),
    (TLS + "  curve_preferences: [X]", "line 4", "must be one of CurveP256"),
    (TLS + "  curve_preferences: [X25519, CurveP256]", "line 4", "one entry"),
    (TLS + "  prefer_server_cipher_suites: maybe", "line 4", "true or false"),
    (TLS + "  client_auth_type: RequireAnyClientCert", "line 4", "NoClientCert, Verify"),
    (TLS + "  client_ca_file: ca.pem", "line 4", "needs a client_auth_type"),
    (TLS + "  client_auth_type: RequireAndVerifyClientCert", "line 1", "client_ca_file is missing"),
    (
        TLS + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: README.md",
        "line 5",
        "no usable PEM",
    ),
    (TLS + "  client_allowed_sans: [a]", "line 4", "needs client_auth_type"),
    ("http_server_config: {http2: 2}", "line 1", "http2 must be true or false"),
    ("http_server_config: {headers: {X-Frame-Options: x}}", "line 1", "deny or sameorigin"),
    (
        'http_server_config:\n  headers:\n    Content-Security-Policy: "a\\r\\nSet-Cookie: b"',
        "line 3",
        "one line",
    ),
    ("basic_auth_users:\n  bob: hunter2", "line 2", "basic_auth_users.bob is no bcrypt hash"),
    ("basic_auth_users: {bob: 5}", "line 1", "no bcrypt hash"),
    ("basic_auth_users: {bob: }", "line 1", "no bcrypt hash"),
    ("basic_auth_users: bob", "line 1", "must be a mapping"),
    ('basic_auth_users: {"a:b": ' + HASH + "}", "line 1", "a:b can never log in"),
    ("rate_limit: {burst: 5}", "line 1", "rate_limit.interval is missing"),
    ("rate_limit: {interval: soon}", "line 1", "rate_limit.interval"),
    ("rate_limit: {interval: 1s, burst: 0}", "line 1", "rate_limit.burst"),
    ("rate_limit: {interval: 1s, burst: true}", "line 1", "rate_limit.burst"),
    ("[" * 5000, "web.yml", "nested too deeply"),
]


@pytest.mark.parametrize(("text", "where", "says"), WRONG, ids=[says for _, _, says in WRONG])
def test_wrong_file_is_one_line_with_line_and_key(folder, text, where, says):
    with pytest.raises(WebConfigError) as raised:
        load(write(folder, text))
    message = str(raised.value)
    assert "\n" not in message
    assert "web.yml" in message
    assert where in message
    assert says in message
    assert "hunter2" not in message


def test_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(WebConfigError, match=r"none\.yml: cannot be read"):
        load(tmp_path / "none.yml")
    (tmp_path / "long.yml").write_text("#" * (1024 * 1024 + 1))
    with pytest.raises(WebConfigError, match="more than 1 MiB"):
        load(tmp_path / "long.yml")
    (tmp_path / "latin.yml").write_bytes(b"a: \xe4")
    with pytest.raises(WebConfigError, match="UTF-8"):
        load(tmp_path / "latin.yml")


def test_changed_file_comes_into_force(folder, log_lines):
    path = write(folder, f"basic_auth_users: {{a: {HASH}}}")
    file = WebConfigFile(path)
    assert not file.refresh()
    write(folder, f"basic_auth_users: {{a: {HASH}, b: {HASH}}}")
    assert file.refresh()
    assert set(file.current.users) == {"a", "b"}
    assert not file.refresh()
    assert [line["event"] for line in log_lines] == ["web configuration read again"]


def test_bad_new_file_is_refused_in_one_line_and_the_old_kept(folder, log_lines):
    file = WebConfigFile(write(folder, f"basic_auth_users: {{a: {HASH}}}"))
    write(folder, "basic_auth_users: {a: hunter2}")
    for _ in range(10):
        assert not file.refresh()
    assert set(file.current.users) == {"a"}
    [line] = log_lines
    assert line["log_level"] == "error"
    assert "basic_auth_users.a" in line["reason"]
    write(folder, f"basic_auth_users: {{b: {HASH}}}")
    assert file.refresh()
    assert set(file.current.users) == {"b"}


@pytest.mark.parametrize("text", ["", "# written anew", "basic_auth_users: {}"])
def test_emptied_file_does_not_open_the_pages(folder, log_lines, text):
    file = WebConfigFile(write(folder, f"basic_auth_users: {{a: {HASH}}}"))
    write(folder, text)
    for _ in range(10):
        assert not file.refresh()
    assert set(file.current.users) == {"a"}
    [line] = log_lines
    assert "web.yml: is empty: restart" in line["reason"]


def test_file_that_is_gone_leaves_the_old_in_force(folder, log_lines):
    path = write(folder, f"basic_auth_users: {{a: {HASH}}}")
    file = WebConfigFile(path)
    path.unlink()
    for _ in range(10):
        assert not file.refresh()
    assert file.current.users
    assert len(log_lines) == 1


def test_changed_certificate_comes_into_force(folder):
    file = WebConfigFile(write(folder, TLS))
    before = file.current.tls
    shutil.copy(folder / "server-new.pem", folder / "server.pem")
    assert not file.refresh()  # the key does not fit yet
    assert file.current.tls is before
    shutil.copy(folder / "server-new.key", folder / "server.key")
    assert file.refresh()
    assert file.current.tls is not before


@pytest.mark.parametrize("late", ["server-new.pem", "server-new.key", "ca.pem"])
def test_certificate_that_comes_after_the_file_that_names_it(folder, late, log_lines):
    file = WebConfigFile(write(folder, TLS))
    (folder / late).rename(folder / "elsewhere")
    write(
        folder,
        TLS.replace("server.", "server-new.")
        + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n",
    )
    for _ in range(10):
        assert not file.refresh()
    [line] = log_lines
    assert f"{late} cannot be read" in line["reason"]
    (folder / "elsewhere").rename(folder / late)
    assert file.refresh()
    assert file.current.tls.verify_mode is ssl.CERT_REQUIRED
    assert not file.refresh()
    assert [line["event"] for line in log_lines][1:] == ["web configuration read again"]


def test_certificate_that_may_be_read_later(folder, monkeypatch, log_lines):
    """Permissions leave a file's time and size as they were."""
    file = WebConfigFile(write(folder, TLS))
    key = folder / "server-new.key"
    key.chmod(0)
    shutil.copy(folder / "server-new.pem", folder / "server.pem")
    write(folder, TLS.replace("server.key", "server-new.key"))

    def opened(path, max_mib=1):
        if not path.stat().st_mode & 0o400:  # root may read it all the same
            raise PermissionError(13, "Permission denied")
        return read_file(path, max_mib)

    monkeypatch.setattr(web_tls, "read_file", opened)
    for _ in range(10):
        assert not file.refresh()
    [line] = log_lines
    assert "Permission denied" in line["reason"]
    key.chmod(0o400)
    assert file.refresh()


def test_name_that_no_file_can_have_is_refused_once(folder, log_lines):
    file = WebConfigFile(write(folder, TLS))
    write(folder, TLS.replace("server.pem", '"a\\0b"'))
    for _ in range(10):
        assert not file.refresh()
    [line] = log_lines
    assert "cannot hold a NUL" in line["reason"]


def test_certificates_behind_a_link_that_is_turned_are_noticed(folder):
    for version, name in (("v1", "server"), ("v2", "server-new")):
        (folder / version).mkdir()
        shutil.copy(folder / f"{name}.pem", folder / version / "tls.crt")
        shutil.copy(folder / f"{name}.key", folder / version / "tls.key")
    (folder / "now").symlink_to("v1")
    file = WebConfigFile(
        write(folder, "tls_server_config: {cert_file: now/tls.crt, key_file: now/tls.key}")
    )
    (folder / "next").symlink_to("v2")
    (folder / "next").rename(folder / "now")
    assert file.refresh()


@pytest.mark.parametrize(("before", "after"), [(TLS, ""), ("", TLS)])
def test_tls_does_not_come_or_go_in_mid_run(folder, before, after, log_lines):
    file = WebConfigFile(write(folder, before))
    write(folder, after)
    assert not file.refresh()
    assert "restart" in log_lines[0]["reason"]
