"""The load generator: a process of vLLM's Python that runs `monitoring.bench.driver`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import click

from monitoring.bench.scenario import Prompts

DRIVER = Path(__file__).with_name("driver.py")
KEPT_LINES = 5


class GeneratorError(click.ClickException):
    """No load can be made; the message says why."""


class LoadGenerator:
    """Runs measurements one after the other, in a process that imports vLLM once."""

    def __init__(self, python: Path) -> None:
        """Take a Python that has vLLM."""
        self._python = python
        self._folder = tempfile.TemporaryDirectory(prefix="bench-")
        self._log = Path(self._folder.name) / "generator.log"
        self._process: subprocess.Popen[str] | None = None
        self._count = 0

    @property
    def folder(self) -> str:
        """Where results are written to."""
        return self._folder.name

    def __enter__(self) -> Self:
        """Start the process and wait until vLLM is imported."""
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [str(self._python), "-W", "ignore", str(DRIVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={
                    **os.environ,
                    "VLLM_NO_USAGE_STATS": "1",
                    "VLLM_LOGGING_LEVEL": "WARNING",
                    "HF_HUB_DISABLE_TELEMETRY": "1",
                },
            )
        try:
            self._answer()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the process."""
        self.close()

    def close(self) -> None:
        """Stop the process and remove the results."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        self._folder.cleanup()

    def run(self, arguments: Sequence[str], prompts: Prompts = "text") -> dict[str, Any]:
        """Run ``vllm bench serve`` and return its result with all details.

        The arguments must write it to `folder`, under the name that comes after
        ``--result-filename``. Prompts are sent as text or as token IDs.

        Raises:
            GeneratorError: It fails, or one of its requests does.
        """
        if self._process is None or self._process.stdin is None:
            raise GeneratorError("the load generator is not running")
        asked = json.dumps({"arguments": list(arguments), "prompts": prompts}) + "\n"
        # A process that has ended takes nothing more, and gives no answer either.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(asked)
            self._process.stdin.flush()
        self._answer()
        name = arguments[list(arguments).index("--result-filename") + 1]
        path = Path(self.folder) / name
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        path.unlink()
        if result.get("failed"):
            error = next((line for line in result.get("errors", []) if line), "no reason given")
            reason = error.strip().splitlines()[-1]
            raise GeneratorError(
                f"{result['failed']} of {result['num_prompts']} requests failed ({reason}): are "
                "prefix, new and output tokens together within the server's --max-model-len?"
            )
        return result

    def _answer(self) -> None:
        line = ""
        if self._process is not None and self._process.stdout is not None:
            line = self._process.stdout.readline()
        if not line:
            raise GeneratorError(
                f"the load generator ended ({self._python} {DRIVER.name}): {self._last_words()}"
            )
        answer = json.loads(line)
        if "error" in answer:
            raise GeneratorError(f"vllm bench serve failed: {answer['error']}")

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return " | ".join(line.strip() for line in lines[-KEPT_LINES:]) or "it said nothing"
