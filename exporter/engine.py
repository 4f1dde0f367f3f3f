"""From the samples of a vLLM page to what its engines say of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from exporter import generations
from exporter.exposition import Format, Page, Sample
from exporter.generations import Cache, CounterNames

MAX_LABEL_CHARACTERS = 1024
"""Longest model name that is passed on: a label is no place for a whole configuration."""

MAX_VALUE = 1e18
"""No server counts so far, and sums of a few such values still are numbers."""

_CACHING_OFF = -1.0
"""What the V0 engine's hit-rate gauge shows without prefix caching."""


class EngineKey(NamedTuple):
    """One series of counters of a server.

    Attributes:
        engine: Value of the label; empty before 0.9 and where a page has none.
        model_name: Value of the label.
        rest: What else tells it from others: the generation of names (0.8.5's counters of blocks
            are not continued by 0.9.2's of tokens), and labels of Ray's such as ``ReplicaId``.
    """

    engine: str
    model_name: str
    rest: tuple[str, ...] = ()


class CacheCounters(NamedTuple):
    """Lifetime counters of one engine's cache.

    Attributes:
        queries: What was looked up (tokens, for multimodal items items).
        hits: What was found.
        created: Unix time in seconds at which the counters began at zero, where vLLM tells it
            (not with several API servers).
    """

    queries: float
    hits: float
    created: float | None


@dataclass(frozen=True)
class ServerReading:
    """What one vLLM server's page says.

    Attributes:
        caches: Counters by cache and series; only series of which both counters were read.
        lifetime_hit_rates: By model, of a V0 server (0..1); it has no counters.
        kv_cache_usage: By model (0..1), the fullest engine's.
        memory_utilization_limit: ``--gpu-memory-utilization`` (0..1), the largest over engines.
        cache_bytes_given: Whether ``--kv-cache-memory-bytes`` decides in its place.
        prefix_caching: False if it is off for some engine; None if the page does not say.
        asleep: By engine; empty before 0.12.
        generations: Which names for the prefix cache were read, newest first.
        spelling: What the page's names begin with.
        format: The form of the page.
        parse_errors: Number of wanted lines that could not be used.
    """

    caches: Mapping[Cache, Mapping[EngineKey, CacheCounters]]
    lifetime_hit_rates: Mapping[str, float]
    kv_cache_usage: Mapping[str, float]
    memory_utilization_limit: float | None
    cache_bytes_given: bool
    prefix_caching: bool | None
    asleep: Mapping[str, bool]
    generations: tuple[str, ...]
    spelling: str
    format: Format
    parse_errors: int

    @property
    def prefix_cache(self) -> Mapping[EngineKey, CacheCounters]:
        """Counters of the prefix cache."""
        return self.caches[Cache.PREFIX]


def read(page: Page) -> ServerReading:
    """Return the values of ``page``; what is missing or makes no sense stays missing."""
    samples = [sample for sample in page.samples if _sensible(sample)]
    errors = page.parse_errors + len(page.samples) - len(samples) + (not page.complete)
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample.name, []).append(sample)

    caching, engines_without = _prefix_caching(by_name)
    # Ray leaves out a counter that has not moved; but one that could not be read has perhaps.
    hits_may_lack = page.spelling != generations.SERIES_PREFIX and errors == 0
    caches = {
        cache: _counters(by_name, names, hits_may_lack)
        for cache, names in generations.COUNTERS.items()
    }
    caches[Cache.PREFIX] = {
        key: counters
        for key, counters in caches[Cache.PREFIX].items()
        if key.engine not in engines_without and "" not in engines_without
    }
    lifetime = {} if caches[Cache.PREFIX] else _lifetime_hit_rates(by_name)
    configuration = by_name.get(generations.CACHE_CONFIG_INFO, [])
    return ServerReading(
        caches=caches,
        lifetime_hit_rates=lifetime,
        kv_cache_usage=_kv_cache_usage(by_name),
        memory_utilization_limit=_limit(configuration),
        cache_bytes_given=any(
            sample.labels.get("kv_cache_memory_bytes", "").isdecimal() for sample in configuration
        ),
        prefix_caching=caching,
        asleep=_asleep(by_name.get(generations.ENGINE_SLEEP_STATE, [])),
        generations=_generations(by_name),
        spelling=page.spelling,
        format=page.format,
        parse_errors=errors,
    )


def _sensible(sample: Sample) -> bool:
    if sample.name == generations.HIT_RATE_GAUGE and sample.value == _CACHING_OFF:
        return True
    return (
        0 <= sample.value <= MAX_VALUE
        and len(sample.labels.get("model_name", "")) <= MAX_LABEL_CHARACTERS
        and len(sample.labels.get("engine", "")) <= MAX_LABEL_CHARACTERS
    )


