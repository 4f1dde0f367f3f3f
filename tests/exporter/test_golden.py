"""What the exporter shows for each page of each release, whole.

`pytest tests/exporter/test_golden.py --update-golden` writes the files anew; read the difference.
"""

import re
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from exporter.collectors import Snapshot

HERE = Path(__file__).parent
PAGES = sorted((HERE / "pages").glob("*.txt"))
RECORDINGS = sorted((HERE.parent / "recordings").glob("*/*.txt"))

_COUNTERS = re.compile(
    rb"^(\S*(?:prefix_cache|mm_cache)_(queries|hits)(?:_total)?"
    rb'\{(?:"(?:[^"\\]|\\.)*"|[^"}])*\} )(\d+(?:\.\d+)?)',
    re.MULTILINE,
)


def advanced(page: bytes) -> bytes:
    """The page half a minute later: of each cache 1000 looked up, 600 found."""
    step = {b"queries": 1000.0, b"hits": 600.0}
    return _COUNTERS.sub(lambda m: m[1] + str(float(m[3]) + step[m[2]]).encode(), page)


@pytest.mark.parametrize(
    "path", [*PAGES, *RECORDINGS], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_page_of_the_exporter_is_the_golden_one(path, helpers, request):
    watch = helpers.Watch()
    watch.scrape(path.read_bytes())
    watch.fetcher.page = advanced(path.read_bytes())
    watch.clock.now += 30
    families, _ = watch.collector.collect(5.0)
    shown = generate_latest(Snapshot(families)).decode()

    golden = HERE / "golden" / f"{path.parent.name}-{path.stem}.metrics"
    if request.config.getoption("--update-golden"):
        golden.write_text(shown)
    assert shown == golden.read_text()


@pytest.mark.parametrize(
    "golden", sorted((HERE / "golden").glob("*.metrics")), ids=lambda p: p.stem
)
def test_golden_pages_are_valid_and_have_no_series_twice(golden):
    seen = set()
    for family in text_string_to_metric_families(golden.read_text()):
        assert family.documentation
        for sample in family.samples:
            series = (sample.name, frozenset(sample.labels.items()))
            assert series not in seen
            seen.add(series)
            if sample.name.endswith(("_hit_rate", "kv_cache_usage")):
                assert 0 <= sample.value <= 1
    assert seen


def test_every_page_has_a_provenance():
    readme = (HERE / "pages" / "README.md").read_text()
    for path in PAGES:
        begins = path.read_bytes().startswith(b"# Provenance: ")
        assert begins or f"`{path.name}`" in readme, path.name
