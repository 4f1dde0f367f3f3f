"""A stand-in for a component: answers 200, and misbehaves as its flags say."""

import argparse
import http.server
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

flags = argparse.ArgumentParser()
flags.add_argument("port", type=int)
flags.add_argument("--say", default="")
flags.add_argument("--exit-at-start", type=int)
flags.add_argument("--exit-after", type=float)
flags.add_argument("--ignore-term", action="store_true")
flags.add_argument("--never-ready", action="store_true")
flags.add_argument("--grandchild", type=Path, help="start one, and write its pid there")
flags.add_argument("--grandchild-leaves", action="store_true", help="into a session of its own")
flags.add_argument("--stopped", type=Path, help="append the port there when told to stop")
arguments = flags.parse_args()


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if arguments.never_ready else 200)
        self.end_headers()

    def log_message(self, *_):
        pass


def on_term(*_):
    if arguments.stopped:
        with arguments.stopped.open("a") as file:
            file.write(f"{arguments.port}\n")
    if not arguments.ignore_term:
        os._exit(0)


if arguments.say:
    print(arguments.say, flush=True)
if arguments.exit_at_start is not None:
    sys.exit(arguments.exit_at_start)
signal.signal(signal.SIGTERM, on_term)
if arguments.grandchild:
    child = subprocess.Popen(["sleep", "300"], start_new_session=arguments.grandchild_leaves)
    arguments.grandchild.write_text(str(child.pid))
if arguments.exit_after is not None:
    threading.Timer(arguments.exit_after, os._exit, [7]).start()
http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Page).serve_forever()
