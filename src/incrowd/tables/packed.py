"""Tables from Parquet and Arrow files, held as each column's different cells and a code per row.

Ten million rows of nine text columns take 1.4 GB as a frame and 90 MB so.  A release is made from
it piece by piece, when it is written or asked for.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.beside import BESIDE, notes_of
from incrowd.checker.claims import Said
from incrowd.checker.dictionaries import WORDS, idle, words_of
from incrowd.tables.arrow_file import require_whole
from incrowd.tables.base import MOST_LABELS, Column, Edit, Table, narrow, replaced
from incrowd.tables.looks import Looks
from incrowd.tables.native import encode_polars
from incrowd.tables.numbers import numbers_of
from incrowd.tables.released import fresh, narrower, one_form, stored

PIECE = 1 << 18  # rows made at a time
FLAT = (pl.Boolean, pl.String, pl.Date, pl.Datetime, pl.Duration, pl.Time)

Rows = slice | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Packed:
    """A column in few words.

    Attributes
    ----------
    cells: its different cells, of the column's type, null among them.
    codes: signed integers, as narrow as they can be, shape (rows,): index into ``cells``.
    name: of the column, for messages; the cells' own is plain, for "^a$" would be a pattern.
    """

    cells: pl.Series
    codes: NDArray[np.signedinteger[Any]]
    name: str = ""

    @cached_property
    def texts(self) -> Column:
        """The cells as text, in the order of ``cells``."""
        return encode_polars(self.cells, self.name)

    def encode(self) -> Column:
        """Return text and codes; every cell occurs."""
        return Column(self.texts.values, self.texts.codes[self.codes])

    def take(self, rows: Rows) -> pl.Series:
        """Return some of the rows, typed."""
        return self.cells.gather(self.codes[rows].astype(np.int64))


class Plain:
    """A column that does not become smaller: fractions, nested values, nearly all different."""

    def __init__(self, cells: pl.Series, name: str = "") -> None:
        self.cells, self.name = cells.alias("value"), name

    def encode(self) -> Column:
        """Return text and codes, afresh each time."""
        return encode_polars(self.cells, self.name)

    def take(self, rows: Rows) -> pl.Series:
        """Return some of the rows, typed."""
        return self.cells[rows] if isinstance(rows, slice) else self.cells.gather(rows)


def packed(series: pl.Series) -> Packed | Plain:
    """Pack a column if that makes it smaller and loses nothing; fractions never are."""
    name, series, rows = series.name, series.alias("value"), len(series)
    kind = series.dtype
    named = isinstance(kind, pl.Categorical | pl.Enum)
    if not (kind in FLAT or kind.is_integer() or named) or not rows:
        return Plain(series, name)
    most = max(MOST_LABELS, rows // 8)
    sample = 2 * MOST_LABELS
    if rows > sample and series.head(sample).n_unique() > MOST_LABELS:  # nearly all differ
        return Plain(series, name)
    distinct = series.unique()
    if len(distinct) > most:
        return Plain(series, name)
    known = distinct.drop_nulls().rechunk()
    cells = known if len(known) == len(distinct) else known.extend_constant(None, 1)
    return Packed(cells, places(series, known).astype(narrow(len(known))), name)


def places(series: pl.Series, known: pl.Series) -> NDArray[np.int32]:
    """Return each cell's place in ``known``; behind its end for null."""
    if series.dtype == pl.String:
        place = series.cast(pl.Enum(known)).to_physical()
    else:
        table = pl.DataFrame({"value": known.to_physical()}).with_row_index("code")
        cells = pl.DataFrame({"value": series.to_physical()})
        place = cells.join(table, on="value", how="left", maintain_order="left")["code"]
    return place.cast(pl.Int32).fill_null(len(known)).to_numpy()


