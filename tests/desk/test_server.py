"""Who is let in: each rule of the desk's safety, and requests of any kind."""

import json
import re
import stat
import sys
from http.client import HTTPConnection
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desk.asking import HOST, PORT, Page, asked
from dial import few
from incrowd.desk.calls import READ, WRITE
from incrowd.desk.serve import HERE, Desk, served
from incrowd.desk.server import LONGEST_BODY, MOST_TRIES, PAGE, POLICY, SCREENS, App
from incrowd.desk.session import Session

SECRET = "a cell that nobody may see"


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """A page over a small table."""
    file = tmp_path / "t.csv"
    cells = [SECRET, "b", "b", "c"] * 2
    pl.DataFrame({"job": cells, "age": [1, 2, 3, 4] * 2}).write_csv(file)
    return Page(Session(str(file)))


def calls() -> list[tuple[str, str]]:
    return [("GET", name) for name in READ] + [("POST", name) for name in WRITE]


@pytest.mark.parametrize(("method", "name"), calls())
@pytest.mark.parametrize("given", [None, "", "Bearer ", "Bearer wrong", "Basic x", "Bearer é"])
def test_no_call_without_the_token(page: Page, method: str, name: str, given: str | None):
    """Tests that every call wants the bearer header, and that nothing is done without it."""
    answer = asked(page.app, method, f"/api/{name}", {}, HTTP_AUTHORIZATION=given)
    assert answer.status == 401
    assert SECRET not in answer.body.decode() and page.app.token not in answer.body.decode()
    assert page.session.moments == [page.session.now] and page.session.making is None


@pytest.mark.parametrize("cookie", ["token", "Authorization"])
def test_cookies_let_nobody_in(page: Page, cookie: str):
    """Tests that a token in a cookie is none, and that no answer sets one."""
    env = {"HTTP_AUTHORIZATION": None, "HTTP_COOKIE": f"{cookie}={page.app.token}"}
    assert asked(page.app, "GET", "/api/state", **env).status == 401
    for path in ("/", "/api/state"):
        assert "Set-Cookie" not in asked(page.app, "GET", path).headers


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}"]
)
@pytest.mark.parametrize("path", ["/", "/api/state", "/desk.js"])
def test_foreign_hosts_are_refused(page: Page, host: str | None, path: str):
    """Tests that another name for this machine (DNS rebinding) gets not even the empty page."""
    assert asked(page.app, "GET", path, HTTP_HOST=host).status == 421


@pytest.mark.parametrize("path", ["/", "/api/state", "/desk.js", "/api/enter"])
@pytest.mark.parametrize(
    "env",
    [
        {"HTTP_ORIGIN": "http://evil.example"},
        {"HTTP_ORIGIN": "null"},
        {"HTTP_ORIGIN": f"https://{HOST}"},
        {"HTTP_ORIGIN": f"http://{HOST}.evil.example"},
        {"HTTP_SEC_FETCH_SITE": "cross-site"},
        {"HTTP_SEC_FETCH_SITE": "same-site", "HTTP_SEC_FETCH_MODE": "cors"},
    ],
)
def test_foreign_sites_are_refused(page: Page, env: dict[str, str], path: str):
    """Tests Origin and Sec-Fetch-Site, with the right token as well."""
    assert asked(page.app, "POST" if "enter" in path else "GET", path, {}, **env).status == 403


def test_the_launch_file_may_lead_to_the_empty_page(page: Page):
    """Tests that a visit from a file on disk sees the page, and that no call is made that way."""
    env = {"HTTP_SEC_FETCH_SITE": "cross-site", "HTTP_SEC_FETCH_MODE": "navigate"}
    assert asked(page.app, "GET", "/", **env).status == 200
    assert asked(page.app, "GET", "/api/state", **env).status == 403
    assert asked(page.app, "GET", "/table", **env).status == 403


