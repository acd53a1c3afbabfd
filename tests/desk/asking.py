"""The desk without a socket: requests as a server would hand them on."""

import io
import json
from dataclasses import dataclass
from typing import Any
from wsgiref.util import setup_testing_defaults

from incrowd.desk.server import App
from incrowd.desk.session import Session

PORT = 8123
HOST = f"127.0.0.1:{PORT}"


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


def asked(app: App, method: str, path: str, body: Any = None, **env: Any) -> Answer:
    """Ask an app; ``body`` is bytes, or what becomes JSON; None leaves a header out."""
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    place, _, query = path.partition("?")
    given = {
        "REQUEST_METHOD": method,
        "PATH_INFO": place,
        "QUERY_STRING": query,
        "HTTP_HOST": HOST,
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(raw)),
        "wsgi.input": io.BytesIO(raw),
        "HTTP_AUTHORIZATION": f"Bearer {app.token}",
    } | env
    given = {name: value for name, value in given.items() if value is not None}
    setup_testing_defaults(given)
    if "HTTP_HOST" in env and env["HTTP_HOST"] is None:
        del given["HTTP_HOST"]
    told: list[Any] = []
    found = b"".join(app(given, lambda status, headers: told.extend([status, headers])))
    return Answer(int(told[0].split()[0]), dict(told[1]), found)


class Page:
    """A page that was let in."""

    def __init__(self, session: Session | None = None) -> None:
        self.app = App(session or Session(), PORT, "the launch key")

    @property
    def session(self) -> Session:
        return self.app.session

    def get(self, path: str) -> Any:
        """Return what a call tells; it must be served."""
        answer = asked(self.app, "GET", f"/api/{path}")
        assert answer.status == 200, answer.body
        return answer.data

    def post(self, path: str, /, **body: Any) -> Any:
        """Return what a call does; it must be served."""
        answer = asked(self.app, "POST", f"/api/{path}", body)
        assert answer.status == 200, answer.body
        return answer.data

    def refused(self, path: str, /, **body: Any) -> str:
        """Return why a call is refused."""
        answer = asked(self.app, "POST", f"/api/{path}", body)
        assert answer.status == 400, answer.body
        return answer.data["error"]
