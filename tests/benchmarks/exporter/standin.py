"""A stand-in for vLLM servers: recorded pages, each answer after a fixed time.

One process stands for any number of servers: every path that ends in ``/metrics`` is one. Being
recorded, its figures never move, so nothing but cost is measured with it.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

_END_OF_REQUEST = b"\r\n\r\n"


class PageProtocol(asyncio.Protocol):
    """One kept connection of HTTP/1.1."""

    def __init__(self, answer: bytes, delay_seconds: float) -> None:
        """Take the whole answer, headers included, and how long to wait before it."""
        self._answer = answer
        self._delay = delay_seconds
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; see `asyncio.Protocol`."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each complete request; see `asyncio.Protocol`."""
        self._buffer += data
        loop = asyncio.get_running_loop()
        while _END_OF_REQUEST in self._buffer:
            _, _, self._buffer = self._buffer.partition(_END_OF_REQUEST)
            if self._delay:
                loop.call_later(self._delay, self._write)
            else:
                self._write()

    def _write(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._answer)


async def serve(port: int, page: bytes, delay_seconds: float) -> None:
    """Serve ``page`` on 127.0.0.1 until cancelled."""
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(page), page)
    )
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: PageProtocol(answer, delay_seconds), "127.0.0.1", port, backlog=512
    )
    async with server:
        await server.serve_forever()


def main() -> None:
    """Serve as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.port, arguments.page.read_bytes(), arguments.delay))


if __name__ == "__main__":
    main()
