import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.engine import CacheCounters, EngineKey
from exporter.window import MAX_GAP_SECONDS, TrailingWindow

KEY = EngineKey("0", "m")
WALL = 1_800_000_000.0


def observe(window, at, queries, hits, created=None, key=KEY, wall=None):
    totals = window.observe(
        {key: CacheCounters(queries, hits, created)}, at, WALL + at if wall is None else wall
    )
    return totals[key.model_name]


def interpolated(points, at):
    """Value of a counter at a time, straight between the points around it."""
    for (t0, v0), (t1, v1) in itertools.pairwise(points):
        if t0 <= at <= t1:
            return v0 + (v1 - v0) * (at - t0) / (t1 - t0)
    return points[0][1] if at < points[0][0] else points[-1][1]


_steps = st.lists(
    st.tuples(
        st.integers(2, 250),  # seconds since the last scrape, whoever made it
        st.integers(0, 5000),  # looked up meanwhile
        st.integers(0, 100),  # per cent of it found
    ),
    min_size=1,
    max_size=40,
)


@given(_steps, st.sampled_from([30.0, 300.0]))
@settings(max_examples=300, deadline=None)
def test_window_equals_the_direct_computation(steps, seconds):
    window = TrailingWindow(seconds)
    now, queries, hits = 0.0, 1000.0, 500.0
    found, looked_up = [(now, hits)], [(now, queries)]
    observe(window, now, queries, hits)
    for gap, asked, percent in steps:
        now += gap
        queries += asked
        hits += asked * percent // 100
        looked_up.append((now, queries))
        found.append((now, hits))
        totals = observe(window, now, queries, hits)
        start = now - seconds
        assert totals.queries == pytest.approx(queries - interpolated(looked_up, start), abs=1e-6)
        assert totals.hits == pytest.approx(hits - interpolated(found, start), abs=1e-6)


_events = st.lists(
    st.tuples(
        st.floats(0.001, 900),
        st.integers(0, 5000),
        st.integers(0, 130),  # more than 100: faulty counting of vLLM 0.11 and before
        st.sampled_from(["scrape", "scrape", "scrape", "restart", "half reset", "engine gone"]),
        st.floats(-1e6, 1e6),  # where the wall clock is stepped to
        st.booleans(),
    ),
    max_size=30,
)


@given(_events)
@settings(max_examples=300, deadline=None)
def test_rate_is_within_0_and_1_whatever_happens(events):
    window = TrailingWindow(300.0)
    now, queries, hits, created = 0.0, 0.0, 0.0, WALL
    for gap, asked, percent, event, step, tells in events:
        now += gap
        if event == "restart":
            queries = hits = 0.0
            created = WALL + now + step
        elif event == "half reset":
            queries = 0.0
        queries += asked
        hits += asked * percent // 100
        if event == "engine gone":
            assert window.observe({}, now, WALL + now) == {}
            continue
        totals = observe(
            window, now, queries, hits, created if tells else None, wall=WALL + now + step
        )
        assert totals.queries >= 0
        assert totals.hits >= 0
        assert totals.hit_rate is None or 0 <= totals.hit_rate <= 1


@given(st.lists(st.floats(0.05, 40), min_size=20, max_size=60), st.integers(0, 2**20))
@settings(max_examples=100, deadline=None)
def test_two_prometheus_replicas_see_the_window_that_one_sees(gaps, pattern):
    """Steady traffic at 0.6: every scraper sees 0.6, however the others' scrapes fall between."""
    window = TrailingWindow(300.0)
    now = 0.0
    observe(window, now, 0.0, 0.0)
    for gap in gaps:
        now += gap
        totals = observe(window, now, 100 * now, 60 * now)
        assert totals.hit_rate == pytest.approx(0.6)
        assert totals.queries == pytest.approx(100 * min(now, 300.0), rel=1 / 250)


def test_first_page_has_no_rate_as_nothing_says_when_its_tokens_were_looked_up():
    assert observe(TrailingWindow(300.0), 0.0, 300, 160).hit_rate is None


def test_counters_born_within_the_window_count_from_zero():
    totals = observe(TrailingWindow(300.0), 1000.0, 300, 160, created=WALL + 900.0)
    assert totals.hit_rate == pytest.approx(160 / 300)


