"""Examinations of the server itself: version, model, answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitoring.budget.fields import ArchitectureError, Fields, read_object
from monitoring.smoke.check import Check, failed, passed, warned
from monitoring.smoke.client import Client, RequestError

_NOT_FOUND = 404
_UNAUTHORIZED = (401, 403)
_SERVER_ERRORS = 500
_MOST_TOKENS = 1_000_000_000
_LOG = "See the server's log."
_ELSEWHERE = "Point the URL at vLLM itself: its root, such as http://127.0.0.1:8000."


def version(client: Client) -> Check:
    """Examine whether the server is there, and which it is."""
    try:
        found = client.get_object("/version").get("version")
    except RequestError as error:
        if error.status == _NOT_FOUND:
            return warned("version", "there is no /version: this is not vLLM", _ELSEWHERE)
        return failed("version", str(error), _remedy(error))
    if not isinstance(found, str) or not found:
        return warned("version", "/version tells none", _ELSEWHERE)
    return passed("version", f"vLLM {found}", version=found)


def model(client: Client, wanted: str | None) -> tuple[Check, dict[str, Any]]:
    """Examine which model is served; also return what the server says of it."""
    try:
        found = client.get_object("/v1/models").get("data")
    except RequestError as error:
        return failed("model", str(error), _remedy(error)), {}
    entries = [
        entry
        for entry in (found if isinstance(found, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]
    ]
    chosen = [entry for entry in entries if wanted in (None, entry["id"])]
    if not chosen:
        names = ", ".join(entry["id"] for entry in entries) or "none"
        what = f"{wanted} is not served; served: {names}" if wanted else "no model is served"
        return failed("model", what, "Give --model one of them." if entries else _ELSEWHERE), {}
    entry: dict[str, Any] = chosen[0]
    length = context_length(entry)
    context = f", {length} tokens of context" if length else ""
    return passed(
        "model", f"{entry['id']}{context}", model=entry["id"], max_model_len=length
    ), entry


def context_length(entry: dict[str, Any]) -> int | None:
    """Return the tokens of context that a model's entry tells; None where it tells none."""
    length = entry.get("max_model_len")
    believable = type(length) is int and 0 < length < _MOST_TOKENS
    return length if believable else None


def _remedy(error: RequestError) -> str:
    if error.absent:
        return "Start the server, or correct the URL."
    if error.status in _UNAUTHORIZED:
        return "Set OPENAI_API_KEY to a key that the server takes."
    return _LOG if error.late or error.status >= _SERVER_ERRORS else _ELSEWHERE


def architecture(entry: dict[str, Any]) -> Check:
    """Examine what the model is, from its files where they are on this machine."""
    root = str(entry.get("root") or "")
    if root.endswith(".gguf"):
        return passed("architecture", f"GGUF file {Path(root).name}", quantization="gguf")
    try:
        config = Fields(read_object(Path(root) / "config.json")) if root.startswith("/") else None
        names = config.texts("architectures") if config else []
        quantization = config.part("quantization_config") if config else None
    except ArchitectureError:
        config = None
    if config is None:
        return warned(
            "architecture",
            "not told by the API, and the model's config.json is not on this machine",
            "See the server's log (`architecture`, `quantization`).",
        )
    name = ", ".join(names) or "unknown"
    method = (quantization and quantization.text("quant_method")) or "none"
    return passed(
        "architecture", f"{name}, quantization {method}", architecture=name, quantization=method
    )


def completion(client: Client, name: str) -> Check:
    """Examine a completion."""
    try:
        answer = client.complete(name, "One, two, three,", tokens=8)
    except RequestError as error:
        return failed("completion", str(error), _LOG)
    if not answer.text:
        return warned(
            "completion", "an answer without text", "Try another prompt; see the sampling defaults."
        )
    return passed("completion", f"{len(answer.text)} characters in {answer.seconds:.2f} s")


def chat(client: Client, name: str) -> Check:
    """Examine a chat completion."""
    try:
        answer = client.chat(name, "Say a word.")
    except RequestError as error:
        if "chat template" in str(error).lower():
            return warned(
                "chat completion",
                "the model has no chat template",
                "Give vLLM one with --chat-template, or use completions only.",
            )
        return failed("chat completion", str(error), _LOG)
    if not answer.text:
        return warned(
            "chat completion", "an answer without text", "Look at the chat template's last turn."
        )
    return passed("chat completion", f"{len(answer.text)} characters in {answer.seconds:.2f} s")


def streaming(client: Client, name: str) -> Check:
    """Examine whether pieces come one by one."""
    try:
        stream = client.stream(name, "One, two, three,", tokens=8)
    except RequestError as error:
        return failed("streaming", str(error), _LOG)
    pieces = len(stream.moments)
    if not pieces:
        return failed("streaming", "no piece came", "See the server's log; is a proxy between?")
    if not stream.ended:
        return failed(
            "streaming",
            f"the stream broke off after {pieces} pieces",
            "See the server's log; is a proxy with a time limit between?",
        )
    spread = stream.moments[-1] - stream.moments[0]
    if pieces > 1 and spread < 0.02 * stream.moments[-1]:
        return warned(
            "streaming",
            f"{pieces} pieces, all at once after {stream.moments[-1]:.2f} s",
            "A proxy between seems to buffer: switch that off (nginx: proxy_buffering off).",
        )
    return passed(
        "streaming", f"{pieces} pieces, the first after {stream.moments[0]:.3f} s", pieces=pieces
    )
