"""One running exporter: its parts put together, served, and stopped."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Sequence

import structlog

from exporter import __version__, advice, config, web, web_server
from exporter.addresses import ListenAddress
from exporter.collectors import Collector, Collectors
from exporter.collectors.assignment import AssignmentCollector, RememberingBackend
from exporter.collectors.gpu import GPUCollector
from exporter.collectors.server import ServerCollector
from exporter.config import Configuration
from exporter.gpu import Backend
from exporter.gpu.amd import AMDBackend
from exporter.gpu.nvml import NVMLBackend
from exporter.gpu.owners import Owners
from exporter.gpu.simulated import SimulatedBackend
from exporter.open_files import SHARE_OF_CLIENTS, raise_limit
from exporter.options import Options, Server
from exporter.probe import Prober
from exporter.reload import ConfigurationFile
from exporter.routes import probe_route, reload_route
from exporter.web_config import WebConfigFile
from exporter.web_connections import MAX_CONNECTIONS

log = structlog.get_logger()

SCRAPE_SECONDS = 120.0
"""Longest that a scrape may take whose client does not say how long it waits; each server's own
timeout is what counts then."""


class Exporter:
    """The parts of one exporter.

    Attributes:
        page: Collects what the metrics page shows.
        routes: What answers at each path.
        configuration: Reads the file again; None without a file.
    """

    def __init__(self, options: Options, configuration: Configuration) -> None:
        """Put the parts together; nothing is fetched or read yet."""
        self._options = options
        self._servers = ServerCollector(configuration.servers, options.window_seconds)
        self._prober = Prober(configuration.probe, self._open_collector)
        self._gpus: GPUCollector | None = None
        collectors: list[Collector] = [self._servers]
        if backend := gpu_backend(options):
            remembering = RememberingBackend(backend)
            self._gpus = GPUCollector(remembering, Owners(lambda: self._servers.servers).of)
            collectors.append(self._gpus)
            collectors.append(
                AssignmentCollector(lambda: self._servers.servers, lambda: remembering.last)
            )
        self.configuration: ConfigurationFile | None = None
        if options.config_file:
            self.configuration = ConfigurationFile(self._load, self._apply)
            collectors.append(self.configuration)
        self.page = Collectors(collectors)
        self.routes = {
            **web.pages(self.page.collect, options.telemetry_path, SCRAPE_SECONDS),
            "/probe": probe_route(self._prober, SCRAPE_SECONDS),
            "/-/reload": reload_route(self.configuration, options.lifecycle),
        }

    def close(self) -> None:
        """Let go of connections and of the driver."""
        if self._gpus:
            self._gpus.close()
        self._servers.close()

    def _open_collector(self, server: Server) -> ServerCollector:
        return ServerCollector([server], self._options.window_seconds)

    def _load(self) -> Configuration:
        configuration = config.of(self._options)
        for line in advice.on_servers(configuration.servers):
            log.warning(line)
        return configuration

    def _apply(self, configuration: Configuration) -> None:
        self._servers.replace(configuration.servers)
        self._prober.policy = configuration.probe


class _Signals:
    """Signals, held back until the main thread asks for them.

    Not taken by handlers: one can interrupt another, or the main thread, while it holds the lock
    that it needs itself, and a flood of SIGHUP would then end all that the process does.
    """

    _STOP = frozenset({signal.SIGTERM, signal.SIGINT})
    _ALL = _STOP | {signal.SIGHUP}

    def __init__(self) -> None:
        # Threads that are started later hold them back as well.
        signal.pthread_sigmask(signal.SIG_BLOCK, self._ALL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def stops(self) -> bool:
        """Wait for a signal; tell whether it ends the process, else it is one to reload."""
        came = signal.sigwait(self._ALL)
        # Of several the lowest number comes first, SIGHUP before all.
        return came in self._STOP or not self._STOP.isdisjoint(signal.sigpending())


def run(options: Options, configuration: Configuration, web_config: WebConfigFile | None) -> int:
    """Serve until SIGTERM or SIGINT.

    Returns:
        The exit status: 0 after a stop, 1 if an address cannot be had.
    """
    sockets = _listen(options.listen_addresses)
    if sockets is None:
        return 1
    signals = _Signals()
    exporter = Exporter(options, configuration)
    open_files = raise_limit()
    server = web_server.WebServer(
        web.Application(exporter.routes),
        sockets,
        options.max_requests,
        web_config,
        min(MAX_CONNECTIONS, max(1, open_files // SHARE_OF_CLIENTS)),
    )
    server.start()
    # A first look at once, so that what is missing is in the log before anyone scrapes and the
    # window has its first sample.
    threading.Thread(
        target=exporter.page.collect,
        args=(SCRAPE_SECONDS,),
        name="first-look",
        daemon=True,
    ).start()
    log.info(
        "serving",
        address=",".join(map(str, options.listen_addresses)),
        path=options.telemetry_path,
        servers=",".join(server.name for server in configuration.servers),
        version=__version__,
    )
    while not signals.stops():
        if exporter.configuration:
            exporter.configuration.reload()
        else:
            log.info("nothing to read again: there is no --config.file")
    server.stop()
    exporter.close()
    log.info("stopped")
    return 0


def _listen(addresses: Sequence[ListenAddress]) -> list[socket.socket] | None:
    sockets: list[socket.socket] = []
    for address in addresses:
        try:
            sockets += web_server.listen(address)
        except (OSError, ValueError) as error:  # a ValueError for a host that is no name
            log.error(
                "cannot listen: choose another --web.listen-address",
                address=str(address),
                reason=getattr(error, "strerror", None) or str(error),
            )
            return None
    return sockets


def gpu_backend(options: Options) -> Backend | None:
    """Return the backend that was chosen; None for none."""
    if options.gpu_backend == "none":
        return None
    if options.gpu_backend == "simulated":
        return SimulatedBackend(options.simulated_file)
    if options.gpu_backend == "amd":
        return AMDBackend(extras=options.gpu_extras)
    return NVMLBackend(extras=options.gpu_extras)
