"""One running exporter: its parts put together, served, and stopped."""

from __future__ import annotations

import signal
import threading
from types import FrameType

import structlog

from exporter import __version__, web
from exporter.collectors import Collector, Collectors
from exporter.collectors.gpu import GPUCollector
from exporter.collectors.server import Server, ServerCollector
from exporter.gpu import Backend
from exporter.gpu.simulated import SimulatedBackend
from exporter.options import Options
from exporter.upstream import HTTPFetcher

log = structlog.get_logger()


def run(options: Options) -> int:
    """Serve until SIGTERM or SIGINT.

    Returns:
        The exit status: 0 after a stop, 1 if the address cannot be had.
    """
    backend = gpu_backend(options)
    fetch = HTTPFetcher()
    collectors: list[Collector] = [
        ServerCollector(
            [Server(options.server_name, options.vllm_url)], options.window_seconds, fetch
        )
    ]
    if backend:
        collectors.append(GPUCollector(backend))
    page = Collectors(collectors)
    application = web.Application(page.collect, options.telemetry_path, options.timeout_seconds)
    try:
        server = web.server(application, options.listen_address)
    except OSError as error:
        log.error(
            "cannot listen: choose another --web.listen-address",
            address=str(options.listen_address),
            reason=error.strerror or str(error),
        )
        return 1
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    threading.Thread(target=server.serve, name="http", daemon=True).start()
    # A first look at once, so that what is missing is in the log before anyone scrapes and the
    # window has its first sample.
    threading.Thread(
        target=page.collect, args=(options.timeout_seconds,), name="first-look", daemon=True
    ).start()
    log.info(
        "serving",
        address=str(options.listen_address),
        path=options.telemetry_path,
        server=options.server_name,
        version=__version__,
    )
    stop.wait()
    server.stop()
    if backend:
        backend.close()
    fetch.close()
    log.info("stopped")
    return 0


def gpu_backend(options: Options) -> Backend | None:
    """Return the backend that was chosen; None for none."""
    if options.gpu_backend == "none":
        return None
    if options.gpu_backend == "simulated":
        return SimulatedBackend(options.simulated_file)
    # Imported here: who has no use for NVML need not load it.
    from exporter.gpu.nvml import NVMLBackend  # noqa: PLC0415

    return NVMLBackend()
