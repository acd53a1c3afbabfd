"""What the rest of incrowd sees of a table: columns of text codes in, an edit out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError

if TYPE_CHECKING:
    import polars as pl


MOST_LABELS = 1 << 16  # different texts of a column that are always worth a list of their own


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class Column:
    """One column as codes of its distinct values.

    Attributes
    ----------
    values: the distinct values as text, missing (``None``) first, then in text order; the order
        does not depend on the order of the rows.
    codes: int32, shape (rows,): index into ``values``.
    """

    values: tuple[str | None, ...]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, values: Sequence[str | None], codes: NDArray[np.integer]) -> "Column":
        """Sort the values, merge equal ones, renumber the codes."""
        distinct = sorted(set(values), key=lambda value: (value is not None, value or ""))
        place = {value: code for code, value in enumerate(distinct)}
        renumber = np.array([place[value] for value in values], np.int32)
        return cls(tuple(distinct), renumber[codes] if len(values) else codes.astype(np.int32))

    def among(self, values: Sequence[str | None]) -> NDArray[np.int32]:
        """int32, shape (rows,): where each cell stands in a list of values; −1 for nowhere."""
        place = {value: code for code, value in enumerate(values)}
        return np.array([place.get(v, -1) for v in self.values] or [-1], np.int32)[self.codes]

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64, shape (values,): how many rows have each."""
        return np.bincount(self.codes, minlength=len(self.values))

    def shows(self, text: str | None) -> NDArray[np.bool_]:
        """bool, shape (rows,): which cells are this text."""
        return self.codes == (self.values.index(text) if text in self.values else -1)

    def equals(self, other: "Column") -> bool:
        """Whether both say the same of every row."""
        mine, theirs = self.compact(), other.compact()
        return mine.values == theirs.values and np.array_equal(mine.codes, theirs.codes)

    def compact(self) -> "Column":
        """Drop values that no row has."""
        used = np.zeros(len(self.values), bool)
        used[self.codes] = True
        if used.all():
            return self
        renumber = (np.cumsum(used) - 1).astype(np.int32)
        values = tuple(value for value, there in zip(self.values, used, strict=True) if there)
        return Column(values, renumber[self.codes])


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class Replacement:
    """New text for some cells of a column.

    Attributes
    ----------
    labels: the texts that occur.
    ids: signed integers, as narrow as the labels allow, shape (rows,): index into ``labels``, −1
        where the cell stays as it is.
    """

    labels: tuple[str | None, ...]
    ids: NDArray[np.signedinteger[Any]]

    @cached_property
    def changed(self) -> int:
        """Number of cells that change."""
        return int((self.ids >= 0).sum())


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class Edit:
    """What turns a table into its release.

    Attributes
    ----------
    columns: the columns that stay, in order.
    replacements: by column; columns without one stay as they are.
    order: int64, shape (rows,): original row of each released row, or None for the same order.
    fewer: ``order`` leaves rows out and moves none, so what tells a row's place may stay.
    numbers: columns whose new texts are numbers; see ``incrowd.tables.numbers``.
    kept: columns whose cells stay to the bit.  In others equal cells look one way (−0.0 and 0.0
        would tell rows of a class apart), also where no cell of the column changes.
    """

    columns: tuple[str, ...]
    replacements: Mapping[str, Replacement] = field(default_factory=dict)
    order: NDArray[np.int64] | None = None
    fewer: bool = False
    numbers: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()

    @classmethod
    def of_nothing(cls, columns: tuple[str, ...]) -> "Edit":
        """Return the edit that leaves a table as it is, to the bit."""
        return cls(columns, kept=frozenset(columns))


class Table(Protocol):
    """A table of any origin."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, all different."""
        ...

    @property
    def rows(self) -> int:
        """Number of rows, the header not counted."""
        ...

    def encode(self, column: str) -> Column:
        """Return a column's values as text and codes.

        Raises
        ------
        InputError: the column cannot be read as text (mixed types, nested values).
        """
        ...

    def native(self) -> Any:
        """Return a data frame: of the type that was given, or polars for a file."""
        ...


class Source(Table, Protocol):
    """A table that can be turned into its release.

    Attributes
    ----------
    path: the file, folder, pattern or address that it was read from; None for a data frame.
    """

    path: str | None

    def edited(self, edit: Edit) -> Table:
        """Return the release."""
        ...


def narrowed(column: Column) -> Column:
    """Return a column with codes as narrow as its values allow: rows are many."""
    return Column(column.values, column.codes.astype(narrow(len(column.values))))


