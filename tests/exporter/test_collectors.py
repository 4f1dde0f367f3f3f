import threading
import time

from prometheus_client.metrics_core import GaugeMetricFamily
from structlog.testing import capture_logs

from exporter.collectors import Collectors, Snapshot


class Subject:
    def __init__(self, name="subject", seconds=0.0, error=None):
        self.name = name
        self.seconds = seconds
        self.error = error
        self.calls = 0

    def collect(self, timeout):
        self.calls += 1
        time.sleep(self.seconds)
        if self.error:
            raise self.error
        return [GaugeMetricFamily(self.name, "h", value=self.calls)], True


def test_twenty_scrapes_at_once_share_one_collection(helpers):
    subject = Subject(seconds=0.3)
    page = Collectors([subject])
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(page.collect(5.0))) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert subject.calls == 1
    assert [helpers.samples(r)["subject"] for r in results] == [1.0] * 20
    assert helpers.samples(page.collect(5.0))["subject"] == 2.0


def test_scrape_with_less_time_than_the_one_under_way_is_answered_in_time(helpers):
    page = Collectors([Subject(seconds=0.6)])
    first = threading.Thread(target=page.collect, args=(5.0,))
    first.start()
    time.sleep(0.05)
    began = time.monotonic()
    found = helpers.samples(page.collect(0.1))
    assert time.monotonic() - began < 0.4
    assert found["vllm_exporter_collector_success{collector=subject}"] == 0
    assert "subject" not in found
    first.join()


def test_what_fails_in_one_collector_costs_only_its_families_and_is_logged_once(helpers):
    broken, sound = Subject("broken", error=RuntimeError("boom")), Subject("sound")
    page = Collectors([broken, sound])
    with capture_logs() as logs:
        for _ in range(10):
            found = helpers.samples(page.collect(1.0))
    assert found["vllm_exporter_collector_success{collector=broken}"] == 0
    assert found["vllm_exporter_collector_success{collector=sound}"] == 1
    assert found["sound"] == 10
    assert "broken" not in found
    assert len(logs) == 1


def test_families_without_samples_are_left_out():
    assert list(Snapshot([GaugeMetricFamily("a", "h")]).collect()) == []
