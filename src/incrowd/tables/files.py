"""Tables from files, folders and frames, releases into them; the format by the name."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.checker.delimited import require_header
from incrowd.checker.packed import TEXT
from incrowd.checker.parquet import SMALL
from incrowd.checker.rejection import RejectedError, require
from incrowd.errors import InputError, require_one_line
from incrowd.run.forks import require_threads_of_polars
from incrowd.tables.addresses import is_address
from incrowd.tables.atomic import whole
from incrowd.tables.base import Edit, Source, Table
from incrowd.tables.csv_table import CsvTable, EditedCsv, read_csv, recoded
from incrowd.tables.database import read_database, require_sendable, write_database
from incrowd.tables.dialect import BY_NAME, MARK, Dialect
from incrowd.tables.formats import CSV, Form, format_called, format_named, format_of
from incrowd.tables.inputs import shown, with_table
from incrowd.tables.native import NativeTable, encode_polars, from_native
from incrowd.tables.one_file import read_file
from incrowd.tables.packed import PackedTable
from incrowd.tables.parts import EditedParts, PartsTable, are_parts, read_parts
from incrowd.tables.parts_write import is_folder, write_parts
from incrowd.tables.sheets_write import require_held
from incrowd.tables.stat import require_place_of
from incrowd.tables.times import beyond, untold


def read(
    path: str | Path,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Source:
    """Read CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS; ``-`` is standard input.

    The format is told by the first bytes; that of a workbook, of which ``sheet`` is read, by the
    name.  An address such as ``postgresql://host/db`` is a database's, of which ``table`` or the
    answer of ``query`` is read; without either the table's name stands behind the last ``/``.

    Raises
    ------
    InputError: the file cannot be read; says why and, for CSV, at which line or byte.
    MissingExtraError: a database or a workbook, without what reads it.

    A folder or a pattern is read as one table in several files, see ``incrowd.tables.parts``.
    """
    require_threads_of_polars()
    require_one_line(path)
    found = _read(path, delimiter, encoding, sheet, table, query)
    if is_address(path):
        found.path = with_table(str(path), table) if table else str(path)
    elif str(path) != "-":  # a program may enter another folder before it writes
        found.path = str(Path(path).absolute())
    return found


def _read(
    path: str | Path,
    delimiter: str | None,
    encoding: str | None,
    sheet: str | None,
    table: str | None,
    query: str | None,
) -> Source:
    if isinstance(path, str) and is_address(path):
        if sheet is not None:
            raise InputError("a database has no sheets; name a table of it")
        return read_database(path, table, query)
    if table is not None or query is not None:
        raise InputError(
            f"{path}: is not the address of a database, such as sqlite:///FILE; only those have "
            "tables and queries"
        )
    if are_parts(path):
        return read_parts(path, delimiter, encoding)
    return read_file(path, delimiter, encoding, sheet)


def open_table(data: Any) -> Source:
    """Take a data frame, the path of a file, or a table that is open already.

    What it returns may stand for the data in every call, so that a file is read but once.

    Raises
    ------
    InputError: the file cannot be read, there is no such frame, or this process was forked after
        polars had begun its threads.
    """
    if isinstance(data, str | Path):
        return read(data)
    require_threads_of_polars()
    is_open = all(hasattr(type(data), name) for name in ("encode", "native"))  # a frame has no such
    return data if is_open else from_native(data)


def is_release(data: Any) -> bool:
    """Whether this is what ``anonymize`` returned, which knows its policy and its original."""
    return all(hasattr(data, name) for name in ("edit", "policy", "source"))


def alike(table: Table, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return a frame of these columns: of the type that the table came as, polars for a file."""
    import polars as pl

    return table.alike(columns) if isinstance(table, NativeTable) else pl.DataFrame(dict(columns))


def output_format(path: str | Path, table: Table) -> str:
    """Return the id of a format (see ``incrowd.tables.formats``), by the name.

    For ``-`` that of the input; Parquet where it was a data frame or a statistics package's file.
    """
    if str(path) == "-":
        return "csv" if delimiter_of(table) else getattr(whole_of(table), "form", "parquet")
    return format_named(Path(path).suffix.lower()).id


