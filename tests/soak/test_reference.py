"""The direct computation that a soak compares with, on figures worked out by hand."""

import pytest

from tests.soak.reference import Counters, Totals, window


def page(at, queries, hits, created=0.0):
    return Counters(at, queries, hits, created, 0.0)


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        # Known from its birth on: all of it is in the window.
        ([page(10, 100, 50, created=5)], Totals(100, 50)),
        # Born before the window and before the first page: nothing is known but what came after.
        ([page(100, 100, 50)], Totals(0, 0)),
        ([page(100, 100, 50), page(110, 300, 150)], Totals(200, 100)),
        # The window begins half-way between two pages.
        ([page(30, 0, 0), page(50, 100, 20), page(100, 200, 80)], Totals(150, 70)),
        # After a restart only the new process counts.
        ([page(70, 900, 800), page(100, 30, 10, created=90)], Totals(30, 10)),
        # And a birth before the window's start counts in part.
        ([page(20, 900, 800), page(100, 80, 40, created=20)], Totals(60, 30)),
    ],
)
def test_window_of_a_minute(pages, expected):
    assert window(pages, 60.0) == expected
