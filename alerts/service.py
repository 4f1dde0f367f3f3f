"""Alerts on what users of a server feel."""

from __future__ import annotations

from alerts import panels
from alerts.model import MATCH, Alert, Group, Lookup, Text, above, missing, number, percent, present
from alerts.promql import ENGINE, MODEL, NOT_A_DRILL, ON_MODEL, SERVER, by, served, total_rate
from alerts.settings import Settings
from exporter.generations import ENGINE_SLEEP_STATE, PROMPT_TOKENS

_QUANTILE = 0.95


def group(settings: Settings) -> Group:
    """Return the rules on the service, availability first."""
    return Group(
        name="vllm-service",
        recordings=(),
        alerts=(
            server_down(settings),
            server_vanished(settings),
            stalled(settings),
            request_errors(settings),
            requests_queueing(settings),
            time_to_first_token_high(settings),
        ),
    )


def server_down(settings: Settings) -> Alert:
    """Prometheus cannot read the server's page."""
    terms = settings.alerts["VLLMServerDown"]
    return Alert(
        name="VLLMServerDown",
        measure=missing(served(settings, "up")),
        terms=terms,
        labels=SERVER,
        text=Text(
            summary="A vLLM server does not answer.",
            description=(
                "Server {server} ({instance}): Prometheus has not been able to read its metrics "
                f"for {terms.pending}."
            ),
            cause=(
                "The server is stopped, crashed, frozen or unreachable. Rarely, only /metrics "
                "fails while requests are served: ask /health to tell."
            ),
            action=(
                "- curl the server's /health and look at the end of its log (out of memory, CUDA "
                "error).\n"
                "- Start it again. For planned stops, set a silence first."
            ),
        ),
        panel=panels.SERVERS,
    )


def server_vanished(settings: Settings) -> Alert:
    """The target itself is gone, so that nothing could say that it is down."""
    terms, remembered = settings.alerts["VLLMServerVanished"], settings.monitoring.remembered_for
    up = served(settings, "up")
    remembered_up = served(settings, "up", NOT_A_DRILL)
    return Alert(
        name="VLLMServerVanished",
        measure=present(by(SERVER, "max", f"count_over_time({remembered_up}[{remembered}])")),
        terms=terms,
        labels=SERVER,
        guards=(f"unless on (server) {up}",),
        text=Text(
            summary="A vLLM server is no longer among Prometheus' targets.",
            description=(
                f"Server {{server}} ({{instance}}) was scraped within the last {remembered}, but "
                f"has not been a target for {terms.pending}: nothing watches it now."
            ),
            cause=(
                "Service discovery lost it (pod deleted, label changed, target file edited), or "
                "it was taken out of service."
            ),
            action=(
                "- Compare Prometheus' page Status > Target health with the servers that should "
                "run.\n"
                f"- Taken out on purpose: ignore it; the alert ends by itself {remembered} after "
                "the last scrape."
            ),
        ),
        panel=panels.SERVERS,
    )


def stalled(settings: Settings) -> Alert:
    """Requests are there and no token comes, from one engine: others may go on working beside it.

    vLLM's gauges keep their last value while the engine does not step, so they alone never tell.
    """
    terms = settings.alerts["VLLMStalled"]
    running = by(ENGINE, "sum", served(settings, "vllm:num_requests_running"))
    waiting = by(ENGINE, "sum", served(settings, "vllm:num_requests_waiting"))
    window = settings.service.stalled_window
    generated = served(settings, "vllm:generation_tokens_total")
    prompts = served(settings, PROMPT_TOKENS)
    produced = by(ENGINE, "sum", f"increase({generated}[{window}])")
    prefilled = by(ENGINE, "sum", f"increase({prompts}[{window}])")
    asleep = served(settings, ENGINE_SLEEP_STATE, 'sleep_state="awake"')
    return Alert(
        name="VLLMStalled",
        measure=present(f"({running} + {waiting})"),
        terms=terms,
        labels=ENGINE,
        guards=(
            f"and {produced} + {prefilled} == 0",
            f"unless on (server, model_name, engine) {asleep} == 0",
        ),
        text=Text(
            summary="An engine of a vLLM server has requests and produces no token.",
            description=(
                "Server {server}, model {model_name}, engine {engine}: {value} requests are "
                f"running or waiting, but no token was processed in the last {window}, and that "
                f"for {terms.pending}."
            ),
            cause=(
                "The engine hangs (a stuck kernel, a lost worker or GPU, a deadlock) while the web "
                "server still answers, /health included."
            ),
            action=(
                "- Save the log and, if py-spy is at hand, a stack dump of the process EngineCore "
                "(of several engines: EngineCore_DP{engine}).\n"
                "- Restart the server. Generation paused by the API looks the same: resume it."
            ),
        ),
        panel=panels.REQUESTS,
    )


