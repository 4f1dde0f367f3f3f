"""The variables of the boards, in the order in which they narrow each other down."""

from __future__ import annotations

from typing import Any

from grafanalib import core

from dashboards.elements import DATASOURCE
from exporter.catalogue import SERIES_PREFIX, UPSTREAM_UP

_ON_TIME_RANGE_CHANGE = 2

_OURS = f"{SERIES_PREFIX}.+|{UPSTREAM_UP.name}"

# Only series of vLLM and of the exporter: other exporters also have a label model_name. The
# exporter's report on the server keeps a server choosable that is down.
_SERVERS = f'__name__=~"{_OURS}"'

# The same and the programs that watch: they tell of themselves by their versions.
_PROGRAMS = f'__name__=~"{_OURS}|prometheus_build_info|alertmanager_build_info"'


class Variable(core.Template):  # type: ignore[misc]
    """A variable that is read anew with the time range, and says so as Grafana does today."""

    def to_json_data(self) -> dict[str, Any]:
        """Return what Grafana reads."""
        variable = super().to_json_data()
        for key in ("auto", "auto_count", "auto_min", "tagValuesQuery", "tagsQuery", "useTags"):
            variable.pop(key, None)
        if self.type == "datasource":
            variable["current"] = {}
        else:
            variable["current"] = {"selected": True, "text": ["All"], "value": ["$__all"]}
            variable["definition"] = self.query
        return {key: value for key, value in variable.items() if value is not None}


def _query(name: str, label: str, selector: str, of: str) -> Variable:
    return Variable(
        name=name,
        label=label,
        query=f"label_values({{{selector}}}, {of})",
        dataSource=DATASOURCE,
        includeAll=True,
        allValue=".+",
        multi=True,
        refresh=_ON_TIME_RANGE_CHANGE,
    )


def _datasource() -> Variable:
    return Variable(name="datasource", label="Data source", type="datasource", query="prometheus")


def of_servers() -> core.Templating:
    """Return data source, job, server and model."""
    job, server = 'job=~"$job"', 'server=~"$server"'
    return core.Templating(
        [
            _datasource(),
            _query("job", "Job", _SERVERS, "job"),
            _query("server", "Server", f"{_SERVERS},{job}", "server"),
            _query("model", "Model", f"{_SERVERS},{job},{server}", "model_name"),
        ]
    )


def of_programs() -> core.Templating:
    """Return data source, job and instance of all programs of the chain."""
    return core.Templating(
        [
            _datasource(),
            _query("job", "Job", _PROGRAMS, "job"),
            _query("instance", "Instance", f'{_PROGRAMS},job=~"$job"', "instance"),
        ]
    )


def none() -> core.Templating:
    """Return no variables, as boards for the public must have none."""
    return core.Templating([])