class PackedTable:
    """A table of packed columns.

    Attributes
    ----------
    columns: its column names; ``rows``: how many rows.
    form: ``"parquet"`` or ``"arrow"``, as it came: what a release of it is where no name tells.
    apart: columns of which some cells read alike, and are of several kinds in the file.
    looks: of a workbook, how its cells look; None for what has no looks.
    notes: of a Parquet or Arrow file, what it says beside the cells of its table, in words.
    words: its dictionaries, and what it says of its cells.
    unseen: what comes with the table and nobody looks at, in words; empty for nothing.
    formats: of an Excel file, the format of each column whose numbers and dates all have one.
    """

    unseen = ""
    formats: Mapping[str, str] = MappingProxyType({})
    path: str | None = None

    def __init__(
        self,
        parts: Mapping[str, Packed | Plain],
        rows: int,
        form: str = "parquet",
        apart: frozenset[str] = frozenset(),
        looks: Callable[[], Looks] | None = None,
        notes: Iterable[str] = (),
        words: Iterable[Said] = (),
    ) -> None:
        self._parts, self.columns, self.rows, self.form = parts, tuple(parts), rows, form
        self.apart, self.looks, self.notes, self.words = apart, looks, [*notes], [*words]

    def with_apart(self, columns: frozenset[str]) -> "PackedTable":
        """Return the same with these columns ``apart``."""
        return PackedTable(self._parts, self.rows, self.form, columns)

    def beside(self) -> Iterator[str]:
        """Yield what the file holds beside the cells of its table, in words."""
        yield from self.notes
        names = self.columns
        for number in idle(self.words, lambda n, rows: self.take(names[n], rows)):
            yield f"column {names[number]!r}: {WORDS}"

    def encode(self, column: str) -> Column:
        """Values of one column as text."""
        return self._parts[column].encode()

    def part(self, column: str) -> Packed | Plain:
        """Return one column as it is held."""
        return self._parts[column]

    def take(self, column: str, rows: Rows) -> pl.Series:
        """Return some rows of one column, typed."""
        return self._parts[column].take(rows)

    def edited(self, edit: Edit) -> "EditedPacked":
        """Return the release, to be written or looked at."""
        return EditedPacked(self, edit)

    def native(self) -> pl.DataFrame:
        """Return a polars frame."""
        return self.edited(Edit.of_nothing(self.columns)).native()


