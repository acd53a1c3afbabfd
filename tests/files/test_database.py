"""Tests of tables in databases: SQLite, DuckDB, and a PostgreSQL that the tests start."""

from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from databases import output
from incrowd.cli import cli
from incrowd.errors import InputError, VerificationError
from incrowd.tables import Edit, from_native, read, sending
from incrowd.tables.addresses import is_address
from incrowd.tables.base import Source, texts
from incrowd.tables.database import (
    _in_order,
    read_database,
    require_free,
    write_database,
)
from incrowd.tables.inputs import shown
from incrowd.tables.place import PASSWORD, Place

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
    with pytest.raises(InputError, match="is there already; --replace"):
        write_database(visits(), output(database, "visits"))
    with pytest.raises(VerificationError):
        write_database(visits(), output(database, "visits"), replace=True, check=refuse)
    assert texts(read_database(database, table="visits"))["a"].to_list() == ["old"]
    write_database(visits(), output(database, "visits"), replace=True)
    assert read_database(database, table="visits").rows == 6


def test_many_rows_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests more rows than a batch, and a column whose first batch has no value."""
    monkeypatch.setattr("incrowd.tables.database.BATCH", 100)
    rows = 207
    late = [None] * (rows - 1) + [2.5]
    frame = pl.DataFrame({"n": np.arange(rows), "late": pl.Series(late, dtype=pl.Float64)})
    write_database(from_native(frame), f"sqlite:///{tmp_path}/t.db/many", check=lambda back: None)
    found = read_database(f"sqlite:///{tmp_path}/t.db", table="many").native()
    assert found.sort("n").equals(frame)


def test_each_way_of_sending_rows_writes_the_same(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests rows that are sent as a frame, as text or plain values against those SQLAlchemy sends.

    PostgreSQL takes no NUL.
    """
    plain = {
        "enum": pl.Series(["a", "b", None], dtype=pl.Enum(["b", "a"])),
        "few": pl.Series([1, None, -3], dtype=pl.Int8),
        "share": pl.Series([0.1, None, float("inf")], dtype=pl.Float64),
        "true": [True, None, False],
        'a "b", c': ["a\nb" if "postgresql" in database else "a\0b", None, "\U0001f600"],
        "text": ["\\N", "", 'say "NULL", \\.'],
        "empty": [None, None, None],
    }
    times = {"at": [datetime(1, 1, 1), None, datetime(2024, 2, 29, 12, 0, 0, 123456)]}
    dates = {"on": [date(1, 1, 1), None, date(2024, 2, 29)]}
    short = {"short": pl.Series([0.1, None, 1e30], dtype=pl.Float32)}
    found = []
    for columns in (plain, plain | times | dates, plain | short):
        table = from_native(pl.DataFrame(columns))
        for way in ("quick", "slow"):
            if way == "slow":
                for ways in ("PLAIN", "WRITTEN"):
                    monkeypatch.setattr(sending, ways, ())
                monkeypatch.setattr(sending, "find_spec", lambda name: None)
            name = f"{way}{len(found)}"
            write_database(table, output(database, name), check=lambda back: None)
            found.append(read_database(database, table=name).native())
            assert texts(from_native(found[-1])).equals(texts(table))
        assert found[-1].equals(found[-2])
        monkeypatch.undo()


def test_what_postgresql_refuses_of_text(postgres: str) -> None:
    """Tests a NUL in the middle of many rows: a fault by its kind, and no row of it is left."""
    cells = [str(n) for n in range(1_000)]
    table = from_native(
        pl.DataFrame({"n": range(1_000), "text": [*cells[:500], "secret\0", *cells[501:]]})
    )
    with pytest.raises(InputError, match="the database refused") as told:
        write_database(table, output(postgres, "nul"))
    assert "secret" not in str(told.value)
    with pytest.raises(InputError, match="no table is called 'nul'"):
        read_database(postgres, table="nul")


