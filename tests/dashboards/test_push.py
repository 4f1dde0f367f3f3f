"""Uploading, against a stand-in for Grafana that keeps what it is sent and answers alike."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from alerts.settings import load
from dashboards.cli import main

TOKEN = "glsa_a_made_up_token"


class StandInGrafana(ThreadingHTTPServer):
    """No Grafana: the four answers of its API that uploading needs, and faults on demand."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folders: dict[str, str] = {}
        self.boards: dict[str, dict[str, Any]] = {}
        self.bodies: list[dict[str, Any]] = []
        self.fault: tuple[int, bytes, dict[str, str]] | None = None
        self.refused_uid = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: StandInGrafana

    def do_GET(self) -> None:
        uid = self.path.removeprefix("/api/folders/")
        if uid in self.server.folders:
            self._answer(200, {"uid": uid, "title": self.server.folders[uid]})
        else:
            self._answer(404, {"message": "folder not found", "status": "not-found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/folders":
            self.server.folders[body["uid"]] = body["title"]
            self._answer(200, body)
            return
        assert self.path == "/api/dashboards/db"
        board = body["dashboard"]
        if board["uid"] == self.server.refused_uid:
            self._answer(412, {"message": "The dashboard has\nbeen changed", "status": "x"})
            return
        self.server.bodies.append(body)
        self.server.boards[board["uid"]] = board
        self._answer(200, {"status": "success", "url": f"/d/{board['uid']}/slug"})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content, headers = json.dumps(body).encode(), {}
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            status, content = 401, b'{"message": "Invalid API key"}'
        if self.server.fault is not None:
            status, content, headers = self.server.fault
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def grafana() -> Iterator[StandInGrafana]:
    server = StandInGrafana()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    return path


def _push(grafana: StandInGrafana, token: Path, *more: str) -> int:
    return main(["push", "--url", grafana.url, "--token-file", str(token), *more])


def test_all_boards_are_uploaded_into_a_folder_that_is_made(grafana, token, built, capsys) -> None:
    assert _push(grafana, token) == 0
    assert grafana.folders == {"vllm": load().grafana.folder}
    assert grafana.boards == {board["uid"]: board | {"id": None} for board in built}
    assert all(body["overwrite"] and body["folderUid"] == "vllm" for body in grafana.bodies)
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "folder vllm: made"
    assert others[0] == f"vllm-overview: {grafana.url}/d/vllm-overview/slug"
    assert len(others) == 5


def test_a_folder_that_is_there_is_taken(grafana, token, capsys) -> None:
    grafana.folders["ours"] = "Ours"
    assert _push(grafana, token, "--folder", "ours") == 0
    assert grafana.folders == {"ours": "Ours"}
    assert "made" not in capsys.readouterr().out
    assert {body["folderUid"] for body in grafana.bodies} == {"ours"}


def test_the_wallboard_gets_the_data_source_that_is_named(grafana, token) -> None:
    assert _push(grafana, token, "--datasource-uid", "abc") == 0
    wallboard = grafana.boards["vllm-wallboard"]
    assert {panel["datasource"]["uid"] for panel in wallboard["panels"]} == {"abc"}


def test_a_board_that_is_refused_does_not_keep_the_others_back(grafana, token, capsys) -> None:
    grafana.refused_uid = "vllm-latency"
    assert _push(grafana, token) == 1
    assert len(grafana.boards) == 4
    first, last = capsys.readouterr().err.splitlines()
    assert first == (f"vllm-latency: {grafana.url}: status 412: The dashboard has been changed")
    assert last == "dashboards: 1 dashboards were not uploaded"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ((403, b'{"message": "no"}', {}), "needs role Editor"),
        # As the kit's preview answers, which listens where Grafana would.
        ((403, b'{"status": "error", "error": "it only reads"}', {}), "not from Grafana"),
        ((403, b"<html>", {}), "does a proxy refuse?"),
        ((302, b"", {"Location": "https://g.example/"}), "redirects to https://g.example/"),
        ((500, b"<html>", {}), "status 500: Internal Server Error"),
        ((200, b"<html>", {}), "what answers there is not Grafana"),
    ],
)
def test_what_grafana_refuses_is_told_in_one_line(grafana, token, fault, message, capsys) -> None:
    grafana.fault = fault
    assert _push(grafana, token) == 1
    told = capsys.readouterr().err.splitlines()
    assert message in told[0]
    assert TOKEN not in "".join(told)


def test_a_password_in_netrc_does_not_take_the_token_s_place(
    grafana, token, tmp_path, monkeypatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert _push(grafana, token) == 0


def test_a_wrong_token_is_told_of(grafana, token, capsys) -> None:
    token.write_text("glsa_another")
    assert _push(grafana, token) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "the token is refused" in told


def test_a_grafana_that_is_not_there_is_told_of(token, capsys) -> None:
    assert main(["push", "--url", "http://127.0.0.1:9", "--token-file", str(token)]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "http://127.0.0.1:9: cannot be reached" in told


@pytest.mark.parametrize(
    ("url", "content", "message"),
    [
        ("127.0.0.1:3000", TOKEN, "write http://127.0.0.1:13000"),
        ("", TOKEN, "write http://127.0.0.1:13000"),
        ("http://127.0.0.1:3000/?a=b", TOKEN, "has more than a path"),
        ("http://127.0.0.1:3000", "a\x07b", "holds no token"),
        ("http://127.0.0.1:3000", "é", "holds no token"),
        ("http://127.0.0.1:3000", "", "holds no token"),
        ("http://127.0.0.1:3000", "two words", "holds no token"),
        ("http://127.0.0.1:3000", None, "No such file"),
    ],
)
def test_wrong_usage_is_told_in_one_line(tmp_path, url, content, message, capsys) -> None:
    token = tmp_path / "token"
    if content is not None:
        token.write_text(content)
    assert main(["push", "--url", url, "--token-file", str(token)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert message in told


@pytest.mark.parametrize("folder", ["", " ", "../..", "a/b", "模型", "x" * 41, "a?b"])
def test_a_folder_that_can_be_no_uid_is_refused(token, folder, capsys) -> None:
    url = "http://127.0.0.1:9"
    assert main(["push", "--url", url, "--token-file", str(token), "--folder", folder]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "is no uid: up to 40 letters" in told


@pytest.mark.parametrize(
    ("file", "message"), [("", "write a path"), ("/", "is a directory"), ("/dev/zero", "no token")]
)
def test_a_token_file_that_is_none_is_refused(file, message, capsys) -> None:
    assert main(["push", "--url", "http://127.0.0.1:9", "--token-file", file]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert message in told
