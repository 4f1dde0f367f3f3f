"""Runs ``vllm bench serve`` again and again in one process, because importing vLLM takes 10 s.

Started by a Python that has vLLM, not by the kit's, so it imports nothing of the kit. Reads a JSON
list of arguments a line on standard input; answers each with one JSON line on standard output.
Everything that vLLM itself prints goes to standard error.
"""

import contextlib
import importlib
import json
import sys


def main() -> None:
    """Serve requests until standard input ends."""
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        serve = importlib.import_module("vllm.benchmarks.serve")
        arguments = importlib.import_module("vllm.utils.argparse_utils")
        parser = arguments.FlexibleArgumentParser()
        serve.add_cli_args(parser)
        print(json.dumps({"ready": True}), file=answers, flush=True)
        for line in sys.stdin:
            try:
                serve.main(parser.parse_args(json.loads(line)))
                answer = json.dumps({"done": True})
            except (Exception, SystemExit) as error:  # told, whatever it is
                reason = " ".join(str(error).split())
                answer = json.dumps({"error": f"{type(error).__name__}: {reason}"})
            print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main()