def test_what_polars_would_drop_of_a_cell_is_text(postgres: str) -> None:
    """Tests keys of JSON that the first cells lack, and zones of times of day; spans of time."""
    held = 'CASE WHEN i < 150 THEN \'{"a": 1}\' ELSE \'{"b": "ü"}\' END::jsonb'
    query = (
        f"SELECT {held} AS held, jsonb_build_array({held}) AS list, "
        "TIME WITH TIME ZONE '08:15+02' AS clock, INTERVAL '1 day 2 hours' AS span "
        "FROM generate_series(1, 160) AS i"
    )
    found = read_database(postgres, query=query).native()
    assert found["held"].unique().sort().to_list() == ['{"a": 1}', '{"b": "ü"}']
    assert found["list"].unique().sort().to_list() == ['[{"a": 1}]', '[{"b": "ü"}]']
    assert found["clock"].unique().to_list() == ["08:15:00+02:00"]
    assert found["span"].unique().to_list() == [timedelta(days=1, hours=2)]

    def same(back: Source) -> None:
        assert back.native().equals(found)

    write_database(from_native(found), output(postgres, "nested"), check=same)


def test_what_a_driver_has_no_value_for(postgres: str) -> None:
    """Tests a date that Python does not have: the message says what to do."""
    with pytest.raises(InputError, match=r"'infinity'.*CAST its column"):
        read_database(postgres, query="SELECT DATE 'infinity' AS until")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_rows_in_another_order_are_put_right(kind: str, tmp_path: Path) -> None:
    """Tests that a table, which has no order, is compared in the order in which it was written."""
    frame = pl.DataFrame({"n": [3, 1, 2, 1], "t": ["c", "a", None, "b"]})
    written = from_native(frame)
    for table in (read(as_parquet(frame, tmp_path / "t.parquet")), written):
        edited = table.edited(Edit(table.columns))
        for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
            address = f"{kind}:///{tmp_path}/t.db/t"
            write_database(from_native(frame[order]), address, replace=True)
            back = _in_order(read_database(address), edited)
            assert back.native().equals(frame)


def as_parquet(frame: pl.DataFrame, path: Path) -> Path:
    """Write a frame; return the path."""
    frame.write_parquet(path)
    return path


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests a database that may not grow; SQLite says of a full disk what it says of that."""
    monkeypatch.setattr("incrowd.tables.adbc.WIPED", "PRAGMA max_page_count = 1")
    frame = from_native(pl.DataFrame({"a": [1, 2]}))
    with pytest.raises(InputError, match="disk of the database is full; nothing was written"):
        write_database(frame, f"sqlite:///{tmp_path / 'a.db'}/t")


@pytest.mark.parametrize("driver", ["", "+adbc"])
def test_who_is_not_let_in_is_told_where_to_look(
    postgres: str, driver: str, tmp_path: Path
) -> None:
    """Tests a database that is not there, a server that does not run, a folder without a file."""
    kind, base = postgres.split(":", 1)
    known, host = base.split("/postgres?")
    for address in (f"{known}/nowhere?{host}", f"//me@localhost:1/db?{host}x"):
        with pytest.raises(
            InputError, match=r"no connection \(\w+\): look whether a server"
        ) as told:
            read_database(f"{kind}{driver}:{address}", table="t")
        assert "tester" not in str(told.value)
    with pytest.raises(InputError, match=r"no connection .*: look whether the file"):
        write_database(visits(), f"sqlite{driver}:///{tmp_path}/no/t.db/t")


def test_the_short_name_of_postgresql(postgres: str) -> None:
    """Tests postgres://, which many services write."""
    with pytest.raises(InputError, match=r"^postgresql://.*no table is called 't'"):
        read_database(postgres.replace("postgresql:", "postgres:"), table="t")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_number_that_is_too_large(kind: str, tmp_path: Path) -> None:
    """Tests that a number beyond the database's is refused in words, and nothing is written."""
    address = f"{kind}:///{tmp_path}/t.db"
    table = from_native(pl.DataFrame({"n": pl.Series([1, 2**64 - 1], dtype=pl.UInt64)}))
    with pytest.raises(InputError, match="the database refused"):
        write_database(table, f"{address}/t")
    with pytest.raises(InputError, match="no table is called"):
        read_database(address, table="t")


