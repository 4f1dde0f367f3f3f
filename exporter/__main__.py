"""``python -m exporter``."""

import signal
import sys

# Until the service answers it with a reload, it would end the process: too early is no reason.
signal.signal(signal.SIGHUP, signal.SIG_IGN)

from exporter.imports import missing, without  # noqa: E402 - after the line above, which loads nothing

# structlog's console renderer, of which nothing is used here, would load rich and pygments where
# they are installed: a third of the start's time and 5 MiB of memory.
try:
    with without("rich"):
        import structlog  # noqa: F401 - loaded for the modules below

    from exporter.cli import main
except ModuleNotFoundError as error:
    sys.exit(f"exporter: {missing(error)}")

if __name__ == "__main__":
    sys.exit(main())
