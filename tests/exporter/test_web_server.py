"""The HTTP server on real sockets: formats of requests, floods, slow clients, TLS, logins."""

import contextlib
import errno
import gzip
import shutil
import socket
import ssl
import struct
import threading
import time
from pathlib import Path

import bcrypt
import pytest
import requests

from exporter import web_server
from exporter.addresses import ListenAddress
from exporter.web import Application, Response, Route, plain
from exporter.web_config import WebConfigFile
from exporter.web_connections import MAX_CONNECTIONS
from exporter.web_server import WebServer, listen

CERTIFICATES = Path(__file__).parent / "certificates"
CA = str(CERTIFICATES / "ca.pem")
HASH = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()


class Serving:
    """A server with a quick page, a slow one and a long one."""

    def __init__(self, max_requests=40, config=None, scheme="http"):
        self.gate = threading.Event()
        self.slow_calls = 0
        self.long = b"x" * (16 * 1024 * 1024)
        routes = {
            "/metrics": Route(lambda _: plain(200, "page"), blocking=True),
            "/slow": Route(self._slow, blocking=True),
            "/long": Route(lambda _: Response(200, self.long), blocking=True),
            "/broken": Route(self._broken),
            "/query": Route(lambda request: plain(200, str(dict(request.query)))),
        }
        sockets = listen(ListenAddress("127.0.0.1", 0))
        self.port = sockets[0].getsockname()[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.server = WebServer(Application(routes), sockets, max_requests, config)
        self.server.start()

    def _slow(self, _):
        self.slow_calls += 1
        self.gate.wait(20)
        return plain(200, "slow")

    def _broken(self, _):
        raise KeyError("secret detail")

    def get(self, path="/metrics", **options):
        return requests.get(self.url + path, timeout=10, **options)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def raw(self, request):
        with self.connect() as connection:
            connection.sendall(request)
            connection.settimeout(10)
            received = b""
            with contextlib.suppress(TimeoutError, OSError):
                while chunk := connection.recv(65536):
                    received += chunk
            return received


@pytest.fixture
def serve():
    serving = []

    def start(**options):
        serving.append(Serving(**options))
        return serving[-1]

    yield start
    for server in serving:
        server.gate.set()
        server.server.stop()


@pytest.fixture
def config(tmp_path):
    for source in CERTIFICATES.glob("*.*"):
        shutil.copy(source, tmp_path)

    def write(text):
        path = tmp_path / "web.yml"
        path.write_text(text)
        return WebConfigFile(path)

    write.folder = tmp_path
    return write


def until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# --- requests ---


def test_get_and_head(serve):
    server = serve()
    response = server.get()
    assert (response.status_code, response.text) == (200, "page\n")
    head = requests.head(server.url + "/metrics", timeout=10)
    assert (head.status_code, head.text) == (200, "")
    assert head.headers["Content-Length"] == "5"
    assert server.raw(b"HEAD /metrics HTTP/1.1\r\nConnection: close\r\n\r\n").endswith(b"\r\n\r\n")


def test_connection_is_kept_between_requests(serve):
    server = serve()
    with server.connect() as connection:
        for _ in range(3):
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"200 OK" in connection.recv(65536)


def test_http_1_0_and_pipelined_requests(serve):
    server = serve()
    assert b"page" in server.raw(b"GET /metrics HTTP/1.0\r\n\r\n")
    twice = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert server.raw(twice + last).count(b"page") == 2


def test_query_reaches_the_page(serve):
    assert serve().get("/query?a=1&a=2&b=").text == "{'a': ['1', '2'], 'b': ['']}\n"


def test_unknown_path_is_404_and_post_405(serve):
    server = serve()
    assert server.get("/nope").status_code == 404
    response = requests.post(server.url + "/metrics", data=b"x" * 1000, timeout=10)
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


def test_page_that_fails_is_500_without_its_reason_and_one_line_of_log(serve, log_lines):
    server = serve()
    response = server.get("/broken")
    assert response.status_code == 500
    assert "secret detail" not in response.text
    assert server.get().status_code == 200
    assert len([line for line in log_lines if line["log_level"] == "error"]) == 1


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x00\xff\x16\x03\x01\r\n\r\n",
        b"GET /metrics HTTP/9.9\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    ],
    ids=lambda request: str(request[:40]),
)
def test_broken_request_is_refused_and_the_next_answered(serve, request_bytes, log_lines):
    server = serve()
    assert b"200 OK" not in server.raw(request_bytes)
    assert server.get().status_code == 200
    assert not [line for line in log_lines if line["log_level"] not in ("debug", "info")]


