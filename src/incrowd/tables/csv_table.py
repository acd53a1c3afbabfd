"""A delimited text file as a table: the bytes as they are, and where each field lies."""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError, listed
from incrowd.kernels.interpreted import of_few
from incrowd.tables import csv_kernels as kernels
from incrowd.tables.base import MOST_LABELS, Column, Edit, Table, narrow, replaced, texts
from incrowd.tables.dialect import BOM, Dialect, as_utf8, marked_encoding, sniff
from incrowd.tables.spelling import AS_IT_IS, Spelling, spelling
from incrowd.text.units import counted

Bytes = NDArray[np.uint8]
NOTE = re.compile(rb'"?sep=."?[\r\n]', re.IGNORECASE)
Places = NDArray[np.int64]
Ids = NDArray[np.signedinteger[Any]]
Ends = NDArray[np.unsignedinteger[Any]]  # counted from the start of the record
PIECE = 1 << 17  # records written at a time
FEW = 1 << 16  # bytes that Python reads and writes sooner than compiled kernels are loaded


def as_csv(columns: Mapping[str, Column], dialect: Dialect) -> bytes:
    """Return columns as a file in a dialect."""
    cells = []
    for column in columns.values():
        words = np.array([*map(dialect.quoted, column.values), ""], dtype=object)
        cells.append(words[column.codes].tolist())
    header = dialect.delimiter.join(map(dialect.quoted, columns))
    lines = [header, *map(dialect.delimiter.join, zip(*cells, strict=True)), ""]
    text = dialect.mark(header) + dialect.newline.join(lines)
    return text.encode(dialect.encoding or "utf-8")


