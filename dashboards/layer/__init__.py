"""Panels as Grafana 10.4 to 13 read them, over what grafanalib 0.7.1 emits.

grafanalib is of the time of Grafana 8: it writes first threshold steps as the text "null", halves
the resolution of queries, adds keys that Grafana has dropped, and puts the options of gauges, bar
gauges, tables, heatmaps and alert lists where Grafana no longer looks for them. The classes of
this package put that right. What a panel needs is required: id, title, description, size, look.
"""

from dashboards.layer.lists import alert_list, table
from dashboards.layer.meters import bar_gauge, gauge, stat
from dashboards.layer.over_time import heatmap, state_timeline, time_series
from dashboards.layer.panel import Panel, Section

__all__ = [
    "Panel",
    "Section",
    "alert_list",
    "bar_gauge",
    "gauge",
    "heatmap",
    "stat",
    "state_timeline",
    "table",
    "time_series",
]
