"""``python -m dashboards``."""

import sys

try:
    from dashboards.cli import main
except KeyboardInterrupt:  # loading takes a second
    sys.exit(1)

if __name__ == "__main__":
    sys.exit(main())
