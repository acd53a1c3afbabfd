"""Tests of tables in databases: SQLite, DuckDB, and a PostgreSQL that the tests start."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sqlalchemy as sql

import incrowd as ic
from incrowd.errors import InputError, VerificationError
from incrowd.tables import from_native
from incrowd.tables.base import texts
from incrowd.tables.database import (
    BATCH,
    PASSWORD,
    Place,
    is_address,
    read_database,
    write_database,
)

VISITS = {
    "zip": ["01234", "01235", "01236", "91234", "91235", None],
    "age": [34, 36, 38, None, 51, 58],
    "born": [date(1990, 3, day) for day in range(1, 7)],
    "paid": [
        Decimal("1.50"),
        None,
        Decimal("20.00"),
        Decimal("7.25"),
        Decimal("0.10"),
        Decimal("3"),
    ],
    "smokes": [True, False, True, True, False, None],
    'a "strange" name': ["x", "y'", "%s", ":p", "ü", ""],
}


def binaries() -> Path | None:
    """The folder of PostgreSQL's programs, where it is installed."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return Path(found).parent if found else (folders or [None])[-1]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL that runs in a temporary folder, reached by a socket there."""
    bin_folder = binaries()
    if bin_folder is None:
        pytest.skip("PostgreSQL's server (initdb) is not installed")
    as_user: list[str] = []
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's own folder is closed to others
        folder = Path(name)
        if os.geteuid() == 0:  # it refuses to run as root
            if subprocess.run(["id", "postgres"], capture_output=True).returncode:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(folder, "postgres")
        data = folder / "data"

        def run(*command: str | Path) -> None:
            subprocess.run([*as_user, *map(str, command)], check=True, cwd=folder, stdout=nowhere)

        with (folder / "out").open("w") as nowhere:
            run(bin_folder / "initdb", "-D", data, "-A", "trust", "-U", "tester", "--no-sync")
            options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
            start = ("-w", "-l", folder / "log", "-o", options, "start")
            run(bin_folder / "pg_ctl", "-D", data, *start)
            yield f"postgresql://tester@/postgres?host={folder}"
            run(bin_folder / "pg_ctl", "-D", data, "-m", "immediate", "stop")


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if request.param == "postgresql":
        address = request.getfixturevalue("postgres")
        with Place.of(address).connected() as connection:
            connection.execute(sql.text("DROP SCHEMA public CASCADE"))
            connection.execute(sql.text("CREATE SCHEMA public"))
        return address
    return f"{request.param}:///{tmp_path}/t.db"


def output(address: str, table: str) -> str:
    """The address of a table: its name behind the database's."""
    base, mark, rest = address.partition("?")
    return f"{base}/{table}{mark}{rest}"


def visits() -> Any:
    return from_native(pl.DataFrame(VISITS))


def test_tables_come_back(database: str) -> None:
    """Tests each type, missing cells and a strange name; by table and by query."""
    write_database(visits(), output(database, "visits"), check=lambda back: None)
    found = read_database(database, table="visits")
    assert texts(found).sort("born").equals(texts(visits()))
    some = read_database(database, query="SELECT zip, age FROM visits WHERE age > 37 ORDER BY age")
    assert texts(some)["zip"].to_list() == ["01236", "91235", None]


def test_a_release(database: str) -> None:
    """Tests the whole way: read, released, written, read back and checked."""
    write_database(visits(), output(database, "visits"))
    source = read_database(database, table="visits")
    release = ic.anonymize(source.native(), 2, qi=["zip", "age"], keep=list(VISITS)[2:])
    write_database(release.table, output(database, "release"), check=release.require_same)
    back = read_database(database, table="release")
    key = ["born"]
    assert texts(back).sort(key).equals(texts(release.table).sort(key))


def test_nothing_is_left_of_what_fails(database: str) -> None:
    """Tests that a table is written whole, or what was there stays."""

    def refuse(back: Any) -> None:
        assert texts(back).equals(texts(visits()))
        raise VerificationError("no")

    with pytest.raises(VerificationError):
        write_database(visits(), output(database, "visits"), check=refuse)
    with pytest.raises(InputError, match="no table is called 'visits'"):
        read_database(database, table="visits")
    old = from_native(pl.DataFrame({"a": ["old"]}))
    write_database(old, output(database, "visits"))
    with pytest.raises(InputError, match="is there already; replace=True"):
        write_database(visits(), output(database, "visits"))
    with pytest.raises(VerificationError):
        write_database(visits(), output(database, "visits"), replace=True, check=refuse)
    assert texts(read_database(database, table="visits"))["a"].to_list() == ["old"]
    write_database(visits(), output(database, "visits"), replace=True)
    assert read_database(database, table="visits").rows == 6


def test_many_rows_in_batches(tmp_path: Path) -> None:
    """Tests more rows than a batch, and a column whose first batch has no value."""
    rows = 2 * BATCH + 7
    late = [None] * (rows - 1) + [2.5]
    frame = pl.DataFrame({"n": np.arange(rows), "late": pl.Series(late, dtype=pl.Float64)})
    write_database(from_native(frame), f"sqlite:///{tmp_path}/t.db/many", check=lambda back: None)
    found = read_database(f"sqlite:///{tmp_path}/t.db", table="many").native()
    assert found.sort("n").equals(frame)


def test_no_message_tells_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests passwords in addresses, and what drivers say of rows."""
    with pytest.raises(InputError, match="holds a password") as told:
        read_database("postgresql://me:hunter2@host/db", table="t")
    assert "hunter2" not in str(told.value)
    monkeypatch.setenv(PASSWORD, "hunter2")
    place = Place.of("postgresql://me@host/db")
    assert place.url.password == "hunter2"
    assert place.shown == "postgresql://host/db" and "hunter2" not in repr(place)
    monkeypatch.delenv(PASSWORD)
    address = f"sqlite:///{tmp_path}/t.db"
    with pytest.raises(InputError, match=r"refused \(OperationalError") as told:
        read_database(address, query="SELECT 'hunter2' FROM nowhere")
    assert "hunter2" not in str(told.value) and "nowhere" not in str(told.value)
    with pytest.raises(InputError, match="returns no rows"):
        read_database(address, query="CREATE TABLE t (a TEXT)")
    for given in ({}, {"table": "t", "query": "SELECT 1"}):
        with pytest.raises(InputError, match="give table"):
            read_database(address, **given)


def test_addresses() -> None:
    """Tests what is the address of a database, and what a file."""
    assert is_address("postgresql://h/d") and is_address("postgresql+psycopg://h/d")
    assert not any(map(is_address, ("t.csv", "-", "C:\\\\t.csv", Path("a"), "a/b.csv", "")))
    with pytest.raises(InputError, match="stands behind the database"):
        write_database(visits(), "sqlite:///t.db")
    with pytest.raises(InputError, match="no driver for this kind"):
        read_database("nosuch://h/d", table="t")
