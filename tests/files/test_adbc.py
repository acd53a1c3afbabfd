"""Tests of databases that are reached by drivers of ADBC."""

from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from databases import output
from incrowd.cli import cli
from incrowd.errors import InputError, MissingExtraError, VerificationError
from incrowd.tables import adbc, from_native
from incrowd.tables.base import texts
from incrowd.tables.database import read_database, require_free, write_database
from incrowd.tables.inputs import shown
from incrowd.tables.place import PASSWORD, Place

VISITS = {
    "zip": ["01234", "01235", "01236", "91234", "91235", None],
    "age": [34, 36, 38, None, 51, 58],
    "born": [date(1990, 3, day) for day in range(1, 7)],
    "weight": [60.5, None, 71.25, float("inf"), 0.1, 80.0],
    "select": ["at", "", "N", "NULL", "\\N", None],
    'a "strange" name': ["x", "y'", "%s", ":p", "ü", ""],
    "sex": pl.Series(["f", "m", None, "f", "m", "f"], dtype=pl.Enum(["m", "f"])),
    "empty": [None] * 6,
}


def visits() -> Any:
    return from_native(pl.DataFrame(VISITS))


@pytest.fixture
def address(database: str) -> str:
    """The address of an empty database of each kind, by ADBC."""
    kind, _, rest = database.partition(":")
    pytest.importorskip(f"adbc_driver_{kind}.dbapi")
    return f"{kind}+adbc:{rest}"


def test_tables_come_back(address: str) -> None:
    """Tests missing cells, strange names and words of SQL; by table, by query, by SQLAlchemy."""
    write_database(visits(), output(address, "visits"), check=lambda back: None)
    for one in (address, address.replace("+adbc", "")):
        found = read_database(one, table="visits")
        assert list(found.columns) == list(VISITS)
        assert texts(found).sort("born").equals(texts(visits()))
    some = read_database(address, query="SELECT zip, age FROM visits WHERE age > 37 ORDER BY age")
    assert texts(some)["zip"].to_list() == ["01236", "91235", None]
    none = read_database(address, query="SELECT zip, age FROM visits WHERE age > 370")
    assert (none.rows, list(none.columns)) == (0, ["zip", "age"])
    with pytest.raises(InputError, match="two columns called 'zip'"):
        read_database(address, query="SELECT zip, zip FROM visits")


def test_a_release_by_the_command_line(address: str) -> None:
    """Tests the whole way: read, released, written, read back; a second time only if asked."""
    write_database(visits(), output(address, "visits"))
    asked = ["anonymize", address, "--table", "visits", "-o", output(address, "release"), "-k", "2"]
    asked += ["--qi", "zip,age", "--sensitive", "select", "--id", 'empty,a "strange" name']
    asked += [part for name in ("born", "weight", "sex") for part in ("--keep", name)]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    assert "+adbc" not in done.output
    back = texts(read_database(address, table="release"))
    assert (back.group_by("zip", "age").len()["len"] >= 2).all()
    assert sorted(back["weight"].drop_nulls()) == sorted(texts(visits())["weight"].drop_nulls())
    again = CliRunner().invoke(cli, asked)
    assert again.exit_code == 2 and "is there already; --replace" in again.output
    assert CliRunner().invoke(cli, [*asked, "--replace"]).exit_code == 0
    assert read_database(address, table="release").rows == 6


def test_nothing_is_left_of_what_fails(address: str) -> None:
    """Tests that a table is written whole, or what was there stays."""

    def refuse(back: Any) -> None:
        assert texts(back).equals(texts(visits()))
        raise VerificationError("no")

    with pytest.raises(VerificationError):
        write_database(visits(), output(address, "visits"), check=refuse)
    with pytest.raises(InputError, match="no table is called 'visits'"):
        read_database(address, table="visits")
    write_database(from_native(pl.DataFrame({"a": ["old"]})), output(address, "visits"))
    require_free(output(address, "visit"))
    with pytest.raises(InputError, match="is there already; --replace"):
        require_free(output(address, "visits"))
    with pytest.raises(VerificationError):
        write_database(visits(), output(address, "visits"), replace=True, check=refuse)
    assert texts(read_database(address, table="visits"))["a"].to_list() == ["old"]
    write_database(visits(), output(address, "visits"), replace=True)
    assert read_database(address, table="visits").rows == 6


