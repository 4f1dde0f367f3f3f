"""``python -m monitoring``."""

import sys

from monitoring.cli import main

if __name__ == "__main__":
    sys.exit(main())
