"""The configuration of a Gemma 4 for text only, made of the whole model's.

A GGUF file of Gemma 4 holds the text model, so that is what vLLM must be told to build::

    python -m monitoring.gguf.text MODEL FOLDER

MODEL is a folder with the files of google/gemma-4-31B-it; its weights are not needed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import click

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
        raise ValueError(f"no configuration of a Gemma 4 (model_type {config.get('model_type')!r})")
    # What stands outside holds for the text model too, where that has nothing of its own.
    shared = {key: config[key] for key in ("eos_token_id", "dtype") if key in config}
    return {**shared, **found, "architectures": [ARCHITECTURE]}


@click.command()
@click.argument("model", type=click.Path(path_type=Path, file_okay=False))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def main(model: Path, folder: Path) -> None:
    """Write FOLDER, for --tokenizer, from the folder of a whole MODEL."""
    try:
        if folder.exists() and folder.samefile(model):
            raise click.ClickException(f"{folder} is the model's own folder: name another.")
        config = text_only(json.loads((model / "config.json").read_text(encoding="utf-8")))
        folder.mkdir(parents=True, exist_ok=True)
        for name in KEPT:
            if (model / name).is_file():
                shutil.copyfile(model / name, folder / name)
        text = json.dumps(config, indent=1) + "\n"
        (folder / "config.json").write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise click.ClickException(f"{model / 'config.json'}: {error}") from None
    click.echo(str(folder))


if __name__ == "__main__":
    main()
