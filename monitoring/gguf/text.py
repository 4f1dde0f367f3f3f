"""The configuration of a Gemma 4 for text only, made of the whole model's.

A GGUF file of Gemma 4 holds the text model, so that is what vLLM must be told to build::

    python -m monitoring.gguf.text MODEL FOLDER

MODEL is a folder with the files of google/gemma-4-31B-it; its weights are not needed.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from alerts import command_line
from exporter.files import read_file
from exporter.parameters import FilePath

ARCHITECTURE = "Gemma4ForCausalLM"

KEPT = (
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "special_tokens_map.json",
    "tokenizer.model",
)
"""Files that a server of text reads besides ``config.json``; those that are there are copied."""


def text_only(config: dict[str, Any]) -> dict[str, Any]:
    """Return the text model's configuration.

    Raises:
        ValueError: It is no Gemma 4's; the message is one line.
    """
    found = config.get("text_config", config)
    if not isinstance(found, dict) or found.get("model_type") != "gemma4_text":
        raise ValueError(
            f"is no configuration of a Gemma 4 (model_type {config.get('model_type')!r})"
        )
    # What stands outside holds for the text model too, where that has nothing of its own.
    shared = {key: config[key] for key in ("eos_token_id", "dtype") if key in config}
    return {**shared, **found, "architectures": [ARCHITECTURE]}


def configuration(folder: Path) -> dict[str, Any]:
    """Return what ``config.json`` in a model's folder holds.

    Raises:
        OSError: It cannot be read.
        ValueError: It holds no JSON object; the message is one line.
    """
    try:
        found = json.loads(read_file(folder / "config.json"))
    except RecursionError:
        raise ValueError("is no JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("is no configuration: it holds no object")
    return found


@click.command()
@click.argument("model", type=FilePath(file=False))
@click.argument("folder", type=FilePath(file=False))
def command(model: Path, folder: Path) -> None:
    """Write FOLDER, for --tokenizer, from the folder of a whole MODEL."""
    try:
        if folder.exists() and folder.samefile(model):
            raise click.ClickException(f"{folder} is the model's own folder: name another.")
        config = text_only(configuration(model))
        folder.mkdir(parents=True, exist_ok=True)
        for name in KEPT:
            if (model / name).is_file():
                shutil.copyfile(model / name, _anew(folder / name))
        text = json.dumps(config, indent=1) + "\n"
        _anew(folder / "config.json").write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise click.ClickException(f"{model / 'config.json'} {error}") from None
    click.echo(str(folder))


def _anew(path: Path) -> Path:
    """Remove a file that is to be written: it may be a link to the model's own."""
    path.unlink(missing_ok=True)
    return path


if __name__ == "__main__":
    sys.exit(command_line.run(command, "python -m monitoring.gguf.text", "gguf"))
