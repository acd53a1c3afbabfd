"""What the page asks for: columns, undo, groups, runs, scenarios, publishing, saved work."""

import hashlib
import json
import os
import shlex
import threading
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from desk.asking import Page, asked
from incrowd.cli import cli
from incrowd.desk import figures
from incrowd.desk import publish as publishing
from incrowd.desk import session as session_module
from incrowd.desk.analysis import function_of
from incrowd.desk.ask import FURTHER, ROLES, Ask
from incrowd.desk.session import Session
from incrowd.desk.work import Making
from incrowd.errors import InputError
from incrowd.policy.served import UNSERVED as ROWS
from incrowd.proof.writing import sha256_of
from incrowd.run.events import Event
from incrowd.tables import open_table


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """A page over a table of 60 people."""
    return Page(Session(str(table(tmp_path))))


def table(folder: Path, rows: int = 60) -> Path:
    """Write a table with a number, two texts, a sensitive column and names."""
    rng = np.random.default_rng(1)
    file = folder / "people.csv"
    pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(20, 70, rows),
            "town": rng.choice(["Ulm", "Bonn", "Köln", "Hof"], rows),
            "sex": rng.choice(["f", "m"], rows),
            "diagnosis": rng.choice(["flu", "cold", "none"], rows),
        }
    ).write_csv(file)
    return file


def made(page: Page) -> Any:
    """Make the release that is asked for, and return what is known of it."""
    page.post("run")
    assert page.session.making is not None
    page.session.making.join()
    return page.get("state")["job"]


def test_guesses_with_reasons(page: Page):
    """Tests what the first screen shows: a role, a reason and a histogram for each column."""
    found = page.get("state?table=1")
    columns = {each["name"]: each for each in found["table"]["columns"]}
    assert found["ask"]["roles"] == {
        "name": "id", "age": "qi", "town": "qi", "sex": "qi", "diagnosis": "sensitive",
    }  # fmt: skip
    assert all(each["why"] for each in columns.values())
    assert sum(columns["age"]["bars"]) == 60 and page.get("levels?column=age")["numbers"]
    assert sorted(columns["sex"]["bars"]) == sorted(
        pl.read_csv(page.session.table.path)["sex"].value_counts()["count"].to_list()
    )


def test_decimal_commas_and_marks_are_read(tmp_path: Path):
    """Tests that the table tells them; that ranges, borders and a proposed rule follow them."""
    wages = [f"{900 + 37 * row},5" for row in range(39)] + ["NA"]
    pl.DataFrame({"wage": wages, "sex": [*"mf" * 20]}).write_csv(tmp_path / "w.csv", separator=";")
    page = Page(Session(str(tmp_path / "w.csv")))
    asked = page.get("state")["ask"]
    assert asked["further"]["decimal"] == "," and asked["roles"]["wage"] == "sensitive"
    asked = page.post("ask", roles={"wage": "qi"})["ask"]
    assert asked["rules"] == {"wage": "interval:100,200,400"}  # nobody need know how it is written
    page.post("ask", rules={"wage": ""})
    assert page.get("levels?column=wage")["kind"] == "numbers"
    page.post("borders", column="wage", borders="1000.5, 2000")
    assert levels_of(page, "wage")[1] == ["2000 and more", "NA", "[1000,5;2000,0)", "under 1000,5"]
    page.post("undo")
    assert page.post("ask", further={"k": 3})["ask"]["rules"] == {}  # what was taken away stays so
    assert page.post("ask", further={"decimal": None})["ask"]["rules"] == {}
    assert page.post("ask", further={"decimal": ","})["ask"]["rules"] == asked["rules"]
    pl.DataFrame({"wage": wages, "size": "1.5"}).write_csv(tmp_path / "w.csv", separator=";")
    assert "decimal" not in Session(str(tmp_path / "w.csv")).ask.further


def test_undo_and_redo_everything(page: Page):
    """Tests that changes, groups and scenarios can be undone and done again."""
    first = page.get("state")["ask"]
    page.post("ask", roles={"sex": "keep"}, further={"k": 3, "weights": {"age": "2"}})
    page.post("borders", column="age", borders="40")
    made(page)
    last = page.post("keep")
    assert last["undo"] and not last["redo"] and len(last["kept"]) == 1
    assert page.post("undo")["kept"] == []
    assert page.post("undo")["ask"]["own"] == {}
    back = page.post("undo")
    assert back["ask"] == first and not back["undo"] and back["stale"]
    for _ in range(3):
        found = page.post("redo")
    assert found["ask"] == last["ask"] and found["kept"] == last["kept"] and not found["redo"]
    page.post("undo")
    changed = page.post("ask", further={"k": 4})
    assert not changed["redo"] and changed["ask"]["further"]["k"] == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"roles": {"agee": "qi"}}, "'agee'"),
        ({"roles": {"age": "sensitiv"}}, "did you mean 'sensitive'"),
        ({"rules": {"age": "interval:x"}}, "not a number"),
        ({"rules": {"town": "interval:5"}}, "town"),
        ({"rules": {"age": 5}}, "not a text"),
        ({"further": {"k": 0}}, "k must be"),
        ({"further": {"k": "many"}}, "whole number"),
        ({"further": {"gap": 2}}, "at most 1"),
        ({"further": {"c": 3}}, "goes with l"),
        ({"further": {"kk": 3}}, "did you mean 'k'"),
        ({"further": {"models": [{"l": 2, "t": 0.1}]}}, "one of k, l"),
        ({"roles": []}, "maps names"),
    ],
)
def test_wrong_changes_change_nothing(page: Page, changes: dict[str, Any], message: str):
    """Tests that a refused change says what is wrong, as the command line would."""
    before = page.get("state")
    assert message in page.refused("ask", **changes)
    assert page.get("state") == before


