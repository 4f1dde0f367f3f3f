from pathlib import Path

import pytest

from alerts.duration import Duration
from alerts.settings import SettingsError, load


@pytest.fixture
def user_file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "mine.yml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_defaults_are_those_that_operators_expect() -> None:
    settings = load()
    assert settings.cache.hit_rate.low == 0.5
    terms = settings.alerts["VLLMPrefixCacheHitRateLow"]
    assert (terms.pending, terms.severity) == (Duration("5m"), "warning")
    assert settings.memory.usage.high == 0.9
    terms = settings.alerts["VLLMGPUMemoryHigh"]
    assert (terms.pending, terms.severity) == (Duration("1m"), "critical")


def test_a_users_file_replaces_only_what_it_names(user_file) -> None:
    settings = load(
        user_file(
            "cache: {hit_rate: {low: 0.4}}\nalerts: {VLLMPrefixCacheHitRateLow: {for: 90s}}\n"
            "links: {grafana: http://g/}"
        )
    )
    assert settings.cache.hit_rate.low == 0.4
    assert settings.cache.hit_rate.good == 0.7
    terms = settings.alerts["VLLMPrefixCacheHitRateLow"]
    assert (terms.pending.seconds, terms.severity) == (90, "warning")
    assert settings.links.grafana == "http://g"
    assert settings.memory == load().memory


def test_whole_numbers_are_numbers_too(user_file) -> None:
    assert load(user_file("cache: {hit_rate: {good: 1}}")).cache.hit_rate.good == 1.0