class EditedPacked:
    """A packed table with an edit applied, made piece by piece when it is needed.

    A column without changed cells keeps its type; others become text, but for those whose new texts
    are numbers (``Edit.numbers``).
    """

    def __init__(self, table: PackedTable, edit: Edit) -> None:
        self._table, self._edit = table, edit
        self.columns, self.form = edit.columns, table.form
        self.rows = table.rows if edit.order is None else len(edit.order)
        changes = edit.replacements.items()
        self._changes = {name: new for name, new in changes if new.changed}

    def encode(self, column: str) -> Column:
        """Values of one column of the release."""
        order = slice(None) if self._edit.order is None else self._edit.order
        if column in self._changes:
            words, place = self._vocabulary[column]
            if words.dtype != pl.String:
                found = encode_polars(words, column)
                return Column(found.values, found.codes[place[order]]).compact()
            return Column.of(words.to_list(), place[order]).compact()
        found = self._table.encode(column)
        return Column(found.values, found.codes[order]).compact()

    def take(self, column: str, rows: Rows) -> pl.Series:
        """Return some rows of one column, typed."""
        order = self._edit.order
        there = rows if order is None else order[rows]
        if column not in self._changes:
            cells = self._table.take(column, there)
            cells = cells if column in self._edit.kept else one_form(cells)
            return cells.cast(self._kinds[column]) if column in self._kinds else cells
        vocabulary, index = self._vocabulary[column]
        return vocabulary.gather(index[there].astype(np.int64))

    @cached_property
    def _vocabulary(self) -> Mapping[str, tuple[pl.Series, NDArray[np.signedinteger[Any]]]]:
        """Texts (or numbers) of each changed column, and narrow codes of its cells."""
        found = {}
        for name, new in self._changes.items():
            texts, index = replaced(self._table.encode(name), new)
            place = index.astype(narrow(len(texts)))
            numbers = numbers_of(self._table, self._edit, name, texts, place)
            words = pl.Series("value", texts, dtype=pl.String) if numbers is None else numbers
            found[name] = words, place
        return found

    @cached_property
    def _kinds(self) -> Mapping[str, Any]:
        """Types of Enum columns without categories that only rows hold that are left out."""
        order = self._edit.order
        found: dict[str, Any] = {}
        if order is None or len(order) == self._table.rows:
            return found
        for name in set(self.columns) - set(self._changes):
            if isinstance(self._table.take(name, slice(0, 0)).dtype, pl.Enum):
                found[name] = narrower(self._table.take(name, order))
        return found

    @property
    def kinds_before(self) -> dict[str, Any]:
        """The types that columns of texts with changed cells have in the original."""
        texts = [name for name, (words, _) in self._vocabulary.items() if words.dtype == pl.String]
        return {name: self._table.take(name, slice(0, 0)).dtype for name in texts}

    @property
    def formats(self) -> Mapping[str, str]:
        """How an Excel file shows the numbers of its columns."""
        return self._table.formats

    def agrees(self, written: Table, column: str) -> bool:
        """Whether a table read back has the same cells in a column."""
        if not isinstance(written, PackedTable) or written.rows != self.rows:
            return False
        pieces = (slice(b, min(b + PIECE, self.rows)) for b in range(0, self.rows, PIECE))
        return all(self.take(column, p).equals(written.take(column, p)) for p in pieces)

    def reordered(self, order: NDArray[np.int64]) -> "EditedPacked":
        """Return the release of these original rows, in this order."""
        _ = self._vocabulary, self._kinds  # made once for all
        other = copy(self)
        other._edit, other.rows = replace(self._edit, order=order), len(order)
        return other

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the release in frames of so many rows; at least one."""
        for begin in range(0, max(1, self.rows), PIECE):
            yield self._piece(slice(begin, min(begin + PIECE, self.rows)))

    def _piece(self, rows: slice) -> pl.DataFrame:
        # named by the dict: polars has a meaning of its own for "", "*" and "^a$"
        return pl.DataFrame({name: fresh(self.take(name, rows)) for name in self.columns})

    def native(self) -> pl.DataFrame:
        """Return a polars frame."""
        return self._piece(slice(0, self.rows))

    def write(self, form: str, file: IO[bytes]) -> None:
        """Write as ``"parquet"`` or ``"arrow"``, in one piece where it is small."""
        if self.rows <= PIECE:
            frame = self.native()
            (frame.write_parquet if form == "parquet" else frame.write_ipc)(file)
            return
        from polars.io.plugins import register_io_source

        def source(*_: Any) -> Iterator[pl.DataFrame]:
            return self.pieces()

        frames = register_io_source(source, schema=self._piece(slice(0, 0)).schema)
        (frames.sink_parquet if form == "parquet" else frames.sink_ipc)(file)


def packed_table(
    columns: Sequence[str], column: Callable[[str], pl.Series], form: str = "parquet", **beside: Any
) -> PackedTable:
    """Return a table of columns that are fetched one at a time, so that only one is held whole.

    ``beside``: further arguments of the table.
    """
    parts, rows = {}, 0
    for name in columns:
        series = column(name).alias(name)
        parts[name], rows = packed(series), len(series)
    return PackedTable(parts, rows, form, **beside)


class OneAtATime(Mapping[str, Plain]):
    """Columns fetched when they are asked for; only the last one is held."""

    def __init__(self, names: Sequence[str], column: Callable[[str], pl.Series]) -> None:
        self._names, self._column = tuple(names), column
        self._held: tuple[str, Plain] | None = None

    def __getitem__(self, name: str) -> Plain:
        if self._held is None or self._held[0] != name:
            self._held = name, Plain(self._column(name), name)
        return self._held[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_packed(form: str, data: bytes) -> PackedTable:
    """Read a Parquet file (``"parquet"``), an Arrow file (``"arrow"``) or stream (``"stream"``)."""
    table = packed_table(*columns_of(form, data), "parquet" if form == "parquet" else "arrow")
    note = notes_of(data)
    table.notes += [] if note is None else [f"{BESIDE} {note!r}"]
    kinds = [table.take(name, slice(0, 0)).dtype for name in table.columns]
    table.words += words_of(data, kinds)
    return table


def read_back(form: str, data: bytes) -> PackedTable:
    """Read such a file to look at its columns once, one after the other."""
    names, column = columns_of(form, data)
    parts = OneAtATime(names, column)
    return PackedTable(parts, len(parts[names[0]].cells) if names else 0)


def columns_of(form: str, data: bytes) -> tuple[list[str], Callable[[str], pl.Series]]:
    """Return the names of a file's columns, and how to fetch one."""
    if form != "parquet":
        require_whole(data)
    if form == "stream":
        frame = pl.read_ipc_stream(io.BytesIO(data))
        return frame.columns, lambda name: stored(frame.get_column(name))
    schema, reader = {
        "parquet": (pl.read_parquet_schema, pl.read_parquet),
        "arrow": (pl.read_ipc_schema, pl.read_ipc),
    }[form]
    names = list(schema(io.BytesIO(data)))

    def column(name: str) -> pl.Series:  # by number: a name may mean a pattern to polars
        return stored(reader(io.BytesIO(data), columns=[names.index(name)]).to_series())

    return names, column


def packed_texts(table: Table) -> EditedPacked:
    """Return a table as packed text, to be written."""
    parts: dict[str, Packed | Plain] = {}
    for name in table.columns:
        column = table.encode(name)
        cells = pl.Series("value", column.values, dtype=pl.String)
        parts[name] = Packed(cells, column.codes.astype(narrow(len(column.values))))
    return PackedTable(parts, table.rows).edited(Edit(table.columns))
