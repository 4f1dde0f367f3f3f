"""Prometheus' configuration, and the target files that it reads."""
