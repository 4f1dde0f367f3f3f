"""``python -m alerts``."""

import sys

try:
    from alerts.cli import main
except KeyboardInterrupt:  # loading takes a second
    sys.exit(1)

if __name__ == "__main__":
    sys.exit(main())
