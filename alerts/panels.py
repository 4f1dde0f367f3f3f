"""Which dashboard panel shows which alert's condition."""

from __future__ import annotations

from alerts.model import PanelReference

_CACHE_AND_MEMORY = "vllm-cache-memory"
_OVERVIEW = "vllm-overview"
_LATENCY = "vllm-latency"
_MONITORING = "vllm-monitoring"

_SERVER = {"server": "server"}
_MODEL = {"server": "server", "model": "model_name"}
_TARGET = {"job": "job", "instance": "instance"}

HIT_RATE = PanelReference(_CACHE_AND_MEMORY, 11, _MODEL)
TOKENS_LOOKED_UP = PanelReference(_CACHE_AND_MEMORY, 12, _MODEL)
GPU_MEMORY = PanelReference(_CACHE_AND_MEMORY, 21)
KV_CACHE = PanelReference(_CACHE_AND_MEMORY, 23, _MODEL)
PREEMPTIONS = PanelReference(_CACHE_AND_MEMORY, 24, _MODEL)

SERVERS = PanelReference(_OVERVIEW, 21, _SERVER)

TIME_TO_FIRST_TOKEN = PanelReference(_LATENCY, 11, _MODEL)
REQUESTS = PanelReference(_LATENCY, 22, _MODEL)
ERRORS = PanelReference(_LATENCY, 24, _SERVER)

TARGETS_UP = PanelReference(_MONITORING, 11, _TARGET)
FETCHES = PanelReference(_MONITORING, 21)
PROMETHEUS_CONFIGURATION = PanelReference(_MONITORING, 5)
ALERTMANAGER_CONFIGURATION = PanelReference(_MONITORING, 6)
RULES_FAILED = PanelReference(_MONITORING, 32)
ALERTS_SENT = PanelReference(_MONITORING, 33)
NOTIFICATIONS = PanelReference(_MONITORING, 34)
