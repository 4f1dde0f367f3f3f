"""The preview as a reader uses it: Chromium before a real Prometheus."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboards.preview import boards as board_files

GENERATED = Path(board_files.__file__).parents[1] / "generated"
TEST_BOARD = "/d/every-panel?from=now-1m&to=now"
DRAWN = {
    "timeseries": "canvas",
    "stat": "text=67.",
    "gauge": "svg[role=img]",
    "bargauge": "text=alpha:8000",
    "piechart": "svg path",
    "barchart": 'svg text:has-text("leng")',
    "table": "role=gridcell",
    "heatmap": "canvas[role=img]",
    "state-timeline": "text=good",
    "status-history": "text=up",
    "text": "text=0.95",
    "alertlist": "text=ServerIsAlpha",
}


def _open(page: Page, url: str) -> None:
    page.goto(url)
    _settled(page)


def _settled(page: Page) -> None:
    """Wait until every panel has answered."""
    expect(page.locator("[data-panel]").first).to_be_attached()
    expect(page.locator("[data-state=loading]")).to_have_count(0)


def _panel(page: Page, title: str) -> Locator:
    return page.locator(f'[data-title="{title}"]')


def _query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)


def _legend(page: Page, title: str) -> Locator:
    return _panel(page, title).locator("button", has_text=re.compile(r"^(alpha|beta):8000$"))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_every_panel_type_is_drawn(page: Page, preview: str, theme: str) -> None:
    page.set_viewport_size({"width": 1400, "height": 2400})
    _open(page, f"{preview}{TEST_BOARD}&theme={theme}")
    assert page.locator("[data-panel]:not([data-state=done])").count() == 0
    for kind, content in DRAWN.items():
        panel = page.locator(f"[data-type={kind}]").first
        expect(panel.locator(content).first, kind).to_be_visible()


def test_every_board_of_the_kit_is_drawn_without_an_error(
    page: Page, serve: Callable[[str, Path], str], prometheus: str
) -> None:
    address = serve(prometheus, GENERATED)
    known = board_files.read(GENERATED)
    assert known
    for board in known:
        _open(page, f"{address}/d/{board.uid}?from=now-1m&to=now")
        expect(page.get_by_role("heading", level=1)).to_have_text(board.title)
        for row in page.locator(".row-title[aria-expanded=false]").all():
            row.click()
        _settled(page)
        for panel in page.locator("[data-panel]").all():
            assert panel.get_attribute("data-state") in ("done", "empty"), panel.inner_text()
        expect(page.locator("[data-panel-error], .variable-error")).to_have_count(0)


def test_no_title_of_the_kit_is_cut(
    page: Page, serve: Callable[[str, Path], str], prometheus: str
) -> None:
    address = serve(prometheus, GENERATED)
    cut = "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
    for board in board_files.read(GENERATED):
        _open(page, f"{address}/d/{board.uid}?from=now-1m&to=now")
        panels = [one for one in board.model["panels"] if one["type"] != "row"]
        titles = page.locator("[data-panel] h2")
        expect(titles).to_have_count(len(panels))
        for width in (1920, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            assert titles.evaluate_all(cut) == [], (board.uid, width)


def test_all_boards_are_listed_and_opened(page: Page, preview: str) -> None:
    page.goto(preview)
    links = page.locator(".board-list a")
    expect(links).to_have_text([re.compile("Every panel type"), re.compile("Second board")])
    links.last.click()
    _settled(page)
    assert urlsplit(page.url).path == "/d/second"
    expect(page).to_have_title("Second board (preview)")


def test_a_variable_in_the_address_decides_what_is_asked(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}&var-server=beta:8000")
    expect(_legend(page, "Hit rate")).to_have_text(["beta:8000"])
    expect(page.locator("[data-variable=server]")).to_contain_text("beta:8000")


def test_choosing_a_value_changes_panels_repeats_and_address(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    expect(page.locator(".row-title")).to_have_text(
        ["Server alpha:8000", "Server beta:8000", re.compile("Folded away")]
    )
    page.get_by_role("combobox", name="Server").click()
    page.get_by_role("option", name="alpha:8000").click()
    page.keyboard.press("Escape")
    expect(_legend(page, "Hit rate")).to_have_text(["alpha:8000"])
    expect(page.locator(".row-title")).to_have_text(
        ["Server alpha:8000", re.compile("Folded away")]
    )
    assert _query(page)["var-server"] == ["alpha:8000"]
    page.go_back()
    expect(_legend(page, "Hit rate")).to_have_text(["alpha:8000", "beta:8000"])


def test_several_values_and_all(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}&var-server=alpha:8000&var-server=beta:8000")
    expect(_legend(page, "Hit rate")).to_have_text(["alpha:8000", "beta:8000"])
    page.get_by_role("combobox", name="Server").click()
    page.get_by_role("option", name="All").click()
    page.keyboard.press("Escape")
    expect(page.locator("[data-variable=server]")).to_contain_text("All")
    assert _query(page)["var-server"] == ["$__all"]


def test_custom_and_text_variables(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    page.get_by_role("combobox", name="Quantile").click()
    page.get_by_role("option", name="Median").click()
    expect(page.locator("[data-title='Quantile Median of alpha:8000']")).to_be_attached()
    assert _query(page)["var-quantile"] == ["0.5"]
    page.get_by_label("Factor", exact=True).fill("0")
    page.keyboard.press("Tab")
    expect(
        _panel(page, "Prompt tokens per second").get_by_role("cell", name="0", exact=True).first
    ).to_be_visible()
    assert _query(page)["var-factor"] == ["0"]


def test_a_value_that_does_not_exist_is_told(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}&var-server=gamma:8000")
    expect(page.locator(".variable-error")).to_have_text("no such value: gamma:8000")


def test_the_time_range_is_chosen_and_kept_in_the_address(page: Page, preview: str) -> None:
    _open(page, f"{preview}/d/every-panel")
    button = page.get_by_role("button", name=re.compile("Time range selected: Last 15 minutes"))
    button.click()
    for words in ("15 minutes", "1 hour", "24 hours", "7 days"):
        expect(page.get_by_text(f"Last {words}", exact=True).last).to_be_visible()
    page.get_by_text("Last 7 days", exact=True).click()
    _settled(page)
    assert _query(page)["from"] == ["now-7d"]
    assert _query(page)["to"] == ["now"]


def test_an_absolute_time_range_moves_by_half(page: Page, preview: str) -> None:
    _open(page, f"{preview}/d/every-panel?from=1700000000000&to=1700003600000")
    page.get_by_role("button", name="Move time range backwards").click()
    _settled(page)
    assert (_query(page)["from"], _query(page)["to"]) == (["1699998200000"], ["1700001800000"])


def test_a_refresh_interval_asks_again(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    page.get_by_role("button", name=re.compile("Choose refresh time interval")).click()
    page.get_by_role("menuitemradio", name="5 seconds", exact=True).click()
    assert _query(page)["refresh"] == ["5s"]
    grid = page.locator("[data-grid]")
    before = int(grid.get_attribute("data-cycle") or 0)
    expect(grid).to_have_attribute("data-cycle", str(before + 1), timeout=10_000)


def test_links_between_boards_keep_time_and_variables(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}&var-server=beta:8000")
    page.locator("[data-link=second]").click()
    expect(page).to_have_title("Second board (preview)")
    _settled(page)
    query = _query(page)
    assert (query["from"], query["to"], query["var-server"]) == (["now-1m"], ["now"], ["beta:8000"])
    expect(_legend(page, "Output tokens per second")).to_have_text(["beta:8000"])


def test_a_table_row_links_to_the_next_board(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    table = _panel(page, "Servers")
    table.scroll_into_view_if_needed()
    table.get_by_role("link", name="beta:8000").click()
    expect(page).to_have_title("Second board (preview)")
    assert _query(page)["var-server"] == ["beta:8000"]
    assert _query(page)["from"] == ["now-1m"]


def test_collapsed_rows_open(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    expect(_panel(page, "Hidden until opened")).to_have_count(0)
    page.get_by_role("button", name=re.compile("Folded away")).click()
    expect(_panel(page, "Hidden until opened")).to_have_attribute("data-state", "done")
    expect(page.locator("[data-title^='Copies by']")).to_have_count(2)


def test_an_alert_opens_the_panel_that_it_names(page: Page, preview: str) -> None:
    _open(page, f"{preview}/d/second")
    bar = page.get_by_role("status", name="Firing alerts")
    expect(bar).to_contain_text("ServerIsAlpha")
    expect(bar).to_contain_text("Fires as long as the test runs.")
    # The alert that always fires asks nobody to act.
    expect(bar.get_by_role("listitem")).to_have_count(1)
    expect(bar.get_by_role("link", name="runbook")).to_have_attribute(
        "href", "http://elsewhere.test/runbook"
    )
    bar.get_by_role("link", name="panel").click()
    expect(page.locator("[data-panel]")).to_have_count(1)
    expect(_panel(page, "Hit rate")).to_have_attribute("data-state", "done")
    assert (_query(page)["viewPanel"], _query(page)["var-server"]) == (["2"], ["alpha:8000"])
    page.get_by_role("button", name="Back to the dashboard").click()
    expect(_panel(page, "Prompt tokens per second")).to_be_visible()


def test_one_panel_of_a_folded_row_is_found(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}&viewPanel=panel-31")
    expect(page.locator("[data-panel]")).to_have_count(1)
    expect(_panel(page, "Hidden until opened")).to_have_attribute("data-state", "done")


def test_annotations_are_counted_listed_and_switched_off(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    control = page.locator("[data-annotation=Firing]")
    expect(control).to_contain_text("Firing (1)")
    control.get_by_role("button", name="List: Firing").click()
    expect(page.get_by_text(re.compile("ServerIsAlpha alpha:8000"))).to_be_visible()
    page.keyboard.press("Escape")
    control.locator("label").last.click()
    expect(control).not_to_contain_text("Firing (1)")


def test_a_mark_whose_value_is_its_time_is_one_moment(page: Page, preview: str) -> None:
    _open(page, f"{preview}/d/every-panel?from=now-1h&to=now")
    control = page.locator("[data-annotation='First scrape']")
    expect(control).to_contain_text("First scrape (1)")
    control.get_by_role("button", name="List: First scrape").click()
    listed = page.get_by_role("listitem").filter(has_text="alpha:8000 began")
    moment = r"[\d-]+ [\d:]+"
    expect(listed).to_have_text(re.compile(f"^{moment} alpha:8000 began to be read$"))
    page.goto(f"{preview}/d/every-panel?from=now-2h&to=now-1h")
    expect(control).to_contain_text("First scrape (0)")


def test_pointing_at_a_line_tells_its_value(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    box = _panel(page, "Prompt tokens per second").locator(".u-over").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.5)
    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] * 0.5)
    expect(page.locator("#grafana-portal-container")).to_contain_text("beta:8000")


def _gapped(color: str, level: int) -> dict[str, object]:
    """A query for a level line that is missing half of the time, and its colour."""
    line = f'label_replace(vector({level}), "line", "{color}", "", "")'
    missing = "on () (vector(time() % 20) < 10)"
    return {"refId": color, "expr": f"{line} unless {missing}", "legendFormat": color}


def test_no_line_is_drawn_where_there_was_no_value(
    page: Page, serve: Callable[[str, Path], str], prometheus: str, tmp_path: Path
) -> None:
    source = {"type": "prometheus", "uid": "Prometheus"}
    colors = {"#ff0000": 1, "#0000ff": 2}
    overrides = [
        {
            "matcher": {"id": "byName", "options": color},
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": color}}],
        }
        for color in colors
    ]
    custom = {"lineWidth": 2, "fillOpacity": 0, "showPoints": "never", "spanNulls": False}
    panel = {
        "id": 1,
        "type": "timeseries",
        "title": "Gaps",
        "gridPos": {"x": 0, "y": 0, "w": 24, "h": 8},
        "datasource": source,
        "targets": [
            _gapped(color, level) | {"datasource": source} for color, level in colors.items()
        ],
        "fieldConfig": {"defaults": {"custom": custom, "min": 0, "max": 3}, "overrides": overrides},
        "options": {"legend": {"showLegend": False}, "tooltip": {"mode": "none"}},
    }
    board = {"uid": "gaps", "title": "Gaps", "schemaVersion": 41, "panels": [panel]}
    (tmp_path / "gaps.json").write_text(json.dumps(board), encoding="utf-8")
    _open(page, f"{serve(prometheus, tmp_path)}/d/gaps?from=now-2m&to=now")
    canvas = _panel(page, "Gaps").locator("canvas")
    expect(canvas).to_be_visible()
    # Columns of the canvas in which a pixel of the line's own colour stands, of all columns.
    red, blue = canvas.evaluate("""canvas => {
        const { width, height } = canvas;
        const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
        const columns = [new Set(), new Set()];
        for (let i = 0; i < pixels.length; i += 4) {
            const [r, g, b] = [pixels[i], pixels[i + 1], pixels[i + 2]];
            if (r > 200 && g < 50 && b < 50) columns[0].add((i / 4) % width);
            if (b > 200 && g < 50 && r < 50) columns[1].add((i / 4) % width);
        }
        return columns.map(found => found.size / width);
    }""")
    assert 0.3 < red < 0.6
    assert 0.3 < blue < 0.6


def test_the_keyboard_reaches_what_a_panel_means_and_says(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the dashboard")).to_be_focused()
    about = page.get_by_role("button", name="What it means: Hit rate", exact=True)
    about.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("what it means and what to do.")).to_be_visible()
    page.keyboard.press("Escape")
    # The menu's button shows once the panel has the focus.
    _panel(page, "Hit rate").locator("section").focus()
    _panel(page, "Hit rate").get_by_role("button", name=re.compile("[Mm]enu")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="View alone")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Queries and values")).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text('rate(vllm:prefix_cache_hits_total{job=~"')
    expect(dialog.get_by_role("row", name=re.compile(r"alpha:8000 \d+ 67\.\d%"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_the_keyboard_opens_rows_and_chooses_values(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}")
    row = page.get_by_role("button", name=re.compile("Folded away"))
    row.focus()
    page.keyboard.press("Space")
    expect(row).to_have_attribute("aria-expanded", "true")
    page.get_by_role("combobox", name="Server").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.type("beta")
    page.keyboard.press("Enter")
    expect(_legend(page, "Hit rate")).to_have_text(["beta:8000"])


def test_a_narrow_screen_has_one_column_and_no_sideways_scrolling(page: Page, preview: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    _open(page, f"{preview}{TEST_BOARD}")
    boxes = [panel.bounding_box() for panel in page.locator("[data-panel]").all()]
    lefts = {round(box["x"]) for box in boxes if box}
    assert len(lefts) == 1
    assert all(box and box["width"] > 340 for box in boxes)
    assert page.locator("html").evaluate("e => e.scrollWidth <= e.clientWidth")
    page.get_by_role("combobox", name="Server").click()
    expect(page.get_by_role("option", name="alpha:8000")).to_be_in_viewport()


def test_the_theme_is_chosen_and_remembered(page: Page, preview: str) -> None:
    _open(page, f"{preview}/d/second")
    dark = page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    page.get_by_role("button", name="Change to the light theme").click()
    expect(page.locator("html")).to_have_css("color-scheme", "light")
    page.reload()
    _settled(page)
    expect(page.locator("html")).to_have_css("color-scheme", "light")
    assert page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor") != dark


def test_it_calls_itself_a_preview_and_lists_its_limits(page: Page, preview: str) -> None:
    page.goto(preview)
    expect(page.get_by_role("banner")).to_contain_text("preview")
    page.get_by_role("button", name="About").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_count(6)
    expect(dialog.get_by_role("link", name="Licences")).to_have_attribute("href", "/licences.txt")


def test_a_kiosk_shows_panels_and_alerts_only(page: Page, preview: str) -> None:
    _open(page, f"{preview}{TEST_BOARD}&kiosk")
    expect(page.get_by_role("banner")).to_have_count(0)
    expect(page.get_by_role("combobox")).to_have_count(0)
    expect(page.get_by_role("status", name="Firing alerts")).to_be_visible()


def test_faults_of_a_board_stay_in_their_panels(
    page: Page, serve: Callable[[str, Path], str], prometheus: str, boards: Path
) -> None:
    _open(page, f"{serve(prometheus, boards / 'faults')}/d/faults")
    broken = _panel(page, "A query that does not parse")
    expect(broken).to_have_attribute("data-state", "error")
    expect(broken.get_by_role("alert")).to_contain_text("parse error")
    expect(_panel(page, "A metric that nobody emits")).to_have_attribute("data-state", "empty")
    expect(_panel(page, "A metric that nobody emits")).to_contain_text("Not reported")
    expect(_panel(page, "A map")).to_contain_text("are not drawn by this preview")


def test_a_prometheus_that_is_down_is_told_in_the_page(
    page: Page, serve: Callable[[str, Path], str], boards: Path
) -> None:
    _open(page, f"{serve('http://127.0.0.1:1', boards)}/d/second")
    reason = "Prometheus at http://127.0.0.1:1 cannot be reached"
    expect(page.get_by_role("status", name="Firing alerts")).to_contain_text(reason)
    panel = _panel(page, "Output tokens per second")
    expect(panel).to_have_attribute("data-state", "error")
    expect(panel.get_by_role("alert")).to_contain_text(reason)


def test_a_board_that_does_not_exist_is_told(page: Page, preview: str) -> None:
    page.goto(f"{preview}/d/nowhere")
    expect(page.get_by_role("main")).to_contain_text("there is no dashboard with the uid nowhere")
    page.get_by_role("link", name="All dashboards").click()
    expect(page.locator(".board-list a")).to_have_count(2)
