"""Changes of bytes: Parquet's metadata and pages, Arrow's metadata, ZIP headers, delimited text."""

import io
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from parquet_forger import (
    BINARY,
    I16,
    I32,
    I64,
    LIST,
    STRUCT,
    Fields,
    chunks,
    with_footer,
    with_page,
)
from parquet_lies import NUMBERS, lie, page_lie

from forging.bundle import Bundle, zipped
from forging.facts import Change
from incrowd.checker.parquet import footer

Draw = random.Random
TARGETS = ["rows.parquet", "ladders.parquet", "sets.parquet"]


def edited(draw: Draw, bundle: Bundle, name: str, edit: Callable[[Draw, bytes], bytes]) -> None:
    """Change a file's bytes; if that cannot be, it stays as it is."""
    seed = draw.random()

    def careful(data: bytes) -> bytes:
        try:
            return edit(random.Random(seed), data)
        except (LookupError, ValueError, struct.error, TypeError, pa.ArrowException):
            return data

    bundle.edits.append((name, careful))


def target(draw: Draw, bundle: Bundle, forms: list[str]) -> str | None:
    """Choose a part, or a table of one of these forms."""
    tables = [n for n in ("release", "original") if bundle.table(n).form in forms]
    return (
        draw.choice(tables or [None])
        if "parquet" not in forms
        else draw.choice([*TARGETS, *2 * tables])
    )


def footer_lie(draw: Draw, bundle: Bundle) -> None:
    """Lie in a Parquet file's footer."""
    edited(draw, bundle, str(target(draw, bundle, ["parquet"])), lied)


def lied(draw: Draw, data: bytes) -> bytes:
    """Return a Parquet file with one to three lies in its footer."""
    for _ in range(draw.randrange(1, 4)):
        change = draw.choice([lie, lie, names_lie, types_lie, places_lie, schema_lie])
        data = with_footer(data, lambda facts, change=change: change(draw, facts))
    return data


def names_lie(draw: Draw, facts: Fields) -> None:
    """Swap the names of two columns: in the schema, in the chunks, or in both."""
    schema, some = facts[2][1][1][1:], chunks(facts)
    i, j = draw.randrange(len(some)), draw.randrange(len(some))
    if draw.random() < 0.6 and len(schema) == len(some):
        schema[i][4], schema[j][4] = schema[j][4], schema[i][4]
    if draw.random() < 0.6:
        some[i][3], some[j][3] = some[j][3], some[i][3]


def types_lie(draw: Draw, facts: Fields) -> None:
    """Say another type of a column, or that its cells are all there."""
    column = draw.choice(facts[2][1][1][1:])
    number = draw.choice([1, 3, 6, 7, 8, 10])
    if number in column and draw.random() < 0.4:
        del column[number]
    elif number == 10:
        some = draw.choice([1, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14])
        inner: Any = {1: (3, draw.choice([8, 16, 32, 64])), 2: (1, True)} if some == 10 else {}
        column[10] = (STRUCT, {some: (STRUCT, inner)})
    else:
        column[number] = (I32, draw.randrange(-1, 24))


def places_lie(draw: Draw, facts: Fields) -> None:
    """Have a column's pages lie where another's are, or in another codec."""
    some = chunks(facts)
    one, two = draw.choice(some), draw.choice(some)
    for field in draw.choice([(9,), (9, 11), (9, 11, 7, 6, 5), (4,), (1,), (11,)]):
        if field in two:
            one[field] = two[field] if field not in (1, 4) else (I32, draw.randrange(9))
    if draw.random() < 0.2:
        facts[4][1][1].append(facts[4][1][1][0])
    if draw.random() < 0.2:
        one[5] = (I64, draw.choice(NUMBERS))


