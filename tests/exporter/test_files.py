"""What stands where a file is meant: it must neither hold the reader up nor fill the memory."""

import os
import socket
import stat
from pathlib import Path

import pytest

from exporter.config import load
from exporter.fetcher import HTTPFetcher
from exporter.files import read_file
from exporter.gpu import GPUError
from exporter.gpu.simulated import SimulatedBackend
from exporter.options import Server
from exporter.upstream import State, UpstreamError
from exporter.web_config import WebConfigError
from exporter.web_config import load as load_web
from exporter.yaml_document import DocumentError

pytestmark = pytest.mark.timeout(20)


def fifo(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def directory(path):
    path.mkdir()


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


def large(path):
    path.touch()
    os.truncate(path, (8 << 20) + 1)


KINDS = {
    fifo: "not a regular file",
    device: "not a regular file",
    directory: "Is a directory",
    unix_socket: "No such device",
    large: "has more than",
}


def test_file_of_the_kernel_that_has_no_news_is_refused(tmp_path, monkeypatch):
    """Of /proc/kmsg, which only root may open: a pipe that passes for a regular file."""
    os.mkfifo(tmp_path / "silent")
    writer = os.open(tmp_path / "silent", os.O_RDWR)
    monkeypatch.setattr(stat, "S_ISREG", lambda mode: True)
    with pytest.raises(OSError, match="gives nothing to read"):
        read_file(tmp_path / "silent")
    os.close(writer)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def wrong(request, tmp_path):
    """A path at which there is no file to read, and what is to be said of it."""
    path = tmp_path / "wrong"
    request.param(path)
    return path, KINDS[request.param]


def test_only_regular_files_of_bounded_size_are_read(wrong, tmp_path):
    path, says = wrong
    with pytest.raises(OSError, match=says):
        read_file(path)
    (tmp_path / "file").write_bytes(b"x" * (1 << 20))
    (tmp_path / "link").symlink_to("file")
    assert len(read_file(tmp_path / "link")) == 1 << 20


def test_descriptors_are_closed_again(wrong):
    path, says = wrong
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(10):
        with pytest.raises(OSError, match=says):
            read_file(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def one_line(error, path, says):
    message = str(error.value)
    assert "\n" not in message
    assert str(path) in message
    assert says in message


def test_simulated_gpus(wrong):
    path, says = wrong
    with pytest.raises(GPUError) as caught:
        SimulatedBackend(path).read()
    one_line(caught, path, says)


def test_configuration(wrong):
    path, says = wrong
    with pytest.raises(DocumentError) as caught:
        load(path, (), 5.0)
    one_line(caught, path, says)


@pytest.mark.parametrize("key", ["bearer_token_file", "ca_file"])
def test_file_that_the_configuration_names(wrong, tmp_path, key):
    path, says = wrong
    config = tmp_path / "config.yml"
    config.write_text(f"servers: [{{url: 'http://h', {key}: wrong}}]")
    with pytest.raises(DocumentError) as caught:
        load(config, (), 5.0)
    one_line(caught, path, says)


@pytest.mark.parametrize("key", ["cert_file", "key_file", "client_ca_file"])
def test_file_that_the_web_configuration_names(wrong, tmp_path, helpers, key):
    path, says = wrong
    names = {"cert_file": "server.pem", "key_file": "server.key", "client_ca_file": "ca.pem"}
    files = {name: helpers.CERTIFICATES / file for name, file in names.items()} | {key: path}
    config = tmp_path / "web.yml"
    lines = [f"  {name}: {file}\n" for name, file in files.items()]
    auth = "  client_auth_type: RequireAndVerifyClientCert\n"
    config.write_text(f"tls_server_config:\n{auth}{''.join(lines)}")
    with pytest.raises(WebConfigError) as caught:
        load_web(config)
    one_line(caught, path, says)


def test_token_that_is_no_file_any_more(wrong):
    path, says = wrong
    fetch = HTTPFetcher(Server("s", "http://127.0.0.1:9", bearer_token_file=path))
    with pytest.raises(UpstreamError) as caught:
        fetch(5.0)
    assert caught.value.state is State.UNAUTHORIZED
    one_line(caught, path, says)


def test_authority_that_is_no_file_any_more(wrong):
    path, says = wrong
    with pytest.raises(OSError, match=says):
        HTTPFetcher(Server("s", "https://127.0.0.1:9", ca_file=path))


@pytest.mark.parametrize("token", [b"", b" \n", b"a\nb", b"\xff", b"a\0b"])
def test_token_that_cannot_be_sent(tmp_path, token):
    path = tmp_path / "token"
    path.write_bytes(token)
    fetch = HTTPFetcher(Server("s", "http://127.0.0.1:9", bearer_token_file=path))
    with pytest.raises(UpstreamError, match="one line") as caught:
        fetch(5.0)
    assert caught.value.state is State.UNAUTHORIZED
