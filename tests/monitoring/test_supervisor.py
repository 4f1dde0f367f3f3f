"""The supervisor, with real child processes that misbehave."""

import os
import signal
import time

import pytest

from monitoring.supervision import log
from monitoring.supervision.errors import ComponentError, Interrupted
from monitoring.supervision.interrupt import Interrupt
from monitoring.supervision.policy import RestartPolicy
from monitoring.supervision.supervisor import Phase


def test_components_start_in_order_and_stop_in_reverse(standin, supervise, observer, tmp_path):
    stopped = tmp_path / "stopped"
    first = standin("first", f"--stopped={stopped}")
    second = standin("second", f"--stopped={stopped}")
    supervisor = supervise(first, second)
    supervisor.start(Interrupt())
    pids = [one.child.pid for one in supervisor.supervised]
    supervisor.stop()
    assert observer.events == [
        ("starting", "first"),
        ("ready", "first"),
        ("starting", "second"),
        ("ready", "second"),
        ("stopping", "second"),
        ("stopping", "first"),
    ]
    assert stopped.read_text().split() == [str(second.port), str(first.port)]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_crash_at_start_tells_name_status_and_last_lines(standin, supervise):
    supervisor = supervise(standin("broken", "--say=no such model", "--exit-at-start=3"))
    with pytest.raises(ComponentError) as caught:
        supervisor.start(Interrupt())
    assert caught.value.message == "broken: ended by itself with exit status 3"
    assert caught.value.log == ("no such model",)


def test_lines_of_an_earlier_run_and_noise_are_not_shown(standin, supervise, tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "broken.log").write_text("of yesterday\n")
    say = "--say=the reason\nnanobind: leaked"
    supervisor = supervise(standin("broken", say, "--exit-at-start=1", noise=("nanobind",)))
    with pytest.raises(ComponentError) as caught:
        supervisor.start(Interrupt())
    assert caught.value.log == ("the reason",)


def test_a_missing_program_is_named(standin, supervise):
    supervisor = supervise(standin("gone", command=("/nowhere/prometheus",)))
    with pytest.raises(ComponentError, match="gone: cannot start /nowhere/prometheus: No such"):
        supervisor.start(Interrupt())


def test_a_program_that_never_gets_ready_is_a_failure(standin, supervise):
    supervisor = supervise(standin("slow", "--never-ready", start_seconds=1))
    with pytest.raises(ComponentError, match="slow: was not ready after 1 s"):
        supervisor.start(Interrupt())


def test_a_wish_to_stop_ends_the_start(standin, supervise):
    interrupt = Interrupt()
    interrupt.stop.set()
    with pytest.raises(Interrupted):
        supervise(standin("slow", "--never-ready")).start(interrupt)


def test_a_fallen_program_is_started_again(standin, supervise, observer, until):
    supervisor = supervise(standin("one", "--say=hello"))
    supervisor.start(Interrupt())
    (one,) = supervisor.supervised
    first = one.child.pid
    os.kill(first, signal.SIGKILL)
    until(lambda: one.phase is Phase.RESTARTING, supervisor.tick)
    until(lambda: one.phase is Phase.RUNNING, supervisor.tick)
    assert one.child.pid != first
    assert one.restarts == 1
    assert observer.reasons == ["was ended by SIGKILL (out of memory?)"]
    assert observer.lines == ["hello"]


def test_quick_crashes_in_a_row_end_the_attempts_but_not_the_others(
    standin, supervise, observer, until
):
    policy = RestartPolicy(first_seconds=0.1, longest_seconds=0.1, attempts=3)
    supervisor = supervise(standin("steady"), standin("shaky", "--exit-after=0.3"), policy=policy)
    supervisor.start(Interrupt())
    steady, shaky = supervisor.supervised
    until(lambda: shaky.phase is Phase.FAILED, supervisor.tick)
    assert observer.events.count(("crashed", "shaky")) == 2
    assert observer.events.count(("given up", "shaky")) == 1
    assert supervisor.failed == ["shaky"]
    assert steady.phase is Phase.RUNNING
    assert supervisor.tick() is False


def test_a_crash_after_a_long_run_counts_as_the_first_again(standin, supervise, observer, until):
    policy = RestartPolicy(first_seconds=0, quick_seconds=0, attempts=2)
    supervisor = supervise(standin("one", "--exit-after=0.3"), policy=policy)
    supervisor.start(Interrupt())
    (one,) = supervisor.supervised
    until(lambda: one.restarts == 3, supervisor.tick)
    assert ("given up", "one") not in observer.events


def test_the_pause_doubles_up_to_its_limit():
    policy = RestartPolicy(first_seconds=1, longest_seconds=10)
    assert [policy.pause(count) for count in (1, 2, 3, 4, 5, 9)] == [1, 2, 4, 8, 10, 10]


def test_who_ignores_sigterm_is_killed_in_bounded_time(standin, supervise, alive):
    supervisor = supervise(standin("stubborn", "--ignore-term", stop_seconds=0.5))
    supervisor.start(Interrupt())
    pid = supervisor.supervised[0].child.pid
    begin = time.monotonic()
    supervisor.stop()
    assert not alive(pid)
    assert time.monotonic() - begin < 5


def test_a_second_signal_does_not_wait(standin, supervise, alive):
    supervisor = supervise(standin("stubborn", "--ignore-term", stop_seconds=60))
    supervisor.start(Interrupt())
    pid = supervisor.supervised[0].child.pid
    interrupt = Interrupt()
    interrupt.hurry.set()
    begin = time.monotonic()
    supervisor.stop(interrupt)
    assert not alive(pid)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("flags", [[], ["--grandchild-leaves"]], ids=["stays", "leaves session"])
def test_grandchildren_are_stopped_too(flags, standin, supervise, tmp_path, alive):
    supervisor = supervise(standin("parent", f"--grandchild={tmp_path / 'pid'}", *flags))
    supervisor.start(Interrupt())
    grandchild = int((tmp_path / "pid").read_text())
    assert alive(grandchild)
    supervisor.stop()
    assert not alive(grandchild)


@pytest.mark.parametrize("flags", [[], ["--grandchild-leaves"]], ids=["stays", "leaves session"])
def test_grandchildren_of_a_killed_parent_are_stopped_before_the_restart(
    flags, standin, supervise, tmp_path, alive, until
):
    supervisor = supervise(standin("parent", f"--grandchild={tmp_path / 'pid'}", *flags))
    supervisor.start(Interrupt())
    supervisor.tick()  # the first look at who descends from whom
    orphan = int((tmp_path / "pid").read_text())
    (parent,) = supervisor.supervised
    os.kill(parent.child.pid, signal.SIGKILL)
    until(lambda: parent.phase is Phase.RESTARTING, supervisor.tick)
    assert not alive(orphan)


def test_a_log_that_is_too_long_is_put_aside(tmp_path):
    path = tmp_path / "one.log"
    with path.open("ab") as writer:
        writer.write(b"old\n" * 100)
        writer.flush()
        assert log.bound(path, limit=100)
        writer.write(b"new\n")
    assert path.read_bytes() == b"new\n"
    assert (tmp_path / "one.log.1").read_bytes() == b"old\n" * 100
    assert not log.bound(path, limit=100)
    assert log.tail(path, 5, offset=400) == ["new"]
