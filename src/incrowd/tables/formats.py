"""The formats of files: one row each; reading goes by the first bytes, writing by the name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import IO

import polars as pl

from incrowd.errors import InputError
from incrowd.tables.base import Source, Table
from incrowd.tables.csv_table import EditedCsv, read_csv
from incrowd.tables.dialect import Dialect
from incrowd.tables.native import as_polars
from incrowd.tables.packed import EditedPacked, packed_texts, read_back, read_packed
from incrowd.tables.sheets import SHEETS, read_sheet
from incrowd.tables.sheets_write import write_sheet
from incrowd.tables.stat import FAMILY, PACKAGE, StatTable, read_stat, stat_form
from incrowd.tables.stat_write import write_stat

ZIPPED = b"PK\x03\x04"


@dataclass(frozen=True)
class Form:
    """What some formats have use for: how text is delimited (None: not known), what is kept.

    Attributes
    ----------
    codebook: keep of SPSS, Stata and SAS files the label, and labels of codes that no released
        cell has.
    """

    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    codebook: bool = False


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format of files.

    Attributes
    ----------
    id: one word.
    name: as people call it.
    suffixes: names of files that are written in it, in lower case; none where it is only read.
    begins: whether a file with these bytes, of a name with this suffix, is of this format.
    read: makes a table of a file's bytes; also told the file's name, for messages.
    write: writes a release.
    again: reads a finished file back, to be compared with the release; ``read`` where None.
    may_be_called_text: whether a file of it may bear a name such as ``.csv``.
    has_sheets: whether a file of it may hold several tables.
    """

    id: str
    name: str
    suffixes: tuple[str, ...]
    begins: Callable[[bytes, str], bool]
    read: Callable[[bytes, str, Form], Source]
    write: Callable[[Table, IO[bytes], Form], None] | None = None
    again: Callable[[bytes, str, Form], Source] | None = None
    may_be_called_text: bool = False
    has_sheets: bool = False


def _packed(id: str, name: str, magic: bytes, *suffixes: str) -> Format:
    """Return a format that polars reads and writes."""

    def read(data: bytes, file: str, form: Form) -> Source:
        try:
            return read_packed(id, data)
        except MemoryError:
            raise
        except (Exception, pl.exceptions.PanicException) as error:  # also of types known by name
            # the library's own message may quote the file's content
            why = "it is broken, or has a column of a type that polars does not read"
            if "time zone" in str(error):
                why = (
                    "a column has times of a fixed offset, such as +02:00; convert them to UTC or "
                    "to a zone with a name, such as Europe/Berlin"
                )
            raise InputError(
                f"{file}: starts like {name}, but cannot be read as such: {why}"
            ) from None

    return Format(
        id=id,
        name=name,
        suffixes=suffixes,
        begins=lambda data, suffix: data.startswith(magic),
        read=read,
        write=partial(_write_frame, id) if suffixes else None,
        again=lambda data, file, form: read_back(id, data),
    )


def _write_frame(id: str, table: Table, file: IO[bytes], form: Form) -> None:
    if isinstance(table, EditedCsv):
        packed_texts(table).write(id, file)
    elif isinstance(table, EditedPacked):
        table.write(id, file)
    else:
        frame = as_polars(table)
        (frame.write_parquet if id == "parquet" else frame.write_ipc)(file)


def _stat(id: str) -> Format:
    """Return a format of SPSS, Stata or SAS."""

    def write(table: Table, file: IO[bytes], form: Form) -> None:
        assert isinstance(table, StatTable)  # ``stat.require_place_of`` was asked before
        write_stat(table, id, file, form.codebook)

    return Format(
        id=id,
        name=PACKAGE[FAMILY[id]],
        suffixes=(f".{id}",),
        begins=lambda data, suffix: stat_form(data) == id,
        read=lambda data, file, form: read_stat(data, file, id, form.encoding),
        write=write,
        again=lambda data, file, form: read_stat(data, file, id.removeprefix("z")),
        may_be_called_text=True,
    )


def _sheet(id: str) -> Format:
    """Return a format of workbooks."""

    def write(table: Table, file: IO[bytes], form: Form) -> None:
        held = packed_texts(table).native() if isinstance(table, EditedCsv) else as_polars(table)
        known = (table.kinds_before, table.formats) if isinstance(table, EditedPacked) else ()
        write_sheet(held, id, file, *known)

    return Format(
        id=id,
        name="a workbook",
        suffixes=(f".{id}",),
        begins=lambda data, suffix: data.startswith(ZIPPED) and SHEETS.get(suffix) == id,
        read=lambda data, file, form: read_sheet(data, file, id, form.sheet),
        write=write,
        has_sheets=True,
    )


def _write_csv(table: Table, file: IO[bytes], form: Form) -> None:
    if isinstance(table, EditedCsv):
        for piece in table.pieces():
            file.write(piece)
        return
    dialect = Dialect(form.delimiter or ",")
    file.write(dialect.mark(next(iter(table.columns), "")).encode())
    for number, piece in enumerate(packed_texts(table).pieces()):
        piece.write_csv(file, include_header=number == 0, separator=dialect.delimiter)


CSV = Format(
    id="csv",
    name="CSV",
    suffixes=(".csv", ".tsv", ".tab", ".txt", ".psv"),
    begins=lambda data, suffix: True,
    read=lambda data, file, form: read_csv(data, file, form.delimiter, form.encoding),
    write=_write_csv,
    again=lambda data, file, form: read_csv(data, file, form.delimiter or ",", form.encoding),
    may_be_called_text=True,
)
FORMATS = (
    _packed("parquet", "Parquet", b"PAR1", ".parquet", ".pq"),
    _packed("arrow", "Arrow", b"ARROW1", ".arrow", ".feather", ".ipc"),
    _packed("stream", "Arrow", b"\xff\xff\xff\xff"),
    *map(_stat, FAMILY),
    *map(_sheet, ("xlsx", "ods")),
    CSV,  # what is nothing else
)
"""The first that ``begins`` says yes for is the format of a file."""


def format_of(data: bytes, suffix: str) -> Format:
    """Return the format of a file, by its bytes; that of a workbook by its name, too."""
    return next(each for each in FORMATS if each.begins(data, suffix))


def format_named(suffix: str) -> Format:
    """Return the format that a file of this name is written in: CSV where none is known by it."""
    return next((each for each in FORMATS if suffix in each.suffixes), CSV)


def format_called(id: str) -> Format:
    """Return the format with this id."""
    return next(each for each in FORMATS if each.id == id)
