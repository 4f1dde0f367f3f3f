"""What can be told about a GGUF file and its tokenizer before a server is started.

Only vLLM's environment has the package ``gguf``, so the file itself is read there.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monitoring.errors import SetupError
from monitoring.gguf import install, text

MAGIC = b"GGUF"

UNQUANTIZED = frozenset({"F32", "F16", "BF16"})
"""Types that vLLM serves on a CPU; the plugin's kernels for all others need a GPU."""

ADAPTED = "gemma4"
"""The architecture that plugin 0.0.5 does not know and the kit's adapter adds, for text only."""

_QUESTION = """
import json, sys, gguf
reader = gguf.GGUFReader(sys.argv[1])
field = reader.get_field("general.architecture")
types = {tensor.tensor_type.name for tensor in reader.tensors if len(tensor.shape) > 1}
print(json.dumps({"architecture": field.contents() if field else "", "types": sorted(types)}))
"""
_READ_SECONDS = 300.0


@dataclass(frozen=True)
class Description:
    """What a file says of itself.

    Attributes:
        architecture: llama.cpp's name, such as ``gemma4``.
        types: Types of its matrices, such as ``Q4_K``.
    """

    architecture: str
    types: tuple[str, ...]


def is_gguf(model: str) -> bool:
    """Tell whether ``--model`` is meant as a GGUF file: by its ending, or as a file."""
    return model.endswith(".gguf") or Path(model).is_file()


def check_files(file: Path, tokenizer: Path | None) -> None:
    """Refuse a file that is no GGUF, or that has no configuration beside it.

    Raises:
        SetupError: So it is; the message is one line that says what to do.
    """
    check_magic(file)
    read_configuration(file, tokenizer)


def check_environment(file: Path, tokenizer: Path, python: Path, *, gpu: bool) -> None:
    """Refuse what would only fail after minutes, or at the first request.

    Args:
        file: One that has passed `check_files`.
        tokenizer: What ``--tokenizer`` names.
        python: An interpreter that has vLLM.
        gpu: Whether there is one.

    Raises:
        SetupError: It cannot be served; the message is one line that says what to do.
    """
    found = install.versions(python)
    if found.plugin is None:
        raise SetupError(
            f"{python} has vLLM without {install.PLUGIN}, which loads GGUF: run `"
            f"{install.command(python)}`."
        )
    description = describe(python, file)
    if description.architecture == ADAPTED and not install.knows_gemma4(found.plugin):
        if found.adapter is None:
            raise SetupError(
                f"{file.name} is a Gemma 4, whose tensors {install.PLUGIN} {found.plugin} cannot "
                f"name: add the kit's adapter, by `{install.command(python)}`."
            )
        if read_configuration(file, tokenizer).get("architectures") != [text.ARCHITECTURE]:
            raise SetupError(
                f"{tokenizer}/config.json is not that of a Gemma 4 for text only, which is all "
                f"that {install.ADAPTER} knows: run `python -m monitoring.gguf.text {tokenizer} "
                "FOLDER` and give --tokenizer FOLDER."
            )
    quantized = [each for each in description.types if each not in UNQUANTIZED]
    if quantized and not gpu:
        raise SetupError(
            f"{file.name} has matrices of {', '.join(quantized)}, whose kernels need a GPU, and "
            "NVML finds none here: the server would end at its first request."
        )


def check_magic(file: Path) -> None:
    """Raise SetupError for what is no GGUF file."""
    try:
        with file.open("rb") as opened:
            begin = opened.read(len(MAGIC))
    except OSError as error:
        raise SetupError(f"--model {file} cannot be read: {error.strerror}.") from None
    if begin != MAGIC:
        raise SetupError(
            f"--model {file} is no GGUF file (it begins with {begin!r}): give a .gguf file, the "
            "folder of a checkpoint, or a name on the hub."
        )


def read_configuration(file: Path, tokenizer: Path | None) -> dict[str, Any]:
    """Return ``config.json`` beside the tokenizer, or raise SetupError."""
    if tokenizer is None:
        raise SetupError(
            f"--model {file.name} needs --tokenizer FOLDER, with config.json and the tokenizer in "
            "transformers' format: vLLM takes neither from a GGUF file."
        )
    path = tokenizer / "config.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SetupError(
            f"--tokenizer {tokenizer} has no readable config.json ({error.strerror}): give the "
            "folder of the original model; its weights are not needed."
        ) from None
    except ValueError as error:
        raise SetupError(f"{path} is no JSON: {error}.") from None
    if not isinstance(found, dict):
        raise SetupError(f"{path} is no configuration: it holds no object.")
    return found


def describe(python: Path, file: Path) -> Description:
    """Return what a file says of itself, as the package ``gguf`` of vLLM's environment reads it.

    Raises:
        SetupError: It cannot be read.
    """
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION, file],
            capture_output=True,
            text=True,
            check=False,
            timeout=_READ_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{file} cannot be read by {python}: {error}.") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SetupError(f"{file} cannot be read as GGUF, is it whole? {reason}")
    found = json.loads(done.stdout)
    return Description(found["architecture"], tuple(found["types"]))
