"""Signals, few and many."""

import signal
import subprocess
import sys
import threading

import pytest
import requests

# Looks as often as it can, so that the main thread mostly holds the lock of an event.
LOOKING = """
import sys
from monitoring.supervision.interrupt import Interrupt
interrupt = Interrupt()
interrupt.install()
print("installed", flush=True)
interrupt.stop.wait()
print("stop", flush=True)
interrupt.hurry.wait()
print("hurry", flush=True)
for _ in range(200_000):
    interrupt.stop.wait(0)
    interrupt.hurry.wait(0)
print("still there", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def start():
    started = []

    def begin(*command, beginning=()):
        started.append(
            subprocess.Popen(
                [*beginning, sys.executable, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


class Flood:
    """Sends signals without a pause, until the block ends or the process does."""

    def __init__(self, process):
        self._process = process
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._send, args=(number,))
            for number in (signal.SIGTERM, signal.SIGINT)
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _send(self, number):
        while not self._over.is_set():
            self._process.send_signal(number)  # nothing, once the process is known to have ended


def read(process, wanted):
    """Return whether the line comes; a process that waits for itself writes none."""
    lines = []
    reader = threading.Thread(target=lambda: lines.append(process.stdout.readline()), daemon=True)
    reader.start()
    reader.join(30)
    return lines == [f"{wanted}\n"]


def test_first_signal_is_to_stop_and_second_to_hurry(start):
    process = start("-c", LOOKING)
    assert read(process, "installed")
    process.send_signal(signal.SIGHUP)
    assert read(process, "stop")
    process.send_signal(signal.SIGTERM)
    assert read(process, "hurry")


def test_flood_of_signals_does_not_hold_the_main_thread(start):
    process = start("-c", LOOKING)
    assert read(process, "installed")
    with Flood(process):
        for line in ("stop", "hurry", "still there"):
            assert read(process, line)


def test_closed_terminal_does_not_end_what_nohup_started(start):
    look = "import signal; print(signal.getsignal(signal.SIGHUP).name)"
    process = start(
        "-c",
        f"from monitoring.supervision.interrupt import Interrupt; Interrupt().install(); {look}",
        beginning=("sh", "-c", "trap '' HUP; exec \"$@\"", "sh"),
    )
    assert read(process, "SIG_IGN")


@pytest.mark.parametrize("command", ["relay", "receiver"])
def test_flood_of_signals_ends_a_server(start, command, free_port, tmp_path, until):
    port = free_port()
    file = [f"--file={tmp_path / 'kept'}"] if command == "receiver" else []
    process = start("-m", "monitoring", command, f"--listen=127.0.0.1:{port}", *file)

    def serves():
        try:
            return requests.get(f"http://127.0.0.1:{port}/-/healthy", timeout=1).ok
        except requests.ConnectionError:
            return False

    until(serves)
    with Flood(process):
        until(lambda: process.poll() is not None)
