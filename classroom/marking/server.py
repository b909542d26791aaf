"""Serve the marking pages to this machine alone.

Answers are strangers' text: every page forbids scripts, frames and other hosts, and the address
holds a word that no other page can know, so none can send a mark.
"""

from __future__ import annotations

import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs, quote, unquote

from classroom.marking.page import MarkingDesk

POLICY = ("default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
          "base-uri 'none'; frame-ancestors 'none'")  # fmt: skip
MOST_SENT = 100_000  # bytes


class MarkingServer(ThreadingHTTPServer):
    """A server for one desk; it listens to this machine only."""

    daemon_threads = True

    def __init__(self, desk: MarkingDesk, port: int):
        self.desk, self.word, self.lock = desk, secrets.token_urlsafe(16), Lock()
        super().__init__(("127.0.0.1", port), MarkingHandler)

    @property
    def address(self) -> str:
        """The address of the overview."""
        return f"http://127.0.0.1:{self.server_address[1]}/{self.word}/"


class MarkingHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: MarkingServer

    def do_GET(self) -> None:
        """Show the overview, or an answer."""
        with self.server.lock:
            place = self.place()
            if place is None:
                self.refuse()
            elif place == ():
                self.show(self.server.desk.overview())
            else:
                self.show(self.server.desk.answer(*place))

    def do_POST(self) -> None:
        """Keep a mark and go to the next answer."""
        with self.server.lock:
            place, size = self.place(), self.headers.get("Content-Length", "")
            if not place or not size.isdigit() or int(size) > MOST_SENT:
                self.refuse()
                return
            form = parse_qs(self.rfile.read(int(size)).decode("utf8", "replace"), True)
            desk, (task, number) = self.server.desk, place
            try:
                desk.save(task, number, form.get("points", []), form.get("comment", [""])[0])
            except ValueError as error:
                self.show(desk.answer(task, number, str(error)), 400)
                return
            further = desk.next_after(task, number)
            self.go(f"{quote(further[0], safe='')}/{further[1]}" if further else "")

    def place(self) -> tuple[str, int] | tuple[()] | None:
        """The answer that the address names; () is the overview, None is nothing of ours."""
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            return None
        word, _, rest = self.path.lstrip("/").partition("/")
        if not secrets.compare_digest(word.encode(), self.server.word.encode()):
            return None
        task, _, number = rest.rpartition("/")
        desk, task = self.server.desk, unquote(task)
        if not rest:
            return ()
        known = task in desk.marks.tasks and number.isdigit() and int(number) < len(desk.students)
        return (task, int(number)) if known else None

    def show(self, page: str, status: int = 200) -> None:
        """Send a page that may do nothing but be read and sent back."""
        body = page.encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body))),
            ("Content-Security-Policy", POLICY), ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def go(self, rest: str) -> None:
        """Send the browser to another page."""
        self.send_response(303)
        self.send_header("Location", f"/{self.server.word}/{rest}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def refuse(self) -> None:
        """Say nothing about what is here."""
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Keep the terminal for the teacher."""
