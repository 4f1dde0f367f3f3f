"""What becomes of the programs if the supervisor is killed."""

import os
import signal
import subprocess
import sys

# A supervisor of its own process, to be killed.
SUPERVISOR = """
import sys, time
from pathlib import Path
from monitoring.display import Display
from monitoring.supervision.component import Component
from monitoring.supervision.guardian import Guardian
from monitoring.supervision.interrupt import Interrupt
from monitoring.supervision.supervisor import Supervisor
from rich.console import Console
logs, port, command = Path(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3:])
component = Component("one", command, "127.0.0.1", port, "--port", "/ready", stop_seconds=1)
supervisor = Supervisor(
    [component], logs, Display(Console(stderr=True)), Guardian(logs / "guardian.log")
)
supervisor.start(Interrupt())
print(supervisor.supervised[0].child.pid, flush=True)
time.sleep(300)
"""


def test_the_programs_end_with_a_supervisor_that_was_killed(standin, tmp_path, alive, until):
    component = standin("one", f"--grandchild={tmp_path / 'pid'}", "--ignore-term")
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, tmp_path, str(component.port), *component.command],
        stdout=subprocess.PIPE,
        text=True,
    )
    child = int(supervisor.stdout.readline())
    grandchild = int((tmp_path / "pid").read_text())
    assert alive(child)
    os.kill(supervisor.pid, signal.SIGKILL)
    supervisor.wait()
    supervisor.stdout.close()
    until(lambda: not alive(child) and not alive(grandchild))
    assert (tmp_path / "guardian.log").read_text() == ""
