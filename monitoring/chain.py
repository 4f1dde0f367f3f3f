"""Which programs make up the chain, with which commands, in which order."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import monitoring
from alerts.duration import Duration
from alerts.settings import Settings
from exporter.addresses import default_server_name
from monitoring.alertmanager import configuration
from monitoring.configuration import Layout, surroundings
from monitoring.options import HOST, ChainOptions, Ports
from monitoring.programs import Programs
from monitoring.relocation import needs_relocation, relocate
from monitoring.simulated_gpu import NORMAL_USAGE
from monitoring.supervision.component import Component
from monitoring.vllm import model, served_model, server

_TINY_START_SECONDS = 2 * server.START_SECONDS  # two busy cores took 115 s once
_MODEL_START_SECONDS = 3600.0  # a real model may have to be downloaded first
_VLLM_STOP_SECONDS = 20.0
_GRAFANA_START_SECONDS = 90.0  # its first start builds a database

# What interpreter and bindings say when vLLM is cut short; the reason stands before it.
_VLLM_NOISE = ("nanobind: ", " - leaked ", " - ... skipped", "See https://nanobind", "  warnings.")


def vllm_url(options: ChainOptions) -> str:
    """Return the root of the monitored server."""
    return options.vllm_url or f"http://{HOST}:{options.ports.vllm}"


def server_name(options: ChainOptions) -> str:
    """Return the value of the label ``server``, as the exporter and Prometheus' targets have it."""
    return default_server_name(vllm_url(options))


def components(
    options: ChainOptions, programs: Programs, settings: Settings, layout: Layout
) -> list[Component]:
    """Return the programs in the order of their start."""
    ports = options.ports
    chain = [
        exporter(options, settings, layout),
        receiver(ports, layout),
        *([relay(ports)] if configuration.needs_relay(settings) else []),
        alertmanager(programs.alertmanager, ports, layout),
        prometheus(programs.prometheus, ports, settings, layout),
    ]
    if programs.grafana:
        chain.append(grafana(programs.grafana, ports, layout))
    elif programs.preview:
        chain.append(preview(options, layout))
    if programs.vllm_python:
        chain.insert(0, vllm(programs.vllm_python, options, layout))
    return chain


def vllm(python: Path, options: ChainOptions, layout: Layout) -> Component:
    """Return the bundled server: a real model on the GPU, or the tiny one on the CPU."""
    port = options.ports.vllm
    if options.model:
        command = served_model.command(python, options.model, options)
        start_seconds = _MODEL_START_SECONDS
    else:
        folder = model.write(layout.root / "tiny-model")
        # The limit that is reported must be one that the simulated GPU could have.
        limit = [f"--gpu-memory-utilization={NORMAL_USAGE}"] if options.simulated_gpu else []
        command = server.cpu_server(python, folder, port=port, extra=limit)
        start_seconds = _TINY_START_SECONDS
    return Component(
        name="vllm",
        command=command.arguments,
        host=HOST,
        port=port,
        port_flag="--vllm-port",
        ready_path="/health",
        environment=command.environment,
        start_seconds=start_seconds,
        stop_seconds=_VLLM_STOP_SECONDS,
        noise=_VLLM_NOISE,
    )


def exporter(options: ChainOptions, settings: Settings, layout: Layout) -> Component:
    """Return the exporter."""
    arguments = [
        f"--vllm.url={vllm_url(options)}",
        f"--web.listen-address={HOST}:{options.ports.exporter}",
        f"--cache.window={settings.cache.window}",
    ]
    if options.simulated_gpu:
        arguments += ["--gpu.backend=simulated", f"--gpu.simulated-file={layout.simulated_gpus}"]
    else:
        arguments.append("--gpu.backend=auto")
    return _own("exporter", options.ports.exporter, "/-/ready", "exporter", *arguments)


def receiver(ports: Ports, layout: Layout) -> Component:
    """Return the receiver of notifications."""
    listen, file = f"--listen={HOST}:{ports.receiver}", f"--file={layout.notifications}"
    return _own("receiver", ports.receiver, "/-/healthy", "monitoring", "receiver", listen, file)


def relay(ports: Ports) -> Component:
    """Return the relay to the chat robots."""
    listen, secrets = f"--listen={HOST}:{ports.relay}", f"--secrets={surroundings(ports).secrets}"
    return _own("relay", ports.relay, "/-/healthy", "monitoring", "relay", listen, secrets)