def test_the_launch_key_works_once(page: Page):
    """Tests that the key gives the token once, and is not asked for the token before."""
    entered = []
    page.app.entered = lambda: entered.append(1)
    for wrong in ("", "x", None, 5, ["the launch key"], "ключ"):
        body = {"key": wrong}
        assert asked(page.app, "POST", "/api/enter", body, HTTP_AUTHORIZATION=None).status == 401
    right = {"key": "the launch key"}
    answer = asked(page.app, "POST", "/api/enter", right, HTTP_AUTHORIZATION=None)
    assert (answer.status, answer.data) == (200, {"token": page.app.token})
    assert entered == [1]
    assert asked(page.app, "POST", "/api/enter", right).status == 401
    assert asked(page.app, "POST", "/api/enter", {"key": ""}).status == 401
    assert asked(page.app, "GET", "/api/enter").status == 405


def test_guessing_keys_ends(page: Page):
    """Tests that after some wrong keys the right one is refused as well."""
    for _ in range(MOST_TRIES):
        asked(page.app, "POST", "/api/enter", {"key": "wrong"})
    assert asked(page.app, "POST", "/api/enter", {"key": "the launch key"}).status == 401


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/nothing", "/nothing", "/desk.css"])
def test_every_answer_is_guarded(page: Page, path: str):
    """Tests the headers: nothing but our own files, no frame, no store, no referrer."""
    headers = asked(page.app, "GET", path).headers
    assert headers["Content-Security-Policy"] == POLICY
    assert POLICY.startswith("default-src 'none'; ") and "unsafe" not in POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_the_page_names_no_other_place():
    """Tests that no file of the page has an address of elsewhere, or text that is run as code."""
    for file in PAGE.iterdir():
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(https?:)?//\w+\.\w", text), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|\beval\(|new Function", text)
        assert not re.search(r"<(script|style)>|\son\w+=\"|style=\"", text), file.name


def test_the_page_is_small():
    """Tests the page's promise: below 60 kB, and with its two first calls at most 8 requests."""
    files = list(PAGE.iterdir())
    assert sum(file.stat().st_size for file in files) < 60_000
    assert len(files) + len(["enter", "state"]) <= 8


def test_bodies_are_limited(page: Page):
    """Tests lengths that are too large, missing or none; nothing of such a body is read."""

    class Unread:
        def read(self, length: int) -> bytes:
            raise AssertionError("it was read")

    for length, status in [
        (str(LONGEST_BODY + 1), 413), ("9" * 400, 413), (None, 411), ("", 411), ("-1", 411),
        ("x", 411), ("١", 411),
    ]:  # fmt: skip
        env = {"CONTENT_LENGTH": length, "wsgi.input": Unread()}
        assert asked(page.app, "POST", "/api/ask", **env).status == status
    assert asked(page.app, "GET", "/api/rows?" + "a" * 20_000).status == 414
    for body in (b"", b"{", b"[]", b"1", b"\xff", b"[" * 100_000, b'{"a":' * 50_000):
        assert asked(page.app, "POST", "/api/ask", body).status == 400
    form = asked(page.app, "POST", "/api/ask", {}, CONTENT_TYPE="text/plain")
    assert form.status == 415  # what a form of another site could send


def test_what_is_no_page(page: Page):
    """Tests that no path leads out of the page's folder."""
    for path in (
        "/../server.py",
        "/server.py",
        "/page",
        "//etc/passwd",
        "/..%2fserver.py",
        "/.",
        "/\0",
    ):
        assert asked(page.app, "GET", path).status == 404
    assert asked(page.app, "POST", "/", {}).status == 405
    for screen in SCREENS:
        assert b"incrowd desk" in asked(page.app, "GET", f"/{screen}").body
    assert asked(page.app, "DELETE", "/api/state").status == 405
    assert asked(page.app, "POST", "/api/state", {}).status == 404
    assert asked(page.app, "GET", "/api/publish").status == 404


def test_unforeseen_errors_quote_no_cell(page: Page, monkeypatch: pytest.MonkeyPatch):
    """Tests that what nobody foresaw is told by its kind alone."""

    def fails(session, given):
        raise KeyError(SECRET)

    monkeypatch.setitem(READ, "state", fails)
    answer = asked(page.app, "GET", "/api/state")
    assert answer.status == 500
    assert SECRET not in answer.body.decode() and "KeyError" in answer.data["error"]


