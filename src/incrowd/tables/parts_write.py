"""A release back into the files that its table came from: all of them or none."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError, no_folder
from incrowd.tables.addresses import is_address
from incrowd.tables.base import Column, Edit, Source, texts
from incrowd.tables.csv_table import CsvTable, recoded
from incrowd.tables.folders import files_in, whole_folder
from incrowd.tables.formats import FORMATS
from incrowd.tables.one_file import read_file
from incrowd.tables.packed import PackedTable
from incrowd.tables.parts import LEVEL, MISSING, TABLES, EditedParts, PartsTable, find, levels_of

Rows = NDArray[np.int64]
MOVED = "moved"  # the name of a file of rows whose folders are not the original's


def is_folder(path: str | Path) -> bool:
    """Whether a release of several files goes into a folder of that name, not into one file."""
    if str(path) in ("-", "") or is_address(path):
        return False
    suffix = Path(path).suffix.lower()
    named = any(suffix in each.suffixes for each in FORMATS) or suffix in TABLES
    return str(path).endswith("/") or Path(path).is_dir() or not suffix or not named


def require_folder_place(path: str | Path, source: str | Path) -> None:
    """Raise InputError when a release of several files cannot go into a folder of that name.

    A folder that is there already may only hold what the release replaces.
    """
    target = Path(path).resolve()
    root, names = find(source)
    if target == root.resolve() or target.is_relative_to(root.resolve()):
        raise InputError(f"{path}: lies in the input; choose another folder for the output")
    if root.resolve().is_relative_to(target):
        raise InputError(f"{path}: the input lies in it; choose another folder for the output")
    if target.exists() and not target.is_dir():
        raise InputError(f"{path}: is a file; several files go into a folder")
    if not target.parent.is_dir():
        raise no_folder(path, target.parent)
    require_replaceable(target, bare_names(names))


def bare_names(names: Iterable[str]) -> set[str]:
    """Return what the files of a release are called, whatever folders they lie in."""
    return {bare for name in names for bare in (Path(name).name, MOVED + Path(name).suffix)}


def require_replaceable(target: Path, names: set[str]) -> None:
    """Raise InputError when a folder holds files that a release of these names does not replace."""
    other = [name for name in files_in(target) if Path(name).name not in names]
    if target.is_dir() and other:
        raise InputError(
            f"{target}: holds files that the release would not replace, such as "
            f"{sorted(other)[0]!r}; choose another folder, or empty it"
        )


def write_parts(
    table: EditedParts, path: str | Path, check: Callable[[Source], None] | None = None
) -> None:
    """Write a release of several files into a folder, whole or not at all.

    Each file comes out under its name with its own rows; when a column of its folders
    (``year=2020``) changed or was left out, its rows go to the folders that their new values name.

    Parameters
    ----------
    check: called with the release as read back; what it raises keeps the folder from appearing.
    """
    target = Path(path).resolve()
    require_replaceable(target, bare_names(part.name for part in table.source.parts))
    places = destinations(table)
    with whole_folder(target) as folder:
        writer = _csv_writer(table) if isinstance(table.source.base, CsvTable) else _frames(table)
        for name, rows in places.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            writer(file, rows)
        if check is not None:
            check(Rejoined(table, folder, places))


def destinations(table: EditedParts) -> dict[str, Rows]:
    """Return name → original rows in the order in which they are written."""
    source, edit = table.source, table.edit
    order = np.arange(table.rows) if edit.order is None else edit.order
    part = np.repeat(np.arange(len(source.parts)), [p.end - p.begin for p in source.parts])[order]
    key = part.astype(np.int64)
    for column in table.levels.values():
        key = key * max(1, len(column.values)) + column.codes
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    names = []
    for row in first.tolist():
        values = {name: column.values[column.codes[row]] for name, column in table.levels.items()}
        names.append(renamed(source.parts[int(part[row])].name, source, values))
    places: dict[str, Rows] = {}
    for one in source.parts:
        if one.begin == one.end:
            kept = {n: v for n, v in levels_of(one.name).items() if n in table.levels}
            places[renamed(one.name, source, kept)] = np.zeros(0, np.int64)
    distinct = {name: i for i, name in enumerate(dict.fromkeys(names))}
    of_name = np.array([distinct[name] for name in names] or [0])[group.ravel()]
    by_name = np.argsort(of_name, kind="stable")
    cuts = np.searchsorted(of_name[by_name], np.arange(len(distinct) + 1))
    for name, i in distinct.items():
        places[name] = order[by_name[cuts[i] : cuts[i + 1]]].astype(np.int64)
    return places


def renamed(name: str, source: PartsTable, values: dict[str, str | None]) -> str:
    """Return a part's name with these values in its folders; other levels are left out.

    Rows that leave their folder go to files of one name, unless all files have the same: by its
    name a file that stands in one folder alone would tell which one its rows come from.
    """
    *folders, last = name.split("/")
    alike = len({part.name.rpartition("/")[2] for part in source.parts}) == 1
    if not alike and values != levels_of(name):
        last = MOVED + Path(last).suffix
    kept = []
    for folder in folders:
        met = LEVEL.fullmatch(folder)
        column = next((c for c in levels_of(f"{folder}/x")), None) if met else None
        if column is None or column not in source.levels:
            kept.append(folder)
        elif column in values:
            value = values[column]
            text = MISSING if value is None else quote(value, safe=" ")
            kept.append(f"{quote(column, safe=' ')}={text}")
    return "/".join([*kept, last])


def _csv_writer(table: EditedParts) -> Callable[[Path, Rows], None]:
    base = table.source.base
    assert isinstance(base, CsvTable)
    inner = table.inner

    def write(path: Path, rows: Rows) -> None:
        pieces = base.records(Edit(inner.columns, inner.replacements, rows))
        if base.dialect.encoding is not None:
            pieces = recoded(pieces, base.dialect.encoding)
        with path.open("wb") as file:
            for piece in pieces:
                file.write(piece)

    return write


def _frames(table: EditedParts) -> Callable[[Path, Rows], None]:
    base, inner = table.source.base, table.inner
    assert isinstance(base, PackedTable)
    edited = base.edited(inner)

    def write(path: Path, rows: Rows) -> None:
        arrow = path.suffix.lower() in (".arrow", ".feather", ".ipc")
        with path.open("wb") as file:
            edited.reordered(rows).write("arrow" if arrow else "parquet", file)

    return write


class Rejoined:
    """A release as it lies in a folder, its rows in the order of the edit."""

    path: str | None = None

    def __init__(self, table: EditedParts, folder: Path, places: dict[str, Rows]) -> None:
        base = table.source.base
        csv = (base.dialect.delimiter, base.dialect.encoding) if isinstance(base, CsvTable) else ()
        self._tables = [read_file(folder / name, *csv) for name in places]
        self._levels = [levels_of(name) for name in places]
        self.columns = table.columns if self._same(table) else ()
        rows = np.concatenate([*places.values(), np.zeros(0, np.int64)])
        self.rows = sum(one.rows for one in self._tables)
        at = np.zeros(table.source.rows, np.int64)  # of the original's rows, some left out
        if len(rows) == table.rows == self.rows:
            at[rows] = np.arange(table.rows)
        self._at = at if table.edit.order is None else at[table.edit.order]

    def _same(self, table: EditedParts) -> bool:
        there = [name for name in table.columns if name not in table.source.levels]
        return all(list(one.columns) == there for one in self._tables)

    def encode(self, column: str) -> Column:
        """Values of one column, of all files."""
        values: list[str | None] = []
        codes = []
        for one, levels in zip(self._tables, self._levels, strict=True):
            if column in levels:
                found = Column((levels[column],), np.zeros(one.rows, np.int32))
            else:
                found = one.encode(column)
            codes.append(found.codes + len(values))
            values += found.values
        return Column.of(values, np.concatenate(codes)[self._at]).compact()

    def native(self) -> Any:
        """Return a polars frame of text."""
        return texts(self)

    def edited(self, edit: Edit) -> Any:
        """A release is not released again."""
        raise NotImplementedError
