import textwrap
from pathlib import Path

import pytest

from exporter.config import load
from exporter.options import Server
from exporter.yaml_document import DocumentError

LOGIN = "    headers:\n      authorization: hunter2"
FALLBACK = (Server("default", "http://127.0.0.1:8000"),)


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "token").write_text("secret-token")
        (tmp_path / "empty.pem").write_text("")
        path = tmp_path / "config.yml"
        path.write_text(textwrap.dedent(text))
        return load(path, FALLBACK, 5.0)

    return read


def test_everything_that_a_server_can_have(read, tmp_path):
    first, second = read(
        """
        servers:
          - name: chat
            url: http://10.0.0.5:8000/
            headers: {X-Scope-OrgID: chat}
            bearer_token_file: token
            timeout: 2s
            gpus: [GPU-0, GPU-1]
          - url: https://h
            gpus: "0,1"
        """
    ).servers
    assert first == Server(
        name="chat",
        url="http://10.0.0.5:8000",
        headers=(("X-Scope-OrgID", "chat"),),
        bearer_token_file=tmp_path / "token",
        timeout_seconds=2.0,
        gpus="GPU-0,GPU-1",
    )
    assert second == Server(name="h:443", url="https://h", timeout_seconds=5.0, gpus="0,1")


def test_secrets_are_not_shown_with_the_server(read):
    (server,) = read(
        "servers: [{url: 'http://h', headers: {Authorization: Bearer hunter2}}]"
    ).servers
    assert "hunter2" not in repr(server)


def test_without_the_key_the_flags_servers_stay_and_an_empty_list_is_none(read):
    assert read("servers:").servers == FALLBACK
    assert read("probe: {allow: ['http://h']}").servers == FALLBACK
    assert read("servers: []").servers == ()


def test_probe(read, tmp_path):
    policy = read(
        """
        servers: []
        probe:
          allow: ["http://10.0.1.*:8000/"]
          bearer_token_file: token
          timeout: 1s
        """
    ).probe
    assert policy.allow == ("http://10.0.1.*:8000",)
    assert policy.template.bearer_token_file == tmp_path / "token"
    assert policy.template.timeout_seconds == 1.0
    assert read("servers: []").probe is None


