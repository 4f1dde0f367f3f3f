"""What each robot wants and how it says no.

Sources: the vendors' documentation of custom group robots. Signatures are HMAC-SHA256 over time
and secret, in each vendor's own order.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

Message = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """What is posted to the robot."""

    url: str
    message: Message


@dataclass(frozen=True)
class Verdict:
    """What a robot's answer means.

    Attributes:
        delivered: Whether the message is in the group.
        final: Whether sending it again is in vain, as with a wrong secret.
        reason: The robot's code and words.
    """

    delivered: bool
    final: bool
    reason: str


@dataclass(frozen=True)
class Robot:
    """One vendor's robot.

    Attributes:
        name: Also its path at the relay and the beginning of its secrets' file names.
        sign: Returns the signed request; None: the vendor has no signatures.
        code: Keys under which an answer has its error code, 0 for none.
        words: Keys under which it has the error's text.
        final: Codes of errors that another try does not mend.
        text: Path of keys to the message's text.
        most_bytes: The longest text that it takes, in UTF-8.
    """

    name: str
    sign: Callable[[Request, str, float], Request] | None
    code: tuple[str, ...]
    words: tuple[str, ...]
    final: frozenset[int]
    text: tuple[str | int, ...]
    most_bytes: int

    def judge(self, answer: Any) -> Verdict:
        """Return what the body of an answer with status 200 means."""
        if not isinstance(answer, dict):
            return Verdict(False, False, "the answer is not a JSON object")
        code = next((answer[key] for key in self.code if key in answer), None)
        words = next((str(answer[key]) for key in self.words if answer.get(key)), "")
        if code == 0 and not isinstance(code, bool):
            return Verdict(True, True, "")
        final = isinstance(code, int) and code in self.final
        return Verdict(False, final, f"error {code}: {words}".strip(": "))

    def cut(self, message: Message) -> Message:
        """Shorten a text in ``message`` that the robot would refuse."""
        place: Any = message
        for key in self.text[:-1]:
            place = place[key]
        text = place[self.text[-1]]
        encoded = text.encode()
        if len(encoded) > self.most_bytes:
            place[self.text[-1]] = encoded[: self.most_bytes - 3].decode(errors="ignore") + "…"
        return message


def _digest(key: str, message: str) -> str:
    return base64.b64encode(hmac.digest(key.encode(), message.encode(), hashlib.sha256)).decode()


def sign_dingtalk(request: Request, secret: str, now: float) -> Request:
    """Sign with milliseconds, in the URL."""
    time = str(round(now * 1000))
    sign = quote_plus(_digest(secret, f"{time}\n{secret}"))
    joint = "&" if "?" in request.url else "?"
    return Request(f"{request.url}{joint}timestamp={time}&sign={sign}", request.message)


def sign_feishu(request: Request, secret: str, now: float) -> Request:
    """Sign with seconds, in the message; the text to sign is the key, of an empty message."""
    time = str(int(now))
    sign = _digest(f"{time}\n{secret}", "")
    return Request(request.url, {"timestamp": time, "sign": sign, **request.message})


ROBOTS = {
    robot.name: robot
    for robot in (
        Robot(
            "dingtalk",
            sign_dingtalk,
            code=("errcode",),
            words=("errmsg",),
            # No such token; keyword, signature or address refused; malformed.
            final=frozenset({300001, 300005, 310000, 40035, 400013, 400101, 400102, 400105}),
            text=("markdown", "text"),
            most_bytes=18_000,
        ),
        Robot(
            "feishu",
            sign_feishu,
            code=("code", "StatusCode"),
            words=("msg", "StatusMessage"),
            # No such robot; signature, address or keyword refused; malformed.
            final=frozenset({19001, 19002, 19021, 19022, 19024, 9499, 10208}),
            text=("card", "elements", 0, "content"),
            most_bytes=18_000,
        ),
        Robot(
            "wecom",
            None,
            code=("errcode",),
            words=("errmsg",),
            # No such robot; malformed; text too long.
            final=frozenset({93000, 93004, 40008, 40058, 44004, 45002}),
            text=("markdown", "content"),
            most_bytes=4096,
        ),
    )
}
