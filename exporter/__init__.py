"""Prometheus exporter beside vLLM: prefix-cache hit rate and GPU memory."""

__version__ = "0.1.0"
