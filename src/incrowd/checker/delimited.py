"""Reading delimited text: as the verifier says, or as the proof says and the file itself shows.

A proof alone is not believed: with another delimiter, line end or encoding than its own, a whole
file is one long header with no row below it, in which every class is lawful.
"""

import codecs
import csv
import io
import re
from typing import Any, NamedTuple

import polars as pl

from incrowd.checker.lean import BLOCK, blocks_of, coded, few, joined
from incrowd.checker.rejection import require

MARK = "="  # before columns' names: polars has a meaning of its own for "", "*" and "^a$"
TWO_WAYS = "equal cells are written in two ways, which tells rows of a class apart"
BLANK = "blank lines stand at its end, of which each could say something"
BARE = "a line ends within a cell without quotes: other readers see other rows"
MIXED = "its lines end in several ways, which tells rows of a class apart"
DELIMITERS = (",", ";", "\t", "|")
ENDS = (b"", b"\n", b"\r\n", b"\r")
SAMPLE = 1 << 16  # characters looked at to find the delimiter
WIDE = ("utf-16", "utf-32")
# encodings that have one form for a text and no state: by the names that ``codecs.lookup`` gives
USUAL = re.compile(
    r"ascii|utf-8|iso8859|cp(125\d|437|850|852|866|874|932|949|950)$|tis-620|mac|koi8|gb|big5|"
    r"shift_jis|euc"
)
NO_ENCODING = (
    "the proof reads delimited text in an encoding that the file does not show; --encoding says it"
)
OTHERWISE = "the proof reads delimited text by another {} than the one given"
ODD = "; if the table is so, --odd-header takes it"


class Reading(NamedTuple):
    """What the verifier says of delimited files.

    Attributes
    ----------
    delimiter, encoding: None for what the proof says, as far as the files show the same.
    odd_header: whether a header may look like one that swallowed the rows.
    """

    delimiter: str | None = None
    encoding: str | None = None
    odd_header: bool = False

    def agreed(self, stated: Any) -> tuple[str, str, str]:
        """Return delimiter, line end and encoding, or reject what the proof says of them.

        Raises
        ------
        LookupError, TypeError, ValueError: the proof says what makes no sense.
        """
        known = {"delimiter": ",", "newline": "\n", "encoding": "utf-8"}
        if not {*stated} <= {*known}:
            raise ValueError("unknown key")
        delimiter, newline, encoding = (known | stated).values()
        asked = {"tab": "\t", "\\t": "\t"}.get(str(self.delimiter), self.delimiter)
        require(asked in (None, delimiter), OTHERWISE.format("delimiter"))
        usual = delimiter in DELIMITERS
        require(
            usual or asked is not None,
            f"the proof reads delimited text by {delimiter!r}; if that is right, say --delimiter",
        )
        if not usual and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
            raise ValueError("no delimiter")
        if newline not in ("\n", "\r\n", "\r"):
            raise ValueError("no line end")
        if self.encoding is not None:
            same = codecs.lookup(self.encoding).name == codecs.lookup(encoding).name
            require(same, OTHERWISE.format("encoding"))
        return delimiter, newline[-1], encoding


def read_csv(
    data: bytes,
    stated: Any,
    released: bool = False,
    reading: Reading | None = None,
    lean: bool = False,
) -> pl.DataFrame:
    """Read delimited text: an empty field is missing, a quoted empty one is empty text.

    ``stated``: what the proof says of its ``delimiter``, ``newline`` and ``encoding``.
    ``lean``: read large plain text block by block, see ``read_plain``.
    """
    reading = reading or Reading()
    delimiter, end, encoding = reading.agreed(stated)
    known = codecs.lookup(encoding).name  # before anything is decoded: some take the square of time
    usual = known.startswith(WIDE) or USUAL.match(known) is not None
    require(usual or reading.encoding is not None, NO_ENCODING)
    if lean and end == "\n" and known == "utf-8" and is_plain(data):
        return read_plain(data, delimiter, released, reading)
    text = data.decode(encoding)
    same = not released or text.encode(encoding) == data  # UTF-7 has many forms of a
    require(same, f"the release is not written as {encoding} writes it")
    if reading.encoding is None:
        require(shown(data, text, delimiter, known), NO_ENCODING)
    text = text.removeprefix("\ufeff")
    table = read_text(text.encode(), delimiter, end, released)
    if not reading.odd_header:
        by_lines = "\r" if "\r" in text and not has_feed(text, delimiter) else "\n"
        require(end == by_lines, f"the proof reads lines that end otherwise than the file's{ODD}")
        require_header(text, delimiter, end, reading.delimiter is not None)
        lines = not table.height and re.search("[\r\n]", text.rstrip("\r\n"))
        require(not lines, f"a table has several lines and no row{ODD}")
    return table


def is_plain(data: bytes) -> bool:
    """Whether a file is large, has no quotes and one kind of line ends, and a header of its own."""
    plain = len(data) > BLOCK and b'"' not in data and b"\r" not in data
    return plain and data.find(b"\n", 0, SAMPLE) >= 0


def read_plain(data: bytes, delimiter: str, released: bool, reading: Reading) -> pl.DataFrame:
    """Read plain text in UTF-8 as ``read_csv`` does, block by block, as each line is a row.

    Of UTF-8 there is nothing more to ask: a text has one form in it, and what ends fields and lines
    is nowhere else.
    """
    begin = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    if not reading.odd_header:
        start = data[begin : begin + 8 * SAMPLE].decode(errors="ignore")
        require_header(start, delimiter, "\n", reading.delimiter is not None)
    body = data.index(b"\n") + 1
    header, blocks, names, blank = data[begin:body], [], [], False
    for block in blocks_of(data, body):
        block.decode()
        if blank and delimiter.encode() in header:
            raise ValueError("a line with too few fields")
        blank = block.endswith(b"\n\n")  # of the last block they are none
        found = read_text(header + block, delimiter, "\n", released)
        names = names or [cells.name for cells in found.get_columns() if few(cells)]
        blocks.append(coded(found, names))
    return joined(blocks)


def shown(data: bytes, text: str, delimiter: str, encoding: str) -> bool:
    """Whether the bytes bear out an encoding: fields and lines end where they end in the bytes."""
    if encoding.startswith(WIDE):  # of other bytes it makes characters that end no line
        return "\0" not in text and any(end in text for end in "\r\n")
    return all(text.count(c) == data.count(c.encode()) for c in f'{delimiter}"\r\n')


def has_feed(text: str, delimiter: str) -> bool:
    """Whether an LF stands outside quotes: then it ends lines, and a CR alone does not."""
    quoted = rf'(?<![^\r\n{re.escape(delimiter)}])"[^"]*(?:""[^"]*)*"(?!")'
    return any(found[0] == "\n" for found in re.finditer(rf"{quoted}|\n", text))


def require_header(text: str, delimiter: str, end: str, given: bool) -> None:
    """Reject a header whose names hold what ends fields or lines, or control characters.

    Line ends and delimiters may stand within quotes; another delimiter may stand there as it is
    where the file itself shows the one that is used, or where the verifier says so (``given``).
    """
    fields = []
    for found in re.finditer(token_of(delimiter, end), text):
        if found[1] is None:
            raise ValueError("stray quote")
        fields.append(found[1] if found[2] == delimiter else found[1].removesuffix("\r"))
        if found[2] != delimiter:
            break
    bare = "".join(field for field in fields if field[:1] != '"')
    others = {*DELIMITERS} - {delimiter}
    fine = given or others.isdisjoint(bare) or sniffed(text) == delimiter
    require(fine, f"a header is cut by another delimiter than the one that cuts its lines{ODD}")
    inside = re.sub(r"[\t\r\n]", "", "".join(field for field in fields if field[:1] == '"'))
    control = re.search(r"[\0-\x1f\x7f]", bare.replace("\t", "") + inside)
    require(control is None, f"a column's name holds a control character{ODD}")


def sniffed(text: str) -> str:
    """Return the delimiter that cuts most records like the header, in two fields at least."""

    def score(delimiter: str) -> tuple[float, int]:
        try:
            lines = io.StringIO(text[:SAMPLE], newline="")
            widths = [len(record) for record in csv.reader(lines, delimiter=delimiter) if record]
        except csv.Error:
            return 0.0, 0
        if len(text) > SAMPLE and len(widths) > 1:
            widths.pop()
        width = widths[0] if widths else 0
        return (widths.count(width) / len(widths), width) if width > 1 else (0.0, 0)

    return max(DELIMITERS, key=score)


