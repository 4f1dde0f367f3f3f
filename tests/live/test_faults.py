"""Nine faults on a chain of real vLLM, Prometheus and Alertmanager: what is told, and how soon.

The tests run in the order in which they stand, on one chain. The last writes a table.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console

from alerts.settings import Settings, load
from exporter import catalogue
from monitoring import folders, programs
from monitoring.configuration import Layout
from monitoring.demo.story import HIT_RATE_LOW, MEMORY_HIGH, Story
from monitoring.display import Display
from monitoring.drill.alertmanager_api import Alertmanager
from monitoring.drill.drill import Chain, run
from monitoring.notification import AlertNotice
from monitoring.options import ChainOptions
from monitoring.prometheus_api import Prometheus, PrometheusError
from monitoring.running import RunningChain, running
from monitoring.simulated_gpu import NORMAL_USAGE, SimulatedGPU
from monitoring.supervision.errors import ComponentError
from monitoring.supervision.interrupt import Interrupt
from monitoring.supervision.process import members
from monitoring.supervision.supervisor import Phase, RestartPolicy

pytestmark = [pytest.mark.live, pytest.mark.timeout(1500)]

SETTINGS = Path(__file__).with_name("faults.yml")
TABLE = "live-faults.md"
# What two shared cores may add to the least time.
_SLACK = 25.0
_VLLM_SECONDS = 400.0
_RESEND = 60.0
"""Prometheus sends an alert anew once a minute."""


@dataclass
class Row:
    """One line of the table."""

    fault: str
    expected: str
    delivered: str
    seconds: float | None
    least: float | None


@dataclass
class Rig:
    """The chain, what it told, and the table."""

    chain: RunningChain
    settings: Settings
    notices: list[tuple[datetime, AlertNotice]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def watch(self, seconds: float) -> None:
        """Let time pass."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()

    def look(self) -> None:
        for notification in self.chain.look_after():
            self.notices += [(notification.received_at, one) for one in notification.alerts]
        time.sleep(0.2)

    def until(self, condition: Callable[[], object], seconds: float, what: str) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{what}: not within {seconds:.0f} s; {self.told()}"
            self.look()

    def told(self, since: datetime | None = None) -> list[tuple[str, str]]:
        """Return name and status of what was delivered since then."""
        return [(n.name, n.status) for at, n in self.notices if since is None or at >= since]

    def expect(self, fault: str, name: str, since: datetime, slack: float = _SLACK) -> None:
        """Wait for an alert's notification and note how long it took."""
        settings = self.settings
        least = settings.alerts[name].pending.seconds + settings.notification.group_wait.seconds
        bound = least + settings.intervals.scrape.seconds + settings.intervals.evaluation.seconds
        self.until(lambda: (name, "firing") in self.told(since), bound + slack, name)
        at = next(a for a, n in self.notices if a >= since and n.name == name)
        self.rows.append(Row(fault, name, name, (at - since).total_seconds(), bound))

    def resolved(self, name: str, since: datetime, seconds: float = 60) -> None:
        self.until(lambda: (name, "resolved") in self.told(since), seconds, f"end of {name}")

    def program(self, name: str) -> int:
        """Return a program's process ID."""
        one = self.chain.find(name)
        assert one is not None
        assert one.child is not None
        return int(one.child.pid)

    def back_now(self, name: str) -> None:
        """Start a fallen program at once, and wait until it is ready."""
        one = self.chain.find(name)
        assert one is not None
        self.until(lambda: one.phase is Phase.RESTARTING, 10, f"{name} was not seen to fall")
        one.restart_at = 0.0
        self.until(lambda: one.phase is Phase.RUNNING, _VLLM_SECONDS, f"{name} did not come back")

    @property
    def prometheus(self) -> Prometheus:
        return Prometheus(self.chain.url("prometheus"))

    def hit_rate(self) -> float | None:
        """Return the hit rate that Prometheus has; None where it has none."""
        try:
            samples = self.prometheus.query(catalogue.PREFIX_CACHE_HIT_RATE.name)
        except PrometheusError:
            return None
        return samples[0].value if samples else None

    def state(self, name: str) -> tuple[str, str]:
        """Return an alert's state and since when, as Prometheus has it; empty if none."""
        try:
            states = [s for s in self.prometheus.alerts() if s.name == name and s.labels]
        except PrometheusError:
            return "", ""
        return (states[0].state, states[0].since) if states else ("", "")


def _refused(alertmanager: str) -> float:
    """Return how many requests the receiver refused."""
    text = requests.get(f"{alertmanager}/metrics", timeout=5).text
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "alertmanager_notification_requests_failed_total"
    )


