"""Which dashboard panel shows which alert's condition."""

from __future__ import annotations

from alerts.model import PanelReference

_CACHE_AND_MEMORY = "vllm-cache-memory"
_SERVER = {"server": "server"}
_MODEL = {"server": "server", "model": "model_name"}

HIT_RATE = PanelReference(_CACHE_AND_MEMORY, 11, _MODEL)
TOKENS_LOOKED_UP = PanelReference(_CACHE_AND_MEMORY, 12, _MODEL)
CONFIGURED_LIMIT = PanelReference(_CACHE_AND_MEMORY, 5, _SERVER)
GPU_MEMORY = PanelReference(_CACHE_AND_MEMORY, 21)
GPU_MEMORY_BY_KIND = PanelReference(_CACHE_AND_MEMORY, 22)
SERVER_REACHABLE = PanelReference(_CACHE_AND_MEMORY, 6, _SERVER)
MONITORING = PanelReference(_CACHE_AND_MEMORY, 6)
