"""The board "vLLM: prefix cache and memory"."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import cache_panels as cache
from dashboards import gpu_panels as gpu
from dashboards import marks, uids
from dashboards import memory_panels as memory
from dashboards.board import Board, board
from dashboards.layer import Section
from dashboards.promql import CHOSEN

UID = uids.CACHE_AND_MEMORY


def build(settings: Settings) -> Board:
    """Return the board, with thresholds from ``settings``."""
    return board(
        UID,
        "vLLM: prefix cache and memory",
        "Does prefix caching pay off, and is there room on the GPU?",
        [
            Section(
                0,
                "",
                [
                    cache.hit_rate_now(settings),
                    cache.looked_up_now(settings),
                    cache.saved_an_hour(),
                    memory.usage_now(settings),
                    memory.free_now(),
                    memory.limit(settings),
                    memory.reachable(),
                ],
            ),
            Section(
                10,
                "Prefix cache",
                [
                    cache.hit_rate(settings),
                    cache.looked_up_and_found(),
                    cache.prefilled_by_source(),
                    cache.external(),
                    cache.multimodal(),
                ],
            ),
            Section(
                20,
                "GPU memory",
                [
                    memory.usage(settings),
                    memory.by_kind(),
                    memory.kv_cache(settings),
                    memory.preemptions(settings),
                ],
            ),
            Section(30, "Both together", [memory.trouble(settings), memory.configuration()]),
            Section(
                40,
                "GPU",
                [gpu.by_owner(), gpu.power(), gpu.temperature(), gpu.activity()],
            ),
        ],
        annotations=marks.of_servers(CHOSEN),
    )