def preview(options: ChainOptions, layout: Layout) -> Component:
    """Return the preview of the dashboards, which takes Grafana's place and port."""
    port = options.ports.grafana
    arguments = [
        f"--prometheus=http://{HOST}:{options.ports.prometheus}",
        f"--listen={HOST}:{port}",
        f"--dashboards={layout.dashboards}",
    ]
    if options.settings_file:
        arguments.append(f"--settings={options.settings_file}")
    shown = _own("preview", port, "/-/healthy", "dashboards", "preview", *arguments)
    return replace(shown, port_flag="--grafana-port")


def _own(name: str, port: int, ready_path: str, *command: str) -> Component:
    """Return a program of the kit's own: a module with its arguments."""
    return Component(
        name=name,
        command=(sys.executable, "-m", *command),
        host=HOST,
        port=port,
        port_flag=f"--{name}-port",
        ready_path=ready_path,
        environment=_python_environment(),
    )


def alertmanager(binary: Path, ports: Ports, layout: Layout) -> Component:
    """Return Alertmanager, alone: no cluster."""
    folder = layout.alertmanager.parent
    if needs_relocation(binary):
        binary = relocate(binary, folder / "program")
        folder = binary.parent
    return Component(
        name="alertmanager",
        command=(
            str(binary),
            f"--config.file={layout.alertmanager}",
            f"--storage.path={layout.data / 'alertmanager'}",
            f"--web.listen-address={HOST}:{ports.alertmanager}",
            f"--web.external-url=http://{HOST}:{ports.alertmanager}",
            "--cluster.listen-address=",
            "--enable-feature=utf8-strict-mode",
        ),
        host=HOST,
        port=ports.alertmanager,
        port_flag="--alertmanager-port",
        ready_path="/-/ready",
        folder=folder,
    )


def shortest_wait(settings: Settings) -> Duration:
    """Return the shortest time that an alert of the kit waits.

    By default Prometheus forgets, at a restart, the state of alerts that wait less than ten
    minutes, and a firing alert would be reported resolved and then firing again.
    """
    waits = (terms.pending for terms in settings.alerts.values())
    return min(waits, key=lambda wait: wait.seconds)


def prometheus(binary: Path, ports: Ports, settings: Settings, layout: Layout) -> Component:
    """Return Prometheus."""
    return Component(
        name="prometheus",
        command=(
            str(binary),
            f"--config.file={layout.prometheus / 'prometheus.yml'}",
            f"--storage.tsdb.path={layout.data / 'prometheus'}",
            f"--web.listen-address={HOST}:{ports.prometheus}",
            f"--web.external-url=http://{HOST}:{ports.prometheus}",
            f"--web.user-assets={layout.prometheus / 'assets'}",
            f"--web.console.templates={layout.prometheus / 'consoles'}",
            f"--rules.alert.for-grace-period={shortest_wait(settings)}",
        ),
        host=HOST,
        port=ports.prometheus,
        port_flag="--prometheus-port",
        ready_path="/-/ready",
    )


def grafana(binary: Path, ports: Ports, layout: Layout) -> Component:
    """Return Grafana, with everything of its own kept in the run folder."""
    return Component(
        name="grafana",
        command=(str(binary), "server", f"--homepath={grafana_home(binary)}"),
        host=HOST,
        port=ports.grafana,
        port_flag="--grafana-port",
        ready_path="/api/health",
        environment={
            "GF_SERVER_HTTP_ADDR": HOST,
            "GF_SERVER_HTTP_PORT": str(ports.grafana),
            "GF_PATHS_DATA": str(layout.data / "grafana"),
            "GF_PATHS_LOGS": str(layout.data / "grafana" / "log"),
            "GF_PATHS_PLUGINS": str(layout.data / "grafana" / "plugins"),
            "GF_PATHS_PROVISIONING": str(layout.grafana / "provisioning"),
            "GF_SECURITY_ADMIN_PASSWORD__FILE": str(layout.grafana / "admin-password"),
            "GF_ANALYTICS_REPORTING_ENABLED": "false",
            "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
        },
        start_seconds=_GRAFANA_START_SECONDS,
    )


def grafana_home(binary: Path) -> Path:
    """Return the folder with Grafana's own files.

    The archive and the packages keep the program in ``bin`` inside it; packages put a link or a
    script into ``/usr/sbin`` besides.
    """
    beside = binary.resolve().parent.parent
    return beside if (beside / "conf" / "defaults.ini").is_file() else Path("/usr/share/grafana")


def _python_environment() -> Mapping[str, str]:
    """Let children find the kit's packages where they are not installed."""
    packages = str(Path(monitoring.__path__[0]).resolve().parent)
    path = os.pathsep.join(filter(None, (packages, os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