def test_an_empty_file_changes_nothing(user_file) -> None:
    assert load(user_file("# nothing yet\n")) == load()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cahce: {}", "unknown key cahce; did you mean cache?"),
        (
            "cache: {hit_rate: {lo: 0.4}}",
            "unknown key cache.hit_rate.lo; did you mean low?",
        ),
        ("links: {x: http://x}", "unknown key links.x; known here: grafana, prometheus"),
        ("cache: 5m", "cache must hold keys (window, hit_rate, minimum_tokens, warm_up"),
        ("cache: {hit_rate: }", "cache.hit_rate must hold keys (good, low, broken), not None"),
        ("cache: {hit_rate: {low: half}}", "cache.hit_rate.low must be a number such as 0.5"),
        ("cache: {hit_rate: {low: true}}", "cache.hit_rate.low must be a number such as 0.5"),
        ("cache: {hit_rate: {low: 50}}", "0 < broken < low < good <= 1 (0.5 is 50 %)"),
        ("cache: {hit_rate: {low: .nan}}", "0 < broken < low < good <= 1"),
        ("cache: {hit_rate: {low: 0.2}}", "0 < broken < low < good <= 1"),
        ("memory: {usage: {high: 90}}", "0 < elevated < high < 1 (0.9 is 90 %)"),
        ("memory: {usage: {elevated: 0.95}}", "0 < elevated < high < 1"),
        ("cache: {window: 60}", "cache.window must be a duration such as 15s or 5m, not 60"),
        ("cache: {window: 1 minute}", "cache.window: '1 minute' is not a duration"),
        ("alerts: {VLLMStalled: {for: 0s}}", "alerts.VLLMStalled.for must be longer than 0s"),
        ("alerts: {VLLMGPUMemoryHigh: {for: 15s}}", "VLLMGPUMemoryHigh.for is 15s, but must be at"),
        (
            "alerts: {VLLMStaled: {for: 1m}}",
            "unknown key alerts.VLLMStaled; did you mean VLLMStalled?",
        ),
        ("cache: {window: 20s}", "cache.window is 20s, but must be at least twice"),
        ("alerts: {VLLMStalled: {severity: page}}", "must be one of critical, warning, info, none"),
        ("alerts: {VLLMStalled: {severity: [warning]}}", "must be one of critical, warning"),
        ("links: {grafana: localhost:3000}", "links.grafana must be a URL such as https://"),
        ("notification: {repeat_interval: 30s}", "must not be shorter than"),
        ("notification: {receivers: {kit: [warning]}}", "tells nobody of critical alerts"),
        ("notification: {receivers: {email: [critical]}}", "notification.email.to must be set"),
        ("notification: {receivers: {slack: yes}}", "receivers.slack must be a list"),
        ("notification: {receivers: {slak: []}}", "did you mean slack?"),
        ("notification: {receivers: {slack: [page]}}", "must be one of critical"),
        ("notification: {time_zone: Mars/North}", "notification.time_zone must be a name"),
        ("notification: {quiet: {from: 8pm}}", "notification.quiet.from must be a time"),
        ("notification: {quiet: {from: 2000}}", "notification.quiet.from must be a text"),
        ("alerts: {VLLMStalled: {severity: none}}", "must be one of critical, warning, info"),
        ("switched_off: [VLLMNone]", "switched_off names VLLMNone, which is no alert"),
        ("switched_off: VLLMStalled", "switched_off must be a list"),
        ("selectors: {servers: vllm}", "selectors.servers must be label matchers"),
        ("memory: {above_limit: 5}", "memory.above_limit is a share between 0 and 1"),
        ("service: {waiting_requests: 0}", "service.waiting_requests must be a number above 0"),
        ("monitoring: {remembered_for: 5m}", "must be longer than alerts.VLLMServerVanished.for"),
        ("- a", "the file must be a mapping of keys to values"),
        ("cache: [", "line 1: expected the node content"),
        ("alerts: x", "VLLMRequestsQueueing"),
        (
            "notification: {receivers: {email: [info]}, email: {to: a, from: b, smarthost: mail}}",
            "smarthost must be host:port",
        ),
        ("alerts: {x: 1}", "(25 in all)"),
        ("cache: {}\ncache: {}", "line 2: cache is there twice"),
        ("cache:\n  hit_rate: {low: 0.4, low: 0.3}", "line 2: low is there twice"),
        ("cache: &a {}\nmemory: *a", "line 2: aliases (*) are not read"),
        ("cache: " + "[" * 5000, "is nested too deeply"),
        ("a: " + "a" * 1024 * 1024, "has more than 1 MiB"),
        ("cache: {window: !!int ''}", "line 1: '' is no value"),
        ("cache: {window: !!bool x}", "line 1: 'x' is no value"),
        ("cache: {window: 2024-13-45}", "line 1: '2024-13-45' is no value"),
        ("memory: {growth_bytes: " + "9" * 5000 + "}", "is no value"),
        ("memory: {growth_bytes: 0x" + "f" * 5000 + "}", "so many digits"),
        ("memory: {growth_bytes: 1e400}", "must be a number such as 0.5, not '1e400'"),
        ("memory: {growth_bytes: .inf}", "line 1: memory.growth_bytes must be a number above 0"),
        ("memory:\n  above_limit: .nan", "line 2: memory.above_limit is a share"),
        ("5: x", "line 1: 5 must be text"),
        ("? a\n  b\n: x", "unknown key a b"),
        ("x" * 900 + ": 1", "unknown key xxxx"),
        ("cache: {window: '" + "9" * 5000 + "s'}", "longer than the 292 years"),
        ("cache: {window: 300y}", "cache.window: is longer than the 292 years"),
        ("cache:\n  window: " + "x" * 5000, "line 2: cache.window: 'xxx"),
        ("links:\n  grafana: 'http://['", "line 2: links.grafana must be a URL"),
        ("links: {grafana: 'http://x:y'}", "links.grafana must be a URL"),
        ("links: {grafana: 'http://x y'}", "links.grafana must be a URL"),
        ("selectors: {servers: 'a=\"x\n\n  y\"'}", "must be label matchers"),
        ("grafana: {folder: ''}", "line 1: grafana.folder is empty"),
        ("alerts: {VLLMStalled: {for: [" + "1, " * 900 + "1]}}", "must be a duration"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_with_the_file_and_the_key(
    user_file, text: str, message: str
) -> None:
    path = user_file(text)
    with pytest.raises(SettingsError) as caught:
        load(path)
    told = str(caught.value)
    assert message in told
    assert told.startswith(f"{path}: ")
    assert "\n" not in told
    assert len(told) < 600


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.yml: cannot be read \(No such file"):
        load(tmp_path / "none.yml")


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_bytes(b"cache: \xff")
    with pytest.raises(SettingsError, match="is no UTF-8 text"):
        load(path)


def test_a_line_is_told_only_of_what_is_in_the_file(user_file) -> None:
    with pytest.raises(SettingsError, match=r"mine\.yml: cache\.window is 5m, but must be"):
        load(user_file("intervals: {scrape: 4m}"))