def schema_lie(draw: Draw, facts: Fields) -> None:
    """Have Arrow's own schema, which Parquet keeps as text, say other types of the same columns."""
    names = [element[4][1].decode("utf-8", "replace") for element in facts[2][1][1][1:]]
    kinds = [pa.string(), pa.int8(), pa.int64(), pa.uint64(), pa.float64(), pa.bool_(), pa.date32()]
    kinds += [
        pa.dictionary(pa.int8(), pa.string()),
        pa.timestamp("ns", "Asia/Kathmandu"),
        pa.null(),
        pa.binary(),
    ]
    out = io.BytesIO()
    schema = pa.schema([(name, draw.choice(kinds)) for name in names])
    pq.write_table(schema.empty_table(), out)
    text = next(pair[2] for pair in footer(out.getvalue())[5] if pair[1] == b"ARROW:schema")
    facts[5] = (LIST, (STRUCT, [{1: (BINARY, b"ARROW:schema"), 2: (BINARY, text)}]))


def pages(draw: Draw, bundle: Bundle) -> None:
    """Lie in the header of a Parquet file's page."""

    def edit(some: Draw, data: bytes) -> bytes:
        columns = len(footer(data)[4][0][1])
        return with_page(data, some.randrange(columns), lambda header: page_change(some, header))

    edited(draw, bundle, str(target(draw, bundle, ["parquet"])), edit)


def page_change(draw: Draw, header: Fields) -> None:
    """Change a page's header: its counts and statistics, or its kind, encodings and sum."""
    if draw.random() < 0.6:
        page_lie(draw, header)
        return
    inner = next(header[n][1] for n in (5, 7, 8) if n in header)
    field = draw.choice([1, 2, 3, 4, 5, 6, 7])
    if draw.random() < 0.5:
        inner[field] = (I32, draw.choice([*range(-1, 9), *NUMBERS[-3:]]))
    else:
        header[draw.choice([1, 2, 3, 4])] = (I32, draw.choice([*range(-1, 9), *NUMBERS[-3:]]))


def some_bytes(draw: Draw, bundle: Bundle) -> None:
    """Change, add, cut or repeat bytes of a table or a part."""
    names = ["release", "original", *TARGETS]
    edited(draw, bundle, draw.choice(names), scrambled)


def scrambled(draw: Draw, data: bytes) -> bytes:
    """Return other bytes."""
    at, to = sorted((draw.randrange(len(data) + 1), draw.randrange(len(data) + 1)))
    word = struct.pack(
        draw.choice(["<i", "<q", "<I"]), draw.choice([0, 1, -1, 7, 2**20, 2**31 - 1]) % 2**31
    )
    return draw.choice(
        [
            data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :],
            data[:at] + bytes([data[at - 1] ^ 1 << draw.randrange(8)]) + data[at:] if at else data,
            data[:at], data[:at] + data[to:], data[:to] + data[at:], data + data, b"",
            data[: at // 4 * 4] + word + data[at // 4 * 4 + len(word) :],
            b"PAR1" + data, data + b"PAR1", data + b"\0" * 8,
        ]
    )  # fmt: skip


def arrow_words(draw: Draw, bundle: Bundle) -> None:
    """Change whole numbers in an Arrow file: lengths, counts of missing cells, offsets."""
    name = target(draw, bundle, ["arrow", "stream"])
    if name is None:
        bundle.table("release").form = draw.choice(["arrow", "stream"])
        name = "release"

    def edit(some: Draw, data: bytes) -> bytes:
        for _ in range(some.randrange(1, 3)):
            at = some.randrange(8, len(data) - 8) // 8 * 8
            width = some.choice(["<q", "<q", "<i", "<h", "<b"])
            known = struct.unpack_from(width, data, at)[0]
            limit = 2 ** (8 * struct.calcsize(width) - 1)
            new = some.choice([0, 1, -1, known + 1, known - 1, known * 2, 2**31, 2**40, 2**62])
            new = (new + limit) % (2 * limit) - limit
            data = data[:at] + struct.pack(width, new) + data[at + struct.calcsize(width) :]
        return data

    edited(draw, bundle, name, edit)


