"""A server that keeps what it was asked and answers by a function, for the scripts that go with a model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer


@contextmanager
def recording_server(answer):
    """Its address, and a list of (method, path, body) that grows; ``answer(method, path, body)`` gives a status and JSON."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def respond(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append((self.command, self.path, body))
            status, content = answer(self.command, self.path, body)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def do_GET(self):
            self.respond()

        def do_PUT(self):
            self.respond()

        def do_POST(self):
            self.respond()

        def do_DELETE(self):
            self.respond()

        def log_message(self, *_):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run_script(folder, name, **settings):
    """Run upload.sh or check.py of an export with these environment variables; its exit code and what it said."""
    command = ["sh", str(folder / name)] if name.endswith(".sh") else [sys.executable, name]
    environment = {**os.environ, **settings, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    place = "/" if name.endswith(".sh") else folder
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