@pytest.mark.parametrize(
    ("text", "line", "key", "problem"),
    [
        ("servers:\n  - url: http://h\n    urll: x", 3, "servers.0.urll", "known"),
        ("server: []", 1, "server", "known"),
        ("servers: 5", 1, "servers", "list"),
        ("servers: {url: http://h}", 1, "servers", "list"),
        ("servers:\n  - 5", 2, "servers.0", "mapping"),
        ("servers:\n  - name: a", 2, "servers.0", "url"),
        ("servers:\n  - name: a\n    url: ftp://h", 3, "servers.0.url", "URL"),
        ("servers:\n  - url: [1]", 2, "servers.0.url", "text"),
        ("servers:\n  - url: http://h\n    name: ''", 3, "servers.0.name", "name"),
        ("servers:\n  - url: http://h\n  - url: http://h", 3, "servers.1", "h:80"),
        ("servers:\n  - url: http://h\n    timeout: 5", 3, "servers.0.timeout", "duration"),
        ("servers:\n  - url: http://h\n    timeout: 0s", 3, "servers.0.timeout", "no time"),
        ("servers:\n  - url: http://h\n    gpus: {a: 1}", 3, "servers.0.gpus", "indices"),
        ("servers:\n  - url: http://h\n    gpus: true", 3, "servers.0.gpus", "indices"),
        ("servers:\n  - url: http://h\n    gpus: 'x,,;'", 3, "servers.0.gpus", "'x' in"),
        ("servers:\n  - url: http://h\n    gpus: [0, 0]", 3, "servers.0.gpus", "twice"),
        ("servers:\n  - url: http://h\n    gpus: [0, GPU-1]", 3, "servers.0.gpus", "mixes"),
        ("servers:\n  - url: http://h\n    gpus: ['']", 3, "servers.0.gpus", "indices"),
        ("servers:\n  - url: http://h/#x", 2, "servers.0.url", "after #"),
        ("servers: [" + "{url: http://h}," * 1025 + "]", 1, "servers", "1024 at most"),
        ("servers:\n  - url: http://h\n    ca_file: gone", 3, "servers.0.ca_file", "No such file"),
        (
            "servers:\n  - url: http://h\n    ca_file: empty.pem",
            3,
            "servers.0.ca_file",
            "certificate",
        ),
        (
            "servers:\n  - url: http://h\n    bearer_token_file: gone",
            3,
            "bearer_token_file",
            "read",
        ),
        (
            f"servers:\n  - url: http://h\n    bearer_token_file: token\n{LOGIN}",
            3,
            "bearer_token_file",
            "one",
        ),
        ("servers:\n  - url: http://h\n    headers: [a]", 3, "servers.0.headers", "mapping"),
        ("servers:\n  - url: http://h\n    headers:\n      a b: c", 4, "headers.a b", "name"),
        ("servers:\n  - url: http://h\n    headers:\n      Host: c", 4, "headers.Host", "name"),
        ('servers:\n  - url: http://h\n    headers:\n      A: "b\\nc"', 4, "headers.A", "one line"),
        (
            "servers:\n  - url: http://h\n    headers:\n      A: b\n      a: c",
            5,
            "servers.0.headers.a",
            "twice",
        ),
        (f"servers:\n  - url: http://u@h\n{LOGIN}", 2, "servers.0.url", "give one"),
        ("servers:\n  - url: http://u@h\n    bearer_token_file: token", 2, "url", "give one"),
        ("servers:\n  - url: http://h\n    name: ' '", 3, "servers.0.name", "no name"),
        ("servers:\n  - url: http://h\n    name: 'a '", 3, "servers.0.name", "no name"),
        ('servers:\n  - url: http://h\n    ca_file: "a\\0b"', 3, "servers.0.ca_file", "NUL"),
        ('servers:\n  - url: http://h\n    "a\\nb": c', 3, "servers.0.a\ufffdb", "known"),
        ('"a\\nb": c\n"a\\nb": c', 2, "a\ufffdb", "twice"),
        ("", 1, "", "neither servers nor probe"),
        ("# written anew", 1, "", "neither servers nor probe"),
        ("probe: {}", 1, "probe", "allow"),
        ("probe:\n  allow: http://h", 2, "probe.allow", "list"),
        ("probe:\n  allow:\n    - '*'", 3, "probe.allow.0", "URL"),
        ("probe:\n  allow:\n    - http://u:hunter2@h", 3, "probe.allow.0", "no login"),
        ("probe:\n  allow:\n    - http://h?a=b", 3, "probe.allow.0", "no query"),
        ("probe:\n  allow:\n    - http://h/*", 3, "probe.allow.0", "part of a host only"),
        ("probe:\n  allow:\n    - http://h#a", 3, "probe.allow.0", "after #"),
        ("probe:\n  allow: ['http://h']\n  module: x", 3, "probe.module", "known"),
        ("a: 1\na: 2", 2, "a", "twice"),
        ("servers: [", 2, "", ""),
        ("servers: &x []\nprobe: *x", 2, "", "alias"),
        ("- a", 1, "", "mapping"),
    ],
)
def test_wrong_file_is_refused_with_line_and_key(read, text, line, key, problem):
    with pytest.raises(DocumentError) as caught:
        read(text)
    message = str(caught.value)
    assert "\n" not in message
    assert f"line {line}:" in message or (line == 2 and "line 1:" in message and not key)
    assert key in message
    assert problem in message
    assert "hunter2" not in message


def test_password_of_a_url_is_not_in_the_error(read):
    with pytest.raises(DocumentError) as caught:
        read("servers: [{url: 'ftp://user:hunter2@h/?key=hunter2'}]")
    assert "hunter2" not in str(caught.value)


def test_file_that_cannot_be_read():
    with pytest.raises(DocumentError, match="No such file"):
        load(Path("/nonexistent/config.yml"), FALLBACK, 5.0)
