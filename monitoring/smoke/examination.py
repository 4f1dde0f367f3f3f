"""All examinations of a server, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from exporter import catalogue
from monitoring.metrics_page import PageError, parse
from monitoring.smoke import metrics, serving
from monitoring.smoke.check import Check, failed
from monitoring.smoke.client import Client, RequestError

MOST_TOKENS = 2400
"""Length of the prompt that is repeated: more than the longest step that was seen, 2048."""


def examine(
    client: Client,
    *,
    model: str | None,
    most_tokens: int,
    seed: int,
    progress: Callable[[str], None],
) -> Iterator[Check]:
    """Yield each check as it is done.

    Args:
        client: The server.
        model: Which of its models; None for the first.
        most_tokens: Longest prompt to send.
        seed: Makes prompts that the server has not seen.
        progress: Told what is being examined.
    """
    progress("version")
    first = serving.version(client)
    yield first
    if first.status == "fail":
        return  # nothing else can be known
    chosen, entry = serving.model(client, model)
    yield chosen
    if chosen.status == "fail":
        return
    name, length = str(entry["id"]), serving.context_length(entry)
    yield serving.architecture(entry)
    page = None
    try:
        page = client.get("/metrics")
        yield metrics.names(page)
    except (RequestError, PageError) as error:
        page = None
        yield failed("metrics", str(error), "Prometheus would get the same: see the server's log.")
    if page is not None and "vllm:" in page:
        wanted = frozenset({catalogue.CACHE_CONFIG_INFO})
        infos = [each.labels for each in parse(page, wanted).samples]
        yield metrics.caching(infos)
        yield metrics.cache_size(infos, length)
    progress("completion")
    answered = serving.completion(client, name)
    yield answered
    progress("chat completion")
    yield serving.chat(client, name)
    progress("streaming")
    yield serving.streaming(client, name)
    if answered.status == "fail" or page is None:
        return
    # One token is generated, and words are counted before as tokens only roughly.
    room = int(0.9 * length) if length else most_tokens
    yield metrics.repetition(client, name, min(most_tokens, room), seed, progress)
