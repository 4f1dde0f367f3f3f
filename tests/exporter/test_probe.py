import re
from dataclasses import replace

import pytest

from exporter.collectors.server import ServerCollector
from exporter.options import ProbePolicy, Server
from exporter.probe import MAX_TARGETS, Prober, RefusedError, allowed
from exporter.routes import probe_route
from exporter.upstream import State, UpstreamError
from exporter.web import Request

TEMPLATE = Server("probe", "https://localhost", timeout_seconds=2.0)


def policy(*allow):
    return ProbePolicy(allow, TEMPLATE)


@pytest.mark.parametrize(
    ("target", "pattern"),
    [
        ("http://10.0.1.7:8000", "http://10.0.1.*:8000"),
        ("10.0.1.7:8000", "http://10.0.1.*:8000"),
        ("http://10.0.1.7:8000/metrics", "http://10.0.1.*:8000"),
        ("http://h", "http://h:80"),
        ("https://a.example.com", "https://*.example.com"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://h/vllm", "http://h/vllm"),
        ("http://H.Example", "http://h.example"),
    ],
)
def test_target_that_matches_is_allowed(target, pattern):
    assert allowed(target, policy(pattern))


@pytest.mark.parametrize(
    ("target", "pattern"),
    [
        ("http://10.0.1.7.evil.example:8000", "http://10.0.1.*:8000"),
        ("http://10.0.1.7:8000@evil.example", "http://10.0.1.*:8000"),
        ("http://user:x@10.0.1.7:8000", "http://10.0.1.*:8000"),
        ("http://evil.example/?http://10.0.1.7:8000", "http://10.0.1.*:8000"),
        ("http://10.0.1.7:8000/?a=b", "http://10.0.1.*:8000"),
        ("http://10.0.1.7:8000/#a", "http://10.0.1.*:8000"),
        ("http://10.0.1.7:8000/admin", "http://10.0.1.*:8000"),
        ("http://10.0.1.7:8001", "http://10.0.1.*:8000"),
        ("https://10.0.1.7:8000", "http://10.0.1.*:8000"),
        ("http://10.0.2.7:8000", "http://10.0.1.*:8000"),
        ("http://169.254.169.254", "http://10.0.1.*"),
        ("http://a.b.example.com", "http://*.example.com"),
        ("http://hXexample", "http://h.example"),
        ("file:///etc/passwd", "http://h"),
        ("http://h\r\nX: y", "http://h"),
        ("", "http://h"),
    ],
)
def test_any_other_target_is_refused(target, pattern):
    with pytest.raises(RefusedError):
        allowed(target, policy(pattern))


@pytest.fixture
def central(helpers):
    class Central:
        def __init__(self):
            self.fetchers = {}
            self.clock = helpers.Clock()

        def open_collector(self, server):
            def open_fetcher(server):
                fetch = self.fetchers.setdefault(server.name, helpers.ScriptedFetcher())
                fetch.page = fetch.page or helpers.page("f01-idle")
                return fetch

            return ServerCollector(
                [server], 300.0, open_fetcher, self.clock.monotonic, self.clock.wall
            )

    central = Central()
    central.prober = Prober(policy("http://10.0.1.*:8000"), central.open_collector)
    central.route = probe_route(central.prober, 5.0)
    return central


def get(central, *targets):
    return central.route.handler(
        Request("GET", "/probe", {"target": list(targets)} if targets else {}, {})
    )


def test_probe_remembers_each_targets_window(central, helpers):
    assert get(central, "10.0.1.7:8000").status == 200
    central.fetchers["10.0.1.7:8000"].page = helpers.page("f02-traffic")
    central.clock.now += 30
    body = get(central, "http://10.0.1.7:8000/").body.decode()
    assert re.search(r'vllm:prefix_cache_hit_rate{.*server="10.0.1.7:8000"} 0.53', body)
    assert "\nprobe_success 1.0\n" in body
    assert "\nprobe_duration_seconds " in body
    assert "vllm_exporter_build_info" not in body
    assert "collector" not in body


def test_target_that_is_down_is_an_answer_with_probe_success_0(central):
    get(central, "10.0.1.7:8000")
    central.fetchers["10.0.1.7:8000"].page = UpstreamError(State.UNREACHABLE, "down")
    response = get(central, "10.0.1.7:8000")
    assert response.status == 200
    assert b"\nprobe_success 0.0\n" in response.body


def test_missing_twice_given_or_refused_target_is_400_with_a_sentence(central):
    for targets in ((), ("",), ("10.0.1.7:8000", "10.0.1.8:8000"), ("http://evil.example",)):
        response = get(central, *targets)
        assert response.status == 400
        assert b"target" in response.body
    assert central.fetchers == {}


def test_off_without_a_policy(central):
    central.prober.policy = None
    assert get(central, "10.0.1.7:8000").status == 404


def test_number_of_remembered_targets_is_bounded(central):
    central.prober.policy = policy("http://*.local:8000")
    for number in range(MAX_TARGETS + 5):
        central.prober._target(f"http://h{number}.local:8000")
    assert len(central.prober._targets) == MAX_TARGETS


@pytest.mark.parametrize("known", [False, True])
def test_ca_file_that_is_gone_is_a_sentence_and_no_fault_of_the_page(tmp_path, known):
    gone = ProbePolicy(
        ("https://10.0.1.7:8000",),
        Server("probe", "https://localhost", ca_file=tmp_path / "gone.pem", timeout_seconds=0.01),
    )
    prober = Prober(gone, lambda server: ServerCollector([server], 300.0))
    if known:
        prober.policy = replace(gone, template=replace(gone.template, ca_file=None))
        prober.probe("https://10.0.1.7:8000", 0.01)
        prober.policy = gone
    for _ in range(2):
        with pytest.raises(RefusedError, match=r"ca_file .*No such file"):
            prober.probe("https://10.0.1.7:8000", 0.01)


def test_new_settings_hold_for_known_targets(central):
    get(central, "10.0.1.7:8000")
    central.prober.policy = ProbePolicy(
        central.prober.policy.allow, Server("probe", "https://localhost", timeout_seconds=0.5)
    )
    get(central, "10.0.1.7:8000")
    (target,) = central.prober._targets.values()
    assert target.collector.servers[0].timeout_seconds == 0.5
