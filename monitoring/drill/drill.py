"""One drill: set the stage, break it, wait for the alert and its notification, clean up."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import yaml

from alerts.delivery import WATCHDOG
from alerts.situations import Situation, situations
from alerts.world import World
from monitoring.drill.alertmanager_api import Alertmanager
from monitoring.drill.stage import Stage, serve, targets
from monitoring.notification import NotificationFile
from monitoring.prometheus.targets import DRILLS
from monitoring.prometheus_api import Prometheus
from monitoring.supervision.errors import ChainError

T = TypeVar("T")

_POLL_SECONDS = 0.5
_START_SECONDS = 120.0
_SLACK_SECONDS = 120.0


@dataclass(frozen=True)
class Chain:
    """The chain that is drilled.

    Attributes:
        prometheus: Its Prometheus.
        alertmanager: Its Alertmanager.
        targets: Folder of Prometheus' target files.
        notifications: File of the kit's receiver; None where it is not in use.
        address: Where the made-up targets listen, and Prometheus finds them.
    """

    prometheus: Prometheus
    alertmanager: Alertmanager
    targets: Path
    notifications: Path | None
    address: str


@dataclass(frozen=True)
class Bound:
    """The least time from fault to notification, in seconds: what the configuration asks for."""

    pending: float
    group_wait: float

    @property
    def least(self) -> float:
        """The sum, if every scrape and evaluation came at the best moment."""
        return self.pending + self.group_wait


@dataclass(frozen=True)
class Result:
    """What came of a drill, in seconds after the fault.

    Attributes:
        alert: The alert's name.
        firing: When Prometheus called it firing.
        told: When its notification was delivered.
        proof: What shows the delivery.
        bound: The least time.
    """

    alert: str
    firing: float
    told: float
    proof: str
    bound: Bound


def run(name: str, chain: Chain, say: Callable[[str], None]) -> Result:
    """Drill an alert.

    Raises:
        ChainError: The chain has no such rule, a drill is under way, or no notification came.
    """
    if name == WATCHDOG:
        raise ChainError("Watchdog always fires: there is nothing to drill")
    rule = chain.prometheus.rule(name)
    if rule is None:
        raise ChainError(f"Prometheus has no rule {name}; see `python -m monitoring status`")
    bound = Bound(rule.pending_seconds, chain.alertmanager.group_wait())
    identity = f"drill-{uuid.uuid4().hex[:8]}"
    world = World(model="drill", server=identity, uuid=identity)
    situation = situations(world)[name]
    stage = Stage(world)
    with _staged(stage, chain, identity) as write:
        settling = 2 * rule.interval_seconds  # rates need a second sample
        say(
            f"made-up targets {identity}: waiting until Prometheus has scraped them, and "
            f"{settling:g} s more for rates"
        )
        _until(lambda: _scraped(chain.prometheus, identity), _START_SECONDS, "no scrape came")
        time.sleep(settling)
        inbox = (
            NotificationFile(chain.notifications, from_end=True) if chain.notifications else None
        )
        before = chain.alertmanager.sent()
        fault = time.monotonic()
        stage.fail(situation)
        if situation.gone:
            write(situation)
        say(f"{name}: the condition is made true; due after {bound.least:g} s at the earliest")
        deadline = bound.least + _rate_seconds(name) + _SLACK_SECONDS
        _until(lambda: _fires(chain.prometheus, name, identity), deadline, f"{name} did not fire")
        firing = time.monotonic() - fault
        say(f"{name}: firing after {firing:.0f} s; waiting for the notification")
        proof = _until(
            lambda: _told(name, identity, inbox, chain.alertmanager, before),
            bound.group_wait + _SLACK_SECONDS,
            f"{name} fires, but no notification was delivered",
        )
        told = time.monotonic() - fault
    if situation.gone:
        # Prometheus remembers the target for an hour, so the alert outlives the drill.
        chain.alertmanager.silence(identity, 3900)
        say(f"{name}: fires on for an hour, as it would in earnest; silenced for {identity}")
    return Result(name, firing, told, proof, bound)


def _rate_seconds(name: str) -> float:
    """Return how long rates may need to cross their thresholds."""
    return 300.0 if name not in {"VLLMServerDown", "VLLMExporterDown"} else 0.0


@contextmanager
def _staged(stage: Stage, chain: Chain, identity: str) -> Iterator[Callable[[Situation], None]]:
    file = chain.targets / DRILLS
    host, _, port = chain.address.rpartition(":")

    def write(entries: list[dict[str, object]]) -> None:
        unfinished = file.with_name(f"{file.name}.new")
        try:
            unfinished.write_text(yaml.safe_dump(entries, sort_keys=False), encoding="utf-8")
            unfinished.replace(file)
        except OSError as error:
            raise ChainError(f"{file} cannot be written: {error.strerror}") from None

    if _names_targets(file):
        raise ChainError(f"a drill is under way: {file} names its targets; empty it if not")
    try:
        server = serve(stage, host, int(port))
    except OSError as error:
        raise ChainError(
            f"drill: cannot listen on {chain.address}: {error.strerror}; choose another --listen"
        ) from None
    address = f"{host}:{server.server_address[1]}"
    try:
        write(targets(identity, address))
        yield lambda situation: write(targets(identity, address, situation.gone))
    finally:
        write([])
        server.shutdown()
        server.server_close()


def _names_targets(file: Path) -> bool:
    try:
        return bool(yaml.safe_load(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ChainError(f"{file} is missing: is --targets the folder of Prometheus?") from None
    except OSError as error:
        raise ChainError(f"{file} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise ChainError(f"{file} is no list of targets; empty it, if no drill runs") from None


def _scraped(prometheus: Prometheus, identity: str) -> bool:
    return len(prometheus.query(f'up{{instance="{identity}"}} == 1')) >= len(
        targets(identity, "x:1")
    )


def _fires(prometheus: Prometheus, name: str, identity: str) -> bool:
    matchers = f'alertname="{name}",alertstate="firing",instance="{identity}"'
    return bool(prometheus.query(f"ALERTS{{{matchers}}}"))


def _told(
    name: str,
    identity: str,
    inbox: NotificationFile | None,
    alertmanager: Alertmanager,
    before: tuple[float, float],
) -> str:
    if inbox is not None:
        for notification in inbox.new():
            for notice in notification.alerts:
                if notice.name == name and notice.labels.get("instance") == identity:
                    return "received by the kit's receiver"
        return ""
    tried, failed = (now - then for now, then in zip(alertmanager.sent(), before, strict=True))
    return "sent by Alertmanager without an error" if tried > 0 and not failed else ""


def _until(condition: Callable[[], T], seconds: float, failure: str) -> T:
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise ChainError(f"{failure} within {seconds:.0f} s")
        time.sleep(_POLL_SECONDS)
    return value
