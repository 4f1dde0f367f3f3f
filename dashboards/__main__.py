"""``python -m dashboards``."""

import sys

from exporter.imports import missing

try:
    from dashboards.cli import main
except KeyboardInterrupt:  # loading takes a second
    sys.exit(1)
except ModuleNotFoundError as error:
    sys.exit(f"dashboards: {missing(error)}")

if __name__ == "__main__":
    sys.exit(main())
