"""What is fuzzed, what it starts from, and what must hold whatever comes in.

A page must end in families whose values are in range and whose text can be read back, or in an
`UpstreamError`; a file in a configuration or in an error of one line.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from exporter import config, web_config
from exporter.collectors import Snapshot
from exporter.collectors.server_families import Observation, families
from exporter.history import ServerHistory
from exporter.options import Server
from exporter.polling import read
from exporter.upstream import Body, State, UpstreamError
from exporter.web_config import WebConfigError
from exporter.yaml_document import DocumentError

TESTS = Path(__file__).parents[1]
CERTIFICATES = TESTS / "exporter" / "certificates"

CONTENT_TYPES = ("text/plain; version=0.0.4", "application/openmetrics-text; version=1.0.0", "")
WANTED = (b"cache", b"sleep")
SHARES = ("_hit_rate", "_limit", "cache_usage", "_up")

PAGE_TOKENS = (
    *(b"vllm:", b"ray_vllm_", b"_total", b"{", b"}", b'"', b"\\", b"\\n", b",", b"=", b" ", b"\n"),
    *(b"NaN", b"+Inf", b"-1", b"1e400", b"0x1", b"1_0", b"# EOF", b" # {", b"\xff", b"\x00", b"\r"),
    *(b"engine", b"model_name", b"\xc3\xbc", b"9" * 40, b"#", b"\t"),
)
YAML_TOKENS = (
    *(b"- ", b": ", b"\n  ", b"[", b"]", b"{", b"}", b"&a ", b"*a", b"!!python/object:x ", b"null"),
    *(b"true", b"1", b"'", b'"', b"|", b">", b"?", b"%", b"\t", b"\x00", b"\xff", b"\xc3\xbc"),
    *(b"~", b"<<", b"!!binary ", b"2001-01-01", b".inf", b"1e999", b"0x1F", b"---\n"),
)
CONFIG_TOKENS = (
    *(b"servers", b"probe", b"allow", b"url", b"gpus", b"headers", b"timeout", b"ca_file"),
    *(b"bearer_token_file", b"http://", b"5s", b"1h30m"),
)
WEB_TOKENS = (
    *(b"tls_server_config", b"cert_file", b"key_file", b"client_auth_type", b"client_ca_file"),
    *(b"min_version", b"TLS12", b"cipher_suites", b"curve_preferences", b"http_server_config"),
    *(b"headers", b"basic_auth_users", b"rate_limit", b"interval", b"burst", b"server.pem"),
)
CONFIG = b"""servers:
  - name: chat
    url: http://10.0.0.5:8000
    headers: {X-Scope-OrgID: chat}
    timeout: 5s
    gpus: [0, GPU-1]
  - url: https://h/x?y=z
probe:
  allow: ["http://10.0.1.*:8000"]
  timeout: 1s
"""
WEB_CONFIG = b"""tls_server_config:
  cert_file: server.pem
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.pem
  client_allowed_sans: [prometheus.test]
  min_version: TLS12
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]
  curve_preferences: [CurveP256]
http_server_config:
  http2: false
  headers:
    X-Frame-Options: deny
"""
WEB_USERS = b"""basic_auth_users:
  alice: $2y$04$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze
rate_limit:
  interval: 1s
  burst: 20
"""


@dataclass(frozen=True)
class Target:
    """One thing that takes bytes from outside.

    Attributes:
        attempt: Raises if it does not cope with an input.
        seeds: Inputs to start from.
        tokens: Pieces that mean something to it.
    """

    attempt: Callable[[bytes], None]
    seeds: Sequence[bytes]
    tokens: Sequence[bytes]


def try_page(body: bytes) -> None:
    """Raise AssertionError or what the exporter raises, if it does not cope with ``body``."""
    history = ServerHistory(300.0)
    for moment in (1000.0, 1030.0):
        try:
            reading = read(Body(body, CONTENT_TYPES[len(body) % len(CONTENT_TYPES)]))
        except UpstreamError as error:
            _check_line(error.message)
            return
        history.observe(reading, moment, 1.8e9 + moment)
    observation = Observation("s", State.OK, 0.01, reading, history)
    shown = generate_latest(Snapshot(families([observation]))).decode()
    seen = set()
    for family in text_string_to_metric_families(shown):
        for sample in family.samples:
            series = (sample.name, frozenset(sample.labels.items()))
            assert series not in seen, series
            seen.add(series)
            if sample.name.endswith(SHARES):
                assert 0 <= sample.value <= 1, series


def try_config(body: bytes) -> None:
    """The same for the configuration file."""
    _with_file(body, _load_config)


def try_web_config(body: bytes) -> None:
    """The same for the web configuration file, beside certificates that it may name."""
    _with_file(body, _load_web_config)


def _load_config(path: Path) -> None:
    try:
        config.load(path, (Server("d", "http://d"),), 5.0)
    except DocumentError as error:
        _check_line(str(error))


def _load_web_config(path: Path) -> None:
    try:
        web_config.load(path)
    except WebConfigError as error:
        _check_line(str(error))


def _with_file(body: bytes, load: Callable[[Path], None]) -> None:
    path = Path(_FOLDER.name) / f"{os.getpid()}.yml"
    path.write_bytes(body)
    load(path)


def _check_line(message: str) -> None:
    assert message, "an error says nothing"
    assert "\n" not in message, message


def _certificate_folder() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="fuzz-")
    for source in CERTIFICATES.glob("*.*"):
        (Path(folder.name) / source.name).write_bytes(source.read_bytes())
    return folder


def _pages() -> list[bytes]:
    """Return the pages that the tests have, without most of the lines that nobody reads."""
    paths = [*TESTS.glob("recordings/*/*.txt"), *TESTS.glob("exporter/pages/*.txt")]
    return [
        b"".join(
            line
            for line in path.read_bytes().splitlines(keepends=True)
            if any(word in line for word in WANTED) or not line.startswith((b"#", b"vllm", b"py"))
        )
        for path in sorted(paths)
    ]


_FOLDER = _certificate_folder()

TARGETS: dict[str, Target] = {
    "page": Target(try_page, _pages(), PAGE_TOKENS),
    "config": Target(try_config, [CONFIG], (*YAML_TOKENS, *CONFIG_TOKENS)),
    "web-config": Target(
        try_web_config,
        [WEB_CONFIG, WEB_USERS, WEB_CONFIG + WEB_USERS],
        (*YAML_TOKENS, *WEB_TOKENS),
    ),
}
