"""Values that flags take, and those that they refuse."""

from pathlib import Path

import click
import pytest

from exporter.parameters import URL, FilePath, NonEmpty, Number, Whole

LONG = f"http://{'a' * 64}.example"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Number(0.5, 10), "0.5", 0.5),
        (Number(0.5, 10), "1e1", 10.0),
        (Number(0, 1, above=True), "1e-9", 1e-9),
        (Whole(1, 10), "+10", 10),
        (Whole(0), "0", 0),
        (NonEmpty(), "模型", "模型"),
        (URL(), "http://x/", "http://x"),
        (URL(), "http://a.b.:8000", "http://a.b.:8000"),
        (URL(), "https://[::1]:8000/x", "https://[::1]:8000/x"),
        (FilePath(), "nowhere", Path("nowhere")),
    ],
)
def test_a_value(kind: click.ParamType, text: str, value: object) -> None:
    assert kind.convert(text, None, None) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((Number(0, 1), text) for text in ("nan", "inf", "-inf", "1e400", "", "x", "-1", "1.1")),
        (Number(0, 1, above=True), "0"),
        *((Whole(0, 9), text) for text in ("", "x", "1.0", "1e1", "-1", "10", "9" * 5000, "²")),
        *((NonEmpty(), text) for text in ("", " ", "a\nb")),
        *(
            (URL(), text)
            for text in (
                "",
                "x",
                "http://",
                "ftp://x",
                "http://[",
                "http://x:y",
                "http://a..b",
                LONG,
            )
        ),
        *((FilePath(), text) for text in ("", " ")),
        (FilePath(file=False), __file__),
        (FilePath(folder=False), "/"),
    ],
)
def test_what_is_none_is_refused_in_a_short_line(kind: click.ParamType, text: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        kind.convert(text, None, None)
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 150