def _now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture(scope="module")
def rig(free_ports, tmp_path_factory) -> Iterator[Rig]:
    folder = tmp_path_factory.mktemp("faults")
    settings = load(SETTINGS)
    options = ChainOptions(
        settings_file=SETTINGS, simulated_gpu=True, ports=free_ports, run_folder=folder
    )
    found = programs.find(options, folders.tools())
    display, interrupt = Display(Console(width=160)), Interrupt()
    # Fallen programs stay away until a test wants them back.
    policy = RestartPolicy(first_seconds=600, longest_seconds=600, quick_seconds=0)
    layout = Layout(folder, folder / "data")
    try:
        with running(
            "up", options, settings, found, layout, display, interrupt, policy
        ) as running_chain:
            yield Rig(running_chain, settings)
    except ComponentError as error:
        display.failure(error)
        raise


@pytest.fixture(scope="module")
def story(rig: Rig) -> Story:
    return Story(rig.chain, Display(Console(width=160)), Interrupt())


@contextmanager
def _usage(rig: Rig, usage: float) -> Iterator[None]:
    gpu = SimulatedGPU(rig.chain.layout.simulated_gpus)
    gpu.set_usage(usage)
    try:
        yield
    finally:
        gpu.set_usage(NORMAL_USAGE)


def test_9_idle_for_the_whole_time_nothing(rig: Rig) -> None:
    rig.watch(45)
    assert rig.told() == []
    rig.rows.append(Row("(9) idle for 45 s", "nothing", "nothing", None, None))


def test_1_bad_prefixes_and_6_prometheus_restarted_while_firing(rig: Rig, story: Story) -> None:
    with story.traffic("shared"):
        rig.until(lambda: (rig.hit_rate() or 0) > 0.7, 120, "a good hit rate")
    with story.traffic("unique"):
        since = _now()
        # The window of the rate has to fill with misses first.
        rig.expect("(1) bad prefixes", HIT_RATE_LOW, since, _SLACK + 20)
        restart = _now()
        os.kill(rig.program("prometheus"), signal.SIGTERM)
        rig.back_now("prometheus")
        rig.until(lambda: rig.state(HIT_RATE_LOW)[0] == "firing", 30, "firing after the restart")
        rig.watch(20)
        assert rig.told(restart) == []
        rig.rows.append(
            Row("(6) Prometheus restarted while firing", "nothing", "nothing", None, None)
        )
    with story.traffic("shared"):
        rig.resolved(HIT_RATE_LOW, since, 90)


def test_6_prometheus_restarted_while_pending(rig: Rig, story: Story) -> None:
    with story.traffic("unique"):
        since = _now()
        rig.until(lambda: rig.state(HIT_RATE_LOW)[0] == "pending", 60, "pending")
        rig.watch(12)
        pending = _now()
        os.kill(rig.program("prometheus"), signal.SIGTERM)
        rig.back_now("prometheus")
        down = (_now() - pending).total_seconds()
        # What it had waited counts: 30 s less 12 s are left, not 30 s.
        rig.until(lambda: rig.state(HIT_RATE_LOW)[0] == "firing", 18 + down + 8, "firing")
        rig.expect("(6) Prometheus restarted while pending", HIT_RATE_LOW, since, _SLACK + 40)
        told = rig.told(since)
        assert ("VLLMPrefixCacheHitRateLow", "resolved") not in told
    with story.traffic("shared"):
        rig.resolved(HIT_RATE_LOW, since, 90)


def test_2_memory_high(rig: Rig) -> None:
    with _usage(rig, 0.96):
        since = _now()
        rig.expect("(2) simulated memory high", MEMORY_HIGH, since)
    rig.resolved(MEMORY_HIGH, since)
    assert rig.told(since) == [(MEMORY_HIGH, "firing"), (MEMORY_HIGH, "resolved")]


def test_8_receiver_answers_500_for_a_while(rig: Rig) -> None:
    file = rig.chain.layout.notifications
    kept = file.with_suffix(".kept")
    with _usage(rig, 0.96):
        since = _now()
        shutil.move(file, kept)
        file.mkdir()  # the receiver cannot write and answers 500
        time.sleep(14)
        assert _refused(rig.chain.url("alertmanager")) > 0
        file.rmdir()
        shutil.move(kept, file)
        rig.expect("(8) receiver answers 500 for 14 s", MEMORY_HIGH, since, _SLACK + 14)
    rig.resolved(MEMORY_HIGH, since)


