import threading
import time

from exporter.collectors.server import ServerCollector
from exporter.fetcher import HTTPFetcher
from exporter.options import Server
from exporter.polling import Poller, poll
from exporter.upstream import Body, State

PAGE = b'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5\n'


class Hanging:
    """Stands in for a fetch that nothing interrupts, such as a look-up of a name."""

    def __init__(self):
        self.release = threading.Event()
        self.calls = 0
        self.aborts = 0

    def __call__(self, timeout):
        self.calls += 1
        self.release.wait(20)
        return Body(PAGE, "text/plain")

    def abort(self):
        self.aborts += 1

    def close(self):
        pass


def test_servers_are_asked_at_once_and_not_in_turn(stand_in, helpers):
    def slow(connection):
        while helpers.request_head(connection):
            time.sleep(0.1)
            connection.sendall(helpers.answer(PAGE))

    pollers = [Poller(HTTPFetcher(Server("s", stand_in(slow).url))) for _ in range(16)]
    began = time.monotonic()
    answers = poll(pollers, [5.0] * 16)
    assert time.monotonic() - began < 0.8  # in turn it would be 1.6
    assert all(answer.reading for answer in answers)


def test_one_servers_failure_touches_no_others_figures(stand_in, helpers):
    good = stand_in(helpers.always(helpers.answer(PAGE)))
    bad = stand_in(helpers.always(helpers.answer(b"", "500 Oops")))
    hung = stand_in(lambda connection: time.sleep(3))
    collector = ServerCollector(
        [
            Server("hung", hung.url, timeout_seconds=0.3),
            Server("good", good.url),
            Server("bad", bad.url),
            Server("down", "http://127.0.0.1:9"),
        ],
        300.0,
    )
    began = time.monotonic()
    families, complete = collector.collect(5.0)
    assert time.monotonic() - began < 1.0
    assert not complete
    values = {
        (sample.name, sample.labels["server"]): sample.value
        for family in families
        for sample in family.samples
        if sample.name in ("vllm_exporter_upstream_up", "vllm:kv_cache_usage")
        or (sample.labels.get("state") in ("timeout", "http_error", "unreachable") and sample.value)
    }
    assert values[("vllm:kv_cache_usage", "good")] == 0.5
    up = {server: v for (name, server), v in values.items() if name == "vllm_exporter_upstream_up"}
    assert up == {"hung": 0, "good": 1, "bad": 0, "down": 0}


def test_hung_thread_is_left_behind_and_its_server_not_asked_again_until_it_is_back():
    hanging = Hanging()
    poller = Poller(hanging)
    before = threading.active_count()
    for _ in range(5):
        began = time.monotonic()
        (answer,) = poll([poller], [0.1])
        assert time.monotonic() - began < 0.5
        assert answer.failure.state is State.TIMEOUT
    assert hanging.calls == 1
    assert hanging.aborts == 1
    assert threading.active_count() <= before + 1
    hanging.release.set()
    time.sleep(0.1)
    (answer,) = poll([poller], [1.0])
    assert answer.reading.kv_cache_usage == {"m": 0.5}


def test_scrape_that_has_less_time_than_the_server_may_take_gets_less():
    hanging = Hanging()
    collector = ServerCollector(
        [Server("s", "http://h", timeout_seconds=9.0)], 300.0, lambda _: hanging
    )
    began = time.monotonic()
    collector.collect(0.2)
    assert time.monotonic() - began < 1.0
    hanging.release.set()


def test_replaced_servers_keep_their_window_if_they_stay(helpers):
    clock, fetchers = helpers.Clock(), {}

    def open_fetcher(server):
        return fetchers.setdefault(server.name, helpers.ScriptedFetcher())

    stays, goes, comes = (
        Server(name, f"http://{name}:8000") for name in ("stays", "goes", "comes")
    )
    collector = ServerCollector([stays, goes], 300.0, open_fetcher, clock.monotonic, clock.wall)

    def scrape(queries, hits):
        for fetch in fetchers.values():
            fetch.page = (
                f'vllm:prefix_cache_queries_total{{model_name="m"}} {queries}\n'
                f'vllm:prefix_cache_hits_total{{model_name="m"}} {hits}\n'
            ).encode()
        clock.now += 30
        families, _ = collector.collect(5.0)
        return {
            sample.labels["server"]: sample.value
            for family in families
            for sample in family.samples
            if sample.name == "vllm:prefix_cache_hit_rate"
        }

    scrape(0, 0)
    collector.replace([Server(stays.name, stays.url, timeout_seconds=1.0), comes])
    assert scrape(100, 60) == {"stays": 0.6}
    assert scrape(200, 120) == {"stays": 0.6, "comes": 0.6}
    assert collector.servers[1] is comes


def test_no_servers_at_all_is_a_page_without_them():
    assert ServerCollector([], 300.0).collect(1.0) == ([], True)
