"""``python -m exporter``."""

import sys

from exporter.imports import without

# structlog's console renderer, of which nothing is used here, would load rich and pygments where
# they are installed: a third of the start's time and 5 MiB of memory.
with without("rich"):
    import structlog  # noqa: F401 - loaded for the modules below

from exporter.cli import main

if __name__ == "__main__":
    sys.exit(main())
