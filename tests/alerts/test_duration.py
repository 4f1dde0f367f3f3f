import pytest

from alerts.duration import Duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("15s", 15), ("5m", 300), ("1h30m", 5400), ("250ms", 0.25), ("1d", 86400), ("0s", 0)],
)
def test_seconds(text: str, seconds: float) -> None:
    assert Duration(text).seconds == seconds


@pytest.mark.parametrize("text", ["", "5", "5 m", "1.5h", "30m1h", "5m5m", "-5m", "5M", "5m\n"])
def test_what_prometheus_does_not_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration; write it like 15s, 5m or 1h30m"):
        Duration(text)


def test_is_written_as_it_was_read() -> None:
    assert str(Duration("90s")) == "90s"