# --- many and slow clients ---


def threads_of(name):
    return [thread for thread in threading.enumerate() if thread.name.startswith(name)]


def scrape_seconds(server):
    began = time.monotonic()
    assert server.get().status_code == 200
    return time.monotonic() - began


def test_fifty_half_open_clients_cost_no_thread_and_hold_nobody_up(serve):
    server = serve()
    server.get()
    before = threading.active_count()
    idle = [server.connect() for _ in range(50)]
    assert max(scrape_seconds(server) for _ in range(10)) < 1.0
    assert threading.active_count() == before
    for connection in idle:
        connection.close()


def test_fifty_clients_that_drip_their_request_hold_nobody_up(serve):
    server = serve()
    server.get()
    before = threading.active_count()
    slow = [server.connect() for _ in range(50)]
    for byte in b"GET /metrics":
        for connection in slow:
            connection.sendall(bytes([byte]))
        assert scrape_seconds(server) < 1.0
    assert threading.active_count() == before
    for connection in slow:
        connection.close()


def test_clients_that_never_take_their_answer_hold_nobody_up(serve):
    server = serve(max_requests=4)
    slow = []
    for _ in range(10):
        connection = server.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        slow.append(connection)
    time.sleep(0.3)
    assert max(scrape_seconds(server) for _ in range(5)) < 1.0
    for connection in slow:
        connection.close()


def test_half_open_clients_are_closed_after_a_while(serve, monkeypatch):
    monkeypatch.setattr("exporter.web_connections._Phase.NEW._value_", 0.5)
    server = serve()
    with server.connect() as connection:
        connection.sendall(b"GET /met")
        began = time.monotonic()
        assert connection.recv(1024) == b""
        assert time.monotonic() - began < 5.0


def test_flood_of_connections_pushes_out_itself(serve):
    server = serve()
    flood = [server.connect() for _ in range(MAX_CONNECTIONS + 50)]
    assert server.get().status_code == 200
    flood[0].settimeout(5)
    assert flood[0].recv(10) == b""
    for connection in flood:
        connection.close()


def test_more_requests_than_allowed_are_503_and_health_is_answered_all_the_while(serve):
    server = serve(max_requests=3)
    results = []
    waiting = [
        threading.Thread(target=lambda: results.append(server.get("/slow").status_code))
        for _ in range(3)
    ]
    for thread in waiting:
        thread.start()
    until(lambda: server.slow_calls == 3)
    refused = server.get("/slow")
    assert refused.status_code == 503
    assert "--web.max-requests" in refused.text
    assert server.get("/").status_code == 200
    server.gate.set()
    for thread in waiting:
        thread.join(10)
    assert results == [200, 200, 200]
    assert server.get("/slow").status_code == 200


@pytest.mark.parametrize("how", ["close", "reset"])
def test_client_that_leaves_early_is_a_debug_line_at_most(serve, how, log_lines):
    server = serve()
    connection = server.connect()
    connection.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    until(lambda: server.slow_calls == 1)
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    time.sleep(0.1)
    server.gate.set()
    assert server.get().status_code == 200
    assert {line["log_level"] for line in log_lines} <= {"debug"}


@pytest.mark.parametrize("how", ["close", "reset"])
def test_client_that_leaves_during_its_answer_leaves_nothing_behind(serve, how, log_lines):
    server = serve()
    connection = server.connect()
    connection.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
    assert connection.recv(1000)  # more is still to come, and does not fit into any buffer
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    until(lambda: not server.server._answers)
    assert server.get().status_code == 200
    assert {line["log_level"] for line in log_lines} <= {"debug"}


def test_stop_is_quick_with_connections_open_and_work_under_way(serve):
    server = serve()
    idle = [server.connect() for _ in range(10)]
    busy = server.connect()
    busy.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    until(lambda: server.slow_calls == 1)
    began = time.monotonic()
    server.server.stop()
    assert time.monotonic() - began < 1.0
    with pytest.raises(OSError):  # noqa: PT011 - refused or reset
        server.connect().recv(1)
    for connection in (*idle, busy):
        connection.close()


