"""Faults of a server that are faults of its connection or of HTTP, on real sockets.

The server is a stand-in on loopback; no vLLM is involved.
"""

import gzip
import os
import ssl
import subprocess
import threading
import time
import tracemalloc
import zlib

import pytest

from exporter import fetcher
from exporter.fetcher import HTTPFetcher
from exporter.options import Server
from exporter.polling import Poller, poll
from exporter.upstream import State, UpstreamError, metrics_url

PAGE = b'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5\n'


def ask(url, timeout=1.0, **settings):
    """One scrape of one server: (answer, seconds)."""
    poller = Poller(HTTPFetcher(Server("s", url, **settings)))
    began = time.monotonic()
    (answer,) = poll([poller], [timeout])
    return answer, time.monotonic() - began


def failure(url, timeout=1.0, **settings):
    answer, seconds = ask(url, timeout, **settings)
    assert answer.reading is None
    assert answer.failure.message
    assert "\n" not in answer.failure.message
    assert seconds < timeout + 0.5
    return answer.failure


def test_page_is_fetched_and_the_connection_kept(stand_in, helpers):
    server = stand_in(helpers.always(helpers.answer(PAGE)))
    fetch = HTTPFetcher(Server("s", server.url))
    for _ in range(5):
        assert fetch(1.0).content == PAGE
    assert server.connections == 1


def test_kept_connection_that_the_server_closed_is_opened_anew(stand_in, helpers):
    def once(connection):
        helpers.request_head(connection)
        connection.sendall(helpers.answer(PAGE))

    server = stand_in(once)
    fetch = HTTPFetcher(Server("s", server.url))
    for number in range(1, 4):
        assert fetch(1.0).content == PAGE
        assert server.connections == number
        time.sleep(0.02)


def test_connection_that_ends_as_the_next_request_arrives_is_tried_once_more(stand_in, helpers):
    def drop_the_second(connection):
        helpers.request_head(connection)
        connection.sendall(helpers.answer(PAGE))
        helpers.request_head(connection)  # and hang up without an answer

    server = stand_in(drop_the_second)
    fetch = HTTPFetcher(Server("s", server.url))
    assert fetch(1.0).content == PAGE
    assert fetch(1.0).content == PAGE
    assert server.connections == 2


def test_nobody_listening_is_unreachable(stand_in, helpers):
    server = stand_in(helpers.always(b""))
    server.close()
    found = failure(server.url)
    assert found.state is State.UNREACHABLE
    assert "refused" in found.message


def test_unknown_host_is_unreachable():
    assert failure("http://no-such-host.invalid:8000", timeout=5).state is State.UNREACHABLE


def test_server_that_hangs_up_without_a_word_is_unreachable(stand_in, helpers):
    server = stand_in(lambda connection: helpers.request_head(connection) and None)
    assert failure(server.url).state is State.UNREACHABLE


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "407 Proxy"])
def test_login_wanted_is_unauthorized(stand_in, helpers, status):
    server = stand_in(helpers.always(helpers.answer(b'{"error": "key"}', status)))
    found = failure(server.url)
    assert found.state is State.UNAUTHORIZED
    assert "bearer_token_file" in found.message


@pytest.mark.parametrize(
    "status", ["404 Not Found", "500 Internal Server Error", "503 Busy", "204 No"]
)
def test_other_statuses_are_http_errors_with_their_number(stand_in, helpers, status):
    server = stand_in(helpers.always(helpers.answer(b"", status)))
    found = failure(server.url)
    assert found.state is State.HTTP_ERROR
    assert status[:3] in found.message


def test_redirect_to_elsewhere_is_not_followed(stand_in, helpers):
    elsewhere = stand_in(helpers.always(helpers.answer(PAGE)))
    server = stand_in(
        helpers.always(helpers.answer(b"", "307 Moved", f"Location: {elsewhere.url}/metrics"))
    )
    found = failure(server.url)
    assert found.state is State.HTTP_ERROR
    assert "redirect" in found.message
    assert elsewhere.connections == 0


def test_slow_answer_is_a_timeout(stand_in, helpers):
    def sleep(connection):
        helpers.request_head(connection)
        time.sleep(3)

    assert failure(stand_in(sleep).url, timeout=0.3).state is State.TIMEOUT


