"""One request, to servers that do all that a server should not."""

from __future__ import annotations

import gzip
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from socket import SO_LINGER, SOL_SOCKET, socket

import pytest

from monitoring.exchange import ExchangeError, ask
from monitoring.metrics_page import PageError, parse
from monitoring.supervision.supervisor import answers

OK = b"HTTP/1.1 200 OK\r\n"
MIB = 1024**2


@contextmanager
def stranger(answer: Callable[[socket], None]) -> Iterator[str]:
    """Run a stand-in that answers each connection's request by hand; yield its root URL."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            with suppress(OSError):
                answer(self.request)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def served() -> Iterator[Callable[[Callable[[socket], None]], str]]:
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(stranger(answer))


def sending(content: bytes) -> Callable[[socket], None]:
    return lambda connection: connection.sendall(content)


def dripping(begin: bytes) -> Callable[[socket], None]:
    def drip(connection: socket) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)

    return drip


def endless(connection: socket) -> None:
    connection.sendall(OK + b"\r\n")
    while True:
        connection.sendall(b"x" * 65536)


def resetting(connection: socket) -> None:
    connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (dripping(OK), "/x did not answer completely within 0.5 s"),
        (dripping(OK + b"\r\n"), "/x did not answer completely within 0.5 s"),
        (lambda _: time.sleep(2), "/x did not answer completely within 0.5 s"),
        (endless, "/x answers with more than 1 MiB"),
        (
            sending(OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"x" * 3 * MIB)),
            "/x answers with more than 1 MiB",
        ),
        (sending(b""), "hangs up or does not speak HTTP"),
        (resetting, "hangs up or does not speak HTTP"),
        (sending(b"SSH-2.0-OpenSSH\r\n"), "does not speak HTTP"),
        (sending(OK + b"Content-Length: 9\r\n\r\n{}"), "hangs up"),
        (sending(OK + b"a: b\r\n" * 1000 + b"\r\n"), "does not speak HTTP"),
        (sending(OK + b"Content-Encoding: gzip\r\n\r\n{}"), "no valid answer"),
        (
            sending(b"HTTP/1.1 302 Found\r\nLocation: http://me:secret@y/\r\n\r\n"),
            "/x redirects to http://y/: give that URL",
        ),
    ],
)
def test_no_answer_of_use_is_told_in_one_line(served, answer, message) -> None:
    url = served(answer)
    with pytest.raises(ExchangeError) as caught:
        ask("GET", f"{url}/x", 0.5, most_bytes=MIB)
    told = str(caught.value)
    assert message in told
    assert url in told
    assert "\n" not in told
    assert not caught.value.absent


@pytest.mark.timeout(30)
@pytest.mark.parametrize("begin", [OK, OK + b"\r\n"])
def test_a_program_that_answers_without_end_is_not_ready(served, begin) -> None:
    assert not answers(served(dripping(begin)))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:1/x", "nothing answers at http://127.0.0.1:1"),
        ("http://me:secret@127.0.0.1:1/x", "nothing answers at http://127.0.0.1:1"),
        ("http://nowhere.invalid", "there is no host nowhere.invalid"),
    ],
)
def test_nobody_there_is_told(url, message) -> None:
    with pytest.raises(ExchangeError) as caught:
        ask("GET", url, 5)
    assert (str(caught.value), caught.value.absent) == (message, True)


def test_tls_that_is_none_is_told(served) -> None:
    url = served(sending(OK)).replace("http:", "https:")
    with pytest.raises(ExchangeError, match="does not speak TLS: is it http"):
        ask("GET", url, 5)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<!DOCTYPE html>\n<p>", "answers with a web page, not with a JSON object"),
        (b"", "answers with nothing, not"),
        (b"[1]", r"answers with '\[1\]', not"),
        (b"[" * 100_000, "not with a JSON object"),
        (b"\x1b[2J\xff", r"answers with '\\x1b\[2J"),
    ],
)
def test_what_is_no_json_object_is_named(served, body, message) -> None:
    answer = ask("GET", served(sending(OK + b"\r\n" + body)), 5)
    with pytest.raises(ExchangeError, match=message):
        answer.json_object()


def test_lines_are_told_as_they_come_and_the_last_one_ends_it(served) -> None:
    lines: list[bytes] = []

    def on_line(line: bytes) -> bool:
        lines.append(line)
        return line == b"b"

    answer = ask("GET", served(dripping(OK + b"\r\na\r\nb\n")), 5, on_line=on_line)
    assert lines == [b"a", b"b"]
    assert answer.content == b"a\r\nb\n"


def test_a_page_with_too_many_series_is_told() -> None:
    with pytest.raises(PageError, match="more series of vLLM than any server's"):
        parse("vllm:x 1\n" * 30_000, ["vllm:x"])