def require_names(table: Source, columns: Sequence[str], path: str) -> None:
    """Raise InputError for names that a file cannot hold, before the search.

    A workbook needs a name for each column.  A header of delimited text may look like the beginning
    of another format, or like a blank line, once the columns before it are left out.
    """
    suffix = Path(path).suffix.lower()
    if "" in columns and format_named(suffix).has_sheets:
        raise InputError(f"{path}: columns of a workbook need names, and one here has none")
    if is_address(path) or is_folder(path) or output_format(path, table) != "csv":
        return
    form, written = names_in_text(table, path)
    header = form.delimiter.join(written[name] for name in columns)
    data = (form.mark(header) + header + form.newline).encode()
    with suppress(InputError):
        found = format_of(data, suffix)
        if found is CSV and read_csv(data, path, form.delimiter).columns == tuple(columns):
            return
    raise InputError(
        f"{path}: its first column would be called {columns[0]!r}, and who reads that as the "
        "beginning of a file takes it for no name; rename the column"
    )


def names_in_text(table: Source, path: str = "") -> tuple[Dialect, dict[str, str]]:
    """Return how delimited text of a table is written, and how its columns' names are."""
    found = whole_of(table)
    if isinstance(found, CsvTable):
        return found.dialect, dict(zip(found.columns, found.header, strict=True))
    form = Dialect(delimiter_at(path, table) or ",")
    return form, {name: form.quoted(name) for name in table.columns}


def require_readable_names(table: Source) -> None:
    """Raise InputError for names in which the checker finds control characters.

    Line ends may stand within quotes.  A byte order mark alone is no name to it either.
    """
    form, written = names_in_text(table)
    for j, name in enumerate(written.values(), 1):
        try:
            require_header(name, form.delimiter, form.newline[-1], given=True)
            require(name != MARK, "no name")
        except RejectedError:
            raise InputError(
                f"a proof: its checker reads no name with a control character, and that of column "
                f"{j} has one{' (U+FEFF alone)' if name == MARK else ''}; rename the column, or go "
                "without a proof"
            ) from None


def require_texts(table: Source, columns: Sequence[str], path: str, readers: Sequence[str]) -> None:
    """Raise for a column that has no text form where it needs one, before a long search.

    Parameters
    ----------
    columns: that are published as they are.
    readers: options that read them as text whatever the output's format is.

    Raises
    ------
    InputError: lists, structs, bytes or times that Python cannot tell, and an output that holds
        text or is a folder of files.
    """
    whole = table.base if isinstance(table, PartsTable) else table
    if not isinstance(whole, PackedTable):
        return
    several = isinstance(table, PartsTable) and is_folder(path)
    text = several or is_address(path) or output_format(path, whole) == "csv"
    for name in columns if text or readers else ():
        if name in whole.columns:
            try:
                cells = whole.take(name, slice(0))
                encode_polars(cells, name)
                if cells.dtype.is_temporal() and beyond(whole.take(name, slice(None))):
                    raise InputError(untold(name))
            except InputError as error:
                one = "one file, " if several else ""
                way = f"; or write {one}.parquet or .arrow" if text else ""
                raise InputError(f"{path if text else readers[0]}: {error}{way}") from None


def require_cells(table: Source, columns: Sequence[str], path: str) -> None:
    """Raise InputError for published cells that OUT cannot hold, before the search."""
    form = format_named(Path(path).suffix.lower())
    try:
        if is_address(path):
            require_sendable(table, columns, path)
        elif form.has_sheets:
            require_held(table, columns, form.id)
    except InputError as error:
        raise InputError(f"{shown(path)}: {error}") from None


def require_short(table: Source, qi: Sequence[str], sensitive: Sequence[str]) -> None:
    """Raise InputError for more text than the checker reads of a table with so many rows.

    A proof holds each different quasi-identifying text twice at least, with itself and its star.
    """
    most, held = SMALL + TEXT * table.rows, 0
    for name in (*qi, *sensitive):
        column = table.encode(name)
        sizes = np.array([len(text.encode()) for text in map(str, column.values)], np.int64)
        held += 2 * int(sizes.sum()) if name in qi else 0
        if max(held, int(sizes[column.codes].sum())) > most:
            raise InputError(
                f"a proof: its checker reads at most {most:,} bytes of text of a column with "
                f"{table.rows:,} rows, and {name!r} has too much; cut its texts short, leave it "
                "out of the release (--id), or go without a proof"
            )


def whole_of(table: Table) -> Table:
    """Return the table that a release is made from; of several files all of them together."""
    return table.source.base if isinstance(table, EditedParts) else table


