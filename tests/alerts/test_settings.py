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
    assert settings.cache.low_for == Duration("5m")
    assert settings.cache.low_severity == "warning"
    assert settings.memory.usage.high == 0.9
    assert settings.memory.high_for == Duration("1m")
    assert settings.memory.high_severity == "critical"


def test_a_users_file_replaces_only_what_it_names(user_file) -> None:
    settings = load(
        user_file("cache: {hit_rate: {low: 0.4}, low_for: 90s}\nlinks: {grafana: http://g/}")
    )
    assert settings.cache.hit_rate.low == 0.4
    assert settings.cache.hit_rate.good == 0.7
    assert settings.cache.low_for.seconds == 90
    assert settings.links.grafana == "http://g"
    assert settings.memory == load().memory


def test_whole_numbers_are_numbers_too(user_file) -> None:
    assert load(user_file("cache: {hit_rate: {good: 1}}")).cache.hit_rate.good == 1.0


def test_an_empty_file_changes_nothing(user_file) -> None:
    assert load(user_file("# nothing yet\n")) == load()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cahce: {}", "unknown key cahce; known here: intervals, cache, memory"),
        (
            "cache: {hit_rate: {lo: 0.4}}",
            "unknown key cache.hit_rate.lo; known here: good, low, broken",
        ),
        ("cache: 5m", "cache must hold keys (window, hit_rate, low_for, low_severity), not '5m'"),
        ("cache: {hit_rate: }", "cache.hit_rate must hold keys (good, low, broken), not None"),
        ("cache: {hit_rate: {low: half}}", "cache.hit_rate.low must be a number such as 0.5"),
        ("cache: {hit_rate: {low: true}}", "cache.hit_rate.low must be a number such as 0.5"),
        ("cache: {hit_rate: {low: 50}}", "0 < broken < low < good <= 1 (0.5 is 50 %)"),
        ("cache: {hit_rate: {low: .nan}}", "0 < broken < low < good <= 1"),
        ("cache: {hit_rate: {low: 0.2}}", "0 < broken < low < good <= 1"),
        ("memory: {usage: {high: 90}}", "0 < elevated < high < 1 (0.9 is 90 %)"),
        ("memory: {usage: {elevated: 0.95}}", "0 < elevated < high < 1"),
        ("memory: {high_for: 60}", "memory.high_for must be a duration such as 15s or 5m, not 60"),
        ("memory: {high_for: 1 minute}", "memory.high_for: '1 minute' is not a duration"),
        ("memory: {high_for: 0s}", "memory.high_for must be longer than 0s"),
        ("memory: {high_for: 15s}", "memory.high_for is 15s, but must be at least twice"),
        ("cache: {low_for: 29s}", "cache.low_for is 29s, but must be at least twice"),
        ("cache: {window: 20s}", "cache.window is 20s, but must be at least twice"),
        ("cache: {low_severity: page}", "must be one of critical, warning, info, not 'page'"),
        ("cache: {low_severity: [warning]}", "must be one of critical, warning, info"),
        ("links: {grafana: localhost:3000}", "links.grafana must be a URL such as https://"),
        ("notification: {repeat_interval: 30s}", "must not be shorter than"),
        ("- a", "must hold keys such as `cache:`, not a bare value"),
        ("cache: [", "is not YAML"),
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


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.yml: cannot be read: No such file"):
        load(tmp_path / "none.yml")