# --- addresses ---


def test_every_address_is_served_by_ipv6_and_ipv4():
    [listening] = listen(ListenAddress("", 0))
    port = listening.getsockname()[1]
    with listening:
        socket.create_connection(("127.0.0.1", port), 5).close()
        socket.create_connection(("::1", port), 5).close()


def test_ipv6_that_is_off_leaves_ipv4(monkeypatch):
    real = socket.create_server

    def without_ipv6(address, *, family=socket.AF_INET, **options):
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return real(address, family=family, **options)

    monkeypatch.setattr(web_server.socket, "create_server", without_ipv6)
    [listening] = listen(ListenAddress("", 0))
    with listening:
        assert listening.family == socket.AF_INET
        socket.create_connection(("127.0.0.1", listening.getsockname()[1]), 5).close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_literal_addresses_and_names(host):
    [listening] = listen(ListenAddress(host, 0))
    with listening:
        socket.create_connection((host, listening.getsockname()[1]), 5).close()


def test_link_local_address_keeps_its_interface(monkeypatch):
    bound = []
    monkeypatch.setattr(
        web_server.socket, "create_server", lambda address, **_: bound.append(address)
    )
    listen(ListenAddress("fe80::1%lo", 18000))
    assert bound == [("fe80::1", 18000, 0, socket.if_nametoindex("lo"))]


def test_port_in_use_is_an_error_and_not_half_an_address():
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=False) as taken:
        with pytest.raises(OSError) as raised:  # noqa: PT011 - the number tells
            listen(ListenAddress("", taken.getsockname()[1]))
        assert raised.value.errno == errno.EADDRINUSE


# --- the web configuration ---

LOGIN = f"basic_auth_users:\n  prom: {HASH}\n"
TLS = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"


def test_login_is_asked_for_on_every_page(serve, config):
    server = serve(config=config(LOGIN))
    for path in ("/", "/metrics", "/nope"):
        refused = server.get(path)
        assert refused.status_code == 401
        assert refused.headers["WWW-Authenticate"].startswith("Basic realm=")
    for credentials in (("prom", "wrong"), ("nobody", "secret"), ("", "")):
        assert server.get(auth=credentials).status_code == 401
    assert server.get(auth=("prom", "secret")).status_code == 200


def test_second_login_is_quick_however_dear_the_hash(serve, config):
    dear = bcrypt.hashpw(b"secret", bcrypt.gensalt(11)).decode()
    server = serve(config=config(f"basic_auth_users:\n  prom: {dear}\n"))
    began = time.monotonic()
    assert server.get(auth=("prom", "secret")).status_code == 200
    first = time.monotonic() - began
    again = []
    for _ in range(5):
        began = time.monotonic()
        assert server.get(auth=("prom", "secret")).status_code == 200
        again.append(time.monotonic() - began)
    assert min(again) < first / 3


def test_guessing_does_not_hold_up_who_has_logged_in(serve, config):
    dear = bcrypt.hashpw(b"secret", bcrypt.gensalt(11)).decode()
    server = serve(config=config(f"basic_auth_users:\n  prom: {dear}\n"))
    assert server.get(auth=("prom", "secret")).status_code == 200
    statuses = []
    guessers = [
        threading.Thread(
            target=lambda n=n: statuses.append(server.get(auth=("prom", f"x{n}")).status_code)
        )
        for n in range(8)
    ]
    for thread in guessers:
        thread.start()
    began = time.monotonic()
    assert server.get(auth=("prom", "secret")).status_code == 200
    quick = time.monotonic() - began
    for thread in guessers:
        thread.join(30)
    total = time.monotonic() - began
    assert statuses == [401] * 8
    assert quick < total / 3


def test_login_is_read_again_when_the_file_changes(serve, config):
    server = serve(config=config(LOGIN))
    assert server.get(auth=("prom", "secret")).status_code == 200
    changed = bcrypt.hashpw(b"new", bcrypt.gensalt(4)).decode()
    (config.folder / "web.yml").write_text(f"basic_auth_users:\n  prom: {changed}\n")
    until(lambda: server.get(auth=("prom", "new")).status_code == 200)
    assert server.get(auth=("prom", "secret")).status_code == 401


