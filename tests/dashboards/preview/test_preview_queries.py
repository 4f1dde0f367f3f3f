"""What the page asks of Prometheus, and what it makes of answers; the answers are stand-ins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

Series = list[dict[str, object]]


class StandIn:
    """Answers the page's calls in Prometheus' place, and keeps the queries."""

    def __init__(self, servers: list[str], series: Series) -> None:
        self.servers = servers
        self.series = series
        self.ranges: list[dict[str, str]] = []

    def __call__(self, route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path.endswith("/label/job/values"):
            data: object = ["vllm"]
        elif path.endswith("/label/server/values"):
            data = self.servers
        elif path.endswith("/alerts"):
            data = {"alerts": []}
        else:
            form = parse_qs(route.request.post_data or "")
            if path.endswith("/query_range"):
                self.ranges.append({name: values[0] for name, values in form.items()})
            data = {"resultType": "matrix", "result": self.series}
        body = json.dumps({"status": "success", "data": data})
        route.fulfill(status=200, content_type="application/json", body=body)


@pytest.fixture
def address(serve: Callable[[str, Path], str], boards: Path) -> str:
    """URL of a preview whose Prometheus is never reached."""
    return serve("http://127.0.0.1:1", boards)


def _open(page: Page, url: str, stand_in: StandIn) -> None:
    page.route("**/api/v1/**", stand_in)
    page.goto(url)
    expect(page.locator("[data-panel]").first).to_be_attached()
    expect(page.locator("[data-state=loading]")).to_have_count(0)


def test_values_of_variables_are_quoted_for_regular_expressions_in_strings(
    page: Page, address: str
) -> None:
    stand_in = StandIn(["a.b(1)", 'c"d\\e'], [])
    _open(page, f"{address}/d/second?var-server=a.b(1)&var-server=c%22d%5Ce", stand_in)
    assert r'server=~"(a\\.b\\(1\\)|c\"d\\\\e)"' in stand_in.ranges[0]["query"]
    assert 'job=~".+"' in stand_in.ranges[0]["query"]


@pytest.mark.parametrize(
    ("start", "step", "rate"),
    [("now-1m", 1, "4s"), ("now-7d", 300, "5m1s")],
)
def test_steps_fit_the_width_and_rates_the_scrapes(
    page: Page, address: str, start: str, step: int, rate: str
) -> None:
    stand_in = StandIn(["a"], [])
    _open(page, f"{address}/d/second?from={start}&to=now", stand_in)
    asked = stand_in.ranges[0]
    assert float(asked["step"]) == step
    assert float(asked["start"]) % step == float(asked["end"]) % step == 0
    assert f"[{rate}]" in asked["query"]


def test_a_heatmap_shows_each_bucket_without_those_below_it(page: Page, address: str) -> None:
    counts = {"+Inf": 5, "0.5": 1, "1": 2}
    stand_in = StandIn(
        ["a"],
        [
            {"metric": {"le": bound}, "values": [[1700000000, str(count)]]}
            for bound, count in counts.items()
        ],
    )
    url = f"{address}/d/every-panel?from=1699999990000&to=1700000010000&viewPanel=9"
    _open(page, url, stand_in)
    panel = page.locator("[data-panel='9']")
    panel.locator("section").focus()
    panel.get_by_role("button", name=re.compile("[Mm]enu")).click()
    page.get_by_role("menuitem", name="Queries and values").click()
    rows = page.get_by_role("dialog").locator("tbody tr")
    expect(rows).to_have_text([re.compile(r"^0\.511$"), "111", re.compile(r"^\+Inf13$")])


def test_a_series_without_a_legend_is_named_by_what_tells_it_apart(
    page: Page, address: str
) -> None:
    points = [[1700000000, "1"], [1700000001, "NaN"]]
    stand_in = StandIn(["a"], [{"metric": {"server": "a"}, "values": points}])
    url = f"{address}/d/every-panel?from=1699999990000&to=1700000010000&viewPanel=31"
    _open(page, url, stand_in)
    expect(page.locator("[data-panel='31'] button", has_text=re.compile("^a$"))).to_be_visible()


def test_only_nan_is_no_data(page: Page, address: str) -> None:
    stand_in = StandIn(["a"], [{"metric": {}, "values": [[1700000000, "NaN"]]}])
    _open(page, f"{address}/d/second?from=1699999990000&to=1700000010000", stand_in)
    expect(page.locator("[data-panel='1']")).to_have_attribute("data-state", "empty")
