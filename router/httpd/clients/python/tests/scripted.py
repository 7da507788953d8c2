"""A gateway that answers what a test says."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

HANG_UP = 0
"""A status: the connection is closed without an answer."""

NEVER = -1
"""A status: there is no answer as long as the test runs."""

Answer = tuple[int, Mapping[str, str], Any]

OK: Answer = (200, {}, {"result": {"content": []}, "correlation_id": "theirs"})


def refusal(status: int, code: str, headers: Mapping[str, str] = {}) -> Answer:
    """An answer that is an error."""
    return status, headers, {"error": {"code": code, "message": "no", "details": {"at": "/path"}}, "correlation_id": "theirs"}


class Scripted(ThreadingHTTPServer):
    """Answers requests one after the other with `answers`, the last one for good. `requests` are those it got."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, Mapping[str, str], Any]] = []
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Scripted:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.over.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Scripted

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.path, dict(self.headers), json.loads(body) if body else None))
        script = self.server.answers
        status, headers, answer = script[min(len(self.server.requests), len(script)) - 1]
        if status == HANG_UP:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if status == NEVER:
            self.server.over.wait()
            return
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass
