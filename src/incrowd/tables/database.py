"""Tables in databases: PostgreSQL, SQLite, DuckDB and what else SQLAlchemy knows (extra ``sql``).

A release is a new table, written in one transaction and read back before that is committed: it is
there whole and as it was checked, or not at all.  Messages name the database and the kind of fault,
never what the driver says: that may quote a row or a password.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import InputError, MissingExtraError, did_you_mean
from incrowd.tables.base import Source, Table, texts
from incrowd.tables.native import as_polars
from incrowd.tables.packed import EditedPacked, PackedTable, packed_table
from incrowd.tables.sending import as_name, send

SECRET = re.compile(r"(pass(word|wd|phrase)?|pwd|secret|token|key)\s*=", re.IGNORECASE)
PASSWORD = "INCROWD_DATABASE_PASSWORD"
BATCH = 50_000
"""Rows that are fetched or sent at once."""


@dataclass(frozen=True)
class Place:
    """A database, and a table in it.

    Attributes
    ----------
    url: SQLAlchemy's, with the password from the environment if there is one there.
    shown: the address without user and password, for messages.
    table, schema: of the table; both None where a whole database is meant.
    """

    url: Any
    shown: str
    table: str | None = None
    schema: str | None = None

    @classmethod
    def of(cls, address: str, table: str | None = None) -> "Place":
        """Take an address apart.

        Raises
        ------
        InputError: it is none, or holds a password: others can see the arguments of a command.
        """
        try:
            url = _sql().make_url(address)
        except (_sql().exc.ArgumentError, ValueError):
            raise InputError(
                "the address of the database cannot be read; write driver://…"
            ) from None
        options = "&".join(f"{name}={value}" for name, value in url.query.items())
        if url.password is not None or SECRET.search(options):
            raise InputError(
                "the address of a database holds a password, which others can see; leave it out, "
                f"and give it in the variable {PASSWORD}, in PGPASSWORD or in the driver's own file"
            )
        url = url.set(drivername=url.drivername.lower())
        host = url.host or ""
        shown = f"{url.get_backend_name()}://{host}/{url.database or ''}"
        secret = os.environ.get(PASSWORD)
        if secret is not None and host:
            url = url.set(password=secret)
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        schema, dot, name = (table or "").rpartition(".")
        return cls(url, shown, name or None, schema if dot else None)

    @classmethod
    def of_table(cls, address: str) -> "Place":
        """Take the address of a table apart: its name stands behind the last ``/``."""
        whole, mark, options = address.partition("?")
        base, _, table = whole.rpartition("/")
        if not table or base.count("/") < 3:
            raise InputError("the table stands behind the database: postgresql://host/db/release")
        return cls.of(f"{base}{mark}{options}", table)

    @property
    def kind(self) -> str:
        """The kind of database: ``"postgresql"``, ``"sqlite"``, …"""
        return self.url.get_backend_name()

    @property
    def file(self) -> Path | None:
        """The file that holds the database, where it is one."""
        name = self.url.database
        local = self.kind in ("sqlite", "duckdb")
        return Path(name) if local and name and name != ":memory:" else None

    @property
    def words(self) -> str:
        """The address of the table without user and password."""
        return f"{self.shown}/{self.name}"

    @property
    def key(self) -> tuple[object, ...]:
        """What two names of one table share."""
        server = self.url.host, self.url.port, str(self.url.query.get("host"))
        base = self.url.database if self.file is None else str(self.file.resolve())
        return self.kind, server, base, self.schema, self.table

    @property
    def name(self) -> str:
        """The table as the database shows it."""
        return f"{self.schema}.{self.table}" if self.schema else str(self.table)

    @contextmanager
    def connected(self, reading: bool = False) -> Iterator[Any]:
        """Give a connection in a transaction: committed at the end, undone by an exception.

        ``reading``: undone in any case, for a query may write.

        Raises
        ------
        InputError: what the database or its driver refuses, by its kind and code alone.
        """
        sql = _sql()
        try:
            engine = sql.create_engine(self.url)
        except sql.exc.NoSuchModuleError:
            raise InputError(
                f"{self.shown}: no driver for this kind of database is known"
            ) from None
        except ImportError as error:
            name = error.name or "the driver"
            raise MissingExtraError(name, "sql", f"the database {self.shown}") from None
        if engine.dialect.name == "sqlite":
            _let_transactions_hold(engine)
        try:
            with engine.connect() if reading else engine.begin() as connection:
                yield connection
        except (sql.exc.SQLAlchemyError, OverflowError) as error:  # the latter of SQLite's driver
            raise InputError(f"{self.shown}: {_fault(error)}") from None
        finally:
            engine.dispose()


def _let_transactions_hold(engine: Any) -> None:
    """Let transactions of SQLite hold what makes tables: its driver commits before that."""

    def own(connection: Any, _: Any) -> None:
        connection.isolation_level = None

    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN")

    _sql().event.listen(engine, "connect", own)
    _sql().event.listen(engine, "begin", begin)


def _fault(error: Any) -> str:
    """Say what kind of fault it was: drivers' messages quote rows, and addresses."""
    origin = getattr(error, "orig", None)
    code = getattr(origin, "sqlstate", None) or getattr(origin, "sqlite_errorname", None)
    kind = type(origin or error).__name__
    return f"the database refused ({kind}{f', {code}' if code else ''})"


