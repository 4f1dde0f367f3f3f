"""How many files and sockets the process may have open."""

from __future__ import annotations

import contextlib
import resource

ENOUGH = 8192
"""A thousand servers, a thousand targets of probes, clients, and much room."""

SHARE_OF_CLIENTS = 4
"""One part in so many is for clients; the others are for servers' pages and the exporter itself.
A server that accepts when nothing is left does nothing else any more."""


def raise_limit() -> int:
    """Raise the limit as far as it is needed and allowed, and return it.

    What a shell or a service manager sets is for programs that wait with select(2), which cannot
    have more than 1024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return ENOUGH
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft >= wanted:
        return soft
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
