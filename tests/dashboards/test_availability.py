"""Every metric and label that a board names exists, in every release that it is named for."""

import dataclasses
from pathlib import Path

import pytest

from dashboards import metrics
from dashboards.checks import availability, contents, pages, promql
from dashboards.metrics import Renamed
from exporter.catalogue import EXPORTED

NAMES = Path(__file__).with_name("recorded-names")


def _asked(built) -> set[str]:
    return {
        str(selector.name)
        for board in built
        for one in contents.queries(board)
        for selector in promql.selectors(one.text)
    }


def test_everything_that_is_named_exists(built, recorded) -> None:
    assert availability.findings(built, recorded) == []


def test_pages_of_all_programs_are_recorded(recorded) -> None:
    kinds = {page.kind for page in recorded}
    assert kinds == {"server", "prometheus", "alertmanager"}
    releases = {page.release for page in recorded if page.kind == "server"}
    assert releases >= {(0, 25, 1), (0, 30, 0), (0, 32, 0)}


def test_without_one_metric_of_one_page_a_finding_names_it(built, recorded) -> None:
    """Each metric that a board queries is taken from each page on which it is, one at a time."""
    of, asked = availability.known(), _asked(built)
    tried = 0
    for index, page in enumerate(recorded):
        for name in sorted(asked & page.labels.keys()):
            if of[name].condition or of[name].page != page.kind:
                continue
            labels = {key: value for key, value in page.labels.items() if key != name}
            spoilt = dataclasses.replace(page, labels=labels)
            found = list(availability.of_page(of[name], spoilt, "a panel"))
            assert found == [f"{name}: not on {page.name}, but queried by a panel"]
            tried += 1
            if index == 0 and tried == 1:
                all_pages = [spoilt, *recorded[1:]]
                assert any(
                    one.startswith(f"{name}: not on {page.name}, but queried by vllm-")
                    for one in availability.findings(built, all_pages)
                )
    assert tried > 200


def test_without_a_label_a_finding_names_it(built, recorded) -> None:
    of, asked = availability.known(), _asked(built)
    for page in recorded:
        for name in sorted(asked & page.labels.keys()):
            if of[name].page != page.kind:
                continue
            for label in set(of[name].labels) & page.labels[name] - {"job", "instance", "server"}:
                labels = page.labels | {name: page.labels[name] - {label}}
                spoilt = dataclasses.replace(page, labels=labels)
                found = list(availability.of_page(of[name], spoilt, "a panel"))
                assert found == [f"{name}: without label {label} on {page.name}"]


def test_no_recorded_page_has_lost_a_metric(root, request) -> None:
    """What was recorded stays recorded: a page that loses a metric would prove less than before."""
    now = {}
    for folder in (root / "tests" / "recordings", Path(__file__).with_name("pages")):
        for path in sorted(folder.glob("*/*.txt")):
            names = pages.names_and_labels(path.read_text(encoding="utf-8"))
            now[f"{path.parent.name}.{path.stem}.txt"] = sorted(names)
    if request.config.getoption("--update-golden"):
        NAMES.mkdir(exist_ok=True)
        for name, series in now.items():
            (NAMES / name).write_text("\n".join(series) + "\n")
    assert {path.name for path in NAMES.iterdir()} == set(now)
    for name, series in now.items():
        recorded = (NAMES / name).read_text().splitlines()
        assert set(recorded) - set(series) == set(), f"{name} has lost metrics"
        assert set(series) - set(recorded) == set(), f"{name} has metrics that are not listed"


@pytest.mark.parametrize(
    ("page", "release"),
    [
        ("v0.8.5-v1-blocks.txt", (0, 8, 5)),
        ("v0.9.1-v1-tokens.txt", (0, 9, 1)),
        ("f07-v0.10-both-names.txt", (0, 10)),
        ("v0.12-no-traffic.txt", (0, 12)),
        ("v0.30-connector-and-images.txt", (0, 30)),
    ],
)
def test_pages_of_old_releases_have_the_names_that_the_bridges_take(
    root, page: str, release: tuple[int, ...]
) -> None:
    text = (root / "tests" / "exporter" / "pages" / page).read_text(encoding="utf-8")
    names = pages.names_and_labels(text)
    cache = (metrics.KV_CACHE_USAGE, metrics.PREFIX_CACHE_QUERIES, metrics.PREFIX_CACHE_HITS)
    for renamed in cache:
        for metric in (renamed.new, renamed.old):
            assert (metric.name in names) == metric.exists_in(release), metric.name


def test_no_release_lacks_both_names_of_a_metric() -> None:
    bridges = [value for value in vars(metrics).values() if isinstance(value, Renamed)]
    assert len(bridges) == 4
    for bridge in bridges:
        for release in availability.RELEASES:
            assert bridge.new.exists_in(release) or bridge.old.exists_in(release)


def test_names_of_no_release_are_found(boards, recorded) -> None:
    """As others queried: counters without _total, metrics that are gone, labels of another kind."""
    board = boards["vllm-cache-memory"]
    target = next(panel for panel in board["panels"] if panel["id"] == 24)["targets"][0]
    for old, new, finding in [
        ("preemptions_total", "preemptions", "vllm:num_preemptions is no metric of vLLM"),
        ("num_preemptions_total", "gpu_swaps_total", "vllm:gpu_swaps_total is no metric of vLLM"),
        ('server=~"', 'endpoint=~"', "vllm:num_preemptions_total has no label endpoint"),
        ("by (server, ", "by (", "the result has no label server for the legend"),
        ("sum by", "sum of", "does not parse"),
        ("$job", "$Deployment_id", "a variable is unknown"),
    ]:
        right = target["expr"]
        target["expr"] = right.replace(old, new)
        found = availability.findings_of_expressions([board])
        assert any(finding in one for one in found), (finding, found)
        target["expr"] = right


def test_a_panel_says_from_which_release_on_it_has_data(boards, recorded) -> None:
    board = boards["vllm-cache-memory"]
    panel = next(panel for panel in board["panels"] if panel["id"] == 13)
    panel["description"] = panel["description"].replace("Since vLLM 0.17.", "")
    (finding,) = availability.findings([board], recorded)
    assert finding == (
        "vllm-cache-memory, Prompt tokens by source, per second: the description must say "
        "“Since vLLM 0.17.”"
    )


def test_all_headline_metrics_are_on_a_board(built) -> None:
    exported = {metric.name for metric in EXPORTED if metric.name.startswith("vllm:")}
    assert exported - _asked(built) == {
        # The sum of the three that are stacked.
        "vllm:gpu_memory_total_bytes",
        # For looking up.
        "vllm:gpu_info",
        # vLLM's own gauge is shown.
        "vllm:kv_cache_usage",
        # Only where they are asked for (--gpu.collect); power is shown.
        "vllm:gpu_energy_joules_total",
        "vllm:gpu_pcie_transmit_bytes_per_second",
        "vllm:gpu_pcie_receive_bytes_per_second",
    }
