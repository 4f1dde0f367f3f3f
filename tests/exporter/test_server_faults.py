"""What each fault that other monitors stumble over comes to on the exporter's page."""

import time

import pytest
from structlog.testing import capture_logs

from exporter.upstream import State, UpstreamError

MODEL = "{model_name=meta-llama/Llama-3.1-8B-Instruct}"
RATE = f"vllm:prefix_cache_hit_rate{MODEL}"
KV = f"vllm:kv_cache_usage{MODEL}"


def counters(queries, hits, engine=0, created=None, model="m"):
    labels = f'{{engine="{engine}",model_name="{model}"}}'
    lines = [
        f"vllm:prefix_cache_queries_total{labels} {queries}",
        f"vllm:prefix_cache_hits_total{labels} {hits}",
    ]
    if created is not None:
        lines.append(f"vllm:prefix_cache_queries_created{labels} {created}")
    return ("\n".join(lines) + "\n").encode()


R = "vllm:prefix_cache_hit_rate{model_name=m}"
TOKENS = "vllm:prefix_cache_window_query_tokens{model_name=m}"


def state(page):
    (only,) = [
        series.removeprefix("vllm_exporter_upstream_state{state=").removesuffix("}")
        for series, value in page.items()
        if series.startswith("vllm_exporter_upstream_state") and value == 1
    ]
    return only


def test_lifetime_20_percent_and_now_60_shows_60(watch):
    watch.scrape(counters(100_000, 20_000))
    assert watch.scrape(counters(101_000, 20_600))[R] == pytest.approx(0.6)


def test_no_traffic_zero_by_zero_has_no_sample(watch):
    watch.scrape(counters(0, 0))
    page = watch.scrape(counters(0, 0))
    assert R not in page
    assert TOKENS not in page
    assert state(page) == "ok"


def test_one_small_miss_is_a_true_0_with_its_12_tokens_beside_it(watch):
    watch.scrape(counters(0, 0))
    page = watch.scrape(counters(12, 0))
    assert (page[R], page[TOKENS]) == (0.0, 12)


def test_restart_with_falling_counters_is_no_rate_then_the_right_one(watch):
    watch.scrape(counters(10_000_000, 8_000_000))
    assert watch.scrape(counters(11_000_000, 8_900_000))[R] == pytest.approx(0.9)
    page = watch.scrape(counters(100, 60))
    assert R not in page
    assert page["vllm_exporter_upstream_resets_total"] == 1
    assert page["vllm_exporter_upstream_start_time_seconds"] == watch.clock.wall()
    assert watch.scrape(counters(200, 120))[R] == pytest.approx(0.6)


def test_restart_with_higher_queries_and_lower_hits_is_never_negative(watch):
    watch.scrape(counters(1000, 900))
    assert R not in watch.scrape(counters(1500, 200))


def test_two_engines_one_hot_shows_the_hot_one_for_kv_use_and_the_sum_for_the_rate(watch, helpers):
    page = watch.scrape(helpers.page("f06-two-engines"))
    assert page[KV] == 0.8
    zero = counters(0, 0) + counters(0, 0, engine=1)
    busy = counters(1000, 900) + counters(10, 0, engine=1)
    fresh = helpers.Watch()
    fresh.scrape(zero)
    assert fresh.scrape(busy)[R] == pytest.approx(900 / 1010)


def test_two_models_on_a_page_have_a_rate_and_a_kv_use_each(watch, helpers):
    page = watch.scrape(helpers.page("f14-two-models"))
    assert page["vllm:kv_cache_usage{model_name=small}"] == 0.1
    assert page["vllm:kv_cache_usage{model_name=large}"] == 0.95
    watch.scrape(counters(0, 0, model="a") + counters(0, 0, model="b"))
    page = watch.scrape(counters(100, 10, model="a") + counters(100, 90, model="b"))
    assert page["vllm:prefix_cache_hit_rate{model_name=a}"] == pytest.approx(0.1)
    assert page["vllm:prefix_cache_hit_rate{model_name=b}"] == pytest.approx(0.9)


def test_kv_gauge_split_by_pid_is_its_largest(watch, helpers):
    assert watch.scrape(helpers.page("f15-v0.11-pids"))[KV] == 0.653


def test_old_names_are_read_and_said_so(watch, helpers):
    page = watch.scrape(helpers.page("v0.8.5-v1-blocks"))
    assert page[KV] == 0.2
    assert (
        page["vllm_exporter_upstream_info{generation=gpu_prefix_cache,spelling=vllm:,format=text}"]
        == 1
    )


