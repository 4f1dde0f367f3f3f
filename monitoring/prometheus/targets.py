"""Writes the files in which Prometheus finds its targets (``targets/*.yml``).

The exporter is told one URL of the vLLM server; Prometheus wants address, scheme and path apart.
Both must also give the server the same name, or their series would not join. So all of it is
derived from the URL here, for docker compose and for the native chain.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import yaml

from alerts.command_line import run
from exporter.addresses import default_server_name
from exporter.parameters import URL, FilePath
from exporter.upstream import metrics_url

DRILLS = "drills.yml"
"""Name of the file of made-up targets; empty while no drill is under way."""

_HEADER = "# Written from the URL of the server; do not edit.\n"


@dataclass(frozen=True)
class Targets:
    """What Prometheus scrapes.

    Attributes:
        vllm_url: Root of the vLLM server.
        exporter: host:port of the exporter.
        prometheus: host:port of Prometheus itself.
        alertmanager: host:port of Alertmanager, which also gets the alerts.
        server_name: Value of the label ``server``; must be the exporter's ``--server.name``.
            None: host:port of ``vllm_url``, as the exporter does it.
    """

    vllm_url: str
    exporter: str
    prometheus: str
    alertmanager: str
    server_name: str | None = None

    def files(self) -> dict[str, list[dict[str, Any]]]:
        """Return the contents by file name."""
        return {
            "vllm.yml": [self._server()],
            "vllm-exporter.yml": [{"targets": [self.exporter]}],
            "prometheus.yml": [{"targets": [self.prometheus]}],
            "alertmanager.yml": [{"targets": [self.alertmanager]}],
            DRILLS: [],
        }

    def _server(self) -> dict[str, Any]:
        parts = urlsplit(metrics_url(self.vllm_url))
        address = default_server_name(self.vllm_url)
        return {
            "targets": [address],
            "labels": {
                "server": self.server_name or address,
                "__scheme__": parts.scheme,
                "__metrics_path__": parts.path,
            },
        }


def write(targets: Targets, folder: Path) -> None:
    """Write the files into ``folder``, made if missing.

    Each is replaced as a whole, because Prometheus reads them whenever they change.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in targets.files().items():
        unfinished = folder / f"{name}.new"
        text = _HEADER + yaml.safe_dump(content, sort_keys=False)
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(folder / name)


@click.command()
@click.option("--vllm-url", type=URL(), required=True, help="Root of the vLLM server.")
@click.option("--server-name", default="", help="The exporter's --server.name.")
@click.option("--exporter", required=True, metavar="HOST:PORT")
@click.option("--prometheus", required=True, metavar="HOST:PORT")
@click.option("--alertmanager", required=True, metavar="HOST:PORT")
@click.option("--output", required=True, type=FilePath(file=False))
def command(
    vllm_url: str,
    server_name: str,
    exporter: str,
    prometheus: str,
    alertmanager: str,
    output: Path,
) -> None:
    """Write the target files of Prometheus into the folder OUTPUT."""
    try:
        write(Targets(vllm_url, exporter, prometheus, alertmanager, server_name or None), output)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise click.ClickException(f"{error.filename}: cannot be written: {reason}") from None


if __name__ == "__main__":
    sys.exit(run(command, "python -m monitoring.prometheus.targets", "targets"))
