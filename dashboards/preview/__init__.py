"""The dashboards as a live page of the kit's own, where there is no Grafana."""
