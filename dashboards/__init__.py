"""Grafana dashboards as code: a corrected layer over grafanalib, and a module for each board."""
