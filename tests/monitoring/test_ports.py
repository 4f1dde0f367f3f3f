"""Ports in use."""

import os
import socket

import pytest

from monitoring.supervision import ports
from monitoring.supervision.errors import ChainError


def test_a_taken_port_names_component_holder_and_flag(standin):
    component = standin("prometheus")
    with socket.socket() as holder:
        holder.bind((component.host, component.port))
        holder.listen()
        with pytest.raises(ChainError) as caught:
            ports.check(component)
    message = caught.value.message
    assert message.startswith(f"prometheus: port {component.port} cannot be had (in use by ")
    assert f"pid {os.getpid()}" in message
    assert message.endswith("choose another with --prometheus-port")


def test_a_free_port_is_none_of_its_business(standin):
    ports.check(standin("prometheus"))
