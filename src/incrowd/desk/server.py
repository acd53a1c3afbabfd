"""The WSGI app: who is let in, how much is read, which call is made.

The page that is served has no data in it.  Every call needs a token, which the page gets once for
the launch key; there are no cookies, so no other site can make a browser send it.  A foreign Host
(another name that points to this machine), a foreign Origin and a foreign ``Sec-Fetch-Site`` are
refused before anything else is looked at.
"""

import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from incrowd.desk.calls import READ, WRITE
from incrowd.desk.session import Session
from incrowd.desk.work import RUNNING, plainly
from incrowd.errors import IncrowdError

PAGE = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
SCREENS = ("", "columns", "release", "table", "use", "compare", "publish")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = [
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
]
LONGEST_BODY, LONGEST_QUERY = 1 << 20, 1 << 14
MOST_TRIES = 20  # wrong launch keys, after which no key is taken any more
Start = Callable[..., Any]


class Refused(Exception):  # noqa: N818 (an answer, not a fault)
    """A request that is not served: a status line, and what the page says of it."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class App:
    """The app.

    Attributes
    ----------
    key: the launch key; it lets one page in, once.
    entered: called when it has; tries: wrong keys so far.
    last: when somebody last did something, by ``time.monotonic``.
    """

    def __init__(self, session: Session, port: int, key: str) -> None:
        self.session, self.key = session, key
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.token = secrets.token_urlsafe(32)
        self.entered: Callable[[], None] = lambda: None
        self.tries, self.last = 0, time.monotonic()
        self.lock = threading.Lock()
        self.pages = {
            file.name: file.read_bytes() for file in PAGE.iterdir() if file.suffix in TYPES
        }

    def __call__(self, env: Mapping[str, Any], start: Start) -> Iterable[bytes]:
        """Answer one request."""
        try:
            self.require_own(env)
            path, method = str(env.get("PATH_INFO", "")), str(env.get("REQUEST_METHOD", ""))
            if not path.startswith("/api/"):
                return self.page(path, method, start)
            return self.call(path.removeprefix("/api/"), method, env, start)
        except Refused as refused:
            return answered(start, refused.status, {"error": str(refused)})
        except IncrowdError as error:
            return answered(start, "400 Bad Request", {"error": str(error)})
        except Exception as error:
            return answered(start, "500 Internal Server Error", {"error": plainly(error)})

    def require_own(self, env: Mapping[str, Any]) -> None:
        """Refuse what another site, or another name for this machine, asks."""
        if env.get("HTTP_HOST") not in self.hosts:
            raise Refused("421 Misdirected Request", "this page answers to its own address alone")
        origin = env.get("HTTP_ORIGIN")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            raise Refused("403 Forbidden", "another site asked")
        site = env.get("HTTP_SEC_FETCH_SITE")
        visit = env.get("HTTP_SEC_FETCH_MODE") == "navigate" and env.get("PATH_INFO") == "/"
        if site not in (None, "same-origin", "none") and not visit:  # the launch file may link here
            raise Refused("403 Forbidden", "another site asked")

    def page(self, path: str, method: str, start: Start) -> Iterable[bytes]:
        """Serve the page: the same for everybody, without any data."""
        if method != "GET":
            raise Refused("405 Method Not Allowed", "a page is only read")
        name = "index.html" if path.removeprefix("/") in SCREENS else path.removeprefix("/")
        body = self.pages.get(name)
        if body is None:
            raise Refused("404 Not Found", "there is no such page")
        kind = TYPES[Path(name).suffix]
        start("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body))), *SAFE])
        return [body]

    def call(self, name: str, method: str, env: Mapping[str, Any], start: Start) -> Iterable[bytes]:
        """Make a call of the page."""
        if name == "enter":
            return self.enter(method, env, start)
        given = str(env.get("HTTP_AUTHORIZATION", ""))
        if not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
            raise Refused(
                "401 Unauthorized",
                "a desk lets one page in: go on in the one that is open already; if it is closed, "
                "end the desk (Ctrl-C) and start it again, by --work if the work was saved",
            )
        if name == "alive":  # a page that is only open does not keep the desk from ending
            return answered(start, "200 OK", {})
        self.last = time.monotonic()
        calls = {"GET": READ, "POST": WRITE}.get(method)
        if calls is None:
            raise Refused("405 Method Not Allowed", "calls are made by GET and POST")
        if name not in calls:
            raise Refused("404 Not Found", "there is no such call")
        found = calls[name](self.session, query(env) if method == "GET" else body(env))
        if isinstance(found, Iterator):
            start("200 OK", [("Content-Type", "application/x-ndjson"), *SAFE])
            return told(found)
        return answered(start, "200 OK", found)

    def enter(self, method: str, env: Mapping[str, Any], start: Start) -> Iterable[bytes]:
        """Give the token for the launch key, once."""
        if method != "POST":
            raise Refused("405 Method Not Allowed", "calls are made by GET and POST")
        given = body(env).get("key")
        with self.lock:
            right = (
                isinstance(given, str)
                and self.tries < MOST_TRIES
                and bool(self.key)
                and hmac.compare_digest(given.encode("utf-8", "replace"), self.key.encode())
            )
            if not right:
                self.tries += 1
                raise Refused(
                    "401 Unauthorized",
                    "the launch key is not right, or was used before: start incrowd desk again",
                )
            self.key = ""
        self.last = time.monotonic()
        self.entered()
        return answered(start, "200 OK", {"token": self.token})

    def idle(self) -> float:
        """Seconds in which nobody did anything; 0 while something runs."""
        session = self.session
        works = (session.making, session.sweeping, session.attacking, session.studying)
        if any(work is not None and work.state == RUNNING for work in works):
            self.last = time.monotonic()
        return time.monotonic() - self.last


def told(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Return lines of JSON; the last one says it where they end by an error."""
    try:
        yield from lines
    except Exception as error:
        yield json.dumps({"error": plainly(error)}).encode() + b"\n"


def answered(start: Start, status: str, data: Any) -> list[bytes]:
    """Return data as JSON."""
    raw = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
    start(status, [("Content-Type", "application/json"), ("Content-Length", str(len(raw))), *SAFE])
    return [raw]


def query(env: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a GET asks."""
    given = str(env.get("QUERY_STRING", ""))
    if len(given) > LONGEST_QUERY:
        raise Refused("414 URI Too Long", "the address is too long")
    try:
        return dict(parse_qsl(given, keep_blank_values=True, max_num_fields=50, errors="strict"))
    except ValueError:
        raise Refused("400 Bad Request", "the address cannot be read") from None


def body(env: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a POST says: a JSON object of limited length."""
    if str(env.get("CONTENT_TYPE", "")).partition(";")[0].strip() != "application/json":
        raise Refused("415 Unsupported Media Type", "a call says JSON")
    length = str(env.get("CONTENT_LENGTH") or "")
    if not length.isdecimal() or not length.isascii():
        raise Refused("411 Length Required", "a call says how long it is")
    if len(length) > 9 or int(length) > LONGEST_BODY:
        raise Refused("413 Content Too Large", "a call is at most 1 MB long")
    raw = env["wsgi.input"].read(int(length))
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise Refused("400 Bad Request", "a call says JSON") from None
    if not isinstance(found, dict):
        raise Refused("400 Bad Request", "a call says one JSON object")
    return found
