"""One file or pipe as a table; the format by its first bytes."""

import codecs
import os
import re
import stat
import sys
from pathlib import Path

from incrowd.errors import InputError, home_hint
from incrowd.tables.addresses import workbook_of
from incrowd.tables.base import Source
from incrowd.tables.formats import CSV, Form, format_of

ZIP = b"PK\x03\x04"
PACKED = {b"\x1f\x8b": "gzip", ZIP: "zip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2"}

BOOKS = {b"xl/workbook": ".xlsx", b"opendocument.spreadsheet": ".ods"}
"""What the archive of a workbook holds, and what its name ends in."""
DATABASES = (("sqlite", 0, b"SQLite format 3\0"), ("duckdb", 8, b"DUCK"))
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
NO_TABLES = {
    b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"GIF8": "a picture",
    b"%PDF-": "a PDF document", b"{\\rtf": "a text document",
    b"<html": "a web page", b"<!doctype html": "a web page", b"<table": "a web page",
    b"<?xml": "an XML document",
}  # fmt: skip
"""How files begin that are taken for tables by their name: letters are small in the last four."""
NOT_READ = {
    ".json": "JSON", ".jsonl": "JSON", ".ndjson": "JSON", ".geojson": "JSON",
    ".rds": "R's own format", ".rdata": "R's own format", ".rda": "R's own format",
    ".pkl": "a pickle", ".pickle": "a pickle", ".avro": "Avro", ".orc": "ORC",
    ".h5": "HDF5", ".hdf5": "HDF5",
}  # fmt: skip
"""Names of files that hold tables which are not read."""
JSON = re.compile(rb"\[\s*[\[{]|\{\s*[\"}]")
WORKBOOKS = (".xls", ".xlsb", ".numbers")
"""Names of workbooks that are not read, though some are packed as others are."""
SEEN = 64  # bytes, of which every second is zero in UTF-16 of the first letters


def read_file(
    path: str | Path,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Source:
    """Read CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS; ``-`` is standard input.

    Raises
    ------
    InputError: the file cannot be read; says why and, for CSV, at which line or byte.
    """
    path, behind = workbook_of(path)
    if behind is not None and sheet is not None:
        raise InputError(f"{path}: two sheets are named, one behind the name and one by --sheet")
    sheet = sheet or behind
    name = "standard input" if path == "-" else path
    data = _bytes(path, name)
    suffix = Path(name).suffix.lower()
    found = format_of(data, suffix)
    if sheet is not None and not found.has_sheets:
        raise InputError(f"{name}: is not a workbook, so it has no sheet {sheet!r}")
    if found is CSV:
        refuse_other(data, name, suffix, encoding)
    for magic, packer in PACKED.items():
        if data.startswith(magic) and found is CSV:
            book = next((end for mark, end in BOOKS.items() if mark in data), None)
            if magic == ZIP and book:
                raise InputError(
                    f"{name}: is a workbook; give it as a file whose name ends in {book}"
                )
            raise InputError(f"{name}: packed with {packer}; unpack it first")
    if not found.may_be_called_text and suffix in CSV.suffixes:
        # whoever goes by the name sees another table
        raise InputError(f"{name}: named like text, but its bytes are {found.name}; rename it")
    return found.read(data, name, Form(delimiter, encoding, sheet))


def refuse_other(data: bytes, name: str, suffix: str, encoding: str | None) -> None:
    """Raise InputError for files that are not text in UTF-8, and say how they are read."""
    kind = next((kind for kind, at, magic in DATABASES if data[at:].startswith(magic)), None)
    if kind is not None:
        raise InputError(
            f"{name}: a database; name it by its address, {kind}:///{name}, and a table by --table"
        )
    if data.startswith(OLD_WORKBOOK) or (suffix in WORKBOOKS and data.startswith(ZIP)):
        raise InputError(f"{name}: workbooks are read as .xlsx or .ods; save it as one of them")
    start = data[:SEEN].removeprefix(codecs.BOM_UTF8).lstrip()
    other = "JSON" if JSON.match(start) else NOT_READ.get(suffix)
    if other is not None:
        raise InputError(
            f"{name}: is {other}, which is not read; save the table as CSV or Parquet with the "
            "program that made it (in Python a data frame can be given in place of a file)"
        )
    for magic, what in NO_TABLES.items():
        if data.startswith(magic) or (magic[:1] == b"<" and start.lower().startswith(magic)):
            raise InputError(
                f"{name}: is {what}, whatever its name says; open it with the program that made "
                "it, and save the table as CSV or .xlsx"
            )
    zeros = [not any(data[at:SEEN:2]) for at in (1, 0)]
    if encoding is None and len(data) > 1 and any(zeros):
        raise InputError(
            f"{name}: seems to be UTF-16 without its mark; say --encoding "
            f"utf-16-{'le' if zeros[0] else 'be'}"
        )


def _bytes(path: str | Path, name: str) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    if not name:
        raise InputError("the name of the input is empty; name a file, or . for this folder")
    try:
        return steady_bytes(Path(path), name)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file{home_hint(name) or _nearby(Path(path))}") from None
    except IsADirectoryError:
        raise InputError(f"{name}: is a folder; expected a file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None


def steady_bytes(path: Path, name: str) -> bytes:
    """Return a file's bytes, all of one moment.

    Raises
    ------
    InputError: size, time or the file itself changed while it was read.
    """
    before = path.stat()
    data = path.read_bytes()
    if state(before) != state(path.stat()) or (
        stat.S_ISREG(before.st_mode) and len(data) != before.st_size
    ):
        raise InputError(
            f"{name}: changed while it was read; wait until whoever writes it has finished, and "
            "run again"
        )
    return data


def state(found: os.stat_result) -> tuple[int, ...]:
    """What changes when a file is written or replaced; nothing for pipes and devices."""
    if not stat.S_ISREG(found.st_mode):
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _nearby(path: Path) -> str:
    """Offer a file of the same folder with nearly that name."""
    from difflib import get_close_matches

    try:
        near = get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1)
    except OSError:
        return ""
    return f"; did you mean {str(path.parent / near[0])!r}?" if near else ""
