"""Reading the body of an HTTP answer, bounded in time and memory, compressed or not."""

from __future__ import annotations

import http.client
import zlib
from collections.abc import Callable

_CHUNK_BYTES = 64 * 1024
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


class BodyError(Exception):
    """The body is of no use. The message is one line that says why."""


def read_body(
    response: http.client.HTTPResponse, limit: int, remaining: Callable[[], float]
) -> bytes:
    """Return the body of ``response``, decompressed.

    Args:
        response: An answer of which only the head was read.
        limit: Largest size in bytes, before and after decompression.
        remaining: Gives the seconds left, and raises TimeoutError when there are none.

    Raises:
        BodyError: It is too large, compressed in an unknown or broken manner, or breaks off.
        TimeoutError: It was not there in time.
        OSError: The connection failed.
    """
    inflater = _inflater(response.getheader("Content-Encoding", ""))
    body = bytearray()
    # read1 returns whatever has arrived, so that a slow drip cannot outlive the deadline.
    while chunk := response.read1(_CHUNK_BYTES):
        remaining()
        # One byte more than allowed is enough to see that it is too much; the rest of what was
        # compressed to a thousandth stays so.
        body += chunk if inflater is None else _inflated(inflater, chunk, limit + 1 - len(body))
        if len(body) > limit:
            raise BodyError(f"the page has more than {limit // 1024**2} MiB: is this vLLM?")
    if response.length or (inflater is not None and not inflater.eof):
        raise BodyError("the page breaks off: vLLM or a proxy before it ended the connection")
    return bytes(body)


def _inflater(encoding: str) -> zlib._Decompress | None:
    coding = encoding.strip().lower()
    if coding in ("", "identity"):
        return None
    if coding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(_GZIP_OR_ZLIB)
    raise BodyError("a proxy compresses the page in a manner that was not asked for")


def _inflated(inflater: zlib._Decompress, chunk: bytes, most: int) -> bytes:
    try:
        return inflater.decompress(chunk, most)
    except zlib.error as error:
        raise BodyError("the page's compression is broken: see the proxy before vLLM") from error
