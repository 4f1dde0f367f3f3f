"""What can be told about a GGUF file and its tokenizer before a server is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitoring.errors import SetupError
from monitoring.gguf import header, install, text
from monitoring.gguf.header import Header, HeaderError

ADAPTED = "gemma4"
"""The architecture that plugin 0.0.5 does not know and the kit's adapter adds, for text only."""


def is_gguf(model: str) -> bool:
    """Tell whether ``--model`` is meant as a GGUF file: by its ending, or as a file."""
    return model.endswith(".gguf") or Path(model).is_file()


def check_files(file: Path, tokenizer: Path | None) -> None:
    """Refuse a file that is no GGUF, or that has no configuration beside it.

    Raises:
        SetupError: So it is; the message is one line that says what to do.
    """
    read_header(file)
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
    described = read_header(file)
    if described.architecture == ADAPTED and not install.knows_gemma4(found.plugin):
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
    quantized = sorted(described.types - header.UNQUANTIZED)
    if quantized and not gpu:
        raise SetupError(
            f"{file.name} has matrices of {', '.join(quantized)}, whose kernels need a GPU, and "
            "NVML finds none here: the server would end at its first request."
        )


def read_header(file: Path) -> Header:
    """Return what a file says of itself, or raise SetupError for what is no GGUF file."""
    try:
        return header.read(file)
    except HeaderError as error:
        raise SetupError(
            f"--model {file} {error}. Give a .gguf file, the folder of a checkpoint, or a name on "
            "the hub."
        ) from None
    except OSError as error:
        raise SetupError(f"--model {file} cannot be read: {error.strerror}.") from None


def read_configuration(file: Path, tokenizer: Path | None) -> dict[str, Any]:
    """Return ``config.json`` beside the tokenizer, or raise SetupError."""
    if tokenizer is None:
        raise SetupError(
            f"--model {file.name} needs --tokenizer FOLDER, with config.json and the tokenizer in "
            "transformers' format: vLLM takes neither from a GGUF file."
        )
    try:
        return text.configuration(tokenizer)
    except OSError as error:
        raise SetupError(
            f"--tokenizer {tokenizer} has no readable config.json ({error.strerror}): give the "
            "folder of the original model; its weights are not needed."
        ) from None
    except ValueError as error:
        raise SetupError(f"{tokenizer / 'config.json'} {error}.") from None