@pytest.mark.parametrize("tail", ["", " RETURNING *"])
def test_a_query_never_writes(database: str, tail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that reading leaves a database as it is, also where a query that writes is let in."""
    write_database(visits(), output(database, "visits"))
    monkeypatch.setattr("incrowd.tables.database.require_query", lambda query: None)
    with suppress(InputError):
        read_database(database, query=f"DELETE FROM visits{tail}")
    assert read_database(database, table="visits").rows == 6


@pytest.mark.parametrize(
    "query",
    [
        *("drop table visits", "CREATE TABLE t (a TEXT)", "COPY visits TO 'visits.csv'", "SHOW x"),
        "WITH a AS (SELECT 1) DELETE FROM visits",
        "SELECT 1; DROP TABLE visits",
        *("/* SELECT */ DELETE FROM visits", "  ", "-- SELECT 1", "('SELECT')"),
    ],
)
def test_a_query_that_does_not_select(query: str, tmp_path: Path) -> None:
    """Tests that it is refused in words; DuckDB's answer, a count, would be taken for the table."""
    write_database(visits(), f"duckdb:///{tmp_path}/t.db/visits")
    for driver in ("duckdb", "duckdb+adbc"):
        with pytest.raises(InputError, match="give one query that selects, such as SELECT"):
            read_database(f"{driver}:///{tmp_path}/t.db", query=query)
    assert not Path("visits.csv").exists()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ';' AS a, 'it''s -- no comment' AS b FROM visits;",
        "with v as (select * from visits) select replace(zip, ';', '') as zip from v",
        "(SELECT age FROM visits)",
        *("FROM visits", "TABLE visits", "VALUES (1, 2)", "/* of ; 2024 */ SELECT 1 AS a -- now;"),
        'SELECT age AS "drop; it" FROM visits',
    ],
)
def test_queries_that_select(query: str, tmp_path: Path) -> None:
    """Tests that no query that selects is refused."""
    write_database(visits(), f"duckdb:///{tmp_path}/t.db/visits")
    assert read_database(f"duckdb:///{tmp_path}/t.db", query=query).rows


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
    with pytest.raises(InputError, match="no such file"):
        read_database(address, query="SELECT 1")
    assert not (tmp_path / "t.db").exists()
    write_database(visits(), output(address, "visits"))
    with pytest.raises(InputError, match=r"refused \(OperationalError") as told:
        read_database(address, query="SELECT 'hunter2' FROM nowhere")
    assert "hunter2" not in str(told.value) and "nowhere" not in str(told.value)
    with pytest.raises(InputError, match="for CREATE does not select"):
        read_database(address, query="CREATE TABLE t (a TEXT)")
    with pytest.raises(InputError, match="holds many tables; name one"):
        read_database(address)
    with pytest.raises(InputError, match="not both"):
        read_database(address, table="t", query="SELECT 1")
    for hidden in (
        "postgresql://me@host/db?password=hunter2",
        "mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3Dhunter2",
        "PostgreSQL://me:hunter2@host/db",
        "postgres:/me:hunter2@host/db",
        "postgresql://me:hunter2@host:a/db",
    ):
        for call in (read, shown, Place.of_table):
            with pytest.raises(InputError) as told:
                call(hidden)
            assert "hunter2" not in str(told.value)


def test_addresses() -> None:
    """Tests what is the address of a database, and what a file."""
    assert is_address("postgresql://h/d") and is_address("postgresql+psycopg://h/d")
    assert shown("postgresql://me@h/d/s.t?sslmode=require") == "postgresql://h/d/s.t"
    assert shown("a/b.csv") == "a/b.csv"
    assert not any(map(is_address, ("t.csv", "-", "C:\\\\t.csv", Path("a"), "a/b.csv", "")))
    with pytest.raises(InputError, match="stands behind the database"):
        write_database(visits(), "sqlite:///t.db")
    with pytest.raises(InputError, match="no driver for this kind"):
        read_database("nosuch://h/d", table="t")
    for kind, driver in (("mysql", "MySQLdb"), ("postgresql+pg8000", "pg8000")):
        with pytest.raises(InputError, match=f"{driver}' is not installed; the pages of SQLAlche"):
            read_database(f"{kind}://h/d", table="t")


