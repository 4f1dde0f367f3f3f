"""Whose process it is: with a scripted system, and with real processes and sockets."""

import os
import socket
import subprocess
import sys

import pytest

from exporter.gpu.owners import FOUND_SECONDS, NOT_FOUND_SECONDS, Hidden, LocalSystem, Owners
from exporter.options import Server


class System:
    """A made-up host: ``parents`` by pid, and where each process listens."""

    def __init__(self, parents, listening, own=("127.0.0.1", "10.0.0.5")):
        self.parents = parents
        self.places = listening
        self.own = frozenset(own)
        self.looks = 0

    def addresses(self):
        return self.own

    def lineage(self, pid):
        self.looks += 1
        line = []
        while pid:
            line.append(pid)
            pid = self.parents.get(pid)
        return line

    def listening(self, pid):
        if self.places.get(pid) == "hidden":
            raise Hidden
        return self.places.get(pid, [])


def owner(url, listening, parents=None, pid=30):
    system = System(parents or {30: 20, 20: 10, 10: 1}, listening)
    return Owners(lambda: [Server("chat", url)], system).of([pid]).get(pid)


@pytest.mark.parametrize(
    ("url", "listening"),
    [
        ("http://127.0.0.1:8000", ("127.0.0.1", 8000)),
        ("http://127.0.0.1:8000", ("0.0.0.0", 8000)),
        ("http://127.0.0.1:8000", ("::", 8000)),
        ("http://localhost:8000", ("::1", 8000)),
        ("http://[::1]:8000", ("::", 8000)),
        ("http://10.0.0.5:8000", ("10.0.0.5", 8000)),
        ("http://10.0.0.5", ("0.0.0.0", 80)),
        ("https://10.0.0.5/v1", ("0.0.0.0", 443)),
    ],
)
@pytest.mark.parametrize("listener", [30, 20, 10])
def test_process_is_the_servers_if_it_or_an_ancestor_listens_there(url, listening, listener):
    assert owner(url, {listener: [listening]}) == "chat"


@pytest.mark.parametrize(
    ("url", "listening"),
    [
        ("http://127.0.0.1:8000", ("127.0.0.1", 8001)),
        ("http://127.0.0.1:8000", ("10.0.0.5", 8000)),
        ("http://10.0.0.6:8000", ("0.0.0.0", 8000)),  # another host
        ("http://vllm:8000", ("0.0.0.0", 8000)),  # a name may be another host's
    ],
)
def test_nothing_is_said_of_servers_elsewhere(url, listening):
    assert owner(url, {20: [listening]}) is None


def test_process_that_is_no_ancestor_does_not_count():
    assert owner("http://127.0.0.1:8000", {99: [("127.0.0.1", 8000)]}) is None


def test_process_that_cannot_be_looked_at_is_told_once(log_lines):
    system = System({30: 20}, {30: "hidden", 20: "hidden"})
    owners = Owners(lambda: [Server("chat", "http://127.0.0.1:8000")], system)
    for _ in range(100):
        assert owners.of([30, 31]) == {}
    assert len(log_lines) == 1
    assert "CAP_SYS_PTRACE" in log_lines[0]["event"]


def test_hidden_processes_above_a_server_are_nothing_to_tell(log_lines):
    system = System({30: 20, 20: 1}, {20: [("127.0.0.1", 9000)], 1: "hidden"})
    owners = Owners(lambda: [Server("chat", "http://127.0.0.1:8000")], system)
    assert owners.of([30]) == {}
    assert log_lines == []


def test_answers_are_kept_and_asked_for_anew_when_they_are_old(clock):
    system = System({}, {30: [("127.0.0.1", 8000)]})
    servers = [Server("chat", "http://127.0.0.1:8000")]
    owners = Owners(lambda: servers, system, clock.monotonic)
    for _ in range(10):
        assert owners.of([30, 31]) == {30: "chat"}
    assert system.looks == 2
    clock.now += NOT_FOUND_SECONDS
    system.places[31] = [("127.0.0.1", 8000)]
    assert owners.of([30, 31]) == {30: "chat", 31: "chat"}
    assert system.looks == 3
    clock.now += FOUND_SECONDS
    system.places.clear()
    assert owners.of([30, 31]) == {}


def test_other_servers_ask_anew():
    system = System({}, {30: [("127.0.0.1", 8000)]})
    servers = [Server("chat", "http://127.0.0.1:8000")]
    owners = Owners(lambda: servers, system)
    assert owners.of([30]) == {30: "chat"}
    servers = [Server("renamed", "http://127.0.0.1:8000")]
    assert owners.of([30]) == {30: "renamed"}


def test_without_servers_nobody_is_looked_at():
    system = System({}, {})
    assert Owners(list, system).of([30]) == {}
    assert system.looks == 0


PARENT = """
import socket, subprocess, sys
listener = socket.create_server(("127.0.0.1", 0))
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print(listener.getsockname()[1], child.pid, flush=True)
sys.stdin.read()
child.communicate(b"\\n")
"""


def test_real_child_of_a_real_listener_is_found():
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        port, child = map(int, parent.stdout.readline().split())
        owners = Owners(lambda: [Server("chat", f"http://127.0.0.1:{port}")])
        assert owners.of([child, parent.pid, os.getpid(), 2**22]) == {
            child: "chat",
            parent.pid: "chat",
        }
        parent.communicate()


def test_real_process_that_is_gone_or_never_was_listens_nowhere():
    system = LocalSystem()
    assert system.lineage(2**22) == []
    assert system.listening(2**22) == []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert listener.getsockname() in system.listening(os.getpid())
    assert "127.0.0.1" in system.addresses()
