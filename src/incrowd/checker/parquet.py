"""What a Parquet file says of its own size, read before any of it is inflated.

A few bytes can say that they are gigabytes: compressed zeros, a run of equal values, or a size
that is nowhere.  Walked here are the file's footer and the header of every page, in Thrift's
compact protocol (https://github.com/apache/parquet-format).
"""

from collections.abc import Iterator
from typing import Any

from incrowd.checker.rejection import require

INFLATED = "is larger than it can be, once it is inflated"
SMALL, FOLD, CELL = 1 << 26, 64, 1 << 10  # bytes; times the file's size; bytes of a mean cell
HEADER = 1 << 16  # bytes of a page's header that are looked at first
FOOTER, FLAT = 1 << 24, 1 << 20  # most bytes of a footer, and of that of a table in a proof
DATA, INDEX, DICTIONARY, DATA_2 = range(4)


def rows_of(data: bytes) -> int:
    """Return how many rows the footer says there are."""
    return int(footer(data)[3])


def require_moderate(data: bytes, rows: int, name: str, flat: bool = True) -> None:
    """Reject a file that says it holds more than ``rows`` rows, or much more than they need.

    ``flat``: no column holds lists.

    Raises
    ------
    IndexError, KeyError, TypeError, ValueError: it is no Parquet file.
    """
    facts = footer(data, FLAT if flat else FOOTER)
    groups = facts.get(4, [])
    require(0 <= facts[3] <= rows, f"{name} has more rows than the table calls for")
    fine = all(group[3] >= 0 for group in groups)
    require(fine and sum(group[3] for group in groups) == facts[3], f"{name} says two row counts")
    size = cells = seen = 0
    for group in groups:
        for column in group[1]:
            chunk = column[3]
            require(1 not in column and not {8, 9} & {*column}, f"{name} is encrypted or elsewhere")
            require(not flat or chunk[5] == group[3], f"{name} says two row counts")
            values = 0
            for kind, page, inner, _ in pages(data, chunk):
                seen += 1
                whole = chunk.get(4, 0) != 0 or page[2] == page[3]
                require(page[2] >= 0 and whole, f"{name} {INFLATED}")
                size += page[2]
                if kind in (DATA, DATA_2):
                    values += inner[1]
                else:  # each of them has a byte at least, or a bit
                    require(0 <= inner.get(1, 0) <= 8 * page[2], f"{name} {INFLATED}")
            require(values == chunk[5] >= 0, f"{name} says two numbers of values")
            cells += values
            require(seen <= cells + 2 * len(groups) * len(group[1]), f"{name} {INFLATED}")
    most = max(SMALL + CELL * facts[3] * max(1, len(facts[2]) - 1), FOLD * len(data))
    require(size <= most and cells <= most, f"{name} {INFLATED}")


def footer(data: bytes, most: int = FOOTER) -> Any:
    """Return the file's metadata, of so many bytes at most: field number → value."""
    length = int.from_bytes(data[-8:-4], "little")
    require(length <= most or length > len(data), f"a table {INFLATED}")
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1" or length > len(data) - 12:
        raise ValueError("no footer")
    return Compact(data[-8 - length : -8]).struct()


def pages(data: bytes, chunk: Any) -> Iterator[tuple[int, Any, Any, slice]]:
    """Yield kind, header, inner header and place of each page of a column chunk."""
    at = chunk.get(11, chunk[9])
    end = at + chunk[7]
    first = chunk[9] if chunk[5] else at  # of no value, which some writers say is nowhere
    if not chunk[5] and not chunk[7]:
        return
    if not 4 <= at <= first or not at <= end <= len(data):
        raise ValueError("pages are nowhere")
    while at < end:
        reader = Compact(data[at : min(end, at + HEADER)])
        try:
            header = reader.struct()
        except IndexError:
            reader = Compact(data[at:end])
            header = reader.struct()
        kind = header[1]
        inner = header[{DATA: 5, INDEX: 6, DICTIONARY: 7, DATA_2: 8}[kind]]
        begin = at + reader.at
        at = begin + header[3]
        yield kind, header, inner, slice(begin, at)
        if header[3] < 0 or at > end:
            raise ValueError("a page ends nowhere")


class Compact:
    """Reads values of Thrift's compact protocol one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def byte(self) -> int:
        """Return the next byte."""
        self.at += 1
        return self._data[self.at - 1]

    def varint(self) -> int:
        """Return a whole number without sign, seven bits a byte."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number too long")

    def signed(self) -> int:
        """Return a whole number."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self) -> Any:
        """Return a struct's fields by number; no field may stand twice."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.signed()
            if number in fields:
                raise ValueError("a field stands twice")
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self.value(kind)
        return fields

    def value(self, kind: int) -> Any:
        """Return a value of a kind; a truth value within a list is a byte."""
        if kind in (1, 2, 3):
            return self.byte()
        if kind in (4, 5, 6):
            return self.signed()
        if kind in (7, 8):
            length = 8 if kind == 7 else self.varint()
            self.at += length
            if self.at > len(self._data):
                raise IndexError
            return self._data[self.at - length : self.at]
        if kind in (9, 10):
            head = self.byte()
            return [
                self.value(head & 15) for _ in range(self.varint() if head > 239 else head >> 4)
            ]
        if kind == 12:
            return self.struct()
        raise ValueError("an unknown kind")
