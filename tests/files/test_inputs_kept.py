"""What a run read is never written over from Python, as it is not by the command line."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic

ROWS = [f"n{i},{30 + i // 2},{'fm'[i % 2]},{'xyz'[i % 3]}" for i in range(12)]
TABLE = "\n".join(["who,age,sex,ill", *ROWS, ""])
ASKED: dict[str, Any] = {"k": 2, "sensitive": "ill", "time_limit": 1, "id": "who"}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a table, in the folder where the test runs."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "in.csv"
    file.write_text(TABLE)
    return file


def test_the_original_is_not_written_over(table: Path, tmp_path: Path) -> None:
    """Tests each thing that a release writes, by each name that the file has."""
    (tmp_path / "link.csv").symlink_to(table)
    (tmp_path / "key").write_text("ab" * 32 + "\n")
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "age.csv").write_text("".join(f"{age};*\n" for age in range(30, 36)))
    given = {"id": (), "pseudonym": {"who": "key"}, "hierarchies": {"age": "age.csv"}}
    for data in ("in.csv", table, "link.csv", ic.open_table("in.csv")):
        release = ic.anonymize(data, **ASKED | given)
        for name in ("in.csv", "./in.csv", table, "link.csv"):
            for write in (release.write, release.write_pseudonyms):
                with pytest.raises(ic.InputError, match="is the input itself; choose another name"):
                    write(name)
        with pytest.raises(ic.InputError, match="is read for pseudonym; choose another"):
            release.write_pseudonyms("key")
        with pytest.raises(ic.InputError, match="is read for hierarchies; choose another"):
            release.write("age.csv")
    assert table.read_text() == TABLE and (tmp_path / "key").read_text() == "ab" * 32 + "\n"


def test_of_a_proof_all_files_are_apart(table: Path, tmp_path: Path) -> None:
    """Tests the original, which the proof is of, and two outputs of one name."""
    shutil.copy(table, "same.csv")
    release = ic.anonymize("in.csv", **ASKED)
    outputs = {"path": "o.csv", "proof": "p", "statement": "s"}
    for name in outputs:
        for file in ("in.csv", "same.csv"):
            with pytest.raises(ic.InputError, match="is the input itself"):
                release.write_proven(**outputs | {name: file}, original="same.csv")
    for both in (("path", "proof"), ("path", "statement"), ("proof", "statement")):
        with pytest.raises(ic.InputError, match="name the same file"):
            release.write_proven(**outputs | dict.fromkeys(both, "one.csv"), original="same.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.csv", "same.csv"]
    assert table.read_text() == Path("same.csv").read_text() == TABLE


def test_rows_left_out_and_columns_derived(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests tables without some rows, with a derived column, and from another folder."""
    table.write_text(TABLE.replace("age,", "day,").replace(",3", ",1990-01-1"))
    before = table.read_text()
    asked = (
        {"derive": {"age": "years(day, 2024-12-31)"}},
        {"qi": ("day", "sex"), "suppress_rows": 12},
    )
    found = [
        ic.anonymize("in.csv", **ASKED, **each)
        for each in (*asked, {"delete_rows": "price=3,most=2"})
    ]
    (table.parent / "other").mkdir()
    monkeypatch.chdir("other")
    for release in found:
        with pytest.raises(ic.InputError, match="is the input itself"):
            release.write("../in.csv")
    assert table.read_text() == before


def test_a_release_stays_out_of_the_folder_that_was_read(table: Path) -> None:
    """Tests folders and patterns: the next run would take the release for originals."""
    Path("parts").mkdir()
    shutil.move("in.csv", "parts/1.csv")
    for data in ("parts", "parts/*.csv"):
        release = ic.anonymize(data, **ASKED)
        with pytest.raises(ic.InputError, match="is the input itself"):
            release.write("parts/1.csv")
        with pytest.raises(ic.InputError, match="would be read as a part of it from then on"):
            release.write("parts/2.csv")
    assert [file.name for file in Path("parts").iterdir()] == ["1.csv"]


def test_a_table_of_a_database_is_not_replaced(table: Path) -> None:
    """Tests the table that was read, and the file that holds it."""
    with closing(sqlite3.connect("base.db")) as base, base:
        base.execute("CREATE TABLE people (who, age, sex, ill)")
        rows = [line.split(",") for line in TABLE.splitlines()[1:]]
        base.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    release = ic.anonymize("sqlite:///base.db/people", **ASKED)
    for name in ("sqlite:///base.db/people", "sqlite:///base.db/PEOPLE", "base.db"):
        with pytest.raises(ic.InputError, match="is the input itself"):
            release.write(name, replace=True)
    with closing(sqlite3.connect("base.db")) as base, base:
        assert base.execute("SELECT count(*) FROM people WHERE age = '30'").fetchone() == (2,)


def test_the_earlier_release_is_not_written_over(table: Path) -> None:
    """Tests what new rows are added to, the originals, and the proof of them."""
    first = ic.anonymize("in.csv", **ASKED, order="keep")
    first.write_proven("first.csv", "first.proof", original="in.csv")
    shutil.copy("in.csv", "new.csv")
    release = ic.anonymize("new.csv", **ASKED, order="keep", existing="first.csv", hold_back=True)
    whole = release.whole("in.csv", "first.proof", "first.csv")
    cases = {"new.csv": "the input itself", "first.csv": "read for existing"}
    others = {"in.csv": "read for existing original", "first.proof": "read for existing proof"}
    kept = {name: Path(name).read_bytes() for name in cases | others}
    for write, names in (
        (release.write, cases),
        (release.write_held, cases),
        (whole.write, cases | others),
        (whole.write_original, cases | others),
    ):
        for name, what in names.items():
            with pytest.raises(ic.InputError, match=f"is {what}; choose another"):
                write(name)
    assert {name: Path(name).read_bytes() for name in kept} == kept


def test_other_releases_keep_what_they_read(table: Path) -> None:
    """Tests a series of releases, its history, and releases by patterns."""
    release = ic.republish("in.csv", "h", person="who", sensitive="ill")
    for path, history in (("in.csv", "h"), ("o.csv", "in.csv"), ("one", "./one")):
        with pytest.raises(ic.InputError, match=r"the input itself|name the same file"):
            release.write(path, history)
    pl.DataFrame({"sex": ["f", "m"]}).write_csv("patterns.csv")
    coins = ic.codebook("in.csv", "patterns.csv", k=2, id=["who", "age"], sensitive="ill")
    for name, what in {"in.csv": "the input itself", "patterns.csv": "read for patterns"}.items():
        with pytest.raises(ic.InputError, match=f"is {what}; choose another"):
            coins.write(name)
    assert table.read_text() == TABLE and not Path("h").exists()
    assert sorted(file.name for file in Path().iterdir()) == ["in.csv", "patterns.csv"]


def test_reports_do_not_write_over_the_original(table: Path) -> None:
    """Tests a report: its name may be that of a table which is called so."""
    shutil.move("in.csv", "in.html")
    release = ic.anonymize("in.html", **ASKED)
    for internal in (False, True):
        with pytest.raises(ic.InputError, match="is the input itself; choose another"):
            release.report("in.html", internal)
    assert Path("in.html").read_text() == TABLE