def test_what_is_said_of_a_column_goes_with_its_role(page: Page):
    """Tests that a column that is no longer changed takes its weight, cap and links with it."""
    further = {
        "fixed": ["sex"], "weights": {"sex": "2", "age": "3"}, "linked": [["sex", "town"]],
        "caps": [{"column": "sex", "share": "0.5"}],
    }  # fmt: skip
    page.post("ask", further=further)
    page.post("ask", roles={"sex": "keep"})
    policy = page.session.ask.policy()
    assert (policy.fixed, policy.linked, policy.caps) == ((), (), ())
    assert dict(policy.weights) == {"age": "3"}


def levels_of(page: Page, column: str) -> list[list[str]]:
    found = page.get(f"levels?column={column}")["levels"]
    return [sorted(str(node[0]) for node in level["nodes"]) for level in found]


def test_the_editor_groups_moves_and_undoes(page: Page):
    """Tests groups by hand: made, moved into, one level more, and taken apart again."""
    assert levels_of(page, "town")[1:] == [["*"]]
    page.post("group", column="town", level=0, members=["Ulm", "Hof"], name="south")
    assert levels_of(page, "town")[1:] == [["Bonn", "Köln", "south"], ["*"]]
    page.post("group", column="town", level=0, members=["Bonn", "Köln"], name="Rhine")
    page.post("group", column="town", level=1, members=["south", "Rhine"], name="land")
    assert levels_of(page, "town")[1:] == [["Rhine", "south"], ["land"], ["*"]]
    page.post("group", column="town", level=0, members=["Hof"], name="Rhine")
    nodes = page.get("levels?column=town")["levels"][0]["nodes"]
    assert {node[0]: node[2] for node in nodes}["Hof"] == "Rhine"
    page.post("ungroup", column="town", level=2, group="land")
    page.post("ungroup", column="town", level=1, group="south")
    page.post("ungroup", column="town", level=1, group="Rhine")
    assert levels_of(page, "town")[1:] == [["*"]]
    for _ in range(7):
        page.post("undo")
    assert page.get("state")["ask"]["own"] == {}


def test_the_editor_refuses(page: Page):
    """Tests what makes no groups."""
    for body, message in [
        ({"level": 0, "members": ["Ulm"], "name": "*"}, "needs a name"),
        ({"level": 0, "members": [], "name": "x"}, "choose nodes"),
        ({"level": 0, "members": ["Rom"], "name": "x"}, "choose nodes"),
        ({"level": 1, "members": ["*"], "name": "x"}, "can be grouped"),
        ({"level": 0, "members": ["Ulm", "Hof"], "name": "Bonn"}, "is also a value"),
    ]:
        assert message in page.refused("group", column="town", **body)
    assert "choose a group" in page.refused("ungroup", column="town", level=1, group="x")
    assert "more than numbers" in page.refused("borders", column="town", borders="1")
    assert "borders are numbers" in page.refused("borders", column="age", borders="1, x")
    assert "among those" in page.refused("borders", column="age", borders="30; 40")
    assert page.get("state")["undo"] is False


def test_borders_make_intervals(page: Page):
    """Tests labels of whole numbers, open ends and a second level."""
    page.post("borders", column="age", borders="30, 31, 50; 50")
    found = levels_of(page, "age")
    assert set(found[1]) <= {"under 30", "30", "31-49", "50 and more"} and "31-49" in found[1]
    assert found[2:] == [["50 and more", "under 50"], ["*"]]


def test_a_run_is_told_stopped_and_found_again(page: Page, monkeypatch: pytest.MonkeyPatch):
    """Tests the states of a run: events while it goes, a stop, its end; a reload sees the same."""
    going, wait = threading.Event(), threading.Event()

    def release_of(source, policy, listener, stop):
        listener(Event("search", cost=40, bound=10, share=0.5))
        going.set()
        while not stop.now():
            wait.wait(0.01)
        return ic.anonymize(source, policy=policy)

    monkeypatch.setattr("incrowd.desk.work.release_of", release_of)
    page.post("run")
    assert going.wait(60)
    first = asked(page.app, "GET", "/api/state").data["job"]
    assert (first["state"], first["stage"], first["cost"], first["bound"]) == (
        "running", "search", 40, 10,
    )  # fmt: skip
    assert "is being made" in page.refused("run")
    assert page.post("stop", what="release")["job"]["stopping"] is True
    told = [json.loads(line) for line in asked(page.app, "GET", "/api/events").body.splitlines()]
    assert told[-1]["job"]["state"] == "done" and told[-1]["job"]["smallest"] >= 5
    assert asked(page.app, "GET", "/api/state").data["job"]["cost"] == told[-1]["job"]["cost"]