def delimiter_of(table: Table) -> str | None:
    """Return what stood between the fields of the input; None where it was not CSV."""
    found = whole_of(table)
    return found.dialect.delimiter if isinstance(found, CsvTable | EditedCsv) else None


def delimiter_at(path: str | Path, table: Table) -> str | None:
    """Return what stands between fields in a file: that of the input, or what its name says."""
    return delimiter_of(table) or BY_NAME.get(Path(path).suffix.lower())


def dialect_in(path: str | Path, columns: Sequence[str]) -> dict[str, str]:
    """Return what a file's header is cut by, where that is no comma and its table was no text.

    A folder holds the same format as its table, and no text that was none before.
    """
    if Path(path).is_dir():
        return {}
    for cut in dict.fromkeys(BY_NAME.values()):
        header = cut.join(map(Dialect(cut).quoted, columns))
        header = (Dialect(cut).mark(header) + header).encode()
        with Path(path).open("rb") as file:
            if len(columns) > 1 and file.read(len(header)) == header:
                return {"delimiter": cut}
    return {}


def in_form_of(table: Table, frame: Any, path: str | Path) -> Source:
    """Return a polars frame as the table to write at ``path``: CSV in the form that another has.

    That is its delimiter, encoding, byte order mark and ends of lines.

    Raises
    ------
    InputError: the encoding has no such character.
    """
    found = whole_of(table)
    if not isinstance(found, CsvTable | EditedCsv) or is_address(path):
        return from_native(frame)
    if output_format(path, found) != "csv":
        return from_native(frame)
    form = found.dialect
    text = frame.write_csv(separator=form.delimiter, line_terminator=form.newline)
    text = (form.mark(text) + text).encode()
    data = text if form.encoding is None else b"".join(recoded([text], form.encoding))
    return read_csv(data, "the release", form.delimiter, form.encoding)


def write(
    table: Table,
    path: str | Path,
    check: Callable[[Source], None] | None = None,
    then: Callable[[Path], None] | None = None,
    codebook: bool = False,
    private: bool = False,
    replace: bool = False,
) -> None:
    """Write a release whole or not at all; ``-`` is standard output.

    To an address of a database it is a new table, whose name stands behind the last ``/``.

    Parameters
    ----------
    check: called with the table as read back from the finished temporary file, for which there is
        room on the disk; what it raises keeps the file from appearing.
    then: called with the path of the finished temporary file, likewise; not for ``-``.
    codebook: keep of SPSS, Stata and SAS files the label, and labels of codes that no released
        cell has.
    private: whether nobody but its owner may open the file.
    replace: whether a table of the database may be written over.

    Raises
    ------
    InputError: the folder does not exist or cannot be written; the table is there already.
    """
    if isinstance(table, EditedParts):
        if is_folder(path):
            write_parts(table, path, check)
            return
        table = table.in_one
    if isinstance(path, str) and is_address(path):
        write_database(table, path, replace, check)
        return
    require_place_of(path, table)
    known = format_called(output_format(path, table))
    encoding = table.dialect.encoding if isinstance(table, EditedCsv) else None
    form = Form(delimiter_at(path, table), encoding, codebook=codebook)
    if known.write is None:
        raise InputError(f"{path}: {known.name} files can be read, not written")
    with whole(path, private) as file:
        known.write(table, file, form)
        file.flush()
        os.fsync(file.fileno())  # what is written beside it supposes that there is room for it
        if check is not None:
            file.seek(0)
            check((known.again or known.read)(file.read(), "the release", form))
        if then is not None:
            then(Path(file.name))


def write_as_it_is(
    source: Source, path: str | Path, then: Callable[[Path], None] | None = None
) -> None:
    """Write a table as it came, for its owner alone; as ``write``."""
    write(source.edited(Edit.of_nothing(source.columns)), path, then=then, private=True)


def write_around(
    tables: Sequence[tuple[Source, str]], work: Callable[[Sequence[Path]], None]
) -> None:
    """Write tables as they came, all or none: they get their names once ``work`` has ended well.

    work: called with the finished temporary files, the last table's first.
    """

    def inner(files: tuple[Path, ...], left: Sequence[tuple[Source, str]]) -> None:
        if left:
            write_as_it_is(*left[0], lambda file: inner((file, *files), left[1:]))
        else:
            work(files)

    inner((), tables)
