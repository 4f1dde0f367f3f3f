"""``python -m monitoring``."""

import sys

from exporter.imports import missing

try:
    from monitoring.cli import main
except KeyboardInterrupt:  # loading takes a second
    sys.exit(1)
except ModuleNotFoundError as error:
    sys.exit(f"monitoring: {missing(error)}")

if __name__ == "__main__":
    sys.exit(main())
