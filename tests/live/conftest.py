"""What the live tests share."""

import socket

import pytest

from monitoring.options import Ports


@pytest.fixture(scope="module")
def free_ports() -> Ports:
    """Return ports that are free, all held at once so that they differ."""
    probes = [socket.socket() for _ in Ports.__dataclass_fields__]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return Ports(*(probe.getsockname()[1] for probe in probes))
    finally:
        for probe in probes:
            probe.close()