def text_bytes(draw: Draw, bundle: Bundle) -> None:
    """Put into delimited text what readers disagree on, or write a field in another way."""
    name = target(draw, bundle, ["csv"]) or "release"

    def edit(some: Draw, data: bytes) -> bytes:
        marks = [
            b"\r",
            b"\n",
            b"\r\n",
            b'"',
            b'""',
            b"\0",
            b" ",
            b"\xef\xbb\xbf",
            b",",
            b";",
            b"\xa0",
        ]
        marks += [
            "\u2028".encode(),
            "\x85".encode(),
            b"\x85",
            b"\x0b",
            b"\x0c",
            b"\x1c",
            b"\x1a",
            b"#",
            b"'",
            b"\\",
        ]
        lines = data.split(b"\n")
        i = some.randrange(len(lines))
        fields = lines[i].split(b",")
        j = some.randrange(len(fields))
        at = some.randrange(len(data) + 1)
        new = some.randrange(5)
        if new == 0:
            fields[j] = b'"' + fields[j] + b'"'
        elif new == 1:
            fields[j] += some.choice(marks)
        elif new == 2:
            lines.insert(i, b"")
        elif new == 3:
            return data[:at] + some.choice(marks) + data[at:]
        else:
            return data.replace(
                b"\n", some.choice([b"\r\n", b"\r", b"\n\n", b"\n\r"]), some.choice([1, -1])
            )
        if new < 2:
            lines[i] = b",".join(fields)
        return b"\n".join(lines)

    edited(draw, bundle, name, edit)


def archive(draw: Draw, bundle: Bundle) -> None:
    """Write the ZIP in another way: methods, names, order, parts twice, more of them, headers."""
    seed = draw.random()
    bundle.packed = lambda parts: repacked(random.Random(seed), parts)


def repacked(draw: Draw, parts: dict[str, bytes]) -> bytes:
    """Return a proof file that no honest writer makes."""
    entries = list(parts.items())
    kind = draw.randrange(9)
    if kind == 0:
        draw.shuffle(entries)
    elif kind == 1:
        entries.append(
            (
                draw.choice(["x", "proof.json", "../x", "rows.parquet/", "Rows.parquet", "a\0b"]),
                b"{}",
            )
        )
    elif kind == 2:
        entries.append((draw.choice(list(parts)), parts[draw.choice(list(parts))]))
    elif kind == 3:
        del entries[draw.randrange(len(entries))]
    elif kind == 4:
        a, b = draw.randrange(len(entries)), draw.randrange(len(entries))
        entries[a], entries[b] = (entries[a][0], entries[b][1]), (entries[b][0], entries[a][1])
    method = draw.choice(
        [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method if kind == 5 else zipfile.ZIP_STORED) as file:
        names: set[str] = set()
        for name, data in entries:
            if name in names:
                file.NameToInfo.pop(name, None)
            names.add(name)
            file.writestr(name, data)
        if kind == 6:
            file.comment = draw.choice([b"x", b"PK\5\6" + bytes(18), b"\0" * 100])
    data = out.getvalue()
    if kind < 7:
        return draw.choice([b"", b"", b"", b"x", zipped({})]) + data
    return with_header(draw, data)


def with_header(draw: Draw, data: bytes) -> bytes:
    """Return a ZIP file with numbers of a header changed."""
    magic = draw.choice([b"PK\3\4", b"PK\1\2", b"PK\5\6"])
    starts = [i for i in range(len(data)) if data.startswith(magic, i)]
    at = draw.choice(starts) + draw.randrange(4, 30)
    width = draw.choice(["<H", "<I"])
    new = draw.choice([0, 1, 8, 9, 12, 14, 99, 2**15, 2**16 - 1, 2**32 - 1, len(data)])
    word = struct.pack(width, new % 2 ** (8 * struct.calcsize(width)))
    return data[:at] + word + data[at + len(word) :]


CHANGES: dict[str, Change] = {
    "Parquet's footer": footer_lie,
    "Parquet's pages": pages,
    "bytes of a table or part": some_bytes,
    "Arrow's numbers": arrow_words,
    "delimited text": text_bytes,
    "ZIP": archive,
}
assert I16
