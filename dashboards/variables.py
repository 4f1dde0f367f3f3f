"""The variables that every board has, in the order in which they narrow each other down."""

from __future__ import annotations

from typing import Any

from grafanalib import core

from dashboards.elements import DATASOURCE
from exporter.catalogue import SERIES_PREFIX, UPSTREAM_UP

_ON_TIME_RANGE_CHANGE = 2

# Only series of vLLM and of the exporter: other exporters also have a label model_name. The
# exporter's report on the server keeps a server choosable that is down.
_OURS = f'__name__=~"{SERIES_PREFIX}.+|{UPSTREAM_UP.name}"'


class _Variable(core.Template):  # type: ignore[misc]
    def to_json_data(self) -> dict[str, Any]:
        variable = super().to_json_data()
        for key in ("auto", "auto_count", "auto_min", "tagValuesQuery", "tagsQuery", "useTags"):
            variable.pop(key, None)
        if self.type == "datasource":
            variable["current"] = {}
        else:
            variable["current"] = {"selected": True, "text": ["All"], "value": ["$__all"]}
            variable["definition"] = self.query
        return {key: value for key, value in variable.items() if value is not None}


def _query(name: str, label: str, query: str) -> _Variable:
    return _Variable(
        name=name,
        label=label,
        query=query,
        dataSource=DATASOURCE,
        includeAll=True,
        allValue=".+",
        multi=True,
        refresh=_ON_TIME_RANGE_CHANGE,
    )


def templating() -> core.Templating:
    """Return data source, job, server and model."""
    return core.Templating(
        [
            _Variable(
                name="datasource", label="Data source", type="datasource", query="prometheus"
            ),
            _query("job", "Job", f"label_values({{{_OURS}}}, job)"),
            _query("server", "Server", f'label_values({{{_OURS},job=~"$job"}}, server)'),
            _query(
                "model",
                "Model",
                f'label_values({{{_OURS},job=~"$job",server=~"$server"}}, model_name)',
            ),
        ]
    )