def test_a_failed_run_says_what_the_command_line_says(page: Page):
    """Tests the message of a k that is larger than the table."""
    page.post("ask", further={"k": 61})
    job = made(page)
    shown = CliRunner().invoke(cli, shlex.split(page.get("state")["command"])[1:])
    assert job["state"] == "failed" and job["error"] in shown.output
    assert "k = 61 is larger" in job["error"]


def test_points_of_a_sweep_use_releases_at_hand(page: Page, monkeypatch: pytest.MonkeyPatch):
    """Tests that a cheaper release that was made lowers the points of its k and of smaller ones."""
    monkeypatch.setattr(session_module, "KS", (2, 5))
    page.post("sweep")
    assert page.session.sweeping is not None
    page.session.sweeping.join()
    points = page.get("state")["sweep"]["points"]
    assert [point[0] for point in points] == [2, 5]
    made(page)
    share = page.session.release.cost_fraction
    better = page.get("state")["sweep"]["points"]
    for (_, before, *_), (_, after, *_) in zip(points, better, strict=True):
        assert after == min(before, share)
    page.post("ask", further={"l": 2})  # another question: its points are not these
    assert page.get("state")["sweep"] is None


def test_one_row_has_no_sweep(tmp_path: Path):
    """Tests that the message speaks of the table, not of what is not there to be asked."""
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    page = Page(Session(str(tmp_path / "one.csv")))
    assert "fewer than two rows" in page.refused("sweep")


def test_rows_before_and_after(page: Page):
    """Tests the third screen against the release."""
    made(page)
    release = page.session.release
    found = page.get("rows?start=10&count=5")
    window = release.window(10, 5)
    assert found["total"] == 60 and tuple(map(tuple, found["after"])) == window.after
    changed = page.get("rows?changed=any&count=100")
    assert changed["total"] == release.window(0, 100, changed=True).total
    number = found["classes"][0]
    members = page.get(f"rows?class={number}")
    assert set(members["classes"]) == {number} and members["total"] == found["sizes"][0]
    where = page.get("rows?column=sex&value=f&count=100")
    assert {cells[where["columns"].index("sex")] for cells in where["before"]} == {"f"}
    assert asked(page.app, "GET", "/api/rows?changed=name").status == 400


def test_figures_are_those_of_measure(page: Page, tmp_path: Path):
    """Tests risk and use against the public functions, with a population as well."""
    made(page)
    release = page.session.release
    source, qi = page.session.table.source, release.roles.qi
    found = page.get("figures")
    before, after = ic.measure(source, qi=qi), ic.measure(release.data, qi=qi)
    risk = {each["name"]: (each["before"], each["after"]) for each in found["risk"]}
    assert risk["Alone"] == (before.unique_rows, 0)
    assert risk["Prosecutor, highest"][1] == pytest.approx(1 / after.k)
    assert "Journalist, highest" not in risk
    assert sum(found["before"]) == sum(found["after"]) == 60
    assert set(found["bars"]) == set(qi)
    page.post("population", path=str(table(tmp_path, 60)))
    names = [each["name"] for each in page.get("figures")["risk"]]
    assert "Journalist, highest" in names


@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_figures_count_people_where_they_are_named(order: str):
    """Tests sizes and risks against sets of people, one by one."""
    rows = [
        ("A", "x"), ("A", "x"), ("B", "x"), ("C", "y"), ("D", "z"), ("E", "y"), ("E", "x"),
        ("F", "z"), ("F", "y"),
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["pid", "x"], orient="row")
    kept = ic.anonymize(frame, k=3, person="pid", order="keep", seed=3)
    release = ic.anonymize(frame, k=3, person="pid", order=order, seed=3)
    before = figures.measured(release.source, release, None)
    found = figures.figures_of(release, before, None)
    risk = {each["name"]: (each["before"], each["after"]) for each in found["risk"]}
    for i, column in enumerate((frame["x"], kept.data["x"])):
        held: dict[str, set[str]] = {}
        for (who, _), x in zip(rows, column, strict=True):
            held.setdefault(x, set()).add(who)
        crowds = [len(each) for each in held.values()]
        drawn = found["before"], found["after"]
        assert sum(drawn[i]) == sum(crowds)
        assert risk["Prosecutor, highest"][i] == pytest.approx(1 / min(crowds))
        assert risk["Too few"][i] == sum(n for n in crowds if n < 3)
        assert risk["Marketer"][i] == pytest.approx(len(crowds) / sum(crowds))
        riskiest = [
            max(1 / len(held[x]) for (w, _), x in zip(rows, column, strict=True) if w == who)
            for who in "ABCDEF"
        ]
        assert risk["Prosecutor, on average"][i] == pytest.approx(sum(riskiest) / 6)
    assert found["people"] == 6


