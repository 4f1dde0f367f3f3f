"""Who may have a page: basic authentication and the rate limit of the web configuration."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import os
import time
from collections import OrderedDict
from collections.abc import Callable

import bcrypt

from exporter.web import Request, Response, plain
from exporter.web_config import RateLimit, Users, WebConfig
from exporter.workers import SaturatedError, Workers

WAITING_LOGINS = 32
"""Logins that may wait for their turn; each takes as long as the operator's bcrypt cost says."""

_REMEMBERED = 128
_BCRYPT_BYTES = 72  # what bcrypt looks at of a password

_REALM = (("WWW-Authenticate", 'Basic realm="vllm-exporter", charset="UTF-8"'),)


class Access:
    """Decides on requests; remembers good logins, and when requests came."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Take a clock in seconds."""
        self._logins = Logins()
        # One at a time: bcrypt is slow on purpose, and guessers must not get all of the CPUs.
        self._worker = Workers("login", threads=1, waiting=WAITING_LOGINS)
        self._bucket = TokenBucket(monotonic)

    async def refusal(self, request: Request, config: WebConfig | None) -> Response | None:
        """Return the answer to a request that may not have a page, None if it may."""
        if config is None:
            return None
        if config.rate_limit and not self._bucket.take(config.rate_limit):
            return plain(429, "Too many requests: see rate_limit in the web configuration.")
        try:
            known = not config.users or await self._login(request, config.users)
        except SaturatedError:
            return plain(503, "Too many logins at once.")
        return None if known else Response(401, b"Unauthorized.\n", headers=_REALM)

    async def _login(self, request: Request, users: Users) -> bool:
        credentials = parse_basic(request.headers.get("authorization", ""))
        if credentials is None:
            return False
        if self._logins.remembers(users, *credentials):
            return True
        check = self._worker.submit(lambda: self._logins.check(users, *credentials))
        return await asyncio.wrap_future(check)


class Logins:
    """Checks passwords and remembers the good ones, by a keyed digest and never in clear."""

    def __init__(self) -> None:
        """Make a key that lives as long as the process."""
        self._key = os.urandom(32)
        self._good: OrderedDict[bytes, None] = OrderedDict()

    def remembers(self, users: Users, name: str, password: bytes) -> bool:
        """Tell whether this login was found good before, against the same hash."""
        return self._digest(users.get(name, b""), name, password) in self._good

    def check(self, users: Users, name: str, password: bytes) -> bool:
        """Tell whether ``password`` is that of ``name``.

        An unknown name costs the same as a known one, so that the time does not tell which
        names there are.
        """
        known = users.get(name)
        expected = known or max(users.values(), key=_cost)
        good = bcrypt.checkpw(password[:_BCRYPT_BYTES], expected) and known is not None
        if good:
            self._good[self._digest(expected, name, password)] = None
            while len(self._good) > _REMEMBERED:
                self._good.popitem(last=False)
        return good

    def _digest(self, hashed: bytes, name: str, password: bytes) -> bytes:
        message = b"\0".join((hashed, name.encode(), password))
        return hmac.digest(self._key, message, hashlib.sha256)


class TokenBucket:
    """So many requests at once, and then one an interval."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Begin full."""
        self._monotonic = monotonic
        self._spent = 0.0
        self._at = monotonic()

    def take(self, limit: RateLimit) -> bool:
        """Take one token, if there is one."""
        now = self._monotonic()
        self._spent = max(0.0, self._spent - (now - self._at) / limit.interval_seconds)
        self._at = now
        if self._spent + 1 > limit.burst:
            return False
        self._spent += 1
        return True


def parse_basic(header: str) -> tuple[str, bytes] | None:
    """Return name and password of an Authorization header (RFC 7617), None if it has none."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        return (name.decode(), password) if colon and b"\0" not in password else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _cost(hashed: bytes) -> int:
    return int(hashed[4:6])
