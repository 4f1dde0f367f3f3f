"""``python -m alerts``."""

from alerts.cli import main

main(prog_name="python -m alerts")
