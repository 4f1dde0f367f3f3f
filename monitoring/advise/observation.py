"""What was seen of one server over a span of time: the input of every rule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GPUObservation:
    """One GPU over the span.

    Attributes:
        uuid: Identity of the GPU.
        usage: Highest share in use (0..1) of what programs can have.
        usable: What programs can have, in bytes.
        others: Bytes that other processes hold, where the exporter tells; None where not.
    """

    uuid: str
    usage: float
    usable: int
    others: int | None = None

    @property
    def used(self) -> int:
        """Bytes in use at the highest."""
        return round(self.usage * self.usable)


@dataclass(frozen=True)
class Configuration:
    """What the server was told; None where it is not known.

    vLLM's page tells of the first five; the others are given by the user.

    Attributes:
        caching: Whether prefix caching is on.
        block_tokens: Tokens of a shared prefix that are found at once. vLLM's label says the size
            of a block; of a hybrid model it can be a multiple, which ``smoke`` finds by probing.
        utilization: ``--gpu-memory-utilization`` (0..1).
        cache_tokens: Tokens that the KV cache holds.
        full_length_sequences: Sequences of ``--max-model-len`` that fit at once.
        max_num_seqs: ``--max-num-seqs``.
        max_num_batched_tokens: ``--max-num-batched-tokens``.
    """

    caching: bool | None = None
    block_tokens: int | None = None
    utilization: float | None = None
    cache_tokens: int | None = None
    full_length_sequences: float | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None


@dataclass(frozen=True)
class Observation:
    """One server over a span of time.

    Attributes:
        server: Its name.
        seconds: Length of the span.
        looked_up: Prompt tokens looked up in the prefix cache.
        found: Those of them that were found.
        requests: Requests that were finished.
        prompt_tokens: Prompt tokens of all requests.
        preemptions: How often a running request was thrown out for want of cache.
        running: Mean number of running requests.
        running_most: Highest number of running requests.
        waiting: Mean number of waiting requests.
        cache_usage: Mean share of the KV cache in use (0..1).
        cache_usage_most: The highest.
        gpus: GPUs of the server's machine.
        configuration: What the server was told.
    """

    server: str = ""
    seconds: float = 300.0
    looked_up: float = 0.0
    found: float = 0.0
    requests: float = 0.0
    prompt_tokens: float = 0.0
    preemptions: float = 0.0
    running: float = 0.0
    running_most: float = 0.0
    waiting: float = 0.0
    cache_usage: float = 0.0
    cache_usage_most: float = 0.0
    gpus: tuple[GPUObservation, ...] = ()
    configuration: Configuration = Configuration()

    @property
    def hit_rate(self) -> float | None:
        """Found divided by looked up (0..1); None while nothing was looked up."""
        return self.found / self.looked_up if self.looked_up > 0 else None

    @property
    def mean_prompt(self) -> float | None:
        """Tokens of the mean prompt; None while no request was finished."""
        return self.prompt_tokens / self.requests if self.requests > 0 else None

    @property
    def fullest(self) -> GPUObservation | None:
        """The GPU with the highest usage."""
        return max(self.gpus, key=lambda gpu: gpu.usage, default=None)