@pytest.mark.parametrize("part", ["status", "headers", "body", "chunks"])
def test_one_byte_at_a_time_is_a_timeout_whatever_part_of_the_answer_drips(stand_in, helpers, part):
    def drip(connection):
        helpers.request_head(connection)
        connection.sendall(
            {
                "status": b"HTTP/1.1 ",
                "headers": b"HTTP/1.1 200 OK\r\n",
                "body": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
                "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            }[part]
        )
        line = {"status": b"2", "headers": b"X-A: b\r\n", "body": b"v", "chunks": b"1\r\nv\r\n"}[
            part
        ]
        while True:
            for byte in line:
                connection.sendall(bytes([byte]))
                time.sleep(0.02)

    found = failure(stand_in(drip).url, timeout=0.5)
    # A status line that never ends, or more headers than anyone sends, may be refused before.
    assert found.state in (State.TIMEOUT, State.INVALID)
    if part in ("body", "chunks", "headers"):
        assert found.state is State.TIMEOUT


def test_thread_of_a_dripping_server_ends_with_the_scrape(stand_in, helpers):
    def drip(connection):
        helpers.request_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X")
            time.sleep(0.02)

    poller = Poller(HTTPFetcher(Server("s", stand_in(drip).url)))
    before = threading.active_count()
    for _ in range(5):
        (answer,) = poll([poller], [0.2])
        assert answer.failure.state is State.TIMEOUT
        time.sleep(0.1)
    assert threading.active_count() <= before + 2


def test_fetch_that_is_aborted_in_mid_head_is_late_and_no_empty_page(stand_in, helpers):
    def half_a_head(connection):
        helpers.request_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Half: ")
        arrived.set()
        connection.recv(1)  # until the other side is gone

    arrived = threading.Event()
    fetch = HTTPFetcher(Server("s", stand_in(half_a_head).url))

    def abort():
        arrived.wait(5)
        time.sleep(0.05)
        fetch.abort()

    threading.Thread(target=abort, daemon=True).start()
    with pytest.raises(UpstreamError) as caught:
        fetch(5.0)
    assert caught.value.state is State.TIMEOUT


def test_body_of_a_gigabyte_is_refused_at_the_limit(stand_in, helpers, monkeypatch):
    monkeypatch.setattr(fetcher, "MAX_PAGE_BYTES", 2**20)
    sent = []

    def flood(connection):
        helpers.request_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        while True:
            connection.sendall(b"x" * 2**16)
            sent.append(2**16)

    found = failure(stand_in(flood).url, timeout=5)
    assert found.state is State.INVALID
    assert "MiB" in found.message
    assert sum(sent) < 20 * 2**20


def test_endless_body_without_a_length_is_refused_at_the_limit(stand_in, helpers, monkeypatch):
    monkeypatch.setattr(fetcher, "MAX_PAGE_BYTES", 2**20)

    def flood(connection):
        helpers.request_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            connection.sendall(b"x" * 2**16)

    assert failure(stand_in(flood).url, timeout=5).state is State.INVALID


def test_gzip_bomb_is_refused_without_the_memory_it_would_take(stand_in, helpers):
    stream = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = b"\0" * 2**20
    bomb = b"".join(stream.compress(zeros) for _ in range(512)) + stream.flush()
    assert len(bomb) < 2**20
    server = stand_in(helpers.always(helpers.answer(bomb, "200 OK", "Content-Encoding: gzip")))
    tracemalloc.start()
    try:
        found = failure(server.url, timeout=10)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.state is State.INVALID
    assert peak < 160 * 2**20


def test_gzip_that_a_proxy_adds_is_read(stand_in, helpers):
    body = gzip.compress(PAGE)
    server = stand_in(helpers.always(helpers.answer(body, "200 OK", "Content-Encoding: gzip")))
    answer, _ = ask(server.url)
    assert answer.reading.kv_cache_usage == {"m": 0.5}


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("gzip", b"not gzip"), ("gzip", gzip.compress(PAGE)[:-9]), ("br", PAGE), ("gzip", b"")],
    ids=["not gzip", "cut", "brotli", "nothing"],
)
def test_broken_or_unknown_compression_is_invalid(stand_in, helpers, encoding, body):
    server = stand_in(
        helpers.always(helpers.answer(body, "200 OK", f"Content-Encoding: {encoding}"))
    )
    assert failure(server.url).state is State.INVALID


def test_body_that_breaks_off_is_invalid(stand_in, helpers):
    def half(connection):
        helpers.request_head(connection)
        connection.sendall(helpers.answer(PAGE)[:-20])

    found = failure(stand_in(half).url)
    assert found.state is State.INVALID
    assert "breaks off" in found.message


@pytest.mark.parametrize(
    "reply",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"\0" * 1000,
    ],
    ids=["ssh", "status", "headers", "header", "chunk", "half chunk", "zeros"],
)
def test_what_is_no_http_is_invalid(stand_in, helpers, reply):
    def behave(connection):
        helpers.request_head(connection)
        connection.sendall(reply)

    assert failure(stand_in(behave).url).state is State.INVALID


def test_proxy_variables_are_not_followed(stand_in, helpers, monkeypatch):
    proxy = stand_in(helpers.always(helpers.answer(b"", "502 Bad Gateway")))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    server = stand_in(helpers.always(helpers.answer(PAGE)))
    assert ask(server.url)[0].reading
    assert proxy.connections == 0