PATHS = st.one_of(
    st.sampled_from(
        [f"/api/{name}" for name in (*READ, *WRITE, "enter", "alive") if name != "open"]
    ),
    st.text(max_size=30).map(lambda text: "/" + text),
    st.text(max_size=30).map(lambda text: "/api/" + text),
)
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
        st.sampled_from(["job", "age", SECRET, "qi", "id", "k", "", "interval:2", "*", "0", "-1"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["job", "age", "k", "gap", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)  # fmt: skip
NAMES = st.sampled_from(
    ["roles", "rules", "further", "column", "level", "members", "name", "group", "borders", "what",
     "number", "start", "count", "changed", "class", "value", "names", "key", "replace", "another"]
)  # fmt: skip


@settings(max_examples=few(400))
@given(
    st.sampled_from(["GET", "POST", "PUT", "OPTIONS", "HEAD", ""]),
    PATHS,
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.text(max_size=30),
    st.booleans(),
)
def test_any_request_is_answered(tmp_path_factory, method, path, body, query, token):
    """Tests that no request ends in an unexpected error, and none without the token in data.

    Neither folder nor file is named, so nothing is written.
    """
    page = fuzzed(tmp_path_factory)
    env = {} if token else {"HTTP_AUTHORIZATION": "Bearer x"}
    answer = asked(page.app, method, f"{path}?{query}", body, **env)
    assert answer.status in (200, 400, 401, 404, 405, 414), answer.body
    assert answer.headers["Content-Security-Policy"] == POLICY
    if not token:
        assert SECRET not in answer.body.decode("utf-8", "replace")
        assert answer.status != 200 or not path.startswith("/api/")
    making = page.session.making
    if making is not None:
        making.stop.interrupt()
        making.join()


PAGES: list[Page] = []


def fuzzed(factory: pytest.TempPathFactory) -> Page:
    """The one page that all fuzzed requests go to."""
    if not PAGES:
        file = factory.mktemp("desk") / "t.csv"
        pl.DataFrame({"job": [SECRET, "b"] * 3, "age": [1, 2, 3] * 2}).write_csv(file)
        PAGES.append(Page(Session(str(file))))
    return PAGES[0]


def test_it_listens_on_this_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests the socket, the launch file's rights, that it goes once used, and all over HTTP."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with served(Session()) as desk:
        assert desk.server.socket.getsockname()[0] == HERE == "127.0.0.1"
        if sys.platform != "win32":
            assert stat.S_IMODE(desk.launch.stat().st_mode) == 0o600
            assert stat.S_IMODE(desk.folder.stat().st_mode) == 0o700
        text = desk.launch.read_text()
        key = re.findall(r"#key=([\w-]+)", text)[0]
        assert desk.launch.parent.parent == tmp_path and key not in str(desk.launch)
        found = HTTPConnection(HERE, desk.server.server_port, timeout=60)
        headers = {"Content-Type": "application/json"}
        found.request("POST", "/api/enter", json.dumps({"key": key}), headers)
        token = json.loads(found.getresponse().read())["token"]
        assert not desk.folder.exists()
        found.request("GET", "/api/state", headers={"Authorization": f"Bearer {token}"})
        assert json.loads(found.getresponse().read())["open"] is False
        found.close()
    assert list(tmp_path.iterdir()) == []


def test_it_ends_when_idle(monkeypatch: pytest.MonkeyPatch):
    """Tests that it ends by itself, that an open page alone does not keep it, and a run does."""
    desk = Desk(Session(), idle=0.05)
    desk.run()
    assert desk.why == "nobody did anything" and not desk.folder.exists()
    app = App(Session(), PORT, "key")
    app.last -= 100
    asked(app, "GET", "/api/alive")
    asked(app, "GET", "/api/state", HTTP_AUTHORIZATION="Bearer wrong")
    assert app.idle() >= 100
    asked(app, "GET", "/api/state")
    assert app.idle() < 100


def test_no_name_is_looked_up(monkeypatch: pytest.MonkeyPatch):
    """Tests that serving asks no name server: nothing leaves the machine."""
    import socket

    def never(*given):
        raise AssertionError("a name was looked up")

    for name in ("getfqdn", "gethostbyaddr", "gethostbyname", "gethostname"):
        monkeypatch.setattr(socket, name, never)
    with served(Session()) as desk:
        found = HTTPConnection(HERE, desk.server.server_port, timeout=60)
        found.request("GET", "/")
        assert found.getresponse().status == 200
        found.close()