def narrow(largest: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest signed integer that holds −1 … ``largest``: rows are many."""
    kinds: tuple[type[np.signedinteger[Any]], ...] = (np.int8, np.int16, np.int32)
    return next((kind for kind in kinds if largest <= np.iinfo(kind).max), np.int64)


def labelled(table: Table, columns: Sequence[str]) -> "pl.DataFrame":
    """Return columns of a table as a polars frame of text, each different text held once.

    As ``texts``, in a fraction of the memory: the columns are of type Enum (String where nearly
    every cell differs).
    """
    import polars as pl

    series = {}
    for name in columns:
        column = table.encode(name).compact()
        words = [text for text in column.values if text is not None]
        few = len(words) <= max(MOST_LABELS, len(column.codes) // 8)
        values = pl.Series("value", column.values, dtype=pl.Enum(words) if few else pl.String)
        series[name] = values.gather(column.codes) if len(column.values) else values
    return pl.DataFrame(series)


def agree(released: Table, written: Table, column: str) -> bool:
    """Whether a column of a release and of what was written of it say the same of every row.

    Cell by cell where both are of one form, without a list of the different texts: there may be as
    many as rows.
    """
    short: Callable[[Table, str], bool] | None = getattr(released, "agrees", None)
    if short is not None and short(written, column):
        return True
    try:
        return written.encode(column).equals(released.encode(column))
    except InputError:  # no text form, as lists have none; a column that is kept needs none
        take = [getattr(table, "take", None) for table in (released, written)]
        if None in take:
            raise
        mine, theirs = (cells(column, slice(None)) for cells in cast(list[Any], take))
        return mine.equals(theirs, null_equal=True)


def encoded_alike(original: Table, released: Table, column: str) -> tuple[Column, Column]:
    """Return a column of two tables, equal cells having equal values.

    The values are texts or, of a column without a text form that both tables hold, such as lists,
    numbers of the different cells.

    Raises
    ------
    InputError: it has no text form, and one of the tables cannot hold its cells.
    """
    try:
        return original.encode(column), released.encode(column)
    except InputError:
        take = [getattr(table, "take", None) for table in (original, released)]
        if None in take:
            raise
    mine, theirs = (cells(column, slice(None)) for cells in cast(list[Any], take))
    if mine.dtype != theirs.dtype:  # no cell of one is a cell of the other
        ends = (("original",), len(mine)), (("released",), len(theirs))
        first, second = (Column(values, np.zeros(rows, np.int32)) for values, rows in ends)
        return first, second
    return _numbered_alike(mine, theirs)


def _numbered_alike(mine: "pl.Series", theirs: "pl.Series") -> tuple[Column, Column]:
    """Return two series of one type as numbers of their different cells."""
    import polars as pl

    cells = pl.concat([mine.alias("cell"), theirs.alias("cell")]).to_frame().with_row_index("row")
    first = cells.select(pl.col("row").first().over("cell"))["row"].to_numpy()
    found, codes = np.unique(first, return_inverse=True)
    values, codes = tuple(map(str, found.tolist())), codes.astype(np.int32)
    return Column(values, codes[: len(mine)]), Column(values, codes[len(mine) :])


def texts(table: Table, columns: Sequence[str] | None = None) -> "pl.DataFrame":
    """Return columns of a table as a polars frame of text (null = missing).

    Its memory, which Arrow hands on as a whole, holds no text but those of its cells.
    """
    import polars as pl

    series = {}  # named at the end: polars has a meaning of its own for "", "*" and "^a$"
    for name in table.columns if columns is None else columns:
        column = table.encode(name).compact()
        values = pl.Series("value", column.values, dtype=pl.String)
        series[name] = values.gather(column.codes) if len(column.values) else values
    return pl.DataFrame(series)


def replaced(
    column: Column, replacement: Replacement
) -> tuple[list[str | None], NDArray[np.signedinteger[Any]]]:
    """Return all texts of an edited column, and each row's index into them."""
    vocabulary = [*column.values, *replacement.labels]
    shift = np.int32(len(column.values))
    return vocabulary, np.where(replacement.ids >= 0, replacement.ids + shift, column.codes)


def places_in(distinct: "pl.Series", series: "pl.Series") -> NDArray[np.int32]:
    """int32, shape (rows,): each cell's place among the different ones, missing ones among them."""
    import polars as pl

    found = pl.DataFrame({"value": series}).join(
        pl.DataFrame({"value": distinct}).with_row_index("code"),
        on="value",
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return found["code"].to_numpy().astype(np.int32)


class FewerRows:
    """The rows ``kept`` (int64, rising) of a table; its release has no others."""

    def __init__(self, source: Source, kept: NDArray[np.int64]) -> None:
        self.source, self.kept, self.path = source, kept, source.path
        self.columns = source.columns
        self.rows = len(kept)

    def encode(self, column: str) -> Column:
        """Values of one column; those that only dropped rows have are gone."""
        whole = self.source.encode(column)
        return Column(whole.values, whole.codes[self.kept]).compact()

    def native(self) -> Any:
        """Return a data frame of the rows that are kept."""
        return self.edited(Edit.of_nothing(self.columns)).native()

    def edited(self, edit: Edit) -> Table:
        """Return the release, in the form of the whole table."""
        replacements = {}
        for name, new in edit.replacements.items():
            ids = np.full(self.source.rows, -1, np.int32)
            ids[self.kept] = new.ids
            replacements[name] = Replacement(new.labels, ids)
        order = self.kept if edit.order is None else self.kept[edit.order]
        fewer = edit.order is None
        whole = replace(edit, replacements=replacements, order=order, fewer=fewer)
        return self.source.edited(whole)
