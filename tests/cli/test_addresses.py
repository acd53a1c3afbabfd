"""Commands on tables of databases and on sheets of workbooks."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from databases import output
from incrowd.cli import cli
from incrowd.tables import from_native, texts
from incrowd.tables.database import read_database, write_database

PEOPLE = {
    "name": ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"],
    "age": [34, 34, 38, 51, 51, None],
    "zip": ["01234", "01234", "01235", "91234", "91235", "91235"],
    "ill": ["flu", "gout", "flu", "flu", "gout", "flu"],
}
ROLES = ("-k", 2, "--id", "name", "--sensitive", "ill")
SECRET = "hunter2"


def incrowd(*arguments: Any) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.fixture
def people(database: str) -> str:
    """The address of a database with a table ``people``."""
    write_database(from_native(pl.DataFrame(PEOPLE)), output(database, "people"))
    return database


def test_from_a_table_into_a_table(people: str) -> None:
    """Tests that a release is a new table, lawful, and written over only when asked for."""
    asked = ("anonymize", people, "--table", "people", "-o", output(people, "release"), *ROLES)
    done = incrowd(*asked, "--json")
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)["output"]
    assert shown.endswith("/release") and "tester" not in done.output and "?" not in shown
    release = texts(read_database(people, table="release"))
    assert release.columns == ["age", "zip", "ill"]
    assert (release.group_by("age", "zip").len()["len"] >= 2).all()
    assert sorted(release["ill"]) == sorted(PEOPLE["ill"])
    again = incrowd(*asked)
    assert again.exit_code == 2 and "is there already; --replace" in again.output
    assert incrowd(*asked, "--replace").exit_code == 0


def test_other_commands_read_tables(people: str, tmp_path: Path) -> None:
    """Tests each command that reads a table, its name behind the address or beside it."""
    whole = output(people, "people")
    assert incrowd("anonymize", whole, "-o", output(people, "release"), *ROLES).exit_code == 0
    release = output(people, "release")
    named = (people, "--table", "people")
    checked = incrowd("verify", release, "--original", *named, *ROLES)
    assert checked.exit_code == 0, checked.output
    assert incrowd("verify", whole, "--original", *named, *ROLES).exit_code == 1
    found = json.loads(
        incrowd("measure", release, "--original", whole, "--sensitive", "ill", "--json").stdout
    )
    assert found["k"] >= 2 and found["rows"] == 6
    started = incrowd("init", *named)
    assert started.exit_code == 0 and "qi = [" in started.stdout
    assert float(incrowd("bound", *named, *ROLES).stdout) > 0
    assert "2" in incrowd("frontier", *named, "--k", "2:3", "--id", "name", "--keep", "ill").stdout
    attacked = incrowd(
        *("attack", release, "--original", *named, *ROLES, "--attack", "linkage", "--json")
    )
    assert attacked.exit_code == 0, attacked.output
    made = incrowd(
        "hierarchy", "make", whole, "--column", "age", "--interval", 10, "-o", tmp_path / "h"
    )
    assert made.exit_code == 0, made.output
    file = tmp_path / "out.csv"
    query = "SELECT age, zip, ill FROM people WHERE name <> 'Finn'"
    done = incrowd("anonymize", people, "--query", query, "-o", file, *ROLES[:2], *ROLES[4:])
    assert done.exit_code == 0 and pl.read_csv(file).height == 5


@pytest.mark.usefixtures("undrawn")
def test_reports_of_tables(people: str, tmp_path: Path) -> None:
    """Tests that reports are made, and say neither user nor options of the address."""
    file = tmp_path / "r.html"
    done = incrowd(
        *("anonymize", output(people, "people"), "-o", output(people, "release"), *ROLES),
        *("--report", file, "--report-internal", tmp_path / "i.html"),
    )
    assert done.exit_code == 0, done.output
    assert "tester" not in file.read_text("utf-8")


def test_what_is_refused(people: str, tmp_path: Path) -> None:
    """Tests each way that makes no sense, before a search, and that no secret is shown."""
    whole = output(people, "people")
    into = output(people, "release")
    csv = tmp_path / "t.csv"
    csv.write_text("a\n1\n1\n")
    cases = {
        "is the input itself": (people, "--table", "people", "-o", whole, "--replace"),
        "is not the address": (csv, "--table", "t", "-o", tmp_path / "o.csv"),
        "--replace goes with": (csv, "-o", tmp_path / "o.csv", "--replace"),
        "--proof needs files": (whole, "-o", into, "--proof", tmp_path / "p"),
        "it needs -o FILE": (whole, "-o", into, "--metadata", tmp_path / "m"),
        "no sheets": (whole, "-o", into, "--sheet", "one"),
        "--codebook goes with": (whole, "-o", into, "--codebook"),
        "no table is called 'peple'; did you mean 'people'": (output(people, "peple"), "-o", into),
        "holds a password": (f"postgresql://me:{SECRET}@host/db/t", "-o", into),
        "password": (csv, "-o", f"postgresql://host/db/t?password={SECRET}"),
    }
    for message, given in cases.items():
        done = incrowd("anonymize", *given, "-k", 2)
        assert done.exit_code == 2 and message in done.output, (given, done.output)
        assert SECRET not in done.output
    if not people.startswith("postgresql"):
        base = people.partition("///")[2]
        other = output(people, "PEOPLE")  # the same table: --replace would lose the original
        done = incrowd("anonymize", whole, "-o", other, "--replace", *ROLES)
        assert done.exit_code == 2 and "is the input itself" in done.output
        done = incrowd("anonymize", whole, "-o", base, *ROLES)
        assert done.exit_code == 2 and "is the input itself" in done.output
    assert "release" not in read_names(people)


def read_names(address: str) -> list[str]:
    """The names of a database's tables."""
    import sqlalchemy as sql

    from incrowd.tables.place import Place

    with Place.of(address).connected() as connection:
        return sql.inspect(connection).get_table_names()


def test_a_sheet_is_named(tmp_path: Path) -> None:
    """Tests a workbook with two sheets."""
    import openpyxl

    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "visits"
    for sheet in (first, book.create_sheet("other")):
        for row in (["a", "b"], [1, "x"], [1, "x"], [2, "y"], [2, "y"]):
            sheet.append(row)
    file = tmp_path / "b.xlsx"
    book.save(file)
    release = tmp_path / "o.xlsx"
    done = incrowd("anonymize", file, "-o", release, "-k", 2)
    assert done.exit_code == 2 and "(on the command line also --sheet)" in done.output
    assert incrowd("anonymize", file, "--sheet", "other", "-o", release, "-k", 2).exit_code == 0
    asked = ("verify", release, "--original", file, "--sheet", "visits", "-k", 2)
    assert incrowd(*asked).exit_code == 0
    report = ("--report-internal", tmp_path / "r.html")
    assert incrowd("anonymize", f"{file}#other", "-o", release, "-k", 2, *report).exit_code == 0
    assert incrowd("verify", release, "--original", f"{file}#visits", "-k", 2).exit_code == 0
    done = incrowd("anonymize", f"{file}#other", "-o", file, "-k", 2)
    assert done.exit_code == 2 and "is the input itself" in done.output
    assert incrowd("measure", file, "--sheet", "visit").exit_code == 2
