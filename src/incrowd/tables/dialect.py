"""How a delimited text file is written: encoding, byte order mark, delimiter, line ending."""

import codecs
import csv
import io
import re
from dataclasses import dataclass

from incrowd.errors import InputError

DELIMITERS = (",", ";", "\t", "|")
BY_NAME = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
"""What cuts the lines of a file of such a name that tells nothing else of it."""
SAMPLE = 1 << 16  # bytes looked at to guess the delimiter
BOM = codecs.BOM_UTF8
MARK = BOM.decode()


@dataclass(frozen=True)
class Dialect:
    """What the release keeps of its original's form.

    Attributes
    ----------
    delimiter: one ASCII character.
    newline: ``"\\n"``, ``"\\r\\n"`` or ``"\\r"``.
    bom: whether a UTF-8 byte order mark stands first.
    encoding: None for UTF-8, or the encoding to write back.
    """

    delimiter: str = ","
    newline: str = "\n"
    bom: bool = False
    encoding: str | None = None

    def mark(self, header: str) -> str:
        """Return what stands before a header: a byte order mark, or nothing.

        A name that begins like the mark would be read without its beginning, so it gets one, too.
        """
        return MARK if self.bom or header.startswith(MARK) else ""

    def quoted(self, text: str | None) -> str:
        """Return a cell's text as this dialect writes it: quoted only where it must be."""
        if text is None:
            return ""
        if text and not any(c in text for c in (self.delimiter, '"', "\n", "\r")):
            return text
        return '"' + text.replace('"', '""') + '"'


def as_utf8(data: bytes, encoding: str | None, name: str) -> bytes:
    """Return ``data`` as UTF-8, or say where it is not what it should be.

    Raises
    ------
    InputError: with the position of the first byte that the encoding does not allow.
    """
    if encoding is None or _is_utf8(encoding):
        require_utf8(data, name)
        return data
    try:
        return data.decode(encoding).encode("utf-8")
    except LookupError:
        raise InputError(
            f"unknown encoding {encoding!r}; for example utf-8, latin-1, cp1252, utf-16"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not {encoding}: {place_of(error)}") from None


def place_of(error: UnicodeDecodeError) -> str:
    """Say where a byte stands that an encoding does not allow: its line, and where in it.

    A character is one place, as an editor counts them; the byte's own value is not told.
    """
    before = bytes(error.object[: error.start]).decode(error.encoding, errors="replace")
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return (
        f"line {len(lines)}, character {len(lines[-1]) + 1} (byte {error.start}, counted from 0) "
        "does not belong there"
    )


def marked_encoding(data: bytes) -> str | None:
    """Return the encoding that a byte order mark names, of those wider than UTF-8; None: no mark.

    That of UTF-32 begins like that of UTF-16, so it is looked for first.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError:
        return False


def require_utf8(data: bytes, name: str) -> None:
    """Decode piece by piece, so that a large file is not held twice."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    step = 1 << 22
    done = 0
    try:
        for done in range(0, len(data), step):
            decoder.decode(data[done : done + step])
        done = len(data)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        # The decoder may have carried a few bytes over; its object ends where this piece ends.
        end = min(done + step, len(data))
        place = end - len(error.object) + error.start
        where = place_of(UnicodeDecodeError("utf-8", data, place, place + 1, error.reason))
        raise InputError(
            f"{name}: not UTF-8: {where}; if the file is in another encoding say which, for "
            "example --encoding cp1252 (Windows) or --encoding latin-1"
        ) from None


def sniff(data: bytes, delimiter: str | None, encoding: str | None, name: str) -> Dialect:
    """Find the dialect of UTF-8 ``data`` (not empty).

    Without ``delimiter``: among comma, semicolon, tab and bar the one that cuts most records of
    the beginning into as many fields as the header, at least two; a comma when none does.
    """
    if delimiter is not None:
        delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise InputError(
                f"a delimiter is one ASCII character other than a quote or line break, "
                f"not {delimiter!r}; for example ',', ';', '|' or 'tab'"
            )
    bom = data.startswith(BOM)
    sample = data[len(BOM) if bom else 0 :][:SAMPLE]
    text = sample.decode("utf-8", errors="ignore")
    if delimiter is None:
        whole = len(sample) < SAMPLE
        scores = {d: _score(text, d, whole) for d in DELIMITERS}
        best = max(DELIMITERS, key=lambda d: scores[d])
        delimiter = best if scores[best] > (0.0, 0) else ","
    written = None if encoding is None or _is_utf8(encoding) else encoding
    return Dialect(delimiter, _newline(data, delimiter), bom, written)


def _newline(data: bytes, delimiter: str) -> str:
    """The first line ending outside quotes; a lone CR is one where no LF stands outside them.

    A quote within a field, or one that never closes, is a character like others.
    """
    body = memoryview(data)[len(BOM) if data.startswith(BOM) else 0 :]
    quoted = rf'(?<![^\r\n{re.escape(delimiter)}])"[^"]*(?:""[^"]*)*"(?!")'
    ends = re.finditer(rf"{quoted}|\r?\n".encode(), body) if b"\n" in data else ()
    for found in ends:
        if found[0][-1:] == b"\n":
            return "\r\n" if len(found[0]) > 1 else "\n"
    return "\r" if b"\r" in data else "\n"


def _score(text: str, delimiter: str, whole: bool) -> tuple[float, int]:
    """Share of records with as many fields as the header, and that number; 0 without a cut."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        widths = [len(record) for record in reader if record]
    except csv.Error:
        return 0.0, 0
    if not whole and len(widths) > 1:
        widths.pop()
    if not widths or widths[0] < 2:
        return 0.0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]
