"""The relay, against robots that listen on this machine and against its own server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from rich.console import Console

from monitoring.relay.command import Relay
from monitoring.relay.delivery import deliver
from monitoring.relay.robots import ROBOTS

_DINGTALK = {"msgtype": "markdown", "markdown": {"title": "t", "text": "hello"}}
_FEISHU = {"msg_type": "interactive", "card": {"elements": [{"tag": "markdown", "content": "hi"}]}}
_WECOM = {"msgtype": "markdown", "markdown": {"content": "hello"}}
_MESSAGES: dict[str, dict[str, Any]] = {"dingtalk": _DINGTALK, "feishu": _FEISHU, "wecom": _WECOM}
_FINE: dict[str, dict[str, Any]] = {
    "dingtalk": {"errcode": 0, "errmsg": "ok"},
    "feishu": {"StatusCode": 0, "StatusMessage": "success", "code": 0, "data": {}},
    "wecom": {"errcode": 0, "errmsg": "ok"},
}


@dataclass
class Answering:
    """A robot on this machine: what it answers, and what it was sent."""

    url: str
    status: int = 200
    body: bytes = b"{}"
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


@pytest.fixture
def robot() -> Iterator[Answering]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            answering.requests.append((self.path, json.loads(content)))
            self.send_response(answering.status)
            self.send_header("Content-Length", str(len(answering.body)))
            self.end_headers()
            self.wfile.write(answering.body)

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    answering = Answering(f"http://127.0.0.1:{server.server_port}/robot?access_token=TOKEN")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield answering
    server.shutdown()
    server.server_close()
    thread.join()


def _secrets(folder: Path, name: str, url: str, secret: str = "") -> Path:
    (folder / f"{name}-url").write_text(f"{url}\n", encoding="utf-8")
    if secret:
        (folder / f"{name}-secret").write_text(f"{secret}\n", encoding="utf-8")
    return folder


def _copy(name: str) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps(_MESSAGES[name]))
    return copied


@pytest.mark.parametrize("name", ROBOTS)
def test_a_message_is_delivered(name: str, robot: Answering, tmp_path: Path) -> None:
    robot.body = json.dumps(_FINE[name]).encode()
    outcome = deliver(ROBOTS[name], _copy(name), _secrets(tmp_path, name, robot.url))
    assert (outcome.status, outcome.reason) == (200, "delivered")
    assert robot.requests == [("/robot?access_token=TOKEN", _MESSAGES[name])]


def test_dingtalk_is_signed_in_the_url(robot: Answering, tmp_path: Path) -> None:
    robot.body = json.dumps(_FINE["dingtalk"]).encode()
    secrets = _secrets(tmp_path, "dingtalk", robot.url, "SECabc")
    deliver(ROBOTS["dingtalk"], _copy("dingtalk"), secrets, clock=lambda: 1_700_000_000.5)
    query = parse_qs(urlsplit(robot.requests[0][0]).query)
    key = hmac.new(b"SECabc", b"1700000000500\nSECabc", hashlib.sha256).digest()
    assert query["timestamp"] == ["1700000000500"]
    assert query["sign"] == [base64.b64encode(key).decode()]
    assert query["access_token"] == ["TOKEN"]


def test_feishu_is_signed_in_the_message(robot: Answering, tmp_path: Path) -> None:
    robot.body = json.dumps(_FINE["feishu"]).encode()
    secrets = _secrets(tmp_path, "feishu", robot.url, "abc")
    deliver(ROBOTS["feishu"], _copy("feishu"), secrets, clock=lambda: 1_700_000_000.5)
    sent = robot.requests[0][1]
    key = hmac.new(b"1700000000\nabc", b"", hashlib.sha256).digest()
    assert sent["timestamp"] == "1700000000"
    assert sent["sign"] == base64.b64encode(key).decode()
    assert sent["card"] == _FEISHU["card"]


@pytest.mark.parametrize(
    ("name", "answer", "status"),
    [
        ("dingtalk", {"errcode": 310000, "errmsg": "keywords not in content"}, 400),
        ("dingtalk", {"errcode": 300001, "errmsg": "token is not exist"}, 400),
        ("dingtalk", {"errcode": 130101, "errmsg": "send too fast"}, 503),
        ("feishu", {"code": 19021, "msg": "sign match fail"}, 400),
        ("feishu", {"code": 11232, "msg": "frequency limited"}, 503),
        ("wecom", {"errcode": 93000, "errmsg": "invalid webhook url"}, 400),
        ("wecom", {"errcode": 45009, "errmsg": "api freq out of limit"}, 503),
        ("wecom", {"errcode": -1, "errmsg": "system busy"}, 503),
        ("wecom", {}, 503),
        ("wecom", {"errcode": False}, 503),
        ("wecom", ["ok"], 503),
    ],
)
def test_an_error_inside_status_200_is_no_delivery(
    name: str, answer: object, status: int, robot: Answering, tmp_path: Path
) -> None:
    robot.body = json.dumps(answer).encode()
    outcome = deliver(ROBOTS[name], _copy(name), _secrets(tmp_path, name, robot.url))
    assert outcome.status == status
    assert name in outcome.reason


@pytest.mark.parametrize(("answered", "status"), [(500, 503), (429, 503), (404, 400), (302, 400)])
def test_other_statuses(answered: int, status: int, robot: Answering, tmp_path: Path) -> None:
    robot.status = answered
    outcome = deliver(ROBOTS["wecom"], _copy("wecom"), _secrets(tmp_path, "wecom", robot.url))
    assert outcome.status == status


def test_html_with_status_200_is_no_delivery(robot: Answering, tmp_path: Path) -> None:
    robot.body = b"<html>log in</html>"
    outcome = deliver(ROBOTS["wecom"], _copy("wecom"), _secrets(tmp_path, "wecom", robot.url))
    assert outcome.status == 503


def test_a_robot_that_cannot_be_reached_is_tried_again_and_its_token_not_told(
    tmp_path: Path,
) -> None:
    def refused(url: str, message: dict[str, Any]) -> Any:
        raise requests.ConnectionError(url)

    secrets = _secrets(tmp_path, "wecom", "http://127.0.0.1:9/?key=TOKEN")
    outcome = deliver(ROBOTS["wecom"], _copy("wecom"), secrets, refused)
    assert outcome.status == 502
    assert "TOKEN" not in outcome.reason

    def slow(url: str, message: dict[str, Any]) -> Any:
        raise requests.ReadTimeout(url)

    assert deliver(ROBOTS["wecom"], _copy("wecom"), secrets, slow).status == 504


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"errcode": []}', b'{"errcode": {}}'])
def test_an_answer_in_another_form_is_no_delivery(
    body: bytes, robot: Answering, tmp_path: Path
) -> None:
    robot.body = body
    secrets = _secrets(tmp_path, "dingtalk", robot.url)
    assert deliver(ROBOTS["dingtalk"], _copy("dingtalk"), secrets).status == 503


def test_a_secret_that_is_no_text_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "wecom-url").write_bytes(b"\xff\xfe")
    outcome = deliver(ROBOTS["wecom"], _copy("wecom"), tmp_path)
    assert (outcome.status, outcome.reason) == (
        503,
        f"a secret file of wecom in {tmp_path} is no text",
    )


@pytest.mark.parametrize("url", [f"http://{'a' * 64}.example/secret", "http://[", "secret"])
def test_a_url_that_is_none_is_not_told(url: str, tmp_path: Path) -> None:
    secrets = _secrets(tmp_path, "wecom", url)
    outcome = deliver(ROBOTS["wecom"], _copy("wecom"), secrets)
    assert outcome.status == 502
    assert url not in outcome.reason


def test_a_text_that_no_bytes_can_hold_is_refused(robot: Answering, tmp_path: Path) -> None:
    message = {"markdown": {"content": "\ud800"}}
    assert deliver(ROBOTS["wecom"], message, _secrets(tmp_path, "wecom", robot.url)).status == 400


def test_a_missing_secret_is_told_by_name_and_tried_again(tmp_path: Path) -> None:
    outcome = deliver(ROBOTS["wecom"], _copy("wecom"), tmp_path)
    assert outcome.status == 503
    assert "wecom-url" in outcome.reason


def test_too_long_a_text_is_cut_between_characters(robot: Answering, tmp_path: Path) -> None:
    robot.body = json.dumps(_FINE["wecom"]).encode()
    message = {"msgtype": "markdown", "markdown": {"content": "显存" * 3000}}
    deliver(ROBOTS["wecom"], message, _secrets(tmp_path, "wecom", robot.url))
    sent = robot.requests[0][1]["markdown"]["content"]
    assert len(sent.encode()) <= 4096
    assert sent.endswith("…")


def _ask(
    relay: Relay, path: str, body: bytes, method: str = "POST", length: str | None = None
) -> str:
    statuses: list[str] = []
    environ = {
        "PATH_INFO": path,
        "REQUEST_METHOD": method,
        "CONTENT_LENGTH": str(len(body)) if length is None else length,
        "wsgi.input": io.BytesIO(body),
    }
    list(relay(environ, lambda status, headers: statuses.append(status)))
    return statuses[0]


def test_the_server_answers_what_came_of_it(robot: Answering, tmp_path: Path) -> None:
    log = io.StringIO()
    relay = Relay(_secrets(tmp_path, "wecom", robot.url), Console(file=log, width=200))
    robot.body = json.dumps(_FINE["wecom"]).encode()
    assert _ask(relay, "/wecom", json.dumps(_WECOM).encode()) == "200 OK"
    robot.body = json.dumps({"errcode": 45009, "errmsg": "api freq out of limit"}).encode()
    assert _ask(relay, "/wecom", json.dumps(_WECOM).encode()).startswith("503")
    assert "api freq out of limit" in log.getvalue()
    assert "TOKEN" not in log.getvalue()


@pytest.mark.parametrize(
    ("path", "body", "method", "status"),
    [
        ("/-/healthy", b"", "GET", "200"),
        ("/other", b"{}", "POST", "404"),
        ("/wecom", b"{}", "GET", "405"),
        ("/wecom", b"nonsense", "POST", "400"),
        ("/wecom", b"[]", "POST", "400"),
        ("/wecom", b"{}", "POST", "400"),
    ],
)
def test_what_is_no_message_is_refused(
    path: str, body: bytes, method: str, status: str, robot: Answering, tmp_path: Path
) -> None:
    relay = Relay(_secrets(tmp_path, "wecom", robot.url), Console(file=io.StringIO()))
    assert _ask(relay, path, body, method).startswith(status)
    assert robot.requests == []


@pytest.mark.parametrize("length", ["-5", "five", ""])
def test_a_length_that_is_none_is_refused(length: str, robot: Answering, tmp_path: Path) -> None:
    relay = Relay(_secrets(tmp_path, "wecom", robot.url), Console(file=io.StringIO()))
    assert _ask(relay, "/wecom", json.dumps(_WECOM).encode(), length=length).startswith("400")
    assert robot.requests == []
