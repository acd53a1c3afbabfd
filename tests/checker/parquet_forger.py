"""Rewrites a Parquet file's footer and page headers, whatever they then say (Thrift, compact)."""

from collections.abc import Callable
from typing import Any

import incrowd.checker.parquet as plain

Fields = dict[int, tuple[int, Any]]  # number → kind, value
BOOL, BYTE, I16, I32, I64, BINARY, LIST, STRUCT = 1, 3, 4, 5, 6, 8, 9, 12


class Kinds(plain.Compact):
    """Reads as the checker does, keeping each value's kind: struct → Fields, list → (kind, [])."""

    def struct(self) -> Fields:
        """Return a struct's fields with their kinds."""
        fields: Fields = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.signed()
            kind = head & 15
            fields[number] = (1, kind == 1) if kind in (1, 2) else (kind, self.value(kind))
        return fields

    def value(self, kind: int) -> Any:
        """Return a value; a list with the kind of its members."""
        if kind in (9, 10):
            head = self.byte()
            length = self.varint() if head > 239 else head >> 4
            return head & 15, [self.value(head & 15) for _ in range(length)]
        return super().value(kind)


def varint(value: int) -> bytes:
    """Seven bits a byte."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def signed(value: int) -> bytes:
    """A whole number of 64 bits, zigzag."""
    return varint((value << 1 ^ value >> 63) & (2**64 - 1))


def written(kind: int, value: Any) -> bytes:
    """A value's bytes."""
    if kind in (4, 5, 6):
        return signed(value)
    if kind == 8:
        return varint(len(value)) + value
    if kind in (9, 10):
        inner, members = value
        head = bytes([len(members) << 4 | inner]) if len(members) < 15 else bytes([240 | inner])
        more = b"" if len(members) < 15 else varint(len(members))
        return head + more + b"".join(written(inner, member) for member in members)
    if kind == 12:
        out, last = bytearray(), 0
        for number, (sort, one) in sorted(value.items()):
            code = (1 if one else 2) if sort == 1 else sort
            step = number - last
            out += bytes([step << 4 | code]) if 0 < step < 16 else bytes([code]) + signed(number)
            out += b"" if sort == 1 else written(sort, one)
            last = number
        return bytes(out) + b"\0"
    return bytes([value]) if kind in (1, 2, 3) else bytes(value)


def with_footer(data: bytes, change: Callable[[Fields], Any]) -> bytes:
    """Return the file with its metadata changed in place by ``change``."""
    length = int.from_bytes(data[-8:-4], "little")
    facts = Kinds(data[-8 - length : -8]).struct()
    change(facts)
    footer = written(STRUCT, facts)
    return data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def with_page(data: bytes, column: int, change: Callable[[Fields], Any]) -> bytes:
    """Return the file with the first page's header of a column changed; footers made to fit."""
    chunk = plain.footer(data)[4][0][1][column][3]
    at = chunk.get(11, chunk[9])
    reader = Kinds(data[at:])
    header = reader.struct()
    change(header)
    new = written(STRUCT, header)
    more = len(new) - reader.at

    def moved(facts: Fields) -> None:
        for group in facts[4][1][1]:
            for one in group[1][1][1]:
                known = one[3][1]
                for field in (9, 11):
                    if field in known and known[field][1] > at:
                        known[field] = (I64, known[field][1] + more)
                if known[9][1] == at or known.get(11, (0, 0))[1] == at:
                    known[7] = (I64, known[7][1] + more)
                for field in (4, 5, 6, 7):
                    one.pop(field, None)  # page indexes, which lie elsewhere now

    return with_footer(data[:at] + new + data[at + reader.at :], moved)


def chunks(facts: Fields) -> list[Fields]:
    """Return the metadata of all column chunks."""
    return [one[3][1] for group in facts[4][1][1] for one in group[1][1][1]]