def request_errors(settings: Settings) -> Alert:
    """Too many requests end in an error of the server."""
    limit, terms = settings.service.error_share, settings.alerts["VLLMRequestErrors"]
    window = settings.service.window
    requests = total_rate(settings, SERVER, "http_requests_total")
    failed = total_rate(settings, SERVER, "http_requests_total", 'status="5xx"')
    finished = total_rate(settings, SERVER, "vllm:request_success_total")
    wrong = total_rate(settings, SERVER, "vllm:request_success_total", 'finished_reason="error"')
    # An error of the engine may still be answered with status 200 (streams), and an error of the
    # web server never reaches the engine: the greater share counts.
    web = f'label_replace({failed} / ({requests} > 0), "seen_by", "web", "", "")'
    engine = f'label_replace({wrong} / ({finished} > 0), "seen_by", "engine", "", "")'
    enough = number(settings.service.minimum_requests)
    # Not every front end of vLLM counts HTTP requests.
    answered, done = (
        by(SERVER, "sum", f"increase({served(settings, counter)}[{window}])")
        for counter in ("http_requests_total", "vllm:request_success_total")
    )
    return Alert(
        name="VLLMRequestErrors",
        measure=above(by(SERVER, "max", f"{web} or {engine}"), limit, "share"),
        terms=terms,
        labels=SERVER,
        guards=(f"and ({answered} or {done}) >= {enough}",),
        text=Text(
            summary="A vLLM server fails too many requests.",
            description=(
                f"Server {{server}}: {{value}} of the requests of the last {window} ended in an "
                f"error of the server (above {percent(limit)} for {terms.pending})."
            ),
            cause=(
                "The engine died or runs out of memory, the KV connector fails, or a proxy in "
                "front gives up. Errors of clients (4xx) and aborted requests do not count."
            ),
            action=(
                "- Look for ERROR and tracebacks in the server's log.\n"
                "- Ask which handler fails: sum by (handler, status) "
                "(rate(http_requests_total[5m]))."
            ),
        ),
        panel=panels.ERRORS,
    )


def requests_queueing(settings: Settings) -> Alert:
    """Requests wait although the engine works."""
    limit, terms = settings.service.waiting_requests, settings.alerts["VLLMRequestsQueueing"]
    produced = total_rate(settings, MODEL, "vllm:generation_tokens_total")
    usage = by(ON_MODEL, "max", served(settings, "vllm:kv_cache_usage_perc", MATCH))
    return Alert(
        name="VLLMRequestsQueueing",
        measure=above(
            by(MODEL, "sum", served(settings, "vllm:num_requests_waiting")), limit, "count"
        ),
        terms=terms,
        labels=MODEL,
        # Where nothing is produced the gauge is frozen: that is VLLMStalled's case.
        guards=(f"and {produced} > 0",),
        text=Text(
            summary="Requests queue up at a vLLM server.",
            description=(
                "Server {server}, model {model_name}: {value} requests wait (more than "
                f"{number(limit)} for {terms.pending}); the KV cache is {{usage}} full."
            ),
            cause="More requests arrive than the server gets done.",
            action=(
                "- KV cache far from full: raise --max-num-seqs, so that more run at once.\n"
                "- KV cache full: shorten prompts or --max-model-len, or add a replica.\n"
                "- Shared prefixes found in the cache make room: see the hit rate."
            ),
        ),
        panel=panels.REQUESTS,
        lookups={"usage": Lookup(usage, ON_MODEL, "share")},
    )


def time_to_first_token_high(settings: Settings) -> Alert:
    """Users wait long for the first token."""
    terms = settings.alerts["VLLMTimeToFirstTokenHigh"]
    limit, window = settings.service.time_to_first_token_seconds, settings.service.window
    buckets = total_rate(settings, (*MODEL, "le"), "vllm:time_to_first_token_seconds_bucket")
    counted = served(settings, "vllm:time_to_first_token_seconds_count")
    requests = by(MODEL, "sum", f"increase({counted}[{window}])")
    waiting = by(ON_MODEL, "sum", served(settings, "vllm:num_requests_waiting", MATCH))
    return Alert(
        name="VLLMTimeToFirstTokenHigh",
        measure=above(f"histogram_quantile({number(_QUANTILE)}, {buckets})", limit, "seconds"),
        terms=terms,
        labels=MODEL,
        guards=(f"and {requests} >= {number(settings.service.minimum_requests)}",),
        text=Text(
            summary="Users of a vLLM server wait long for the first token.",
            description=(
                "Server {server}, model {model_name}: 5 of 100 requests waited longer than "
                f"{{value}} for their first token in the last {window} (above {number(limit)}s "
                f"for {terms.pending}); {{waiting}} requests wait now."
            ),
            cause="Requests queue, or long prompts are computed without help of the cache.",
            action=(
                "- Requests waiting: see VLLMRequestsQueueing.\n"
                "- None waiting: prefill is slow. Make prompts share prefixes, shorten them, or "
                "raise --max-num-batched-tokens so that a prompt needs fewer steps."
            ),
        ),
        panel=panels.TIME_TO_FIRST_TOKEN,
        lookups={"waiting": Lookup(waiting, ON_MODEL)},
    )