def test_no_traffic_has_no_rate_and_misses_have_a_rate_of_zero():
    window = TrailingWindow(300.0)
    observe(window, 0.0, 300, 160)
    assert observe(window, 30.0, 300, 160).hit_rate is None
    assert observe(window, 60.0, 400, 160).hit_rate == 0.0


def test_idle_after_traffic_the_rate_goes_when_the_traffic_has_left_the_window():
    window = TrailingWindow(60.0)
    observe(window, 0.0, 0, 0)
    assert observe(window, 30.0, 300, 160).hit_rate == pytest.approx(160 / 300)
    assert observe(window, 60.0, 300, 160).hit_rate == pytest.approx(160 / 300)
    assert observe(window, 91.0, 300, 160).hit_rate is None


def test_restart_is_no_negative_rate_and_no_spike():
    window = TrailingWindow(300.0)
    observe(window, 0.0, 0, 0)
    observe(window, 30.0, 300, 160)
    after = observe(window, 60.0, 40, 10)
    assert window.last_reset
    assert after.hit_rate is None
    assert observe(window, 90.0, 140, 60).hit_rate == pytest.approx(0.5)
    assert not window.last_reset


def test_restart_whose_birth_is_told_counts_from_it():
    window = TrailingWindow(300.0)
    observe(window, 0.0, 0, 0, created=WALL - 5000)
    observe(window, 30.0, 300, 160, created=WALL - 5000)
    assert observe(window, 60.0, 40, 10, created=WALL + 45).hit_rate == pytest.approx(0.25)


def test_restart_with_more_queries_than_before_is_seen_by_the_birth():
    window = TrailingWindow(300.0)
    observe(window, 0.0, 300, 160, created=WALL - 5000)
    totals = observe(window, 60.0, 400, 10, created=WALL + 1)
    assert totals == pytest.approx((400, 10))


def test_half_reset_queries_fall_while_hits_grow():
    window = TrailingWindow(300.0)
    observe(window, 0.0, 300, 160)
    assert observe(window, 30.0, 200, 170).hit_rate is None
    assert window.last_reset


def test_two_engines_are_summed_before_the_division():
    window = TrailingWindow(300.0)
    zero = {EngineKey(e, "m"): CacheCounters(0, 0, None) for e in "01"}
    window.observe(zero, 0.0, WALL)
    totals = window.observe(
        {
            EngineKey("0", "m"): CacheCounters(1000, 900, None),
            EngineKey("1", "m"): CacheCounters(10, 0, None),
        },
        30.0,
        WALL,
    )
    assert totals["m"].hit_rate == pytest.approx(900 / 1010)


def test_restart_of_one_engine_leaves_the_other_its_window():
    window = TrailingWindow(300.0)
    for at, first, second in ((0.0, (0, 0), (500, 500)), (30.0, (100, 40), (5, 5))):
        totals = window.observe(
            {
                EngineKey("0", "m"): CacheCounters(*first, None),
                EngineKey("1", "m"): CacheCounters(*second, None),
            },
            at,
            WALL,
        )
    assert totals["m"] == (100, 40)


def test_long_silence_says_nothing_of_the_last_minutes():
    window = TrailingWindow(60.0)
    observe(window, 0.0, 0, 0)
    assert observe(window, MAX_GAP_SECONDS + 1, 300, 160).hit_rate is None


def test_more_hits_than_lookups_are_held_at_1_and_told():
    window = TrailingWindow(300.0)
    observe(window, 0.0, 0, 0)
    assert observe(window, 30.0, 300, 320).hit_rate == 1.0
    assert window.last_excess
    observe(window, 60.0, 400, 350)
    assert not window.last_excess


def test_memory_is_bounded_by_the_window_not_by_the_number_of_scrapes():
    window = TrailingWindow(300.0)
    for number in range(20_000):
        observe(window, number * 0.01, number, number // 2)
    (series,) = window._series.values()
    assert len(series.points) < 330
    for number in range(1000):
        observe(window, 200 + number * 15.0, 20_000, 10_000)
    (series,) = window._series.values()
    assert len(series.points) <= 3


def test_engine_that_is_gone_is_forgotten():
    window = TrailingWindow(300.0)
    observe(window, 0.0, 300, 160)
    window.observe({}, 301.0, WALL)
    assert not window._series
