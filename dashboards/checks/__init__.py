"""What is checked of the boards without a Grafana and without a Prometheus.

Each module has functions that return findings, one line each; an empty list is good news.
"""
