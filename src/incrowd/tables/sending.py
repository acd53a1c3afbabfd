"""How rows go to a new table of a database: in the quickest way that its driver has."""

from importlib.util import find_spec
from typing import Any

import polars as pl

from incrowd.errors import InputError
from incrowd.tables.native import encode_polars
from incrowd.tables.times import beyond, nanoseconds

SENT = "incrowd rows that are sent"
PLAIN = (pl.String, pl.Boolean, pl.Float64, pl.Float32)
"""Types beside whole numbers whose values SQLite's own driver takes as SQLAlchemy hands them on."""
WRITTEN = (pl.String, pl.Enum, pl.Categorical, pl.Boolean, pl.Float64, pl.Date)
"""Types beside whole numbers and dates with times that PostgreSQL reads as polars writes them."""
WITH_SPANS = ("postgresql", "duckdb")
"""Kinds of databases with types for spans of time, and for times of UTC."""


def as_held(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return a frame with texts for columns that a kind of database has no exact type for.

    Raises
    ------
    InputError: NaN, which SQLite takes for missing; times that Python cannot tell.
    """
    for name in frame.columns:
        cells = frame[name]
        if kind == "sqlite" and cells.dtype.is_float() and cells.is_nan().any():
            raise InputError(
                f"column {name!r} has cells that are no number (NaN), which SQLite does not hold; "
                "leave them empty, or write .csv or .parquet"
            )
        if _has_no_type(cells, kind):
            column = encode_polars(cells, name)
            texts = pl.Series(name, column.values, pl.String).gather(column.codes)
            frame = frame.with_columns(texts)
    return frame


def _has_no_type(cells: pl.Series, kind: str) -> bool:
    """Whether a kind of database would hold these cells as others."""
    held, finer = cells.dtype, bool(nanoseconds(cells.drop_nulls()).any())
    if beyond(cells):
        return True
    if isinstance(held, pl.Datetime) and held.time_zone is not None:
        return finer or held.time_zone != "UTC" or kind not in WITH_SPANS
    if held == pl.Duration:
        return finer or kind not in WITH_SPANS
    return finer or str(held) in ("Int128", "UInt128")


def send(connection: Any, made: Any, rows: pl.DataFrame) -> None:
    """Send rows to a new table, within the transaction of the connection.

    DuckDB takes rows one by one a thousand times as slowly as a frame whole; it reads frames by
    means of pyarrow.  SQLite's own driver takes plain values as they are, in a third of the time.
    PostgreSQL takes text by COPY.

    Raises
    ------
    SQLAlchemyError, OverflowError: the database refuses.
    """
    import sqlalchemy as sql

    driver = connection.connection.driver_connection
    kind, insert = connection.dialect.name, sql.insert(made)
    if kind == "duckdb" and hasattr(driver, "register") and find_spec("pyarrow") is not None:
        driver.register(SENT, rows)
        names = [as_name(name, kind) for name in rows.columns]
        sent = sql.select(*map(sql.column, names)).select_from(sql.table(SENT))
        connection.execute(insert.from_select(rows.columns, sent))
        driver.unregister(SENT)  # after a fault the connection ends anyway
    elif kind == "sqlite" and all(t in PLAIN or t.is_integer() for t in rows.dtypes):
        connection.exec_driver_sql(str(insert.compile(dialect=connection.dialect)), rows.rows())
    elif connection.dialect.driver == "psycopg" and all(map(_as_text, rows.dtypes)):
        _copy(connection, made, rows)
    else:
        connection.execute(insert, rows.to_dicts())


def as_name(name: str, kind: str) -> Any:
    """Return a name as SQLAlchemy takes it; it does not know all words that DuckDB reserves."""
    import sqlalchemy as sql

    return sql.quoted_name(name, True if kind == "duckdb" else None)


def _as_text(kind: Any) -> bool:
    """Whether PostgreSQL reads values of a type as polars writes them."""
    if isinstance(kind, pl.Datetime):  # nanoseconds are more than it holds
        return kind.time_zone is None and kind.time_unit != "ns"
    return kind in WRITTEN or kind.is_integer()


def _copy(connection: Any, made: Any, rows: pl.DataFrame) -> None:
    """Send rows to PostgreSQL as CSV, in which a missing cell is empty and a text is quoted."""
    from sqlalchemy.exc import DBAPIError

    prepare = connection.dialect.identifier_preparer
    names = ", ".join(map(prepare.quote, rows.columns))
    statement = (
        f"COPY {prepare.format_table(made)} ({names}) "
        "FROM STDIN (FORMAT csv, NULL '', ENCODING 'UTF8')"
    )
    text = rows.write_csv(include_header=False, quote_style="non_numeric")
    try:
        with (
            connection.connection.driver_connection.cursor() as cursor,
            cursor.copy(statement.encode()) as copy,
        ):
            copy.write(text)
    except connection.dialect.loaded_dbapi.Error as error:
        raise DBAPIError("COPY", None, error) from None