def read_database(address: str, table: str | None = None, query: str | None = None) -> PackedTable:
    """Read a table or the answer of a query, in batches.

    Parameters
    ----------
    address: ``postgresql://user@host/db``, ``sqlite:///file``, ``duckdb:///file``, …
    table: its name, or ``schema.name``; query: SQL that selects.  Without either the table's name
        stands behind the last ``/`` of the address.

    Raises
    ------
    InputError: both are given, no such table is there, or the database refuses.
    MissingExtraError: SQLAlchemy or the driver is not installed.
    """
    if table is not None and query is not None:
        raise InputError("a table or a query is read, not both of them")
    sql = _sql()
    place = Place.of(address, table) if table or query else _one_table(address)
    if place.file is not None and not place.file.exists():  # drivers would make an empty one
        raise InputError(f"{place.shown}: no such file")
    with place.connected(reading=True) as connection:
        if query is not None:
            return _fetched(connection, sql.text(query))
        inspector = sql.inspect(connection)
        known = [*inspector.get_table_names(place.schema), *inspector.get_view_names(place.schema)]
        if place.table not in known:
            near = did_you_mean(str(place.table), known)
            raise InputError(f"{place.shown}: no table is called {place.name!r}{near}")
        return _fetched(connection, _whole(place, connection))


def _one_table(address: str) -> Place:
    """Return the table that an address names."""
    whole = Place.of(address)
    bare = whole.kind not in ("sqlite", "duckdb") and whole.url.database
    if (whole.file is not None and whole.file.is_file()) or "/" not in (bare or "/"):
        raise InputError(
            f"{whole.shown}: a database holds many tables; name one by --table (table= in Python) "
            "or behind the address, or give a query that selects"
        )
    return Place.of_table(address)


def require_free(address: str, replace: bool = False) -> None:
    """Raise at once what ``write_database`` would raise after a long search.

    Raises
    ------
    InputError: the database cannot be reached, or the table is there and is not to be replaced.
    """
    place = Place.of_table(address)
    if place.file is not None and not place.file.exists():
        if not place.file.parent.is_dir():
            raise InputError(f"{place.shown}: the folder {str(place.file.parent)!r} does not exist")
        return
    with place.connected(reading=True) as connection:
        _ = _is_there(place, connection, replace)


def _is_there(place: Place, connection: Any, replace: bool) -> bool:
    """Whether a table is there already."""
    there = _sql().inspect(connection).has_table(str(place.table), schema=place.schema)
    if there and not replace:
        raise InputError(
            f"{place.shown}: a table {place.name!r} is there already; --replace (replace=True in "
            "Python) writes over it"
        )
    return there


def _whole(place: Place, connection: Any) -> Any:
    """Return the statement that reads a whole table."""
    sql = _sql()
    if connection.dialect.name == "sqlite":  # dates and truth values are so by declaration alone
        meta = sql.MetaData()
        table = sql.Table(place.table, meta, schema=place.schema, autoload_with=connection)
        return sql.select(table)
    quote = connection.dialect.identifier_preparer.quote
    parts = (place.schema, place.table)
    names = [quote(as_name(name, place.kind)) for name in parts if name is not None]
    return sql.text(f"SELECT * FROM {'.'.join(names)}")


def _fetched(connection: Any, statement: Any) -> PackedTable:
    """Return the rows of a statement."""
    result = connection.execution_options(stream_results=True).execute(statement)
    if not result.returns_rows:
        raise InputError("the query returns no rows; it must be one that selects")
    names = list(result.keys())
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the query returns two columns called {twice!r}")
    batches: list[list[pl.DataFrame]] = [[] for _ in names]
    while rows := result.fetchmany(BATCH):
        for series, cells in zip(batches, zip(*rows, strict=True), strict=True):
            series.append(_series(cells).to_frame())
    columns = {name: _joined(batch) for name, batch in zip(names, batches, strict=True)}
    return packed_table(names, columns.__getitem__)


