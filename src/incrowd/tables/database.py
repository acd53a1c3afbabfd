"""Tables in databases: PostgreSQL, SQLite, DuckDB, what SQLAlchemy or ADBC knows (extra ``sql``).

A release is a new table, written in one transaction and read back before that is committed: it is
there whole and as it was checked, or not at all.  Messages name the database and the kind of fault,
never what the driver says: that may quote a row or a password.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import time
from typing import Any

import polars as pl

from incrowd.errors import InputError, did_you_mean
from incrowd.tables import adbc
from incrowd.tables.adbc import IN_FILES
from incrowd.tables.base import Source, Table, texts
from incrowd.tables.kinds import Kinds
from incrowd.tables.native import as_polars
from incrowd.tables.packed import EditedPacked, PackedTable, packed_table
from incrowd.tables.place import Place, alchemy
from incrowd.tables.sending import as_held, as_name, send

MAY_LOSE = list, dict, time  # what polars may not hold all of, see ``_loses``
BATCH = 50_000
"""Rows that are fetched or sent at once."""


def read_database(address: str, table: str | None = None, query: str | None = None) -> PackedTable:
    """Read a table or the answer of a query, in batches.

    Parameters
    ----------
    address: ``postgresql://user@host/db``, ``sqlite:///file``, ``duckdb+adbc:///file``, …
    table: its name, or ``schema.name``; query: SQL that selects.  Without either the table's name
        stands behind the last ``/`` of the address.

    Raises
    ------
    InputError: both are given, no such table is there, the query does not select, or the database
        refuses.
    MissingExtraError: SQLAlchemy or the driver is not installed.
    """
    if table is not None and query is not None:
        raise InputError("a table or a query is read, not both of them")
    if query:
        require_query(query)
    sql = alchemy()
    place = Place.of(address, table) if table or query else _one_table(address)
    if place.file is not None and not place.file.exists():  # drivers would make an empty one
        raise InputError(f"{place.shown}: no such file")
    if place.by_adbc:
        with place.arrow(reading=True) as arrow:
            if query is None:
                _require_known(place, arrow.tables(place.schema))
            return _beside_others(_packed(*arrow.fetched(query or _select(place))), place)
    with place.connected(reading=True) as connection:
        if query is not None:
            return _beside_others(_fetched(connection, sql.text(query)), place)
        look = sql.inspect(connection)
        schema = _schema(place, look)
        _require_known(place, [*look.get_table_names(schema), *look.get_view_names(schema)])
        return _beside_others(_fetched(connection, _whole(place, connection)), place)


def _beside_others(found: PackedTable, place: Place) -> PackedTable:
    """Return a table; of a file, whoever gets it gets the other tables, and what was deleted."""
    found.unseen = "" if place.file is None else "what the database's file holds beside this table"
    return found


def _require_known(place: Place, known: list[str]) -> None:
    """Raise where no table has the name that is asked for."""
    if place.table not in known:
        near = did_you_mean(place.table, known)
        raise InputError(f"{place.shown}: no table is called {place.name!r}{near}")


def _one_table(address: str) -> Place:
    """Return the table that an address names."""
    whole = Place.of(address)
    bare = whole.kind not in IN_FILES and whole.url.database
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
    if place.by_adbc:
        with place.arrow(reading=True) as arrow:
            _ = _is_there(place, place.table in arrow.tables(place.schema), replace)
        return
    with place.connected(reading=True) as connection:
        _ = _is_there(place, _has_table(place, connection), replace)


def _has_table(place: Place, connection: Any) -> bool:
    """Whether a table is there already."""
    look = alchemy().inspect(connection)
    return look.has_table(str(place.table), schema=_schema(place, look))


def _schema(place: Place, look: Any) -> str | None:
    """Return the schema in which a table is looked for; None: the database's own way.

    Without one DuckDB's dialect looks into all schemas, where the SQL reads and writes the first.
    """
    return place.schema or (look.default_schema_name if place.kind == "duckdb" else None)


def _is_there(place: Place, there: bool, replace: bool) -> bool:
    """Return whether a table is there; raise if it is and is not to be replaced."""
    if there and not replace:
        raise InputError(
            f"{place.shown}: a table {place.name!r} is there already; --replace (replace=True in "
            "Python) writes over it"
        )
    return there


def _whole(place: Place, connection: Any) -> Any:
    """Return the statement that reads a whole table."""
    sql = alchemy()
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
    names = list(result.keys()) if result.returns_rows else []
    untyped = connection.dialect.name == "sqlite"  # its cells are of any kind
    kinds = [Kinds() for _ in names if untyped]

    def batches() -> Iterator[pl.DataFrame]:
        while rows := result.fetchmany(BATCH):
            columns = list(zip(*rows, strict=True))
            for kind, cells in zip(kinds, columns, strict=False):
                kind.see(cells)
            yield pl.DataFrame([_series(cells).alias(str(n)) for n, cells in enumerate(columns)])

    found = _packed(names, batches())
    apart = (name for name, kind in zip(names, kinds, strict=False) if kind.apart)
    return found.with_apart(frozenset(apart))


def _packed(names: list[str], batches: Iterator[pl.DataFrame]) -> PackedTable:
    """Return rows that come in batches as one table; the columns of a batch are in order."""
    if not names:
        raise InputError("the query returns no rows; it must be one that selects")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the query returns two columns called {twice!r}")
    pieces: list[list[pl.DataFrame]] = [[] for _ in names]
    for batch in batches:
        for column, series in zip(pieces, batch.iter_columns(), strict=True):
            column.append(series.alias("cell").to_frame())
    columns = {name: _joined(column) for name, column in zip(names, pieces, strict=True)}
    return packed_table(names, columns.__getitem__)


def _series(cells: Sequence[Any]) -> pl.Series:
    """Return cells of one column; what polars has no type for (UUIDs, addresses) as text.

    So are JSON's objects, for polars drops keys that its first ones lack, and times of day of a
    zone, whose zone it drops.
    """
    found = None
    kinds = {*map(type, cells)}  # few, and most columns have none whose cells are to be looked at
    if not (any(issubclass(k, MAY_LOSE) for k in kinds) and any(map(_loses, cells))):
        with suppress(TypeError, pl.exceptions.PolarsError):
            found = pl.Series("cell", cells, strict=True)
    if found is None or found.dtype == pl.Object:
        found = pl.Series("cell", [None if c is None else _text(c) for c in cells], pl.String)
    return found


def _loses(cell: Any) -> bool:
    """Whether polars would not hold all of a cell."""
    if isinstance(cell, list):
        return any(map(_loses, cell))
    return isinstance(cell, dict) or (isinstance(cell, time) and cell.tzinfo is not None)


def _text(cell: Any) -> str:
    """Return a cell as text: objects and lists as JSON."""
    nested = isinstance(cell, dict | list)
    return json.dumps(cell, ensure_ascii=False, default=str) if nested else str(cell)


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
    table: Table, address: str, replace: bool = False, check: Callable[[Source], None] | None = None
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
    place = Place.of_table(address)
    pieces = table.pieces() if isinstance(table, EditedPacked) else iter([as_polars(table)])
    if place.by_adbc:
        _write_arrow(table, place, pieces, replace, check)
        return
    with place.connected() as connection:
        there = _is_there(place, _has_table(place, connection), replace)
        made: Any = None
        for held in pieces:
            piece = as_held(held, place.kind)
            if made is None:
                made = _new_table(place, piece)
                if there:
                    made.drop(connection)
                made.create(connection)
            for rows in piece.iter_slices(BATCH):
                if rows.height:
                    send(connection, made, rows)
        if check is not None:
            check(_in_order(_fetched(connection, alchemy().select(made)), table))


def require_sendable(table: Table, columns: Sequence[str], address: str) -> None:
    """Raise InputError for published cells that a database would not hold, before the search."""
    kind, whole = Place.of_table(address).kind, getattr(table, "base", table)
    if isinstance(whole, PackedTable):
        for name in (name for name in columns if name in whole.columns):
            as_held(pl.DataFrame({str(name): whole.take(name, slice(None))}), kind)


def _write_arrow(
    table: Table,
    place: Place,
    pieces: Iterable[pl.DataFrame],
    replace: bool,
    check: Callable[[Source], None] | None,
) -> None:
    """Do the same by a driver of ADBC."""
    name = str(place.table)
    with place.arrow() as arrow:
        if _is_there(place, place.table in arrow.tables(place.schema), replace):
            arrow.drop(name, place.schema)
        for number, piece in enumerate(pieces):
            arrow.send(name, place.schema, piece, new=number == 0)
        if check is not None:
            check(_in_order(_packed(*arrow.fetched(_select(place))), table))


def _select(place: Place) -> str:
    """Return standard SQL that reads a whole table."""
    return f"SELECT * FROM {adbc.quoted(str(place.table), place.schema)}"


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
    sql = alchemy()
    columns = [
        sql.Column(as_name(name, place.kind), _type(kind, place.kind))
        for name, kind in frame.schema.items()
    ]
    table, schema = (name and as_name(name, place.kind) for name in (place.table, place.schema))
    return sql.Table(table, sql.MetaData(), *columns, schema=schema)


def _type(kind: Any, base: str) -> Any:
    """Return the type of a column for a type of polars; ``base``: the kind of database."""
    sql = alchemy()
    if kind == pl.Duration:  # others have got texts, see ``as_held``
        return sql.Interval()
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


PARTS = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|\$(\w*)\$.*?\$\1\$"
    r"|[^\W\d]\w*|\S",
    re.DOTALL,
)
"""Comments, texts and names in quotes, words, and single letters."""
COMMENTS = ("--", "/*")
SELECTS = ("with", "select", "values", "table", "from")
"""Words that a query begins with: ``TABLE visits`` is PostgreSQL's, ``FROM visits`` DuckDB's."""
CHANGES = ("insert", "update", "delete", "merge")
"""What may stand behind the names that ``WITH`` gives, in place of ``SELECT``."""
WANTED = "give one query that selects, such as SELECT age, sex FROM visits"


def require_query(query: str) -> None:
    """Raise InputError for SQL that is not one query that selects."""
    found = (part[0] for part in PARTS.finditer(query))
    parts = [part.lower() for part in found if not part.startswith(COMMENTS)]
    while parts and parts[-1] == ";":
        parts.pop()
    if not parts:
        raise InputError(f"the query is empty; {WANTED}")
    if ";" in parts:
        raise InputError(f"the query has several statements, of which none was run; {WANTED}")
    first = next((part for part in parts if part != "("), "(")
    if first == "with":
        known = (*SELECTS[1:], *CHANGES)
        first = next((word for word in outermost(parts)[1:] if word in known), first)
    if first not in SELECTS:
        raise InputError(f"the query was not run, for {first.upper()} does not select; {WANTED}")


def outermost(parts: list[str]) -> list[str]:
    """Return the parts that stand in no parentheses."""
    found, depth = [], 0
    for part in parts:
        depth += (part == "(") - (part == ")")
        if depth == 0:
            found.append(part)
    return found
