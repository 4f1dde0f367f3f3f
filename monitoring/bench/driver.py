"""Runs ``vllm bench serve`` again and again in one process, because importing vLLM takes 10 s.

Started by a Python that has vLLM, not by the kit's, so it imports nothing of the kit. Reads a JSON
object a line on standard input: ``arguments`` of the command, and ``prompts`` ("text" or "tokens").
Answers each with one JSON line on standard output. Everything that vLLM itself prints goes to
standard error.
"""

import contextlib
import dataclasses
import importlib
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Measure = Callable[..., Awaitable[Any]]


def main() -> None:
    """Serve requests until standard input ends."""
    # Libraries that are no Python, and processes that they start, write to the descriptor itself.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.redirect_stdout(sys.stderr):
        serve: Any = importlib.import_module("vllm.benchmarks.serve")
        arguments = importlib.import_module("vllm.utils.argparse_utils")
        parser = arguments.FlexibleArgumentParser()
        serve.add_cli_args(parser)
        # vLLM's parser has no way to ask for token IDs with prompts of this kind, so the step after
        # the last that touches them is replaced.
        ways = {"text": serve.benchmark, "tokens": _sending_tokens(serve.benchmark)}
        print(json.dumps({"ready": True}), file=answers, flush=True)
        for line in sys.stdin:
            try:
                asked = json.loads(line)
                serve.benchmark = ways[asked["prompts"]]
                serve.main(parser.parse_args(asked["arguments"]))
                answer = json.dumps({"done": True})
            except (Exception, SystemExit) as error:  # told, whatever it is
                reason = " ".join(str(error).split())
                answer = json.dumps({"error": f"{type(error).__name__}: {reason}"})
            print(answer, file=answers, flush=True)


def _sending_tokens(benchmark: Measure) -> Measure:
    """Return the measurement with each prompt as the list of its token IDs.

    They are what a vLLM server makes of the text on ``/v1/completions``, special tokens included.
    """

    async def measure(*, tokenizer: Any, input_requests: list[Any], **others: Any) -> Any:
        requests = []
        for request in input_requests:
            tokens = tokenizer.encode(request.prompt, add_special_tokens=True)
            changed = dataclasses.replace(request, prompt=tokens, prompt_len=len(tokens))
            requests.append(changed)
        return await benchmark(tokenizer=tokenizer, input_requests=requests, **others)

    return measure


if __name__ == "__main__":
    main()
