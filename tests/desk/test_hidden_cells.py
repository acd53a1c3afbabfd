"""Tests, byte by byte, that the desk shows hidden cells on its owner's screens and nowhere else."""

import stat
from pathlib import Path
from typing import Any

import polars as pl

from desk.asking import Answer, Page, asked
from hidden import files_of, found_in, marked
from incrowd.desk.session import Session

TABLE = marked(24, 4)
SCREENS = ("rows", "levels", "figures")  # for the owner: before and after, and what is in a column
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("ask", {"rules": {"town": "interval:5"}}),
    ("ask", {"rules": {"town": "date"}}),
    ("ask", {"rules": {"town": "range"}}),
    ("ask", {"rules": {"town": "prefix:40"}}),
    ("ask", {"further": {"caps": {"town": "x"}}}),
    ("ask", {"rules": {"town": "mean"}}),
    ("group", {"column": "town", "level": 0, "members": ["zqtw001xy"], "name": "zqtw003xy"}),
    ("borders", {"column": "town", "borders": "5,6"}),
    ("order", {"column": "town", "values": ["zqtw001xy"]}),
    ("ungroup", {"column": "town", "level": 1, "group": "none"}),
    ("ask", {"rules": {"code": "prefix:1,2"}, "further": {"k": 4}}),
]


def test_a_marked_table(tmp_path: Path) -> None:
    """Tests every answer, refusals among them, and every file that is published or saved."""
    pl.DataFrame(TABLE).write_csv(tmp_path / "in.csv")
    page, answers = Page(Session(str(tmp_path / "in.csv"))), dict[str, list[Answer]]()

    def call(method: str, path: str, body: Any = None) -> None:
        answers.setdefault(path.partition("?")[0], []).append(
            asked(page.app, method, f"/api/{path}", body)
        )

    roles = dict(zip(TABLE, ("id", "qi", "qi", "sensitive"), strict=True))
    for name, body in [("ask", {"roles": roles}), *ASKED]:
        call("POST", name, body)
    session = page.session
    for name in ("run", "attack", "keep", "sweep"):
        call("POST", name, {})
        for work in (session.making, session.attacking, session.sweeping):
            if work is not None:
                work.join()
        call("GET", "state?table=1")
    for name in ("events", "figures", "rows?count=9", "rows?start=x", "rows?column=town&value=zq"):
        call("GET", name)
    for column in ("code", "town"):
        call("GET", f"levels?column={column}")
    out, kept = tmp_path / "out", tmp_path / "kept"
    names = ["report", "statement", "proof", "internal", "policy"]
    call("POST", "place", {"folder": str(out), "names": names})
    for name, body in (("publish", {}), ("publish", {}), ("save", {"folder": str(kept)})):
        call("POST", name, body)
    call("POST", "load", {"folder": str(kept)})
    call("POST", "population", {"path": str(tmp_path / "none.csv")})
    released = pl.read_csv(out / "release.csv", infer_schema=False)
    shown = {cell for column in released.iter_columns() for cell in column}
    hidden = {cell for cells in TABLE.values() for cell in cells} - shown
    assert {*TABLE["name"], *TABLE["town"]} <= hidden
    everything = {answer.status for some in answers.values() for answer in some}
    assert everything == {200, 400}
    for name, some in answers.items():
        told = set().union(*(found_in(each.body, hidden) for each in some))
        assert bool(told) == (name in SCREENS), name
        assert not told & {*TABLE["name"]} or name == "rows"
        refused = [each for each in some if each.status != 200]
        assert not any(found_in(each.body, hidden) for each in refused)
    for folder in (out, kept):
        for name, data in files_of(folder).items():
            private = not stat.S_IMODE((folder / name).stat().st_mode) & 0o077
            assert private or not found_in(data, hidden), name