def _series(cells: Sequence[Any]) -> pl.Series:
    """Return cells of one column; what polars has no type for (UUIDs, addresses) as text."""
    try:
        found = pl.Series("cell", cells, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        found = None
    if found is None or found.dtype == pl.Object:
        found = pl.Series("cell", [None if c is None else str(c) for c in cells], pl.String)
    return found


def _joined(batches: list[pl.DataFrame]) -> pl.Series:
    """Return the batches of a column as one, of a type that holds all of them."""
    if not batches:
        return pl.Series("cell", [], pl.String)
    try:
        found = pl.concat(batches, how="vertical_relaxed").to_series()
    except pl.exceptions.PolarsError:
        found = pl.concat([batch.cast(pl.String) for batch in batches]).to_series()
    return found.cast(pl.String) if found.dtype == pl.Null else found


def write_database(
    table: Table,
    address: str,
    replace: bool = False,
    check: Callable[[Source], None] | None = None,
) -> None:
    """Write a release as a new table, in one transaction.

    Parameters
    ----------
    address: with the table's name behind the last ``/``.
    replace: whether a table of that name may be there; it is dropped in the same transaction.
    check: called with the table as read back, before the transaction is committed.

    Raises
    ------
    InputError: the table is there already, or the database refuses.
    VerificationError: what came back is not what was written; nothing is left of it then.
    """
    place, sql = Place.of_table(address), _sql()
    pieces = table.pieces() if isinstance(table, EditedPacked) else iter([as_polars(table)])
    with place.connected() as connection:
        there = _is_there(place, connection, replace)
        made: Any = None
        for piece in pieces:
            if made is None:
                made = _new_table(place, piece)
                if there:
                    made.drop(connection)
                made.create(connection)
            for rows in piece.iter_slices(BATCH):
                if rows.height:
                    send(connection, made, rows)
        if check is not None:
            check(_in_order(_fetched(connection, sql.select(made)), table))


def _in_order(found: PackedTable, table: Table) -> PackedTable:
    """Put rows that came back into the order of those that were written: a table has none."""
    held = table if isinstance(table, EditedPacked) and found.columns == table.columns else None
    if held is not None and all(held.agrees(found, name) for name in held.columns):
        return found  # as most databases do; texts of every cell take long
    mine, theirs = (texts(one).with_row_index("row number") for one in (table, found))
    if mine.columns != theirs.columns or mine.height != theirs.height:
        return found  # whoever compares them says so
    keys = [name for name in mine.columns if name != "row number"]
    place = pl.DataFrame(
        {"to": mine.sort(keys)["row number"], "from": theirs.sort(keys)["row number"]}
    ).sort("to")["from"]
    return packed_table(found.columns, lambda name: found.take(name, place.to_numpy()))


def _new_table(place: Place, frame: pl.DataFrame) -> Any:
    """Describe the new table by the types of a frame."""
    sql = _sql()
    kinds = frame.schema.items()
    columns = [sql.Column(as_name(name, place.kind), _type(kind)) for name, kind in kinds]
    table, schema = (name and as_name(name, place.kind) for name in (place.table, place.schema))
    return sql.Table(table, sql.MetaData(), *columns, schema=schema)


def _type(kind: Any) -> Any:
    """Return the type of a database's column for a type of polars."""
    sql = _sql()
    if kind.is_integer():
        return sql.BigInteger()
    if isinstance(kind, pl.Decimal):
        return sql.Numeric(kind.precision or 38, kind.scale)
    if isinstance(kind, pl.Datetime):
        return sql.DateTime(timezone=kind.time_zone is not None)
    plain: dict[Any, Any] = {
        pl.Boolean: sql.Boolean,
        pl.Date: sql.Date,
        pl.Time: sql.Time,
        pl.Float64: sql.Double,
        pl.Float32: sql.Double,
        pl.Binary: sql.LargeBinary,
    }
    return plain.get(kind.base_type(), sql.Text)()


def _sql() -> Any:
    """Import SQLAlchemy."""
    try:
        import sqlalchemy
    except ImportError:
        raise MissingExtraError("sqlalchemy", "sql", "a database") from None
    return sqlalchemy