def test_7_alertmanager_down_while_an_alert_fires(rig: Rig) -> None:
    os.kill(rig.program("alertmanager"), signal.SIGKILL)
    with _usage(rig, 0.96):
        since = _now()
        rig.until(lambda: rig.state(MEMORY_HIGH)[0] == "firing", 30, "firing")
        rig.watch(5)
        assert rig.told(since) == []
        rig.back_now("alertmanager")
        rig.expect("(7) Alertmanager down, then back", MEMORY_HIGH, since, _SLACK + _RESEND + 20)
    rig.resolved(MEMORY_HIGH, since, 120)


def test_5_exporter_killed(rig: Rig) -> None:
    since = _now()
    os.kill(rig.program("exporter"), signal.SIGKILL)
    rig.expect("(5) exporter killed", "VLLMExporterDown", since)
    rig.watch(15)
    assert rig.told(since) == [("VLLMExporterDown", "firing")]
    rig.back_now("exporter")
    rig.resolved("VLLMExporterDown", since)


def test_a_planned_stop_under_a_silence_is_not_told(rig: Rig) -> None:
    alertmanager = Alertmanager(rig.chain.url("alertmanager"))
    exporter = rig.chain.url("exporter").removeprefix("http://")
    alertmanager.silence(exporter, 60)
    since = _now()
    os.kill(rig.program("exporter"), signal.SIGTERM)
    rig.until(lambda: rig.state("VLLMExporterDown")[0] == "firing", 40, "firing")
    rig.watch(10)
    assert rig.told(since) == []
    rig.back_now("exporter")
    rig.until(lambda: rig.state("VLLMExporterDown")[0] == "", 20, "end")
    rig.rows.append(Row("planned stop under a silence", "nothing", "nothing", None, None))


def test_4_vllm_frozen(rig: Rig) -> None:
    frozen = members(rig.program("vllm"))
    since = _now()
    for one in frozen:
        os.kill(getattr(one, "pid", one), signal.SIGSTOP)
    try:
        rig.expect("(4) vLLM frozen by SIGSTOP", "VLLMServerDown", since)
        rig.watch(15)
        assert rig.told(since) == [("VLLMServerDown", "firing")]
    finally:
        for one in frozen:
            os.kill(getattr(one, "pid", one), signal.SIGCONT)
    rig.resolved("VLLMServerDown", since)


def test_3_vllm_killed_one_page_not_five(rig: Rig) -> None:
    since = _now()
    os.kill(rig.program("vllm"), signal.SIGKILL)
    rig.expect("(3) vLLM killed by SIGKILL", "VLLMServerDown", since)
    rig.watch(25)
    assert rig.state("VLLMUpstreamUnreachable")[0] == "firing"  # and yet muted
    assert rig.told(since) == [("VLLMServerDown", "firing")]


def test_a_drill_tells_and_leaves_nothing_behind(rig: Rig) -> None:
    layout = rig.chain.layout
    said: list[str] = []
    drilled = Chain(
        rig.prometheus,
        Alertmanager(rig.chain.url("alertmanager")),
        layout.prometheus / "targets",
        layout.notifications,
        "127.0.0.1:0",
    )
    since = _now()
    result = run("VLLMGPUMemoryHigh", drilled, said.append)
    rig.watch(2)
    notice = next(n for at, n in rig.notices if at >= since and n.name == MEMORY_HIGH)
    assert notice.labels["drill"] == "yes"
    assert notice.labels["instance"].startswith("drill-")
    assert result.bound.least <= result.told <= result.bound.least + 60
    rig.rows.append(Row("drill of VLLMGPUMemoryHigh", MEMORY_HIGH, MEMORY_HIGH, result.told, 12.0))
    rig.resolved(MEMORY_HIGH, since, 90)
    assert "[]" in (layout.prometheus / "targets" / "drills.yml").read_text()
    assert rig.prometheus.query('up{drill="yes"}') == []


def test_the_table_is_complete(rig: Rig) -> None:
    lines = [
        "| fault | expected | delivered | seconds | scrape + evaluation + for + group_wait |",
        "|---|---|---|---|---|",
    ]
    for row in rig.rows:
        seconds = "-" if row.seconds is None else f"{row.seconds:.1f}"
        least = "-" if row.least is None else f"{row.least:g}"
        lines.append(f"| {row.fault} | {row.expected} | {row.delivered} | {seconds} | {least} |")
    text = "\n".join(sorted(lines[2:]))
    table = "\n".join(lines[:2]) + "\n" + text + "\n"
    print(table)
    folders.run().mkdir(exist_ok=True)
    (folders.run() / TABLE).write_text(table, encoding="utf-8")
    for number in range(1, 10):
        assert f"({number})" in table