def test_old_and_new_names_on_one_page_count_once(watch, helpers):
    before = helpers.page("f07-v0.10-both-names")
    watch.scrape(before)
    page = watch.scrape(
        before.replace(b"} 10240.0", b"} 11240.0").replace(b"} 5120.0", b"} 5720.0")
    )
    assert page[RATE] == pytest.approx(0.6)
    assert page[f"vllm:prefix_cache_window_query_tokens{MODEL}"] == 1000


def test_v0_gauge_is_the_rate_and_minus_1_is_caching_off(watch, helpers):
    page = watch.scrape(helpers.page("v0.6.6-v0-engine"))
    assert page[RATE] == 0.625
    page = watch.scrape(helpers.page("f08-v0-caching-off"))
    assert RATE not in page
    assert page["vllm_exporter_prefix_caching_enabled"] == 0
    assert page["vllm_exporter_upstream_parse_errors_total"] == 0


def test_v0_gauge_of_0_before_the_first_prompt_is_no_rate(watch, helpers):
    body = helpers.page("v0.6.6-v0-engine").replace(b"} 0.625", b"} 0.0")
    assert watch.scrape(body)[RATE] == 0.0
    assert RATE not in watch.scrape(body.replace(b"} 8192.0", b"} 0.0"))


def test_prefix_caching_off_on_a_recorded_page_has_no_rate_and_says_so(watch, helpers):
    body = helpers.recording("h200-vllm-0.25.1/metrics-prefix-caching-off")
    watch.scrape(body)
    page = watch.scrape(body)
    assert page["vllm_exporter_prefix_caching_enabled"] == 0
    assert not [series for series in page if series.startswith("vllm:prefix_cache")]


def test_asleep_is_told(watch, helpers):
    assert watch.scrape(helpers.page("v0.30-asleep"))["vllm_exporter_engine_asleep{engine=0}"] == 1
    page = watch.scrape(helpers.recording("cpu-vllm-0.30.0/metrics-gemma4-after-load"))
    assert page["vllm_exporter_engine_asleep{engine=0}"] == 0


def test_lora_label_with_commas_and_a_model_name_with_braces_cost_nothing(watch, helpers):
    lora = (
        b'vllm:lora_requests_info{max_lora="2",running_lora_adapters="a,b",'
        b'waiting_lora_adapters=""} 1.7959571e+09\n'
    )
    page = watch.scrape(lora + helpers.page("f12-labels"))
    assert page['vllm:kv_cache_usage{model_name=a"b\\c/{d}\nü,e="f"}'] == 0.25
    assert page["vllm_exporter_upstream_parse_errors_total"] == 0


def test_ray_leaves_out_a_counter_without_a_hit_and_that_is_a_rate_of_0(watch):
    ray = b'ray_vllm_prefix_cache_queries_total{engine="0",model_name="m",ReplicaId="%s"} %d\n'
    watch.scrape(ray % (b"a", 100))
    assert watch.scrape(ray % (b"a", 200))[R] == 0.0
    # On vLLM's own page both are always there: a lost line is not a miss.
    plain = ray.removeprefix(b"ray_").replace(b"vllm_", b"vllm:", 1)
    watch.scrape(plain % (b"a", 100))
    assert R not in watch.scrape(plain % (b"a", 200))


def test_replicas_of_ray_with_the_same_engine_number_are_two_engines(watch):
    def replica(name, queries, hits):
        labels = f'{{engine="0",model_name="m",ReplicaId="{name}"}}'
        return (
            f"ray_vllm_prefix_cache_queries_total{labels} {queries}\n"
            f"ray_vllm_prefix_cache_hits_total{labels} {hits}\n"
        ).encode()

    watch.scrape(replica("a", 100, 50) + replica("b", 1000, 1000))
    page = watch.scrape(replica("a", 200, 50) + replica("b", 1100, 1100))
    assert (page[R], page[TOKENS]) == (0.5, 200)


def test_external_and_multimodal_caches_are_there_once_asked(watch, helpers):
    body = helpers.page("v0.12-no-traffic")
    watch.scrape(body)
    quiet = watch.scrape(body)
    assert not [s for s in quiet if "external" in s or "mm_cache" in s]
    busy = helpers.page("v0.30-connector-and-images")
    page = watch.scrape(busy)
    assert page[f"vllm:external_prefix_cache_hit_rate{MODEL}"] == 0.5
    assert page[f"vllm:mm_cache_hit_rate{MODEL}"] == 0.75
    assert page[RATE] == pytest.approx(0.6)


