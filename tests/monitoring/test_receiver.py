"""The receiver, over HTTP as Alertmanager and others would talk to it."""

import io
import json
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime

import pytest
import requests
from rich.console import Console

from monitoring.cli import main
from monitoring.receiver import MAX_BODY_BYTES, Receiver

NOW = datetime(2026, 1, 2, 3, 4, 10, tzinfo=UTC)


def message(status: str = "firing", ends_at: str = "0001-01-01T00:00:00Z", **labels: str) -> dict:
    return {
        "version": "4",
        "status": status,
        "receiver": "kit",
        "alerts": [
            {
                "status": status,
                "labels": {
                    "alertname": "VLLMGPUMemoryHigh",
                    "severity": "critical",
                    "gpu": "0",
                    **labels,
                },
                "annotations": {
                    "summary": "Almost out of memory.",
                    "description": "GPU 0: 96% in use.",
                    "runbook_url": "http://127.0.0.1/runbook",
                },
                "startsAt": "2026-01-02T03:04:05.123456789Z",
                "endsAt": ends_at,
            }
        ],
    }


class Fixture:
    def __init__(self, file):
        self.file = file
        self.out, self.err = io.StringIO(), io.StringIO()
        self.receiver = Receiver(
            file, Console(file=self.out), Console(file=self.err, soft_wrap=True), lambda: NOW
        )

    def send(self, body: bytes, path="/notifications", method="POST", length=None) -> str:
        answers = []
        environ = {
            "PATH_INFO": path,
            "REQUEST_METHOD": method,
            "CONTENT_LENGTH": str(len(body) if length is None else length),
            "wsgi.input": io.BytesIO(body),
        }
        list(self.receiver(environ, lambda status, headers: answers.append(status)))
        return answers[0]


@pytest.fixture
def receiver(tmp_path):
    return Fixture(tmp_path / "notifications.jsonl")


def test_a_message_is_printed_and_kept_as_it_came(receiver):
    assert receiver.send(json.dumps(message()).encode()) == "200 OK"
    printed = receiver.out.getvalue()
    assert "FIRING critical  VLLMGPUMemoryHigh" in printed
    assert "GPU 0: 96% in use." in printed
    assert "gpu=0" in printed
    assert "told 5 s later" in printed
    assert "runbook   http://127.0.0.1/runbook" in printed
    kept = json.loads(receiver.file.read_text())
    assert kept == {"received_at": "2026-01-02T03:04:10+00:00", "notification": message()}


def test_a_resolved_alert_leaves_figures_out_that_are_no_longer_true(receiver):
    receiver.send(json.dumps(message("resolved", "2026-01-02T03:05:05.1Z")).encode())
    printed = receiver.out.getvalue()
    assert "RESOLVED critical  VLLMGPUMemoryHigh" in printed
    assert "for 60 s" in printed
    assert "96%" not in printed


def test_labels_cannot_steer_the_terminal_or_the_markup(receiver):
    body = message(evil="\x1b[2Jx[red]\n RESOLVED ", more="[/nope]")
    assert receiver.send(json.dumps(body).encode()) == "200 OK"
    printed = receiver.out.getvalue()
    assert "\x1b" not in printed
    assert "[red]  RESOLVED" in printed.replace("\n", "")
    assert "[/nope]" in printed


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "is not JSON"),
        (b"not json", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "no list `alerts`"),
        (b'{"alerts": {}}', "no list `alerts`"),
        (b'{"alerts": [1]}', "firing or resolved"),
        (b'{"alerts": [{"status": "firing", "labels": {"a": 1}}]}', "`labels` must be"),
        (b'{"alerts": [{"status": "firing", "startsAt": "soon"}]}', "`startsAt` is no time"),
    ],
)
def test_a_bad_body_is_refused_with_one_line_and_nothing_is_kept(receiver, body, reason):
    assert receiver.send(body) == "400 Bad Request"
    assert receiver.err.getvalue().count("\n") == 1
    assert reason in receiver.err.getvalue()
    assert receiver.out.getvalue() == ""
    assert not receiver.file.exists()
    assert receiver.send(json.dumps(message()).encode()) == "200 OK"


def test_other_requests_are_told_what_is_wrong(receiver):
    assert receiver.send(b"", path="/metrics").startswith("404")
    assert receiver.send(b"", method="GET").startswith("405")
    assert receiver.send(b"", length=MAX_BODY_BYTES + 1).startswith("413")
    assert receiver.send(json.dumps(message()).encode(), length=-5).startswith("400")
    assert receiver.send(b"", path="/-/healthy", method="GET") == "200 OK"


def test_a_full_disk_makes_alertmanager_try_again(receiver):
    receiver.file.mkdir()
    assert receiver.send(json.dumps(message()).encode()).startswith("500")
    assert "cannot be written" in receiver.err.getvalue()


def test_the_command_serves_until_sigterm(tmp_path, free_port, until):
    port, file = free_port(), tmp_path / "new" / "notifications.jsonl"
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "monitoring", "receiver"),
            f"--listen=127.0.0.1:{port}",
            f"--file={file}",
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        url = f"http://127.0.0.1:{port}"

        def serves() -> bool:
            try:
                return requests.get(f"{url}/-/healthy", timeout=1).ok
            except requests.ConnectionError:
                return False

        until(serves)
        assert requests.post(f"{url}/notifications", json=message(), timeout=5).ok
        assert requests.post(f"{url}/notifications", data=b"{", timeout=5).status_code == 400
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "VLLMGPUMemoryHigh" in printed
    assert len(file.read_text().splitlines()) == 1


def test_a_taken_port_is_one_clear_line(tmp_path, free_port, capsys):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        status = main(["receiver", "--listen", address, "--file", str(tmp_path / "file")])
    assert status == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "choose another --listen" in error


def test_a_file_that_cannot_be_written_is_one_clear_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["receiver", "--file", str(tmp_path / "file" / "x")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "cannot be written" in error
