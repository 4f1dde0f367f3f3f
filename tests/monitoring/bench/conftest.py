"""A Python whose vLLM is a stand-in: its load generator and its server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SERVE = """\
import asyncio, dataclasses, json, os, pathlib
@dataclasses.dataclass
class SampleRequest:
    prompt: object
    prompt_len: int
    expected_output_len: int = 0
class Tokenizer:
    def encode(self, text, add_special_tokens):
        return [1, *map(ord, text)] if add_special_tokens else [*map(ord, text)]
def add_cli_args(parser):
    for flag in ("--seed", "--result-dir", "--result-filename", "--num-prompts"):
        parser.add_argument(flag)
async def benchmark(tokenizer, input_requests, ignore_eos):
    return {
        "prompts": [request.prompt for request in input_requests],
        "input_lens": [request.prompt_len for request in input_requests],
        "ignore_eos": ignore_eos,
    }
def main(args):
    print("much noise")
    os.write(1, b"noise of a library\\n")
    if args.seed == "13":
        raise ValueError("bad\\nluck")
    failed = 1 if args.seed == "14" else 0
    result = {"seed": args.seed, "failed": failed, "num_prompts": 2, "errors": ["", "Trace\\nBoom"]}
    requests = [SampleRequest("ab", 2, 16), SampleRequest("c", 1, 16)]
    result |= asyncio.run(
        benchmark(tokenizer=Tokenizer(), input_requests=requests, ignore_eos=True)
    )
    (pathlib.Path(args.result_dir) / args.result_filename).write_text(json.dumps(result))
"""
ARGUMENTS = """\
import argparse
class FlexibleArgumentParser(argparse.ArgumentParser):
    def parse_args(self, args):
        return self.parse_known_args(args)[0]
"""
SERVER = """\
import http.server, pathlib, sys, time
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/v1/models":
            pathlib.Path(__file__).with_name("asked").touch()
            time.sleep(300)
        self.send_response(200)
        self.end_headers()
port = next(int(each[7:]) for each in sys.argv if each.startswith("--port="))
http.server.ThreadingHTTPServer(("127.0.0.1", port), Page).serve_forever()
"""
SERVER_PATH = "vllm/entrypoints/openai/api_server.py"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python whose vLLM is a stand-in; its server touches a file ``asked`` and then hangs."""
    for name, text in (
        ("vllm/__init__.py", ""),
        ("vllm/benchmarks/__init__.py", ""),
        ("vllm/benchmarks/serve.py", SERVE),
        ("vllm/utils/__init__.py", ""),
        ("vllm/utils/argparse_utils.py", ARGUMENTS),
        (SERVER_PATH, SERVER),
        ("vllm-0.30.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: vllm\nVersion: 0.30.0\n"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return script


@pytest.fixture
def asked(python: Path) -> Path:
    """The file that the stand-in's server touches once it is asked for its models."""
    return python.parent / SERVER_PATH.replace("api_server.py", "asked")