def test_people_of_the_population_are_counted_where_it_names_them():
    """Tests people named by two columns: sixteen rows of a population are eight people's."""
    named = {"home": [*"AABBCC"], "who": [*"121212"]}
    release = ic.anonymize(pl.DataFrame(named | {"x": "a"}), k=2, person=["home", "who"])
    people = pl.DataFrame({"home": [*"ABCDEFGH"] * 2, "who": "1", "x": "a"})
    for frame, crowd, said in ((people, 8, False), (people.drop("who"), 16, True)):
        population = open_table(frame)
        before = figures.measured(release.source, release, population)
        found = figures.figures_of(release, before, population)["risk"]
        risk = next(each for each in found if each["name"] == "Journalist, highest")
        assert (risk["before"], risk["after"]) == (pytest.approx(1 / crowd),) * 2
        assert ("whose rows counts" in risk["meaning"]) == said


def test_the_page_is_answered_while_figures_are_counted(
    page: Page, monkeypatch: pytest.MonkeyPatch
):
    """Tests that counting, which takes seconds on large tables, holds nothing else up."""
    made(page)
    counting, go_on = threading.Event(), threading.Event()

    def figures_of(*given):
        counting.set()
        assert go_on.wait(60)
        return {"k": 5}

    monkeypatch.setattr("incrowd.desk.figures.figures_of", figures_of)
    found = []
    threading.Thread(target=lambda: found.append(page.get("figures")), daemon=True).start()
    assert counting.wait(60)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(page.get("state")), daemon=True)
    asking.start()
    asking.join(60)
    assert answers and not found
    go_on.set()


def test_attacks_are_those_of_attack(page: Page, tmp_path: Path):
    """Tests that the attacks shown are those of the public function, of a register too."""
    made(page)
    register = str(table(tmp_path, 40))
    page.post("attack", register=f'"{register}"')  # as Windows copies a path
    assert page.session.attacking is not None
    page.session.attacking.join()
    shown = page.get("state")["attacks"]["result"]
    expected = ic.attack(page.session.release, register=register).record()
    assert "register" in str(expected)
    assert shown == json.loads(json.dumps(expected))
    made(page)  # another release: these were attacks on the first
    assert page.get("state")["attacks"] is None


def test_only_files_named_at_the_start_are_run(page: Page, tmp_path: Path):
    """Tests one's own analysis: from its file, never from what the page says."""
    file = tmp_path / "mine.py"
    file.write_text("def analyse(frame):\n    return {'rows': len(frame)}\n")
    made(page)
    assert "--analysis" in page.refused("study", number=0, path=str(file))
    page.session.analyses = (str(file),)
    page.post("study", number=0)
    assert page.session.studying is not None
    page.session.studying.join()
    assert page.get("state")["study"]["result"] == [["rows", 60, 60]]
    file.write_text("def analyse(frame):\n    return frame.no_such\n")
    page.post("study", number=0)
    page.session.studying.join()
    assert "mine.py: AttributeError" in page.get("state")["study"]["error"]


def notebook(*cells: str) -> str:
    """Return a notebook with text first, then code."""
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": ["# %"]}, *code]})


