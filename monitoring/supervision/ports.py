"""Ports that are in use, and by whom."""

from __future__ import annotations

import socket

import psutil

from monitoring.supervision.component import Component
from monitoring.supervision.errors import ChainError


def check(component: Component) -> None:
    """Raise ChainError if the component's port is taken, saying by whom and what to change."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # As the programs do it themselves: connections that are winding down do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((component.host, component.port))
    except OSError as error:
        holder = _holder(component.port)
        reason = f"in use by {holder}" if holder else (error.strerror or str(error)).lower()
        raise ChainError(
            f"{component.name}: port {component.port} cannot be had ({reason}); stop what uses "
            f"it, or choose another with {component.port_flag}"
        ) from None


def _holder(port: int) -> str | None:
    """Return name and ID of the process that listens on a port, where that may be known."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return None
    for connection in connections:
        if connection.status != psutil.CONN_LISTEN or not connection.laddr:
            continue
        if connection.laddr.port == port and connection.pid:
            try:
                return f"{psutil.Process(connection.pid).name()}, pid {connection.pid}"
            except psutil.Error:
                return f"pid {connection.pid}"
    return None