def _counters(
    by_name: Mapping[str, Sequence[Sample]], names: Sequence[CounterNames], hits_may_lack: bool
) -> dict[EngineKey, CacheCounters]:
    """Return the counters by series, each under its newest name only."""
    newest: dict[tuple[str, ...], tuple[EngineKey, CacheCounters]] = {}
    for generation in reversed(names):
        queries = _values(by_name, generation.queries, generation.generation)
        hits = _values(by_name, generation.hits, generation.generation)
        created = _values(by_name, generation.created, generation.generation)
        for key, value in queries.items():
            if key in hits or hits_may_lack:
                series = (key.engine, key.model_name, *key.rest[1:])
                counters = CacheCounters(value, hits.get(key, 0.0), created.get(key))
                newest[series] = (key, counters)
    return dict(newest.values())


def _values(
    by_name: Mapping[str, Sequence[Sample]], name: str, generation: str
) -> dict[EngineKey, float]:
    samples = by_name.get(name) or by_name.get(generations.without_suffix(name), ())
    return {_key(sample.labels, generation): sample.value for sample in samples}


def _key(labels: Mapping[str, str], generation: str) -> EngineKey:
    rest = [
        f"{name}={value}"
        for name, value in sorted(labels.items())
        if value and name not in ("engine", "model_name")
    ]
    return EngineKey(labels.get("engine", ""), labels.get("model_name", ""), (generation, *rest))


def _generations(by_name: Mapping[str, Sequence[Sample]]) -> tuple[str, ...]:
    for names in generations.COUNTERS[Cache.PREFIX]:
        if names.queries in by_name or generations.without_suffix(names.queries) in by_name:
            return (names.generation,)
    if generations.HIT_RATE_GAUGE in by_name:
        return (generations.GAUGE_GENERATION,)
    return ()


def _lifetime_hit_rates(by_name: Mapping[str, Sequence[Sample]]) -> dict[str, float]:
    served = {
        sample.labels.get("model_name", "")
        for name in (
            generations.PROMPT_TOKENS,
            generations.without_suffix(generations.PROMPT_TOKENS),
        )
        for sample in by_name.get(name, ())
        if sample.value > 0
    }
    rates: dict[str, list[float]] = {}
    for sample in by_name.get(generations.HIT_RATE_GAUGE, ()):
        if sample.value != _CACHING_OFF:
            rates.setdefault(sample.labels.get("model_name", ""), []).append(sample.value)
    return {
        model_name: min(1.0, values[0])
        for model_name, values in rates.items()
        # Ratios of several engines cannot be put together without their denominators; and a 0
        # before the first prompt is none.
        if len(values) == 1 and (values[0] > 0 or model_name in served)
    }


def _kv_cache_usage(by_name: Mapping[str, Sequence[Sample]]) -> dict[str, float]:
    usage: dict[str, float] = {}
    # Largest of all series of the model: 0.9.2 to 0.11 wrote one for each process (label pid),
    # all but one of them 0.
    for sample in next(filter(None, map(by_name.get, generations.KV_CACHE_USAGE)), ()):
        model_name = sample.labels.get("model_name", "")
        usage[model_name] = min(1.0, max(usage.get(model_name, 0.0), sample.value))
    return usage


def _prefix_caching(by_name: Mapping[str, Sequence[Sample]]) -> tuple[bool | None, frozenset[str]]:
    """Return whether it is on for all engines, and the engines for which it is off."""
    said = [
        (sample.labels.get("engine", ""), sample.labels["enable_prefix_caching"] == "True")
        for sample in by_name.get(generations.CACHE_CONFIG_INFO, ())
        if sample.labels.get("enable_prefix_caching") in ("True", "False")
    ]
    off = frozenset(engine for engine, on in said if not on)
    gauge = by_name.get(generations.HIT_RATE_GAUGE, ())
    if any(sample.value == _CACHING_OFF for sample in gauge):
        return False, off
    return (not off if said else None), off


def _asleep(samples: Iterable[Sample]) -> dict[str, bool]:
    asleep: dict[str, bool] = {}
    for sample in samples:
        if sample.labels.get("sleep_state") == "awake":
            engine = sample.labels.get("engine", "")
            asleep[engine] = asleep.get(engine, False) or sample.value == 0
    return asleep


def _limit(samples: Iterable[Sample]) -> float | None:
    limits = []
    for sample in samples:
        try:
            limit = float(sample.labels["gpu_memory_utilization"])
        except (KeyError, ValueError):
            continue  # vLLM writes Python's None as a label value where it has no number
        if 0 < limit <= 1:
            limits.append(limit)
    return max(limits, default=None)
