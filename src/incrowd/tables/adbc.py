"""Databases by drivers of ADBC, which hand rows on as Arrow: ``postgresql+adbc://…``.

A driver of another kind of database is one more package, ``adbc-driver-KIND``.  What a driver does
not hold exactly (PostgreSQL's ``numeric``, SQLite's truth values) is refused by column.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import polars as pl

from incrowd.errors import InputError, MissingExtraError

ADBC = "adbc"
"""What stands behind the kind of database in an address, as SQLAlchemy names drivers."""
SHIPPED = ("postgresql", "sqlite", "duckdb")
"""Kinds whose driver the extra ``sql`` brings."""
IN_FILES = ("sqlite", "duckdb")
"""Kinds of databases that are a file each."""
WIPED = "PRAGMA secure_delete = ON"
"""Has SQLite write over what is dropped: its file would still hold a release that was replaced."""
NOT_IN_SQLITE = (pl.Boolean, pl.Decimal, pl.Time, pl.Datetime, pl.Duration)
"""Types that SQLite's driver refuses, or reads back as another one."""


@dataclass(frozen=True)
class Arrow:
    """A connection in a transaction.

    Attributes
    ----------
    connection: the driver's.
    kind: of database, ``"postgresql"`` and the like.
    shown: its address for messages.
    """

    connection: Any
    kind: str
    shown: str

    def tables(self, schema: str | None) -> list[str]:
        """Return the names of the tables and views of a schema, or of the usual one."""
        if schema is None:
            try:
                schema = self.connection.adbc_current_db_schema or None
            except self.connection.NotSupportedError:  # then there is but one
                schema = None
        found = self.connection.adbc_get_objects(depth="tables", db_schema_filter=schema)
        return [
            table["table_name"]
            for catalog in found.read_all().to_pylist()
            for held in catalog["catalog_db_schemas"] or []
            for table in held["db_schema_tables"] or []
        ]

    def fetched(self, query: str) -> tuple[list[str], Iterator[pl.DataFrame]]:
        """Return the names of the columns that a query selects, and its rows in batches."""
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            reader = cursor.fetch_record_batch()
            self._require_plain(reader.schema)
            names = list(reader.schema.names)
            empty = reader.schema.empty_table()
            batches = [_frame(batch) for batch in (empty, *reader)] if names else []
        return names, iter(batches)

    def _require_plain(self, schema: Any) -> None:
        """Refuse columns of types that Arrow does not hold."""
        for field in schema:
            kind = getattr(field.type, "type_name", None)
            if hasattr(field.type, "extension_name"):
                raise InputError(
                    f"{self.shown}: the driver of ADBC does not hold the values of column "
                    f"{field.name!r} ({kind or field.type.extension_name}) exactly; CAST it in a "
                    "query, or leave +adbc out of the address"
                )

    def drop(self, table: str, schema: str | None) -> None:
        """Drop a table."""
        with self.connection.cursor() as cursor:
            if self.kind == "sqlite":
                cursor.execute(WIPED)
            cursor.execute(f"DROP TABLE {quoted(table, schema)}")

    def send(self, table: str, schema: str | None, rows: pl.DataFrame, new: bool) -> None:
        """Send rows to a table, which is made for them if ``new``."""
        if self.kind == "sqlite":
            refused = [n for n, t in rows.schema.items() if t.base_type() in NOT_IN_SQLITE]
            if refused:
                raise InputError(
                    f"{self.shown}: SQLite's driver of ADBC does not hold the type of column "
                    f"{refused[0]!r}; leave +adbc out of the address"
                )
        plain = rows.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
        plain = plain.with_columns(pl.col(pl.Null).cast(pl.String))
        held = plain.to_arrow(compat_level=pl.CompatLevel.oldest())
        with self.connection.cursor() as cursor:
            mode = "create" if new else "append"
            cursor.adbc_ingest(table, held, mode=mode, db_schema_name=schema)


def _frame(batch: Any) -> pl.DataFrame:
    """Return a batch of Arrow as a frame."""
    import pyarrow as pa

    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    found = pl.from_arrow(table.rename_columns([str(n) for n in range(table.num_columns)]))
    assert isinstance(found, pl.DataFrame)
    return found


def quoted(table: str, schema: str | None) -> str:
    """Return the name of a table as standard SQL writes it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in (schema, table) if part)


@contextmanager
def connected(kind: str, uri: str, shown: str, reading: bool) -> Iterator[Arrow]:
    """Give a connection in a transaction: committed at the end, undone by an exception.

    ``uri`` is for the driver, ``shown`` for messages; ``reading``: undone in any case.

    Raises
    ------
    InputError: what the database or its driver refuses, by its kind and code alone.
    MissingExtraError: the driver, or pyarrow, is not installed.
    """
    driver = _driver(kind, shown)
    inside = False
    try:
        connection = driver.connect(uri)
        inside = True
        try:
            yield Arrow(connection, kind, shown)
            if not reading:
                connection.commit()
        finally:
            connection.close()  # what is not committed is undone
    except driver.Error as error:
        code = getattr(error, "sqlstate", None)
        fault = f"{type(error).__name__}{f', {code}' if code else ''}"
        told = f"the database refused ({fault})" if inside else unreached(kind, fault)
        raise InputError(f"{shown}: {told}") from None


def unreached(kind: str, fault: str) -> str:
    """Say what to look at where there is no connection: the driver's own words name the user."""
    if kind in IN_FILES:
        return (
            f"no connection ({fault}): look whether the file is such a database, its folder is "
            "there, and no other program holds it"
        )
    return (
        f"no connection ({fault}): look whether a server runs at this host and port, and has this "
        "database, user and password; the password comes from INCROWD_DATABASE_PASSWORD or from "
        "where the driver looks for it, such as ~/.pgpass"
    )


def _driver(kind: str, shown: str) -> Any:
    """Import the driver of a kind of database."""
    try:
        import_module("pyarrow")
        return import_module(f"adbc_driver_{kind}.dbapi")
    except ImportError as error:
        name = error.name or f"adbc_driver_{kind}"
        if kind in SHIPPED or not name.startswith(f"adbc_driver_{kind}"):
            raise MissingExtraError(name, "sql", f"the database {shown}") from None
        raise InputError(
            f"{shown}: the driver is not installed; it is the package adbc-driver-{kind}"
        ) from None
