"""One table in several files: a folder, a pattern, hive partitions (``year=2020/…``)."""

import fnmatch
import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from incrowd.checker.both import BESIDE, hidden_in
from incrowd.checker.delimited import BLANK, TWO_WAYS
from incrowd.errors import InputError
from incrowd.tables.addresses import is_address
from incrowd.tables.base import Column, Edit, Source, Table, replaced
from incrowd.tables.csv_table import CsvTable
from incrowd.tables.one_file import read_file
from incrowd.tables.packed import EditedPacked, PackedTable, Rows, packed_table
from incrowd.tables.released import fresh
from incrowd.text.paths import could_be_name

MISSING = "__HIVE_DEFAULT_PARTITION__"
TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc", "")
LEVEL = re.compile(r"([^=]+)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Part:
    """One file of a table.

    Attributes
    ----------
    name: its path below the folder of all, with ``/``.
    begin, end: its rows are ``begin:end`` of the table's.
    suffix: of its name, which tells its format.
    """

    name: str
    begin: int
    end: int

    @property
    def suffix(self) -> str:
        """How the name ends, in lower case."""
        return Path(self.name).suffix.lower()


def are_parts(path: Any) -> bool:
    """Whether a name stands for several files: a folder, or a pattern that is no file itself."""
    if str(path) in ("-", "") or is_address(path):  # an empty name would be the working folder
        return False
    if not could_be_name(path):  # but an option's text
        return False
    place = Path(path)
    return place.is_dir() or (not place.exists() and glob.has_magic(str(path)))


class PartsTable:
    """Several files as one table, in the order of their names; levels of hive are columns.

    Attributes
    ----------
    columns: those of the files, then those of the folders.
    parts: the files.
    levels: the columns that stand in the folders' names.
    odd: what its folder and files show beside cells, in words; see ``_odd``.
    """

    path: str | None = None

    def __init__(
        self,
        base: CsvTable | PackedTable,
        parts: Sequence[Part],
        levels: Mapping[str, Column],
        odd: Sequence[str] = (),
    ) -> None:
        self.base, self.parts, self.levels = base, tuple(parts), dict(levels)
        self.odd = tuple(odd)
        self.columns = (*base.columns, *levels)

    @property
    def rows(self) -> int:
        """Number of rows of all files."""
        return self.base.rows

    def encode(self, column: str) -> Column:
        """Values of one column as text."""
        return self.levels[column] if column in self.levels else self.base.encode(column)

    def native(self) -> Any:
        """Return a polars frame; what stands in folders' names is text."""
        return with_levels(self.base.native(), self)

    def edited(self, edit: Edit) -> "EditedParts":
        """Return the release, to be written or looked at."""
        return EditedParts(self, edit)


class EditedParts:
    """Several files with an edit applied, not yet written.

    Attributes
    ----------
    source, edit: what it is made of.
    columns, rows: of the release.
    """

    def __init__(self, source: PartsTable, edit: Edit) -> None:
        self.source, self.edit = source, edit
        self.columns = edit.columns
        self.rows = source.rows if edit.order is None else len(edit.order)
        self.levels = {name: self._level(name) for name in edit.columns if name in source.levels}

    def _level(self, name: str) -> Column:
        column = self.source.levels[name]
        if name in self.edit.replacements:
            column = Column.of(*replaced(column, self.edit.replacements[name]))
        if self.edit.order is None:
            return column
        return Column(column.values, column.codes[self.edit.order])

    @property
    def inner(self) -> Edit:
        """What is edited within the files."""
        there = self.source.base.columns
        return Edit(
            tuple(name for name in self.edit.columns if name in there),
            {name: new for name, new in self.edit.replacements.items() if name in there},
            self.edit.order,
            numbers=self.edit.numbers,
            kept=self.edit.kept,
        )

    @property
    def in_one(self) -> "Table | EditedParts":
        """What is written into one file: of CSV without levels the bytes that the files have."""
        return self if self.levels else self.within

    @cached_property
    def within(self) -> Table:
        """The release without the columns of the folders."""
        return self.source.base.edited(self.inner)

    def encode(self, column: str) -> Column:
        """Values of one column of the release."""
        return self.levels[column] if column in self.levels else self.within.encode(column)

    def take(self, column: str, rows: Rows) -> Any:
        """Return some rows of a column without a text form, which a file alone can hold, typed."""
        return cast(EditedPacked, self.within).take(column, rows)

    def native(self) -> Any:
        """Return a polars frame of the release."""
        frame = with_levels(self.within.native(), self)
        return picked(frame, self.edit.columns)

    def edited(self, edit: Edit) -> Any:
        """A release is not released again."""
        raise NotImplementedError


def with_levels(frame: Any, table: PartsTable | EditedParts) -> Any:
    """Append the columns that stand in folders' names."""
    import polars as pl

    found = cast(pl.DataFrame, frame)
    for name, column in table.levels.items():
        values = pl.Series(name, column.values, dtype=pl.String)
        found = found.with_columns(fresh(values.gather(column.codes)).alias(name))
    return found


def picked(frame: Any, columns: Sequence[str]) -> Any:
    """Return some columns of a polars frame, whatever they are called."""
    import polars as pl

    return pl.DataFrame({name: frame.get_column(name) for name in columns})


def find(path: str | Path) -> tuple[Path, list[str]]:
    """Return the folder of all parts, and their names below it, sorted.

    Files and folders whose names start with ``.`` or ``_`` are left out, as Spark does.

    Raises
    ------
    InputError: there are none, or a file is no table.
    """
    place = Path(path)
    if place.is_dir():
        root, found = place, [p for p in place.rglob("*") if p.is_file()]
    else:
        fixed = list(place.parts[: _first_magic(place)])
        root = Path(*fixed) if fixed else Path()
        met = list(root.glob(str(Path(*place.parts[_first_magic(place) :]))))
        found = [p for p in met if p.is_file()]
        found += [q for p in met if p.is_dir() for q in p.rglob("*") if q.is_file()]
    names = sorted({p.relative_to(root).as_posix() for p in found})
    names = [name for name in names if not any(s[0] in "._" for s in name.split("/"))]
    for name in names:
        if Path(name).suffix.lower() not in TABLES:
            raise InputError(
                f"{root / name}: not CSV, Parquet or Arrow by its name; take the files by a "
                f"pattern, such as '{root}/*.csv'"
            )
    if not names:
        raise InputError(f"{path}: no file there")
    return root, names


def would_join(path: str | Path, table: str | Path) -> bool:
    """Whether a file of that name, written now, is one of the parts of a table from then on.

    Next time its rows would be read for people beside their own originals, who hide nobody.
    """
    if is_address(path) or not are_parts(table):
        return False
    place, whole = Path(table), Path(table).is_dir()
    fixed = place.parts if whole else place.parts[: _first_magic(place)]
    target, root = Path(path).resolve(), Path(*fixed).resolve()
    if not target.is_relative_to(root):
        return False
    names = target.relative_to(root).parts
    shown = bool(names) and not any(name[0] in "._" for name in names)
    return shown and _meets(names, place.parts[len(fixed) :])


def _meets(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a pattern finds a file, or a folder above it."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(_meets(names[i:], pattern[1:]) for i in range(len(names) + 1))
    first = bool(names) and fnmatch.fnmatchcase(names[0], pattern[0])
    return first and _meets(names[1:], pattern[1:])


def _first_magic(path: Path) -> int:
    return next(i for i, part in enumerate(path.parts) if glob.has_magic(part))


def levels_of(name: str) -> dict[str, str | None]:
    """Return column → value from the folders of a part's name."""
    levels: dict[str, str | None] = {}
    for folder in name.split("/")[:-1]:
        met = LEVEL.fullmatch(folder)
        if met:
            levels[unquote(met[1])] = None if met[2] == MISSING else unquote(met[2])
    return levels


def read_parts(
    path: str | Path, delimiter: str | None = None, encoding: str | None = None
) -> PartsTable:
    """Read all files of a folder or pattern as one table.

    Raises
    ------
    InputError: a file cannot be read; they differ in format, columns, delimiter or folders.
    """
    root, names = find(path)
    tables = []
    for name in names:
        table = _one(root / name, delimiter, encoding)
        if isinstance(table, CsvTable):
            delimiter = delimiter or table.dialect.delimiter
        tables.append(table)
    if find(path) != (root, names):
        raise InputError(f"{path}: files came or went while they were read; run again")
    ends = np.cumsum([table.rows for table in tables]).tolist()
    parts = [
        Part(name, end - table.rows, end)
        for name, table, end in zip(names, tables, ends, strict=True)
    ]
    base = joined([str(root / name) for name in names], tables)
    folder = root if Path(path).is_dir() else None
    levels = columns_of_levels(path, parts, base)
    return PartsTable(base, parts, levels, tuple(_odd(folder, names, tables)))


def _odd(folder: Path | None, names: Sequence[str], tables: Sequence[Table]) -> Iterator[str]:
    """Yield hidden files, blank lines at the end of a file, and values that folders write twice.

    ``folder``: where all its files are meant.
    """
    hidden = folder and hidden_in(folder)
    if hidden:
        yield f"{BESIDE} {hidden!r}"
    for name, table in zip(names, tables, strict=True):
        tail = bytes(table._data[-4:]) if isinstance(table, CsvTable) else b""
        if len(table.columns) > 1 and tail.replace(b"\r\n", b"\n").endswith((b"\n\n", b"\r\r")):
            yield f"{name!r}: {BLANK}"
    written: dict[tuple[str, str], str] = {}
    for folders in (name.split("/")[:-1] for name in names):
        for met in filter(None, map(LEVEL.fullmatch, folders)):
            column, value = unquote(met[1]), unquote(met[2])
            if written.setdefault((column, value), met[0]) != met[0]:
                yield f"column {column!r}: {TWO_WAYS}"


def _one(path: Path, delimiter: str | None, encoding: str | None) -> CsvTable | PackedTable:
    table: Source = read_file(path, delimiter, encoding)
    if type(table) not in (CsvTable, PackedTable):
        raise InputError(f"{path}: only CSV, Parquet and Arrow files can be parts of a table")
    return cast(CsvTable | PackedTable, table)


def columns_of_levels(
    path: str | Path, parts: Sequence[Part], base: CsvTable | PackedTable
) -> dict[str, Column]:
    """Return the columns that stand in the folders' names."""
    levels = [levels_of(part.name) for part in parts]
    for part, level in zip(parts, levels, strict=True):
        if list(level) != list(levels[0]):
            raise InputError(
                f"{path}: {part.name!r} lies in other folders COLUMN=VALUE than {parts[0].name!r}"
            )
    sizes = [part.end - part.begin for part in parts]
    columns = {}
    for name in levels[0]:
        if name in base.columns:
            raise InputError(
                f"{path}: column {name!r} stands both in the files and in their folders; remove it "
                "from one of them"
            )
        values = [level[name] for level in levels]
        columns[name] = Column.of(values, np.repeat(np.arange(len(values)), sizes))
    return columns


def joined(
    names: Sequence[str], tables: Sequence[CsvTable | PackedTable]
) -> CsvTable | PackedTable:
    """Return the rows of several tables of one form as one table."""
    first = tables[0]
    for name, table in zip(names, tables, strict=True):
        if type(table) is not type(first):
            raise InputError(f"{name}: of another format than {names[0]}")
        if sorted(table.columns) != sorted(first.columns) or (
            isinstance(table, CsvTable) and table.columns != first.columns
        ):
            raise InputError(f"{name}: has other columns than {names[0]}")
    if isinstance(first, CsvTable):
        return joined_csv(names, cast(Sequence[CsvTable], tables))
    return joined_packed(names, cast(Sequence[PackedTable], tables))


def joined_csv(names: Sequence[str], tables: Sequence[CsvTable]) -> CsvTable:
    """Lay the bytes of several files one behind the other."""
    first = tables[0]
    shift = 0
    starts: list[NDArray[np.int64]] = []
    ends: list[NDArray[np.unsignedinteger[Any]]] = []
    for name, table in zip(names, tables, strict=True):
        if table.dialect != first.dialect:
            raise InputError(
                f"{name}: written in another way than {names[0]} (delimiter, line ending, byte "
                "order mark or encoding); write all parts alike"
            )
        starts.append(table._starts + shift)
        ends.append(table._ends)
        shift += len(table._data)
    data = np.concatenate([table._data for table in tables])
    data.setflags(write=False)  # as one file's bytes: kernels are compiled for both at once
    return CsvTable(
        data, np.concatenate(starts), np.concatenate(ends), first._header, first.dialect
    )


def joined_packed(names: Sequence[str], tables: Sequence[PackedTable]) -> PackedTable:
    """Stack tables column by column; whole numbers of different width become the widest."""
    import polars as pl

    def stacked(column: str) -> pl.Series:
        frames = [table.take(column, slice(None)).to_frame() for table in tables]
        whole = frames[0]
        for name, frame in zip(names[1:], frames[1:], strict=True):
            try:
                whole = pl.concat([whole, frame], how="vertical_relaxed")
            except pl.exceptions.PolarsError:
                raise InputError(
                    f"{name}: column of another type than before: {column!r}"
                ) from None
        return whole.to_series().rechunk()

    columns, words, rows = tables[0].columns, [], 0
    for table in tables:
        words += [one.moved(columns.index(table.columns[one.column]), rows) for one in table.words]
        rows += table.rows
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return packed_table(columns, stacked, tables[0].form, notes=notes, words=words)