def test_headers_are_on_every_answer(serve, config):
    server = serve(
        config=config("http_server_config: {headers: {X-Content-Type-Options: nosniff}}\n" + LOGIN)
    )
    for credentials, status in ((None, 401), (("prom", "secret"), 200)):
        response = server.get(auth=credentials)
        assert response.status_code == status
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_rate_limit_is_429(serve, config):
    server = serve(config=config("rate_limit: {interval: 1h, burst: 3}"))
    assert [server.get().status_code for _ in range(5)] == [200, 200, 200, 429, 429]


def test_tls(serve, config):
    server = serve(config=config(TLS), scheme="https")
    assert server.get(verify=CA).text == "page\n"
    with pytest.raises(requests.exceptions.SSLError):
        server.get()


def test_plain_http_to_a_tls_port_is_refused_and_tls_goes_on(serve, config, log_lines):
    server = serve(config=config(TLS), scheme="https")
    assert b"200" not in server.raw(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    assert server.get(verify=CA).status_code == 200
    assert {line["log_level"] for line in log_lines} <= {"debug"}


def test_half_open_tls_handshakes_hold_nobody_up(serve, config):
    server = serve(config=config(TLS), scheme="https")
    idle = [server.connect() for _ in range(50)]
    idle[0].sendall(b"\x16\x03\x01")
    began = time.monotonic()
    assert server.get(verify=CA).status_code == 200
    assert time.monotonic() - began < 2.0
    for connection in idle:
        connection.close()


def handshake(server, **versions):
    context = ssl.create_default_context(cafile=CA)
    for name, value in versions.items():
        setattr(context, name, value)
    with (
        server.connect() as plain_socket,
        context.wrap_socket(plain_socket, server_hostname="127.0.0.1") as wrapped,
    ):
        return wrapped.version(), wrapped.cipher()[0], wrapped.getpeercert()["serialNumber"]


def test_tls_versions_and_ciphers(serve, config):
    suites = "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256]\n"
    server = serve(config=config(TLS + suites + "  max_version: TLS12\n"), scheme="https")
    assert handshake(server)[:2] == ("TLSv1.2", "ECDHE-ECDSA-CHACHA20-POLY1305")
    server = serve(config=config(TLS + "  min_version: TLS13\n"), scheme="https")
    assert handshake(server)[0] == "TLSv1.3"
    with pytest.raises(OSError):  # noqa: PT011 - an alert, or a reset
        handshake(server, maximum_version=ssl.TLSVersion.TLSv1_2)


def test_new_certificate_is_used_without_a_restart(serve, config):
    server = serve(config=config(TLS), scheme="https")
    before = handshake(server)[2]
    for kind in ("pem", "key"):
        shutil.copy(config.folder / f"server-new.{kind}", config.folder / f"server.{kind}")
    until(lambda: handshake(server)[2] != before)


CLIENTS = TLS + "  client_auth_type: {}\n  client_ca_file: ca.pem\n"


@pytest.mark.parametrize(
    ("policy", "client", "served"),
    [
        ("RequireAndVerifyClientCert", "client", True),
        ("RequireAndVerifyClientCert", "stranger", False),
        ("RequireAndVerifyClientCert", None, False),
        ("VerifyClientCertIfGiven", "client", True),
        ("VerifyClientCertIfGiven", "stranger", False),
        ("VerifyClientCertIfGiven", None, True),
    ],
)
def test_client_certificates(serve, config, policy, client, served):
    server = serve(config=config(CLIENTS.format(policy)), scheme="https")
    assert _served(server, client) is served


@pytest.mark.parametrize(("client", "served"), [("client", True), ("client-other", False)])
def test_client_certificate_must_have_an_allowed_name(serve, config, client, served):
    text = CLIENTS.format("RequireAndVerifyClientCert")
    server = serve(
        config=config(text + "  client_allowed_sans: [prometheus.test]\n"), scheme="https"
    )
    assert _served(server, client) is served


def _served(server, client):
    pair = client and tuple(str(CERTIFICATES / f"{client}.{kind}") for kind in ("pem", "key"))
    try:
        return server.get(verify=CA, cert=pair).status_code == 200
    except requests.exceptions.ConnectionError:
        return False


def test_gzip_passes_through_untouched(serve):
    server = serve()
    server.long = gzip.compress(b"x" * 1000)
    assert server.raw(
        b"GET /long HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    ).endswith(server.long)