@pytest.mark.parametrize("driver", ["sqlite", "sqlite+adbc"])
def test_nothing_is_left_of_a_table_that_was_replaced(driver, tmp_path):
    """Tests the bytes of the file: an earlier release beside the new one tells more than either."""
    file = tmp_path / "open.db"
    address = f"{driver}:///{file}/release"
    write_database(from_native(pl.DataFrame({"a": ["earlier"] * 500})), address)
    assert b"earlier" in file.read_bytes()
    write_database(from_native(pl.DataFrame({"a": ["later"] * 5})), address, replace=True)
    assert b"later" in file.read_bytes()
    assert b"earlier" not in file.read_bytes()


def test_tables_of_one_name_in_several_schemas(tmp_path: Path) -> None:
    """Tests that DuckDB's tables are looked for where they are read and written."""
    address = f"duckdb:///{tmp_path}/t.duckdb"
    write_database(visits(), f"{address}/first")
    with duckdb.connect(f"{tmp_path}/t.duckdb") as connection:
        connection.execute("CREATE SCHEMA h")
        connection.execute("CREATE TABLE h.release AS SELECT * FROM first LIMIT 2")
    with pytest.raises(InputError, match="no table is called 'release'; known: 'first'"):
        read_database(f"{address}/release")
    require_free(f"{address}/release")
    write_database(visits(), f"{address}/release")
    assert [read_database(f"{address}/{name}release").rows for name in ("", "main.", "h.")] == [
        6,
        6,
        2,
    ]


@pytest.mark.parametrize(
    ("kind", "same", "other"),
    [
        ("sqlite", ["visits", "VISITS", "main.visits", "Main.Visits"], "visit"),
        ("duckdb", ["visits", "VISITS", "main.visits", "Main.Visits"], "h.visits"),
        ("postgresql", ["visits", "public.visits"], "Visits"),
    ],
)
def test_names_of_one_table(kind: str, same: list[str], other: str) -> None:
    """Tests what --replace must not write over: the input by another name was lost."""
    keys = {Place.of_table(f"{kind}:///t.db/{name}").key for name in same}
    assert len(keys) == 1 and Place.of_table(f"{kind}:///t.db/{other}").key not in keys


def test_types_that_databases_lack_are_texts(tmp_path: Path) -> None:
    """Tests zoned and fine times, spans and wide numbers; what is refused before the search."""
    rows = {"q": ["x", "x"], "n": [1, 2]}
    frame = pl.DataFrame(rows).with_columns(
        zoned=pl.lit(datetime(2024, 1, 2, 3, 4)).dt.replace_time_zone("Europe/Berlin"),
        fine=pl.lit(1_704_103_200_000_000_001).cast(pl.Datetime("ns")),
        span=pl.lit(timedelta(hours=30)),
        wide=pl.lit(2**70, dtype=pl.Int128),
    )
    release = ic.anonymize(frame, 2, qi=["q"], keep=frame.columns[1:])
    for kind in ("sqlite", "duckdb"):
        address = f"{kind}:///{tmp_path}/t.{kind}/r"
        release.write(address)
        assert texts(read_database(address)).sort("n").equals(texts(release.table).sort("n"))
    asked = ["-k", "2", "--qi", "q", "--keep", "x", "-o", f"sqlite:///{tmp_path}/t.db/r"]
    bad = {"not hold": pl.Series([float("nan"), 1.0]), "tell": pl.Series([2**23] * 2).cast(pl.Date)}
    for words, cells in bad.items():
        pl.DataFrame({"q": ["x", "x"], "x": cells}).write_parquet(tmp_path / "t.parquet")
        done = CliRunner().invoke(cli, ["anonymize", str(tmp_path / "t.parquet"), *asked])
        assert done.exit_code == 2 and words in done.stderr and "'x'" in done.stderr