class CsvTable:
    """A table over the bytes of a delimited file.

    Attributes
    ----------
    dialect: delimiter, line ending, byte order mark, encoding.
    columns: names from the header.
    header: the same as they are written, with their quotes.
    """

    path: str | None = None

    def __init__(
        self, data: Bytes, starts: Places, ends: Ends, header: tuple[bytes, ...], dialect: Dialect
    ) -> None:
        self._data, self._starts, self._ends, self._header = data, starts, ends, header
        self._known: dict[str, Column] = {}
        self._ways: dict[str, int] = {}
        self._spelled: dict[str, tuple[list[bytes], list[str | None], NDArray[np.int32]]] = {}
        self._few = len(data) <= FEW
        self.columns = tuple(parsed(raw) or "" for raw in header)
        self.header = tuple(raw.decode() for raw in header)
        self.dialect = dialect

    @property
    def rows(self) -> int:
        """Number of records below the header."""
        return len(self._starts)

    def in_utf8(self) -> bytes:
        """Return the file, in UTF-8 whatever its encoding was."""
        return self._data.tobytes()

    def encode(self, column: str) -> Column:
        """Values of one column; an empty field is missing, a quoted empty one is empty text."""
        known = self._known.get(column)
        if known is not None:
            return Column(known.values, known.codes.astype(np.int32))
        fields, codes = self._fields(column)
        found = Column.of([parsed(raw) for raw in fields], codes)
        if len(fields) <= max(MOST_LABELS, self.rows // 8):
            kept: Any = found.codes.astype(narrow(len(fields)))
            self._known[column] = Column(found.values, kept)
        return found

    def _fields(self, column: str) -> tuple[list[bytes], NDArray[np.int32]]:
        """Return the different fields of a column as they are written, and each row's."""
        j = self.columns.index(column)
        codes = np.empty(self.rows, np.int32)
        if self._few:
            known: dict[bytes, int] = {}
            for row, raw in enumerate(self._written(np.arange(self.rows), j)):
                codes[row] = known.setdefault(raw, len(known))
            return list(known), codes
        first: Places = kernels.number_values(self._data, self._starts, self._ends, j, codes)
        return self._written(first, j), codes

    def _written(self, rows: Places, j: int) -> list[bytes]:
        """Return fields of column ``j`` as they are written."""
        starts, ends = self._starts[rows], self._ends[rows].astype(np.int64)
        begin = starts if j == 0 else starts + ends[:, j - 1] + 1
        spans = zip(begin.tolist(), (starts + ends[:, j]).tolist(), strict=True)
        return [self._data[a:b].tobytes() for a, b in spans]

    def _spelling(self, column: str, edit: Edit) -> Spelling:
        """Return how the values of a column are written beside the labels that replace some."""
        if not self._quotes and not self._breaks:
            return AS_IT_IS
        if column not in self._ways:
            j = self.columns.index(column)
            breaks = ord(self.dialect.delimiter), ord(self.dialect.newline[-1])
            place = (self._data, self._starts, self._ends, j, *breaks)
            self._ways[column] = of_few(self._few, lambda: kernels.ways(*place))
        ways = self._ways[column]
        both = ways & kernels.PLAIN and ways & kernels.NEEDLESS
        odd = ways & (kernels.ODD | kernels.NEEDLESS)
        new = edit.replacements.get(column)
        labels = set(new.labels if new else ())
        mixed = both or (odd and labels & set(self.encode(column).values))
        if not mixed and not self._breaks:
            return AS_IT_IS
        if column not in self._spelled:
            fields, codes = self._fields(column)
            self._spelled[column] = fields, [parsed(raw) for raw in fields], codes
        shown = np.ones(self.rows, bool) if new is None else new.ids < 0
        if edit.order is not None and len(edit.order) < self.rows:
            there = np.zeros(self.rows, bool)
            there[edit.order] = True
            shown &= there
        return spelling(*self._spelled[column], shown)

    @cached_property
    def _quotes(self) -> int:
        """How many quotes the file holds."""
        return of_few(self._few, lambda: kernels.count_bytes(self._data, ord('"'), ord('"')))[0]

    @cached_property
    def _breaks(self) -> bool:
        """Whether what ends a line for others may stand in a field as it is."""
        breaks = ord("\r"), ord("\n")
        returns, feeds = of_few(self._few, lambda: kernels.count_bytes(self._data, *breaks))
        if self.dialect.newline == "\r":
            return feeds > 0
        return returns > (feeds if self.dialect.newline == "\r\n" else 0)

    def edited(self, edit: Edit) -> "EditedCsv":
        """Return the release, to be written or looked at."""
        return EditedCsv(self, edit)

    def native(self) -> Any:
        """Return a polars frame in which every column is text."""
        return texts(self)

    def records(self, edit: Edit) -> Iterator[bytes]:
        """Yield the bytes of the edited table, header first, in UTF-8 as the input had them."""
        text = Pool()
        columns = np.array([self.columns.index(name) for name in edit.columns], np.int64)
        header = self.dialect.delimiter.join(self.header[j] for j in columns)
        yield (self.dialect.mark(header) + header + self.dialect.newline).encode()
        changes = list(self._changes(edit, text))
        order = np.arange(self.rows) if edit.order is None else edit.order
        pool, offsets = text.flat()
        newline = np.frombuffer(self.dialect.newline.encode(), np.uint8)
        delimiter = ord(self.dialect.delimiter)
        for begin in range(0, len(order), PIECE):
            piece = np.ascontiguousarray(order[begin : begin + PIECE], dtype=np.int64)
            ids = np.full((len(edit.columns), len(piece)), -1, np.int32)
            for c, new, shift in changes:
                found = new[piece].astype(np.int32)
                ids[c] = np.where(found >= 0, found + shift, ids[c])
            rest = (piece, ids, pool, offsets, delimiter, newline)
            source = (self._data, self._starts, self._ends, columns)
            write = partial(kernels.assemble, *source, *rest)
            yield of_few(self._few, partial(filled, write)).tobytes()

    def _changes(self, edit: Edit, text: "Pool") -> Iterator[tuple[int, Ids, int]]:
        """Yield place of a column, ids of new fields of its rows, and where they start in ``text``.

        What comes later counts.
        """
        for c, name in enumerate(edit.columns):
            new = edit.replacements.get(name)
            spelled = self._spelling(name, edit)
            if spelled.ids is not None:
                yield c, spelled.ids, text.add(spelled.words)
            if new is not None:
                quoted = (self.dialect.quoted(label).encode() for label in new.labels)
                own = zip(new.labels, quoted, strict=True)
                yield c, new.ids, text.add([spelled.chosen.get(*pair) for pair in own])


def filled(write: Callable[[Bytes], int]) -> Bytes:
    """Return what ``write`` fills a buffer with; it returns the size, also of one too small."""
    out = np.empty(write(np.empty(0, np.uint8)), np.uint8)
    write(out)
    return out


class EditedCsv:
    """A delimited file with an edit applied, not yet written."""

    def __init__(self, table: CsvTable, edit: Edit) -> None:
        self._table, self._edit = table, edit
        self.columns = edit.columns
        self.rows = table.rows if edit.order is None else len(edit.order)
        self.dialect = table.dialect

    def encode(self, column: str) -> Column:
        """Values of one column of the release."""
        original = self._table.encode(column)
        values: list[str | None] = list(original.values)
        codes: NDArray[np.integer] = original.codes
        if column in self._edit.replacements:
            values, codes = replaced(original, self._edit.replacements[column])
        if self._edit.order is not None:
            codes = codes[self._edit.order]
        return Column.of(values, codes)

    def agrees(self, written: Table, column: str) -> bool:
        """Whether an unchanged column has the same bytes in a file read back."""
        if not isinstance(written, CsvTable) or written.rows != self.rows:
            return False
        if column in self._edit.replacements:
            return False
        mine, theirs = self._table, written
        order = np.arange(self.rows) if self._edit.order is None else self._edit.order
        places = (
            *(mine._data, mine._starts, mine._ends, mine.columns.index(column), order),
            *(theirs._data, theirs._starts, theirs._ends, theirs.columns.index(column)),
        )
        return bool(of_few(mine._few, lambda: kernels.same_fields(*places)))

    def native(self) -> Any:
        """Return a polars frame in which every column is text."""
        return texts(self)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the file, in the input's own encoding."""
        pieces = self._table.records(self._edit)
        return pieces if self.dialect.encoding is None else recoded(pieces, self.dialect.encoding)


def stacked_csv(first: EditedCsv, second: EditedCsv) -> CsvTable | None:
    """Return the rows of two files as one file in the second's form, each cell as it is written.

    None where they differ in delimiter, line ending or columns.
    """
    one, two = first.dialect, second.dialect
    if (one.delimiter, one.newline) != (two.delimiter, two.newline):
        return None
    if first.columns != second.columns:
        return None
    _, *earlier = first._table.records(first._edit)
    header, *later = second._table.records(second._edit)
    table = read_csv(b"".join([header, *earlier, *later]), "the union", two.delimiter)
    table.dialect = two  # its encoding, which the bytes at hand do not have
    return table


class Pool:
    """Replacement texts of all columns, as bytes in one buffer."""

    def __init__(self) -> None:
        self._texts: list[bytes] = []

    def add(self, fields: Sequence[bytes]) -> int:
        """Store a column's texts; return how many stand before them."""
        shift = len(self._texts)
        self._texts += fields
        return shift

    def flat(self) -> tuple[Bytes, Places]:
        """Return the buffer and where each text starts."""
        lengths = [len(text) for text in self._texts]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return np.frombuffer(b"".join(self._texts) or b"\0", np.uint8), offsets


def parsed(raw: bytes) -> str | None:
    """Return a field's value: an empty field is missing, ``""`` is empty text."""
    if not raw:
        return None
    text = raw.decode("utf-8")
    return text[1:-1].replace('""', '"') if text[0] == '"' else text


def recoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Turn UTF-8 into the file's own encoding; a codec's byte order mark comes once, first."""
    encoder = codecs.getincrementalencoder(encoding)()
    try:
        for piece in pieces:
            yield encoder.encode(piece.decode("utf-8"))
    except UnicodeEncodeError:
        raise InputError(
            f"the release holds a character that {encoding} cannot write "
            "(from a hierarchy's labels or --star)"
        ) from None


def read_csv(
    data: bytes, name: str, delimiter: str | None = None, encoding: str | None = None
) -> CsvTable:
    """Find the fields of a delimited file.

    Parameters
    ----------
    data: the file; ``name``: how messages call it.
    delimiter: one character, or None to guess among ``, ; tab |``.
    encoding: a Python codec, or None for UTF-8.

    Raises
    ------
    InputError: not in that encoding (with the byte), empty, a record with another number of
        fields than the header or a quote that never closes (with the line), a name twice.
    """
    if not data:
        raise InputError(f"{name}: the file is empty; expected a header line with column names")
    encoding = encoding or marked_encoding(data)
    data = as_utf8(data, encoding, name)
    dialect = sniff(data, delimiter, encoding, name)
    body = np.frombuffer(data, np.uint8)
    starts, ends = of_few(len(body) <= FEW, lambda: records_in(body, dialect, name))
    if not len(starts):
        raise InputError(f"{name}: the file is empty; expected a header line with column names")
    stops = [int(starts[0]) + e for e in ends[0].tolist()]
    at = [int(starts[0]), *(stop + 1 for stop in stops[:-1])]
    header = tuple(data[a:b] for a, b in zip(at, stops, strict=True))
    table = CsvTable(body, starts[1:], ends[1:], header, dialect)
    require_different(table.columns, name)
    return table


def records_in(body: Bytes, dialect: Dialect, name: str) -> tuple[Places, Ends]:
    """Return where records start, shape (records,), and their fields end, (records, fields)."""
    newline, cut = ord(dialect.newline[-1]), ord(dialect.delimiter)
    breaks, cuts = kernels.count_bytes(body, newline, cut)
    starts = np.empty(breaks + 1, np.int64)
    begin = len(BOM) if dialect.bom else 0
    if NOTE.match(body[begin : begin + 8].tobytes()):
        raise InputError(
            f"{name}: its first line ('sep=…') tells Excel the delimiter, and names no column; "
            "delete it"
        )
    for kind in (np.uint16, np.uint64):  # records are short, as a rule
        ends: Ends = np.empty(breaks + cuts + 1, kind)
        widest = min(np.iinfo(kind).max, np.iinfo(np.int64).max)
        place = (body, begin, cut, newline, widest, starts, ends)
        records, width, verdict, line, found = kernels.scan(*place)
        if verdict != kernels.WIDE:
            break
    _require_fine(name, dialect, verdict, line, width, found)
    return starts[:records], ends[: records * width].reshape(records, width)


def _require_fine(
    name: str, dialect: Dialect, verdict: int, line: int, width: int, found: int
) -> None:
    reasons = {
        kernels.RAGGED: f"has {counted(found, 'field')}, the header has {width} (delimiter "
        f"{dialect.delimiter!r}; another one can be given with --delimiter)"
        + "; if line 1 is a title and names no columns, delete it"
        * (width == 1),
        kernels.UNCLOSED: "opens a quoted field that never ends",
        kernels.AFTER_QUOTE: "has text behind the closing quote of a field",
        kernels.BLANK: "is blank; expected the header"
        if not width
        else "is blank, with more lines below it; delete it"
        + ", and a title above it: the first line names the columns" * (line == 2),
    }
    if verdict != kernels.FINE:
        raise InputError(f"{name}: line {line} {reasons[verdict]}")


def require_different(header: Iterable[str], name: str) -> None:
    """Raise when a column name occurs twice."""
    twice = [column for column, times in Counter(header).items() if times > 1]
    if twice:
        shown = listed(twice)
        title = "; if a title or a second header stands above the names, delete it" * ("" in twice)
        raise InputError(
            f"{name}: the header has {shown} more than once; rename the columns{title}"
        )