@pytest.mark.parametrize("engines", [1, 2])
def test_numbers_beyond_counting_are_no_sample_and_counted(watch, engines):
    def page(queries, hits):
        return b"".join(counters(queries, hits, engine=engine) for engine in range(engines))

    watch.scrape(page(0, 0))
    shown = watch.scrape(page(1.7e308, 1e308))
    assert R not in shown
    assert TOKENS not in shown
    assert shown["vllm_exporter_upstream_parse_errors_total"] == 2 * engines


def test_nan_and_infinity_are_no_sample_and_counted(watch, helpers):
    page = watch.scrape(helpers.page("f13-nan-and-infinity"))
    assert KV not in page
    assert page["vllm_exporter_upstream_parse_errors_total"] == 3
    assert state(page) == "ok"


def test_negative_counter_is_no_sample_and_counted(watch):
    watch.scrape(counters(0, 0))
    page = watch.scrape(counters(-5, 0))
    assert R not in page
    assert page["vllm_exporter_upstream_parse_errors_total"] == 1


def test_model_name_of_a_megabyte_is_not_passed_on(watch):
    page = watch.scrape(counters(100, 50, model="x" * 2**20) + counters(100, 50))
    assert all(len(series) < 200 for series in page)
    assert page["vllm_exporter_upstream_parse_errors_total"] == 2


def test_config_info_of_a_megabyte_is_read(watch):
    info = b'vllm:cache_config_info{a="' + b"x" * 2**20 + b'",gpu_memory_utilization="0.9"} 1\n'
    assert watch.scrape(info)["vllm:gpu_memory_utilization_limit"] == 0.9


def test_config_info_that_says_none_has_no_limit_and_no_say_on_caching(watch):
    info = (
        b'vllm:cache_config_info{gpu_memory_utilization="None",enable_prefix_caching="None",'
        b'num_gpu_blocks="None"} 1\n'
    )
    page = watch.scrape(info)
    assert "vllm:gpu_memory_utilization_limit" not in page
    assert "vllm_exporter_prefix_caching_enabled" not in page


def test_more_hits_than_queries_is_held_at_1_and_counted(watch, helpers):
    watch.scrape(helpers.page("f01-idle"))
    page = watch.scrape(helpers.page("f17-more-hits-than-queries"))
    assert page[RATE] == 1.0
    assert page["vllm_exporter_upstream_excess_hits_total"] == 1


def test_births_alone_are_no_counters(watch, helpers):
    page = watch.scrape(helpers.page("f05-created-only"))
    assert RATE not in page
    assert page["vllm_exporter_upstream_info{generation=none,spelling=vllm:,format=text}"] == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("f11-empty", "no vllm: series"),
        ("html", "no vllm: series"),
        ("statistics-off", "--disable-log-stats"),
    ],
)
def test_200_without_series_of_vllm_is_not_vllm(watch, helpers, name, reason):
    with capture_logs() as logs:
        page = watch.scrape(helpers.page(name))
    assert state(page) == "not_vllm"
    assert page["vllm_exporter_upstream_up"] == 0
    assert not [series for series in page if series.startswith("vllm:")]
    (entry,) = [e for e in logs if e["event"] == "vLLM's metrics are missing"]
    assert reason in entry["reason"]


def test_html_is_named_as_such(watch, helpers):
    watch.fetcher.content_type = "text/html; charset=utf-8"
    with capture_logs() as logs:
        watch.scrape(helpers.page("html"))
    assert "text/html" in logs[0]["reason"]


def test_exporters_own_page_is_not_taken_for_vllms(watch):
    own = b'vllm_exporter_build_info{version="1"} 1.0\nvllm:gpu_memory_usage{gpu="0"} 0.5\n'
    with capture_logs() as logs:
        assert state(watch.scrape(own)) == "not_vllm"
    assert "own" in logs[0]["reason"]


def test_page_of_which_no_line_can_be_read_is_invalid(watch):
    assert state(watch.scrape(b"vllm:kv_cache_usage_perc{ nonsense\n")) == "invalid"


def test_openmetrics_that_breaks_off_is_invalid(watch, helpers):
    watch.fetcher.content_type = "application/openmetrics-text; version=1.0.0"
    body = helpers.page("f10-openmetrics")
    assert state(watch.scrape(body)) == "ok"
    assert state(watch.scrape(body[: body.index(b"# EOF")])) == "invalid"


