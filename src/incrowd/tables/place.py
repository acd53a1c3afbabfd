"""Addresses of databases and of tables in them, and connections to them (extra ``sql``).

Messages name the database and the kind of fault, never what the driver says: that may quote a row
or a password.
"""

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import InputError, MissingExtraError
from incrowd.tables import adbc

SECRET = re.compile(r"(pass(word|wd|phrase)?|pwd|secret|token|key)\s*=", re.IGNORECASE)
WEB = ("http", "https", "ftp", "sftp", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "hdfs")
"""What stands before :// in addresses of files elsewhere."""
DRIVERS = ("psycopg", "duckdb")  # of the extra
PASSWORD = "INCROWD_DATABASE_PASSWORD"


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
        _require_database(address)
        try:
            url = alchemy().make_url(address)
        except (alchemy().exc.ArgumentError, ValueError):
            raise InputError(
                "the address of the database cannot be read; write driver://…"
            ) from None
        options = "&".join(f"{name}={value}" for name, value in url.query.items())
        if url.password is not None or SECRET.search(options):
            raise InputError(
                "the address of a database holds a password, which others can see; leave it out, "
                f"and give it in the variable {PASSWORD}, in PGPASSWORD or in the driver's own file"
            )
        name = url.drivername.lower()  # many services write postgres://
        url = url.set(drivername="postgresql" if name == "postgres" else name)
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
        _require_database(address)
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
    def by_adbc(self) -> bool:
        """Whether a driver of ADBC is asked for: ``postgresql+adbc://…``."""
        return self.url.drivername.partition("+")[2] == adbc.ADBC

    def arrow(self, reading: bool = False) -> AbstractContextManager[adbc.Arrow]:
        """Give a connection by ADBC, see ``incrowd.tables.adbc.connected``."""
        address = self.url.set(drivername=self.kind).render_as_string(hide_password=False)
        uri = self.url.database or ":memory:" if self.kind in adbc.IN_FILES else address
        return adbc.connected(self.kind, uri, self.shown, reading)

    @property
    def file(self) -> Path | None:
        """The file that holds the database, where it is one."""
        name = self.url.database
        return Path(name) if self.kind in adbc.IN_FILES and name and name != ":memory:" else None

    @property
    def words(self) -> str:
        """The address of the table without user and password."""
        return f"{self.shown}/{self.name}"

    @property
    def key(self) -> tuple[object, ...]:
        """What two names of one table share; names that may be one table's count as such.

        PostgreSQL alone tells ``Visits`` from ``visits``; without a schema the first one is meant.
        """
        server = self.url.host, self.url.port, str(self.url.query.get("host"))
        base = self.url.database if self.file is None else str(self.file.resolve())
        name, schema = self.table, self.schema
        if self.kind != "postgresql":
            name, schema = (each and each.casefold() for each in (name, schema))
        first = "main" if self.kind in adbc.IN_FILES else "public"
        return self.kind, server, base, schema or first, name

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
        sql = alchemy()
        try:
            engine = sql.create_engine(self.url)
        except sql.exc.NoSuchModuleError:
            if self.kind == "duckdb":
                raise MissingExtraError("duckdb_engine", "sql", "a database of DuckDB") from None
            raise InputError(
                f"{self.shown}: no driver for this kind of database is known"
            ) from None
        except ImportError as error:
            name = error.name or "the driver"
            if name in DRIVERS:
                raise MissingExtraError(name, "sql", f"the database {self.shown}") from None
            raise InputError(
                f"{self.shown}: the driver {name!r} is not installed; the pages of SQLAlchemy say "
                f"which package has it, and which other drivers there are ({self.kind}+DRIVER://…)"
            ) from None
        if engine.dialect.name == "sqlite":
            _let_transactions_hold(engine)
        inside = False
        try:
            with engine.connect() if reading else engine.begin() as connection:
                inside = True
                yield connection
        except (sql.exc.SQLAlchemyError, OverflowError) as error:  # the latter of SQLite's driver
            fault = _fault(error) if inside else adbc.unreached(self.kind, kind_of(error))
            raise InputError(f"{self.shown}: {fault}") from None
        finally:
            engine.dispose()


def _let_transactions_hold(engine: Any) -> None:
    """Let transactions of SQLite hold what makes tables: its driver commits before that."""

    def own(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        connection.execute(adbc.WIPED)

    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN")

    alchemy().event.listen(engine, "connect", own)
    alchemy().event.listen(engine, "begin", begin)


def _fault(error: Any) -> str:
    """Say what kind of fault it was: drivers' messages quote rows, and addresses."""
    origin = getattr(error, "orig", None)
    code = getattr(origin, "sqlstate", None) or getattr(origin, "sqlite_errorname", None)
    kind = kind_of(error)
    if code in ("SQLITE_FULL", "53100"):
        return "the disk of the database is full; nothing was written: make room and run again"
    if kind == "DataError" and not code:  # psycopg's own, of what Python has no value for
        return (
            "the driver has no value for a cell, such as the date 'infinity' or one after the year "
            "9999; CAST its column to text in a query"
        )
    return f"the database refused ({kind}{f', {code}' if code else ''})"


def _require_database(address: str) -> None:
    """Refuse addresses of files; the rest of one may hold a key, so it is not shown."""
    kind = address.partition(":")[0].lower()
    if kind in WEB:
        raise InputError(
            f"{kind}://… is the address of a file elsewhere, not of a database; fetch the file, or "
            "send the release there, with another program, and give the name of a file here"
        )
    if kind == "file":
        raise InputError("file:// is not read as an address; give the name of the file alone")


def kind_of(error: Any) -> str:
    """Return what kind of exception the driver raised."""
    return type(getattr(error, "orig", None) or error).__name__


def alchemy() -> Any:
    """Import SQLAlchemy."""
    try:
        import sqlalchemy
    except ImportError:
        raise MissingExtraError("sqlalchemy", "sql", "a database") from None
    return sqlalchemy
