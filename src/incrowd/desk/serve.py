"""The socket: 127.0.0.1 alone, the launch key's file, the end when idle."""

import os
import secrets
import shutil
import socketserver
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import Any
from wsgiref.simple_server import ServerHandler, WSGIRequestHandler, WSGIServer

from incrowd.desk.server import App
from incrowd.desk.session import Session
from incrowd.tables.atomic import raise_plainly

HERE = "127.0.0.1"
SLOWEST = 30  # seconds a request may take to arrive
LAUNCH = """<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>incrowd desk</title>
<meta http-equiv="refresh" content="0; url={address}#key={key}">
<p><a href="{address}#key={key}">Open incrowd desk</a></p>
"""


class Handler(WSGIRequestHandler):
    """Requests without a log: their addresses may name cells of the table."""

    timeout = SLOWEST
    server_version, sys_version = "incrowd", ""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Server(socketserver.ThreadingMixIn, WSGIServer):
    """A thread for each request; it looks up no names, so nothing leaves the machine."""

    daemon_threads = True
    allow_reuse_address = False

    def server_bind(self) -> None:
        """Bind without asking what this machine is called."""
        socketserver.TCPServer.server_bind(self)
        host, port = self.server_address[:2]
        self.server_name, self.server_port = str(host), int(port)
        self.setup_environ()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a browser went away in the middle of an answer."""


ServerHandler.server_software = "incrowd"


class Desk:
    """A desk that is being served.

    Attributes
    ----------
    address: of the page; launch: the file that opens it, which only this user can read.
    """

    def __init__(self, session: Session, port: int = 0, idle: float | None = None) -> None:
        self.server = Server((HERE, port), Handler)
        self.key, self.idle = secrets.token_urlsafe(32), idle
        self.address = f"http://{HERE}:{self.server.server_port}/"
        self.app = App(session, self.server.server_port, self.key)
        self.app.entered = self.forget
        self.server.set_app(self.app)
        self.folder = private_folder()
        self.launch = self.folder / "open.html"
        self.why = "ended"
        try:
            write_private(self.launch, LAUNCH.format(address=escape(self.address), key=self.key))
        except OSError as error:
            self.close()
            raise_plainly(error, str(self.folder))
            raise

    def forget(self) -> None:
        """Remove the launch key's file: it was used."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self) -> None:
        """Serve until it is closed, or nobody has done anything for ``idle`` seconds."""
        if self.idle is not None:
            threading.Thread(target=self._watch, daemon=True).start()
        try:
            self.server.serve_forever(poll_interval=0.1)
        finally:
            self.close()

    def _watch(self) -> None:
        assert self.idle is not None
        while self.app.idle() < self.idle:
            time.sleep(min(1.0, self.idle / 4))
        self.why = "nobody did anything"
        self.server.shutdown()

    def close(self) -> None:
        """Stop to listen, end what runs, and remove the launch key's file."""
        session = self.app.session
        for work in (session.making, session.sweeping):
            if work is not None:
                work.stop.interrupt()
        with suppress(OSError):
            self.server.server_close()
        self.forget()


@contextmanager
def served(session: Session) -> Iterator[Desk]:
    """Serve a desk in a thread of its own, for tests and pictures."""
    desk = Desk(session)
    thread = threading.Thread(target=desk.run, daemon=True)
    thread.start()
    try:
        yield desk
    finally:
        desk.server.shutdown()
        thread.join()


def private_folder() -> Path:
    """Return a new folder that only this user can enter."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    parent = runtime if runtime and os.access(runtime, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="incrowd-desk-", dir=parent))


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