def test_a_query_never_writes(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that reading leaves a database as it is, also where a query that writes is let in."""
    write_database(visits(), output(address, "visits"))
    monkeypatch.setattr("incrowd.tables.database.require_query", lambda query: None)
    for tail in ("", " RETURNING *"):
        with suppress(InputError):
            read_database(address, query=f"DELETE FROM visits{tail}")
        assert read_database(address, table="visits").rows == 6


def test_what_a_driver_does_not_hold(postgres: str, tmp_path: Path) -> None:
    """Tests that values which would come back as others are refused by column."""
    pytest.importorskip("adbc_driver_sqlite.dbapi")
    exact = from_native(pl.DataFrame({"n": [1], "paid": [Decimal("1.50")]}))
    write_database(exact, output(postgres, "paid"), replace=True)
    by_arrow = postgres.replace("postgresql", "postgresql+adbc")
    with pytest.raises(InputError, match=r"'paid' \(numeric\) exactly; CAST it in a query"):
        read_database(by_arrow, table="paid")
    found = read_database(by_arrow, query="SELECT CAST(paid AS text) AS paid FROM paid")
    assert texts(found)["paid"].to_list() == ["1.50"]
    for value in (True, Decimal("1.5"), datetime(2024, 1, 2, 3)):
        table = from_native(pl.DataFrame({"n": [1], "what": [value]}))
        with pytest.raises(InputError, match="does not hold the type of column 'what'; leave"):
            write_database(table, f"sqlite+adbc:///{tmp_path}/t.db/t")
    with pytest.raises(InputError, match="no table is called 't'"):
        read_database(f"sqlite+adbc:///{tmp_path}/t.db", table="t")


def test_no_message_tells_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests passwords, what drivers say of rows, and drivers that are not there."""
    pytest.importorskip("adbc_driver_sqlite.dbapi")
    address = f"sqlite+adbc:///{tmp_path}/t.db"
    with pytest.raises(InputError, match="no such file"):
        read_database(address, table="t")
    assert not (tmp_path / "t.db").exists()
    write_database(visits(), output(address, "visits"))
    with pytest.raises(InputError, match=r"refused \(\w+Error") as told:
        read_database(address, query="SELECT 'hunter2' FROM nowhere")
    assert "hunter2" not in str(told.value) and "nowhere" not in str(told.value)
    with pytest.raises(InputError, match="for CREATE does not select"):
        read_database(address, query="CREATE TABLE t (a TEXT)")
    with pytest.raises(InputError, match="holds a password") as told:
        read_database("postgresql+adbc://me:hunter2@host/db", table="t")
    assert "hunter2" not in str(told.value)
    assert shown("postgresql+adbc://me@h/d/s.t") == "postgresql://h/d/s.t"
    with pytest.raises(InputError, match="package adbc-driver-nosuch"):
        read_database("nosuch+adbc://h/d", table="t")
    monkeypatch.setattr(adbc, "import_module", missing)
    with pytest.raises(MissingExtraError, match="adbc_driver_sqlite"):
        read_database(address, table="visits")


def missing(name: str) -> Any:
    """Find pyarrow alone."""
    if name != "pyarrow":
        raise ModuleNotFoundError(name=name.partition(".")[0])


def test_what_a_driver_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the password of the environment goes to the driver, and is shown nowhere."""
    monkeypatch.setenv(PASSWORD, "hunter2")
    given: list[str] = []

    class Driver:
        Error = KeyError

        def connect(self, uri: str) -> Any:
            given.append(uri)
            raise KeyError("hunter2")

    monkeypatch.setattr(adbc, "_driver", lambda kind, shown: Driver())
    with pytest.raises(InputError, match=r"postgresql://h/d: no connection \(KeyError\): look"):
        read_database("postgresql+adbc://me@h/d?sslmode=require", table="t")
    assert given == ["postgresql://me:hunter2@h/d?sslmode=require"]
    assert "hunter2" not in repr(Place.of("postgresql+adbc://me@h/d"))
