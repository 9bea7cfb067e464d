"""Stand-ins for an engine: a ``curl`` that writes down what it was asked, and a server that answers searches."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

CURL = """#!/bin/sh
echo "$@" >> "$LOG"
case "$*" in
    *FAILING*) echo '{"error": "no"}'; exit 22 ;;
    *"--head "*PRESENT) ;;
    *"--head "*) exit 22 ;;
    */_ltr) echo '{"stores": {}}' ;;
esac
"""


def run_upload(folder, failing="never", present="never"):
    """Run upload.sh with such a ``curl``; the addresses that contain ``failing`` fail, and ``present`` are there already."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    curl = tools / "curl"
    text = CURL.replace("FAILING", failing).replace("PRESENT", present)
    curl.write_text(text)
    curl.chmod(0o755)
    log = tools / "log"
    log.unlink(missing_ok=True)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "LOG": str(log), "ENGINE": "http://engine:1"}
    done = subprocess.run(
        ["sh", str(folder / "upload.sh")], cwd="/", env=environment, capture_output=True, text=True, check=False
    )
    return done, log.read_text().splitlines() if log.exists() else []


def fill_in(path):
    """Do what a user does with a file that has placeholders."""
    path.write_text(re.sub("(FIELD|VALUE)_OF_", "", path.read_text()))


@contextmanager
def engine_that_answers(answer):
    """The address of a server whose searches are answered by ``answer(path, body)``, a list of hits."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps({"hits": {"hits": answer(self.path, body)}}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run_check(folder, address):
    """Run check.py against an engine."""
    environment = {**os.environ, "ENGINE": address, "NO_PROXY": "127.0.0.1"}
    subprocess.run(
        [sys.executable, "check.py", "products"], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
