"""Reading small delimited text files: which delimiter, which encoding, which line."""

import csv
import io
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from incrowd.errors import HierarchyError, did_you_mean
from incrowd.hierarchy.tree import STAR

DELIMITERS = (";", "\t", "|", ",")
SAMPLE = 200
JAVA = b"\xac\xed\x00\x05"
"""How a serialized Java object begins, such as ARX's .ahs files."""


class NoTableError(HierarchyError):
    """A file can be read, but what it holds is no table of labels."""


@dataclass(frozen=True, eq=False)
class Lines:
    """A delimited file's text.

    Attributes
    ----------
    name: the file as the user wrote it, for messages.
    """

    name: str
    text: str
    delimiter: str

    @cached_property
    def rows(self) -> list[list[str]]:
        """The fields of each row, as written; blank lines are left out."""
        reader = _reader(self.text, self.delimiter)
        try:
            return [row for row in reader if not _blank(row)]
        except csv.Error as error:
            raise NoTableError(
                f"{self.name}, line {reader.line_num}: not a table with {self.delimiter!r} between "
                f"its fields ({error})"
            ) from None

    def even_columns(self) -> list[list[str]] | None:
        """Return the columns of a file without quotes and with equally long lines, else None.

        The same fields as `rows`, several times faster: no list per row.
        """
        body = self.text.replace("\r\n", "\n").strip("\n")
        if '"' in body or "\r" in body:
            return None
        lines = body.split("\n")
        widths = {line.count(self.delimiter) + 1 for line in lines}
        if len(widths) > 1 or "" in lines:
            return None
        width = widths.pop()
        fields = body.replace("\n", self.delimiter).split(self.delimiter)
        return [fields[up::width] for up in range(width)]

    def numbers(self) -> list[int]:
        """Return the line on which each row starts; slow, for messages only."""
        reader = _reader(self.text, self.delimiter)
        starts: list[int] = []
        last = 0
        for fields in reader:
            # A quoted field may span lines: a row starts after the line the one before ended on.
            start, last = last + 1, reader.line_num
            if not _blank(fields):
                starts.append(start)
        return starts

    def where(self, row: int) -> str:
        """Return ``FILE, line N`` for a row; slow, for messages only."""
        return f"{self.name}, line {self.numbers()[row]}"


def form(value: str) -> str:
    """Return what a cell looks like for a message: letters as a, digits as 9."""
    return repr(re.sub(r"\d", "9", re.sub(r"[^\W\d_]", "a", value)))


def read_lines(path: str | Path, delimiter: str | None = None) -> Lines:
    """Read a delimited UTF-8 file, with or without byte-order mark.

    The delimiter, unless given, is the one of ``; tab | ,`` for which most of the first 200 lines
    end in a field ``*``; then the one that splits most of them, most evenly; then in this order.

    Raises
    ------
    NoTableError: nothing in it.
    HierarchyError: no such file, or not UTF-8.
    """
    path = Path(path)
    name = str(path)
    text = _decode(path)
    delimiter = delimiter or sniff(text)
    if not text.strip(f" \r\n{delimiter}"):
        raise NoTableError(
            f"{name} is empty; a hierarchy file has one line per value: leaf;level1;…;*"
        )
    return Lines(name, text, delimiter)


def sniff(text: str) -> str:
    """Return the delimiter that fits the first lines of a hierarchy file best."""
    sample = list(islice(io.StringIO(text, newline=""), SAMPLE))

    def fit(delimiter: str) -> tuple[int, int, int]:
        reader = csv.reader(io.StringIO("".join(sample), newline=""), delimiter=delimiter)
        try:
            rows = [row for row in reader if not _blank(row)]
        except csv.Error:
            return (0, 0, 0)
        widths = [len(row) for row in rows if len(row) > 1]
        starred = sum(len(row) > 1 and row[-1] == STAR for row in rows)
        return starred, len(widths), -len(set(widths))

    return max(DELIMITERS, key=fit)


def _reader(text: str, delimiter: str):  # csv's reader type has no public name
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _blank(row: list[str]) -> bool:
    """Whether a line holds nothing: empty, or only delimiters as spreadsheets leave them."""
    return not any(row)


def _decode(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except IsADirectoryError:
        raise HierarchyError(f"{path} is a folder, not a hierarchy file") from None
    except FileNotFoundError:
        raise HierarchyError(f"no hierarchy file {str(path)!r}{_neighbours(path)}") from None
    except OSError as error:
        raise HierarchyError(f"{path} cannot be read: {error.strerror or error}") from None
    if raw.startswith(b"PK\x03\x04"):
        raise HierarchyError(f"{path} is a workbook or a zip file; save its table as CSV (UTF-8)")
    if raw.startswith(JAVA):
        raise HierarchyError(
            f"{path} is a hierarchy *specification* of ARX, which only ARX can read; export the "
            "hierarchy itself there, as CSV"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise HierarchyError(
            f"{path}, line {line}: not UTF-8 text (byte {raw[error.start]:#04x}); save the "
            "file as UTF-8"
        ) from None


def _neighbours(path: Path) -> str:
    try:
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    except OSError:
        return f"; there is no folder {str(path.parent)!r}"
    hint = did_you_mean(path.name, names)
    return hint if "did you mean" in hint else ""