def test_cut_page_shows_no_half_number(watch, helpers):
    watch.scrape(helpers.page("f01-idle"))
    page = watch.scrape(helpers.page("f16-cut"))
    assert RATE not in page
    assert page["vllm_exporter_upstream_parse_errors_total"] == 1


@pytest.mark.parametrize("at_fault", [s for s in State if s is not State.OK])
def test_down_after_being_up_figures_vanish_and_come_back(watch, helpers, at_fault):
    watch.scrape(counters(0, 0))
    seen = watch.scrape(counters(100, 60))
    failing = watch.scrape(UpstreamError(at_fault, "it is down"))
    assert state(failing) == str(at_fault)
    assert not [series for series in failing if series.startswith("vllm:")]
    assert failing["vllm_exporter_upstream_failures_total"] == 1
    last = "vllm_exporter_upstream_last_success_timestamp_seconds"
    assert failing[last] == seen[last] == watch.clock.wall() - 30
    assert watch.scrape(counters(200, 120))[R] == pytest.approx(0.6)


def test_down_from_the_start_is_told_and_recovers(watch):
    page = watch.scrape(UpstreamError(State.UNREACHABLE, "no connection"))
    assert page["vllm_exporter_upstream_up"] == 0
    assert "vllm_exporter_upstream_last_success_timestamp_seconds" not in page
    assert "vllm_exporter_upstream_start_time_seconds" not in page
    assert state(watch.scrape(counters(0, 0))) == "ok"


def test_error_nobody_foresaw_is_one_servers_state_and_no_traceback_for_others(watch):
    with capture_logs():
        assert state(watch.scrape(RuntimeError("boom"))) == "invalid"


def test_state_is_logged_once_per_change_and_not_per_scrape(watch):
    down = UpstreamError(State.TIMEOUT, "no answer")
    with capture_logs() as logs:
        for page in (counters(0, 0), counters(1, 1), down, down, down, counters(2, 2)):
            watch.scrape(page)
        for _ in range(100):
            watch.scrape(b"vllm:kv_cache_usage_perc NaN\nvllm:num_requests_running 1\n")
    assert [(e["log_level"], e.get("reason", "")) for e in logs] == [
        ("info", ""),
        ("warning", "no answer"),
        ("info", ""),
        ("warning", ""),
    ]


def test_model_that_goes_leaves_no_series_behind(watch):
    watch.scrape(counters(0, 0, model="old"))
    watch.scrape(counters(100, 50, model="old"))
    page = watch.scrape(counters(0, 0, model="new"))
    assert not [series for series in page if "old" in series]


def test_start_time_is_the_youngest_engines_birth_and_never_in_the_future(watch, helpers):
    born = helpers.START - 500
    body = counters(10, 5, created=born - 1000) + counters(10, 5, engine=1, created=born)
    start = "vllm_exporter_upstream_start_time_seconds"
    assert watch.scrape(body)[start] == born
    ahead = counters(10, 5, created=helpers.START + 9999)
    assert watch.scrape(ahead)[start] == watch.clock.wall()


def test_start_time_without_births_is_the_first_page_then_the_restart_seen(watch):
    start = "vllm_exporter_upstream_start_time_seconds"
    first = watch.scrape(counters(100, 50))[start]
    assert first == watch.clock.wall()
    assert watch.scrape(counters(200, 100))[start] == first
    assert watch.scrape(counters(5, 1))[start] == watch.clock.wall()


def test_load_balancer_that_alternates_between_two_servers_shows_no_wrong_rate(watch, helpers):
    for _ in range(5):
        for body in (
            counters(10_000, 9_000, created=helpers.START - 5000),
            counters(500, 10, created=helpers.START - 100),
        ):
            page = watch.scrape(body)
            assert R not in page
    assert page["vllm_exporter_upstream_resets_total"] >= 8


def test_32_engines_on_a_page_of_a_megabyte_are_read_in_little_time(watch, helpers):
    body = helpers.recording("synthetic-vllm-0.30.0/metrics-full")
    page = b"".join(body.replace(b'engine="0"', b'engine="%d"' % n) for n in range(32))
    later = page.replace(b"} 300.0", b"} 1300.0").replace(b"} 160.0", b"} 760.0")
    watch.scrape(page)
    began = time.process_time()
    shown = watch.scrape(later)
    assert time.process_time() - began < 0.25
    assert shown["vllm:prefix_cache_hit_rate{model_name=demo-model}"] == pytest.approx(0.6)
    assert shown["vllm:prefix_cache_window_query_tokens{model_name=demo-model}"] == 32_000
    assert shown["vllm_exporter_upstream_parse_errors_total"] == 0
