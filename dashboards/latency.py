"""The board "vLLM: latency and throughput"."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import figures, marks, metrics, scales, uids
from dashboards.board import Board, board
from dashboards.elements import NOT_REPORTED, Look, Query, Size
from dashboards.layer import Panel, Section, heatmap, time_series
from dashboards.metrics import Metric, Renamed
from dashboards.promql import CHOSEN, MODEL, by, distribution, quantile, rate
from dashboards.tiles import MODEL as MODEL_LEGEND
from dashboards.tiles import SERVER as SERVER_LEGEND

_QUANTILES = (0.5, 0.95, 0.99)
_THIRD = Size(8, 9)
_HALF = Size(12, 9)
# A third of the board has no room for the least beside the names.
_SHORT = ("lastNotNull", "max")


def build(settings: Settings) -> Board:
    """Return the board, with thresholds from ``settings``."""
    return board(
        uids.LATENCY,
        "vLLM: latency and throughput",
        "Are users waiting, for what, and how much do the servers get done?",
        [
            Section(
                10,
                "What users wait for",
                [_first_token(settings), _between_tokens(), _whole_request()],
            ),
            Section(15, "Where the time goes", [_queue(), _prefill(), _first_token_spread()]),
            Section(
                20,
                "Throughput",
                [_tokens(), _requests(settings), _finished(), _errors(settings), _answers()],
            ),
            Section(30, "Length of requests", [_prompt_lengths(), _output_lengths()]),
        ],
        annotations=marks.of_servers(CHOSEN),
    )


def _percentiles(
    panel_id: int, title: str, description: str, buckets: Metric | Renamed, look: Look
) -> Panel:
    queries = [
        Query(quantile(CHOSEN, q, buckets), f"p{q * 100:g} {MODEL_LEGEND}") for q in _QUANTILES
    ]
    return time_series(panel_id, title, description, _THIRD, queries, look, calcs=_SHORT)


def _first_token(settings: Settings) -> Panel:
    return _percentiles(
        11,
        "Time to first token",
        "How long 50, 95 and 99 of 100 requests waited for their first token at most, queueing "
        f"included. The line is where VLLMTimeToFirstTokenHigh begins ("
        f"{settings.service.time_to_first_token_seconds:g} s, p95). High: see queue and prefill "
        "below, which of them it is.",
        metrics.TIME_TO_FIRST_TOKEN,
        scales.first_token(settings),
    )


def _between_tokens() -> Panel:
    return _percentiles(
        12,
        "Time between tokens",
        "Pause between two outputs of a stream. Rising with the load is normal; spikes come from "
        "long prompts that are computed meanwhile (lower --max-num-batched-tokens) or from "
        "preemptions. Before vLLM 0.10.2: time per output token.",
        metrics.TIME_BETWEEN_TOKENS,
        scales.SECONDS,
    )


def _whole_request() -> Panel:
    return _percentiles(
        13,
        "Whole request",
        "From arrival to the last token. It grows with the length of answers: compare it with "
        "that before calling it bad. Below 0.3 s it is interpolated, for vLLM's first bucket ends "
        "there.",
        metrics.E2E_LATENCY,
        scales.SECONDS,
    )


def _queue() -> Panel:
    return _percentiles(
        14,
        "Time in the queue",
        "How long requests waited before any work was done on them. More than moments: more load "
        "than places (--max-num-seqs) or KV cache. Below 0.3 s it is interpolated.",
        metrics.QUEUE_TIME,
        scales.SECONDS,
    )


def _prefill() -> Panel:
    return _percentiles(
        16,
        "Time of prefill",
        "How long the prompt's computation took. Long: long prompts whose beginning is not in the "
        "prefix cache; a better hit rate shortens it. Below 0.3 s it is interpolated.",
        metrics.PREFILL_TIME,
        scales.SECONDS,
    )


def _first_token_spread() -> Panel:
    return heatmap(
        17,
        "Spread of the time to first token",
        "How many requests had their first token after how long; the darker, the more. Two bands "
        "are prompts that the prefix cache knew and those that it did not; a cloud that climbs is "
        "a queue that builds up.",
        _THIRD,
        Query(distribution(CHOSEN, metrics.TIME_TO_FIRST_TOKEN), "{{le}}"),
        scales.SECONDS,
    )


def _tokens() -> Panel:
    return time_series(
        21,
        "Tokens per second",
        "Prompt tokens taken in, those from the cache included, and tokens generated. 0 generated "
        "while requests run means that the engine is stuck.",
        _HALF,
        [
            Query(rate(CHOSEN, metrics.PROMPT_TOKENS), f"prompt {MODEL_LEGEND}"),
            Query(rate(CHOSEN, metrics.GENERATION_TOKENS), f"output {MODEL_LEGEND}"),
        ],
        scales.COUNT,
    )


def _requests(settings: Settings) -> Panel:
    reasons = by((*MODEL, "reason"), "sum", CHOSEN.select(metrics.NUM_REQUESTS_WAITING_BY_REASON))
    together = f'label_replace({figures.waiting(CHOSEN)}, "reason", "any reason", "", "")'
    limit = settings.service.waiting_requests
    return time_series(
        22,
        "Requests running and waiting",
        "In the batch, and waiting: for capacity (no place or no KV cache: too much load) or "
        "deferred (for something outside, such as a fetched cache). More than "
        f"{limit:g} waiting for long: VLLMRequestsQueueing. Before vLLM 0.21 without the reason.",
        _HALF,
        [
            Query(figures.running(CHOSEN), f"running {MODEL_LEGEND}"),
            Query(
                f"{reasons} or ({together} unless on (server, model_name) {reasons})",
                f"waiting, {{{{reason}}}} {MODEL_LEGEND}",
            ),
        ],
        Look("short", soft_maximum=5, no_value=NOT_REPORTED),
    )


def _finished() -> Panel:
    return time_series(
        23,
        "Requests finished, by reason",
        "Requests per second that ended by themselves (stop), at their longest (length), by an "
        "error, or for repeating themselves. Many at length: answers are cut, raise max_tokens. "
        "Errors: read the server's log. vLLM counts no aborted ones.",
        _THIRD,
        [
            Query(
                rate(CHOSEN, metrics.REQUEST_SUCCESS, (*MODEL, "finished_reason")),
                f"{{{{finished_reason}}}} {MODEL_LEGEND}",
            )
        ],
        Look("reqps"),
        calcs=_SHORT,
    )


def _errors(settings: Settings) -> Panel:
    return time_series(
        24,
        "Error share",
        "Share of requests that ended in an error, by the web server (status 5xx) or by the "
        f"engine, whichever is greater. Above {settings.service.error_share:.0%}: "
        "VLLMRequestErrors; read the server's log.",
        _THIRD,
        [Query(figures.error_share(CHOSEN), SERVER_LEGEND)],
        scales.error_share(settings),
        calcs=_SHORT,
    )


def _answers() -> Panel:
    return time_series(
        25,
        "Answers by status",
        "Answers of the web server per second: 2xx is well, 4xx is refused for a fault of the "
        "client (a wrong name of the model, too long a prompt, no key), 5xx a fault of the server. "
        "Many 4xx: ask the clients. A stream that breaks off is 2xx all the same: see the reasons.",
        _THIRD,
        [
            Query(
                rate(CHOSEN, metrics.HTTP_REQUESTS, ("server", "status")),
                f"{{{{status}}}} {SERVER_LEGEND}",
            )
        ],
        Look("reqps"),
        calcs=_SHORT,
    )


def _prompt_lengths() -> Panel:
    return heatmap(
        31,
        "Length of prompts",
        "How many requests had prompts of how many tokens. Prompts shorter than a block of the "
        "cache can never hit it. Models have buckets of their own: choose one model above.",
        _HALF,
        Query(distribution(CHOSEN, metrics.PROMPT_LENGTH), "{{le}}"),
        scales.COUNT,
    )


def _output_lengths() -> Panel:
    return heatmap(
        32,
        "Length of answers",
        "How many requests got answers of how many tokens. Answers that grow longer explain a "
        "request's longer time. Models have buckets of their own: choose one model above.",
        _HALF,
        Query(distribution(CHOSEN, metrics.OUTPUT_LENGTH), "{{le}}"),
        scales.COUNT,
    )
