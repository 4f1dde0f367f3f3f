from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from dashboards.preview.server import Application, Source, server

BOARD = {"uid": "one", "title": "One", "tags": ["kit"], "panels": []}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    site = tmp_path / "site"
    (site / "assets").mkdir(parents=True)
    (site / "index.html").write_text("<p>the page</p>")
    (site / "assets" / "index-1.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    boards = tmp_path / "boards"
    boards.mkdir()
    (boards / "one.json").write_text(json.dumps(BOARD))
    (boards / "two.json").write_text(
        json.dumps({"dashboard": {**BOARD, "uid": "two", "title": "A"}})
    )
    (boards / "not-a-board.json").write_text("[1]")
    (boards / "broken.json").write_text("{")
    return Source("http://127.0.0.1:1", "15s", boards, site)


def _get(
    source: Source, path: str, method: str = "GET", **environ: Any
) -> tuple[int, dict[str, str], bytes]:
    told: dict[str, Any] = {}

    def start(status: str, headers: list[tuple[str, str]]) -> None:
        told.update(status=int(status.split(maxsplit=1)[0]), headers=dict(headers))

    request = {"REQUEST_METHOD": method, "PATH_INFO": path, "wsgi.input": io.BytesIO(), **environ}
    body = b"".join(Application(source)(request, start))
    return told["status"], told["headers"], body


@pytest.mark.parametrize("path", ["/", "/d/one", "/d/one/any-slug", "/d/not-there"])
def test_pages_are_the_built_one(source: Source, path: str) -> None:
    status, headers, body = _get(source, path)
    assert (status, body) == (200, b"<p>the page</p>")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-cache"
    assert "script-src 'self';" in headers["Content-Security-Policy"]


def test_assets_are_kept_by_browsers(source: Source) -> None:
    status, headers, body = _get(source, "/assets/index-1.js")
    assert (status, body) == (200, b"1")
    assert headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "immutable" in headers["Cache-Control"]


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt",
        "/assets/..",
        "/public/../../secret.txt",
        "/assets//etc/passwd",
        "/secret.txt",
        "/../secret.txt",
        "/preview/boards/../../secret.txt",
    ],
)
def test_files_outside_of_the_page_are_not_served(source: Source, path: str) -> None:
    status, _, body = _get(source, path)
    assert status == 404
    assert body != b"secret"


def test_a_link_out_of_the_page_is_not_followed(source: Source) -> None:
    (source.site / "assets" / "out.js").symlink_to(source.site.parent / "secret.txt")
    assert _get(source, "/assets/out.js")[0] == 404


def test_boards_are_listed_by_title_and_others_passed_over(source: Source) -> None:
    status, _, body = _get(source, "/preview/boards.json")
    assert status == 200
    assert [(board["uid"], board["tags"]) for board in json.loads(body)] == [
        ("two", ["kit"]),
        ("one", ["kit"]),
    ]


def test_a_board_is_read_anew(source: Source) -> None:
    assert json.loads(_get(source, "/preview/boards/one.json")[2])["title"] == "One"
    (source.folder / "one.json").write_text(json.dumps({**BOARD, "title": "Changed"}))
    assert json.loads(_get(source, "/preview/boards/one.json")[2])["title"] == "Changed"


def test_an_unknown_board_is_told(source: Source) -> None:
    status, _, body = _get(source, "/preview/boards/nine.json")
    assert status == 404
    assert json.loads(body)["error"] == "there is no dashboard with the uid nine"


def test_a_folder_that_went_away_is_told(source: Source) -> None:
    for file in source.folder.iterdir():
        file.unlink()
    source.folder.rmdir()
    status, _, body = _get(source, "/preview/boards.json")
    assert status == 500
    assert "cannot be read" in json.loads(body)["error"]


def test_settings_hold_no_password(source: Source) -> None:
    secret = Source("http://u:secret@host", "5s", source.folder, source.site)
    assert json.loads(_get(secret, "/preview/settings.json")[2]) == {
        "prometheus": "http://host",
        "scrapeInterval": "5s",
        "datasource": "Prometheus",
    }


def test_only_reading_methods(source: Source) -> None:
    assert _get(source, "/", "POST")[0] == 405
    assert _get(source, "/", "HEAD")[::2] == (200, b"")


@pytest.mark.parametrize("length", ["1048577", "-1", "many"])
def test_too_large_a_query_is_refused(source: Source, length: str) -> None:
    assert _get(source, "/api/v1/query", "POST", CONTENT_LENGTH=length)[0] == 413


@pytest.fixture
def address(source: Source) -> Iterator[str]:
    http = server(Application(source), "127.0.0.1", 0)
    threading.Thread(target=http.serve, daemon=True).start()
    yield f"http://127.0.0.1:{http.bind_addr[1]}"
    http.stop()


def test_over_http_a_prometheus_that_is_down_is_a_502(address: str) -> None:
    answer = requests.get(f"{address}/api/v1/query", params={"query": "up"}, timeout=10)
    assert answer.status_code == 502
    assert "cannot be reached" in answer.json()["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
    ],
)
def test_over_http_no_path_leads_out_of_the_page(address: str, path: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        told = b""
        while part := raw.recv(4096):
            told += part
    assert told.split(b" ")[1] == b"404"
    assert not told.endswith(b"secret")