def test_text_and_openmetrics_are_asked_for_and_secrets_are_sent(stand_in, helpers, tmp_path):
    heads = []

    def keep(connection):
        heads.append(helpers.request_head(connection))
        connection.sendall(helpers.answer(PAGE))

    server = stand_in(keep)
    token = tmp_path / "token"
    token.write_text("first\n")
    fetch = HTTPFetcher(
        Server("s", server.url, headers=(("X-Scope-OrgID", "chat"),), bearer_token_file=token)
    )
    fetch(1.0)
    token.write_text("second\n")
    fetch.close()
    fetch(1.0)
    fetch = HTTPFetcher(Server("s", server.url.replace("//", "//us%40er:pa%3Ass@") + "/vllm?a=b"))
    fetch(1.0)
    assert b"GET /metrics HTTP/1.1" in heads[0]
    assert b"Accept: text/plain;version=0.0.4, application/openmetrics-text" in heads[0]
    assert b"X-Scope-OrgID: chat" in heads[0]
    assert b"Authorization: Bearer first\r\n" in heads[0]
    assert b"Authorization: Bearer second\r\n" in heads[1]
    assert b"GET /vllm/metrics?a=b HTTP/1.1" in heads[2]
    assert b"Authorization: Basic dXNAZXI6cGE6c3M=\r\n" in heads[2]  # us@er:pa:ss


def test_missing_token_file_is_unauthorized_and_names_the_file(stand_in, helpers, tmp_path):
    server = stand_in(helpers.always(helpers.answer(PAGE)))
    found = failure(server.url, bearer_token_file=tmp_path / "token")
    assert found.state is State.UNAUTHORIZED
    assert str(tmp_path / "token") in found.message


def test_password_of_the_url_is_in_no_message(stand_in, helpers):
    server = stand_in(helpers.always(helpers.answer(b"", "500 Oops")))
    found = failure(server.url.replace("//", "//user:hunter2@"))
    assert "hunter2" not in found.message


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h:8000", "http://h:8000/metrics"),
        ("http://h:8000/", "http://h:8000/metrics"),
        ("http://h:8000/metrics", "http://h:8000/metrics"),
        ("http://h:8000/vllm", "http://h:8000/vllm/metrics"),
        ("http://h:8000/metrics/?x=1", "http://h:8000/metrics?x=1"),
    ],
)
def test_url_of_the_page(base, url):
    assert metrics_url(base) == url


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "1", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"),
        ],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "RANDFILE": str(folder / "rnd")},
    )
    return folder / "cert.pem", folder / "key.pem"


def _over_tls(certificate, behave):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    def wrapped(connection):
        with context.wrap_socket(connection, server_side=True) as secure:
            behave(secure)

    return wrapped


def test_tls_with_the_servers_own_ca(stand_in, helpers, certificate):
    server = stand_in(_over_tls(certificate, helpers.always(helpers.answer(PAGE))))
    url = f"https://localhost:{server.port}"
    fetch = HTTPFetcher(Server("s", url, ca_file=certificate[0]))
    assert fetch(2.0).content == PAGE
    assert fetch(2.0).content == PAGE
    assert server.connections == 1
    # Without it, or under another name, the certificate is not accepted, and that is said.
    for refused in (
        failure(url),
        failure(f"https://127.0.0.1:{server.port}", ca_file=certificate[0]),
    ):
        assert refused.state is State.UNREACHABLE
        assert "ca_file" in refused.message


def test_drip_over_tls_is_a_timeout(stand_in, helpers, certificate):
    def drip(connection):
        helpers.request_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X")
            time.sleep(0.02)

    server = stand_in(_over_tls(certificate, drip))
    url = f"https://localhost:{server.port}"
    assert failure(url, timeout=0.5, ca_file=certificate[0]).state is State.TIMEOUT


def test_plain_http_where_tls_was_expected_is_invalid(stand_in, helpers, certificate):
    server = stand_in(helpers.always(helpers.answer(PAGE)))
    url = f"https://localhost:{server.port}"
    assert failure(url, timeout=0.7, ca_file=certificate[0]).state in (State.INVALID, State.TIMEOUT)


def test_tls_handshake_that_never_ends_is_a_timeout(stand_in):
    server = stand_in(lambda connection: time.sleep(2))
    assert failure(f"https://localhost:{server.port}", timeout=0.4).state is State.TIMEOUT


def test_direct_call_raises_what_the_poller_reports(stand_in, helpers):
    server = stand_in(helpers.always(helpers.answer(b"", "500 Oops")))
    with pytest.raises(UpstreamError, match="HTTP 500"):
        HTTPFetcher(Server("s", server.url))(1.0)
