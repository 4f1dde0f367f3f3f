"""``python -m monitoring``."""

import sys

from exporter.imports import run_command_line

if __name__ == "__main__":
    sys.exit(run_command_line("monitoring"))