def token_of(delimiter: str, end: str) -> str:
    """Return the pattern of a field and what ends it; or of all that is left behind a stray quote.

    Nothing is tried twice: a file of quotes would take the square of its time.
    """
    cut, ends = re.escape(delimiter), r"\r?\n" if end == "\n" else end
    field = rf'"(?:[^"]++|"")*+"|(?:[^"{cut}{end}][^{cut}{end}]*)?'
    return rf'(?:({field})({cut}|{ends}|\Z)|"(?s:.*))'


def read_text(data: bytes, delimiter: str, end: str, released: bool) -> pl.DataFrame:
    """Read delimited text in UTF-8; ``end``: the last character of its lines."""
    inner = data.rstrip(b"\r\n") if released else b""
    first = re.match(token_of(delimiter, end).encode(), data)
    if first and first[2] == delimiter.encode():  # else a blank line is a record
        require(data[len(inner) :] in ENDS or not released, BLANK)
        data = without_blank_lines(data, end)
    plain = data.replace(b"\r\n", b"\n") if end == "\n" else data
    bare = released and end == "\r" and b'"' not in data and b"\n" in data
    require(not bare, BARE)
    if b'"' not in data and (end == "\r" or b"\r" not in plain):  # polars drops any field's last
        form = {"separator": delimiter, "eol_char": end, "quote_char": None}
        table = pl.read_csv(io.BytesIO(plain), infer_schema=False, **form)
        names = plain.partition(end.encode())[0].decode().split(delimiter)
        mixed = end == "\n" and inner.count(b"\r\n") not in (0, inner.count(b"\n"))
        require(not mixed, MIXED)
        lines = plain.count(end.encode()) + (not plain.endswith(end.encode()))
        if lines != table.height + 1:
            raise ValueError("a line is not a row")
        if plain.count(delimiter.encode()) != (len(names) - 1) * lines:
            raise ValueError("a line with too few fields")  # one with too many stops polars
        table.columns = names  # an empty name would be another one
        return table
    tokens = re.findall(token_of(delimiter, end), data.decode())
    if sum(len(text) + len(sep) for text, sep in tokens) != len(data.decode()):
        raise ValueError("stray quote")
    width = next(i for i, (_, sep) in enumerate(tokens) if sep != delimiter) + 1
    tokens = tokens[:-1]  # the last one is the empty end
    ragged = any((sep == delimiter) != (i % width > 0) for i, (_, sep) in enumerate(tokens, 1))
    if ragged or len(tokens) % width:
        raise ValueError("a line with too few or too many fields")
    fields = [_unquoted(text, sep == "\n" == end) for text, sep in tokens]
    if released:
        require_one_spelling(tokens, fields, width)
    header, columns = fields[:width], [fields[width + j :: width] for j in range(width)]
    table = pl.DataFrame({str(j): pl.Series(c, dtype=pl.String) for j, c in enumerate(columns)})
    table.columns = [name or "" for name in header]  # polars would call an empty one otherwise
    return table


def require_one_spelling(
    tokens: list[tuple[str, str]], fields: list[str | None], width: int
) -> None:
    """Reject lines that end in several ways, and texts with and without quotes in one column."""
    lines = {(text + sep).endswith("\r\n") for text, sep in tokens[width - 1 : -1 : width]}
    require(len(lines) <= 1, MIXED)
    for j in range(width):
        cells = tokens[width + j :: width]
        raw = {text.removesuffix("\r") if sep == "\n" else text for text, sep in cells}
        require(not any(text[:1] != '"' and {*text} & {*"\r\n"} for text in raw), BARE)
        require(
            len(raw) == len({*fields[width + j :: width]}),
            TWO_WAYS,
            column=f"{MARK}{fields[j] or ''}",
        )


def without_blank_lines(data: bytes, end: str) -> bytes:
    """Drop blank lines at the end of the file; carriage returns before the last are a cell's."""
    body = data.rstrip(b"\r\n" if end == "\n" else b"\r")
    kept = re.match(rb"\r*?(?=\r?\n|\Z)" if end == "\n" else b"", data[len(body) :])
    own = kept.group() if kept else b""
    return body + own + (b"\r\n" if own else end.encode())


def _unquoted(field: str, last: bool) -> str | None:
    """Return a field's text; a carriage return is part of the line's end behind the last only."""
    if field[:1] == '"':
        return field[1:-1].replace('""', '"')
    return (field.removesuffix("\r") if last else field) or None