def test_an_analysis_may_be_a_notebook(tmp_path: Path):
    """Tests that cells run up to the function, without the lines that only notebooks know."""
    file = tmp_path / "mine.ipynb"
    counting = "%matplotlib inline\ndef analyse(frame):\n    return twice(len(frame))"
    file.write_text(notebook("def twice(x):\n    return 2 * x", counting, "no_such_name"))
    assert function_of(str(file))([1, 2, 3]) == 6
    for text, words in (
        (notebook("x = 1"), "no function analyse"),
        ("[]", "is not a notebook"),
        ("{", "is not a notebook"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=words):
            function_of(str(file))


def published(page: Page, folder: Path, names: list[str]) -> list[Path]:
    page.post("place", folder=str(folder), names=names)
    return [Path(name) for name in page.post("publish")["written"]]


ALL = ["release", "report", "statement", "proof", "internal", "policy"]


def same_rows(file: Path, kept: bytes, further: dict) -> bool:
    """Whether a release is the one that was written, but for rows whose order is drawn anew."""
    found, order = file.read_bytes(), further.get("order", "shuffle")
    return found == kept if order == "keep" else sorted(found.split()) == sorted(kept.split())


@pytest.mark.parametrize(
    ("further", "names"),
    [({}, ALL), ({"l": 2, "order": "keep"}, ["release", "proof", "policy"])],
    ids=["k", "k and l"],
)
@pytest.mark.usefixtures("undrawn")
def test_the_command_shown_gives_the_same_bytes(
    page: Page, tmp_path: Path, further: dict, names: list[str]
):
    """Tests parity: command line, Python call and policy file make the release that was written."""
    page.post("group", column="town", level=0, members=["Ulm", "Hof"], name="south, all")
    page.post("ask", further={"k": 3, **further})
    made(page)
    folder = tmp_path / "out"
    written = {file.name for file in published(page, folder, names)}
    assert written == {file.name for file in folder.iterdir()}
    assert {"release.csv", "release.proof", "hierarchy-town.csv"} <= written
    assert ("report.html" in written) is ("report" in names)
    kept = (folder / "release.csv").read_bytes()
    state = page.get("state")
    for file in ("release.csv", "release.proof"):
        (folder / file).rename(tmp_path / file)
    found = CliRunner().invoke(cli, shlex.split(state["command"])[1:])
    assert found.exit_code == 0, found.output
    assert same_rows(folder / "release.csv", kept, further)
    check = ["verify", str(folder / "release.csv"), "--original", page.session.table.path]
    proof = ["--proof", str(folder / "release.proof")]
    assert CliRunner().invoke(cli, [*check, *proof]).exit_code == 0
    (folder / "release.csv").unlink()
    exec(state["call"], {})
    assert same_rows(folder / "release.csv", kept, further)
    again = ic.anonymize(page.session.table.path, policy=folder / "policy.toml")
    again.write(tmp_path / "again.csv")
    assert same_rows(tmp_path / "again.csv", kept, further)


@pytest.mark.usefixtures("undrawn")
def test_what_is_not_public_is_for_its_owner_alone(page: Page, tmp_path: Path):
    """Tests files that undo a release, or list values that it hides: others cannot open them."""
    page.post("group", column="town", level=0, members=["Ulm", "Hof"], name="south")
    made(page)
    written = published(page, tmp_path / "out", ALL)
    written.append(Path(page.post("save", folder=str(tmp_path / "work"))["saved"]))
    private = {file.name for file in written if not file.stat().st_mode & 0o077}
    assert private == {"release.proof", "internal-report.html", "hierarchy-town.csv", "desk.json"}


def test_statement_and_proof_come_and_go_together(page: Page):
    """Tests that who asks for the statement gets its proof, and that both can be given up."""
    for ticked, given in (
        (["statement"], ["release", "statement", "proof"]),
        (["release", "statement"], ["release"]),
        (["release", "proof"], ["release", "proof"]),
        (["release", "statement", "proof"], ["release", "statement", "proof"]),
        (["release", "proof"], ["release", "proof"]),
    ):
        assert page.post("place", folder="x", names=ticked)["names"] == given


def test_publishing_asks_first(page: Page, tmp_path: Path):
    """Tests what is refused: no folder, files that are there, a second release of the people."""
    assert "no release yet" in page.refused("publish")
    made(page)
    assert "in which folder" in page.refused("publish")
    folder = tmp_path / "out"
    published(page, folder, ["policy"])
    assert "already in the folder" in page.refused("publish")
    page.post("publish", replace=True)
    page.post("ask", further={"k": 3})
    assert "something else is asked" in page.refused("publish", replace=True)
    made(page)
    assert "intersect" in page.refused("publish", replace=True)
    page.post("publish", replace=True, another=True)


def test_of_two_desks_one_publishes_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests that a desk which comes while another one writes finds the other's files there."""
    sessions, told, looked = [Session(str(table(tmp_path))) for _ in "ab"], [], threading.Event()
    publish, require_free = publishing.publish, publishing.require_free

    def looks(paths: list[str], replace: bool) -> None:
        if threading.current_thread().name == "second":
            looked.set()
        require_free(paths, replace)

    def writes(*given: Any) -> Any:
        if threading.current_thread().name != "second":
            second.start()
            looked.wait(0.3)
        return publish(*given)

    def second_publishes() -> None:
        try:
            sessions[1].publish(False, False)
        except InputError as error:
            told.append(str(error))

    monkeypatch.setattr(publishing, "require_free", looks)
    monkeypatch.setattr(publishing, "publish", writes)
    second = threading.Thread(target=second_publishes, name="second")
    for session in sessions:
        made(Page(session))
        session.place(str(tmp_path / "out"), [])
    assert sessions[0].publish(False, False)
    second.join()
    assert told == ["release.csv: already in the folder; say that it may be replaced"]


def test_nothing_is_written_but_where_told(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Tests that a whole session leaves no file anywhere but in the folder that was named."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("TMPDIR", str(home))
    before = sorted(tmp_path.rglob("*"))
    page.post("borders", column="age", borders="40")
    made(page)
    page.get("rows")
    page.get("figures")
    page.post("keep")
    assert sorted(tmp_path.rglob("*")) == before
    published(page, tmp_path / "out", ["policy"])
    new = set(tmp_path.rglob("*")) - set(before)
    assert {file.parent for file in new} == {tmp_path, tmp_path / "out"}


def test_the_work_is_saved_and_opened(page: Page, tmp_path: Path):
    """Tests that all of it comes back, that no row is in it, and what is no such work."""
    page.post("group", column="age", level=0, members=levels_of(page, "age")[0][:3], name="young")
    page.post("ask", roles={"sex": "keep"}, further={"k": 3})
    made(page)
    page.post("keep")
    page.post("undo")
    before = page.get("state?table=1")
    file = Path(page.post("save", folder=str(tmp_path / "work"))["saved"])
    assert "person 1" not in file.read_text("utf-8") and "flu" not in file.read_text("utf-8")
    other = Page()
    other.post("load", folder=str(tmp_path / "work"))
    after = other.get("state?table=1")
    for name in ("ask", "kept", "undo", "redo", "command", "policy", "table"):
        assert after[name] == before[name]
    assert other.post("redo")["kept"][0]["smallest"] >= 3
    for text in ("", "[]", "{}", '{"incrowd desk": 1}', file.read_text("utf-8").replace("qi", "q")):
        file.write_text(text, encoding="utf-8")
        assert other.refused("load", folder=str(tmp_path / "work"))
    assert "no such file" in other.refused("load", folder=str(tmp_path / "nowhere"))


def test_opening_tables(page: Page, tmp_path: Path):
    """Tests the picker, another table, what is no table, and a policy file at the start."""
    found = asked(page.app, "GET", f"/api/files?folder={tmp_path}").data
    assert found["tables"] == ["people.csv"] and found["above"] == str(tmp_path.parent)
    assert "no such file" in page.refused("open", path=str(tmp_path / "none.csv"))
    assert page.get("state")["open"] is True
    policy = tmp_path / "policy.toml"
    policy.write_text('k = 3\nqi = ["age", "sex"]\nid = "name"\nkeep = ["town", "diagnosis"]\n')
    session = Session(page.session.table.path, str(policy))
    assert session.ask.further == {"k": 3, "order": "shuffle"}
    assert session.ask.columns_of("keep") == ["town", "diagnosis"]
    policy.write_text('qi = ["age"]\n')
    with pytest.raises(InputError, match="no role"):
        Session(page.session.table.path, str(policy))


def test_cost_and_bound_are_told_as_they_move():
    """Tests that the bound never falls, and that a long run's points stay few."""
    making = Making(None, ic.Policy(), None)  # type: ignore[arg-type]
    for i in range(5000):
        making.note(Event("search", cost=9000 - i, bound=i if i % 2 else i - 5))
    bounds = [point[2] for point in making.points]
    assert bounds == sorted(bounds) and len(making.points) <= 400
    assert making.points[-1][1:] == (4001, 4999)


def test_ranges_with_a_preview(page: Page):
    """Tests the values in their order, what neighbours share, and the way back by undo."""
    first = page.get("levels?column=age")
    assert first["kind"] == "numbers" and first["range"] is None
    page.post("ask", rules={"age": "range:round=5,most=20"}, further={"k": 10})
    found = page.get("levels?column=age")
    values, ranges = (level["nodes"] for level in found["levels"])
    assert found["range"]["round"] == "5" and found["range"]["most"] == "20"
    assert [int(each[0]) for each in values] == sorted(int(each[0]) for each in values)
    assert sum(each[1] for each in values) == sum(each[1] for each in ranges) == 60
    assert all(each[1] >= 10 for each in ranges) and not found["editable"]
    for value, _, shown in values:
        low, high = map(int, shown.split("-"))
        assert low <= int(value) <= high and not low % 5 and not high % 5
    page.post("undo")
    assert page.get("levels?column=age") == first


def test_ranges_of_few_rows_make_one_class(page: Page):
    """Tests that what is left over joins its neighbours, also where all are too few."""
    for k in (31, 60, 61):
        page.post("ask", rules={"age": "range"}, further={"k": k})
        (whole,) = page.get("levels?column=age")["levels"][1]["nodes"]
        assert whole[1] == 60


@pytest.mark.parametrize("show", ["", ",show={low}, up to {high}"])
def test_an_order_of_ones_own(tmp_path: Path, show: str):
    """Tests ranges of listed values: a release, its files, and the same by command line."""
    page = Page(Session(str(table(tmp_path, 24))))
    order, rule = ["Hof", "Ulm", "Köln", "Bonn"], f"range:cost=values{show}"
    state = page.post("order", column="town", values=order, rule=rule)
    assert state["ask"]["rules"]["town"] == rule
    found = page.get("levels?column=town")
    assert found["order"] == order and found["range"]["kind"] == "order"
    page.post("ask", further={"k": 4, "order": "keep"}, roles={"sex": "keep"})
    assert made(page)["state"] == "done"
    towns = page.session.release.data["town"].to_list()
    assert any((", up to " if show else "..") in town for town in towns)
    page.post("place", folder=str(tmp_path / "out"), names=["release", "policy", "proof"])
    page.post("publish", replace=False, another=False)
    out = tmp_path / "out"
    assert (out / "hierarchy-town.csv").read_text().split() == order
    kept = (out / "release.csv").read_bytes()
    command = shlex.split(page.get("state")["command"])
    assert CliRunner().invoke(cli, command[1:]).exit_code == 0
    assert (out / "release.csv").read_bytes() == kept
    again = ["anonymize", page.session.table.path, "-o", str(tmp_path / "again.csv")]
    told = CliRunner().invoke(
        cli, [*again, "--policy", str(out / "policy.toml"), "--order", "keep"]
    )
    assert told.exit_code == 0, told.output
    assert (tmp_path / "again.csv").read_bytes() == kept
    saved = page.post("save", folder=str(tmp_path / "work"))
    other = Page()
    assert other.post("load", folder=str(tmp_path / "work"))["ask"] == saved["ask"]


def test_ranges_that_are_refused(page: Page):
    """Tests text without an order, an order that lacks a value, and one with a value twice."""
    before = page.get("state")
    assert "no place in its order" in page.refused("ask", rules={"town": "range"})
    assert "not an option" in page.refused("ask", rules={"age": "range:widest=3"})
    assert "no place" in page.refused("order", column="town", values=["Ulm", "Hof"])
    assert "twice" in page.refused("order", column="town", values=["Ulm", "Ulm"])
    twice = page.refused("order", column="town", values=["Ulm"], rule="range:order=file.txt")
    assert "given twice" in twice
    assert page.get("state") == before


UNSERVED = {
    "veil": {"veil": 0.05},
    "protect": {"protect": ("age,job:3",)},
    "delete_rows": {"delete_rows": "price=1"},
    "strict": {"strict": True, "id": ("job",)},
    "missing_person": {"missing_person": "drop", "person": ("job",)},
    "pseudonym": {"pseudonym": {"job": ""}},
}


@pytest.mark.parametrize("name", UNSERVED)
def test_what_the_page_cannot_keep_to_is_refused(name: str):
    """Tests that no policy loses in silence what it asks for."""
    policy = ic.Policy(k=2, **UNSERVED[name])
    with pytest.raises(InputError, match=name):
        Ask.of_policy(policy, ["age", "job"])


def test_the_page_knows_every_option():
    """Tests that each option of a policy is taken over, refused, or about the search alone."""
    taken = {*FURTHER, *ROLES, "hierarchies"}
    search = {"reductions", "spend", "threads"}
    known = {one.name for one in fields(ic.Policy)}
    refused = [names.split() for where, names, _ in ROWS if where == "by the page"]
    assert known - taken - search == {*chain(*refused)}


def test_no_seed_is_asked_that_nobody_gave(page: Page):
    """Tests that the order is drawn anew: neither a seed nor its warning, unless one is typed."""
    assert "seed" not in page.get("state")["ask"]["further"]
    assert made(page)["warnings"] == []
    page.post("ask", further={"seed": 7})
    assert "seed" in made(page)["warnings"][0]
    page.post("ask", further={"seed": None})
    assert made(page)["warnings"] == []


def test_a_policy_that_says_nothing_of_the_order_shuffles(tmp_path: Path):
    """Tests it as the command line does, and that ``keep`` is kept."""
    path, policy = table(tmp_path), tmp_path / "p.toml"
    for said, order in (("", "shuffle"), ('order = "keep"\n', "keep")):
        policy.write_text('k = 3\nid = ["name"]\nqi = ["age", "town", "sex", "diagnosis"]\n' + said)
        assert Session(str(path), str(policy)).ask.further["order"] == order


def test_folders_that_cannot_be_made_are_refused_by_name(page: Page, tmp_path: Path):
    """Tests a folder in one that is not there, and one of the name of a file; work is kept."""
    made(page)
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "none" / "out", tmp_path / "file", tmp_path / "file" / "out"):
        page.post("place", folder=str(folder), names=["policy"])
        assert str(folder) in page.refused("publish")
    assert "file: is a file; name a folder" in page.refused("save", folder=str(tmp_path / "file"))


@pytest.mark.parametrize(
    ("name", "data", "help"),
    [
        ("latin.csv", "age,ort\n1,Köln\n".encode("latin-1"), "save it as UTF-8"),
        ("ragged.csv", b"a,b\n1\n", "mend that line"),
        ("photo.csv", b"\x89PNG\r\n\x1a\n\0\0", "is a picture"),
        ("old.xls", b"\xef\xbb\xbf\n <HTML><table></table></HTML>", "is a web page"),
        ("paper.csv", b"%PDF-1.4\n%\xe2\xe3\n", "is a PDF document"),
    ],
)
def test_files_that_are_refused_say_what_to_do_here(
    page: Page, tmp_path: Path, name: str, data: bytes, help: str
):
    """Tests that whoever has the page alone is told more than an option of the command line."""
    (tmp_path / name).write_bytes(data)
    assert help in page.refused("open", path=str(tmp_path / name))


def test_a_sheet_of_a_workbook(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests that the page says how to name a sheet, and takes one all the way."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.create_sheet("our people")
    for row in (["age", "ill"], *[[30 + i % 2, "flu"] for i in range(12)]):
        sheet.append(row)
    book["Sheet"].append(["notes"])
    file = tmp_path / "two.xlsx"
    book.save(file)
    assert f"as in '{file}#Sheet'" in page.refused("open", path=str(file))
    page.post("open", path=f"{file}#our people")
    made(page)
    published(page, tmp_path / "out", ["internal", "policy"])
    assert (tmp_path / "out" / "release.xlsx").exists()
    monkeypatch.chdir(tmp_path)
    words = shlex.split(page.get("state")["command"])
    words[words.index("-o") + 1] = "again.xlsx"
    done = CliRunner().invoke(cli, [*words[1:], "-q"])
    assert done.exit_code == 0, done.stderr


@pytest.mark.usefixtures("undrawn")
def test_each_hierarchy_of_ones_own_has_a_file(tmp_path: Path):
    """Tests columns of which no file could have the name, and two that would share one's."""
    names = ["a/b", "a b", "A_B", "../", "x" * 5000]
    file = tmp_path / "strange.csv"
    pl.DataFrame({name: [*"uvwx"] * 3 for name in names}).write_csv(file)
    page = Page(Session(str(file)))
    page.post("ask", further={"k": 3})
    for i, name in enumerate(names):
        page.post("group", column=name, level=0, members=["u", "uvwx"[i % 3 + 1]], name="two")
    made(page)
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "hierarchy-a_b.csv").touch()
    page.post("place", folder=str(folder), names=["policy"])
    assert "hierarchy-a_b.csv: already in the folder" in page.refused("publish")
    page.post("publish", replace=True)
    files = {each.name.lower() for each in folder.glob("hierarchy-*")}
    assert len(files) == len(names)
    again = ic.anonymize(str(file), policy=folder / "policy.toml")
    for i, name in enumerate(names):
        lines = Path(again.policy.hierarchies[name]).read_text().split()
        assert {line[0] for line in lines if "two" in line} == {"u", "uvwx"[i % 3 + 1]}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("names", [["proof"], ["internal"]])
@pytest.mark.parametrize("change", ["cells", "gone", "touched"])
def test_a_table_that_changes_while_it_is_open(
    page: Page, tmp_path: Path, names: list[str], change: str
):
    """Tests that no hash is stated of another table than that of the release; saving is none."""
    made(page)
    file = Path(page.session.table.path)
    data = file.read_bytes()
    file.write_bytes(data.replace(b"Ulm", b"Hof") if change == "cells" else data)
    os.utime(file, (1, 1))
    if change == "gone":
        file.unlink()
    page.post("place", folder=str(tmp_path / "out"), names=names)
    if change == "touched":
        page.post("publish")
    else:
        told = page.refused("publish")
        assert ("no such file" if change == "gone" else "changed since it was read") in told
        assert not (tmp_path / "out").exists()
        page.post("place", folder=str(tmp_path / "out"), names=["policy"])
        page.post("publish")


@pytest.mark.usefixtures("undrawn")
def test_a_policy_file_that_is_named_on_the_page(tmp_path: Path):
    """Tests one that derives ages: published with a proof, shown as a command, saved, opened."""
    file, policy, out = (tmp_path / name for name in ("visits.csv", "asked.toml", "out"))
    born = [f"19{50 + i}-03-01" for i in range(24)]
    pl.DataFrame({"born": born, "sex": [*"fm"] * 12, "ill": [*"abc"] * 8}).write_csv(file)
    policy.write_text(
        'k = 3\nqi = ["age", "sex"]\nsensitive = ["ill"]\n'
        'derive = {age = "years(born, 2024-12-31)"}'
    )
    page = Page()
    page.post("open", path=f'"{file}"', policy=str(policy))
    page.post("save", folder=str(tmp_path / "work"))
    page.post("load", folder=str(tmp_path / "work"))
    assert list(page.session.ask.roles) == ["age", "sex", "ill"]
    made(page)
    written = {each.name for each in published(page, out, ["proof", "policy"])}
    assert written == {"release.csv", "release.proof", "derived.csv", "policy.toml"}
    page.post("population", path=str(file))  # of which ages are made as well
    assert page.get("figures")["risk"]
    assert not (out / "derived.csv").stat().st_mode & 0o077
    check = ["verify", str(out / "release.csv"), "--original", str(out / "derived.csv")]
    told = CliRunner().invoke(cli, [*check, "--proof", str(out / "release.proof")])
    assert told.exit_code == 0, told.output
    for each in out.iterdir():
        each.unlink()
    told = CliRunner().invoke(cli, shlex.split(page.get("state")["command"])[1:])
    assert told.exit_code == 0, told.output
    assert {each.name for each in out.iterdir()} == written - {"policy.toml"}
    policy.write_text("k = 3\nveil = 0.1\n")
    assert "give the policy file to incrowd anonymize" in page.refused(
        "open", path=str(file), policy=str(policy)
    )
    assert "no such" in page.refused("open", path=str(file), policy=str(tmp_path / "none.toml"))
    assert page.session.table.path == str(file)


@pytest.mark.usefixtures("undrawn")
def test_a_table_of_several_files(page: Page, tmp_path: Path):
    """Tests that its internal report states what they are, and that it has no proof."""
    folder = tmp_path / "parts"
    folder.mkdir()
    file = Path(page.session.table.path)
    for name in "ab":
        (folder / f"{name}.csv").write_bytes(file.read_bytes())
    page.post("open", path=str(folder / "*.csv"))
    made(page)
    page.post("place", folder=str(tmp_path / "out"), names=["proof"])
    assert "in several files" in page.refused("publish")
    assert not any((tmp_path / "out").iterdir())
    page.post("place", folder=str(tmp_path / "out"), names=["internal"])
    page.post("publish")
    lines = "".join(f"{sha256_of(folder / name)}  {name}\n" for name in ("a.csv", "b.csv"))
    stated = hashlib.sha256(lines.encode()).hexdigest()
    assert stated in (tmp_path / "out" / "internal-report.html").read_text()
