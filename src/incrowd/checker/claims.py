"""What a Parquet file says of its cells: least and greatest ones, how many are missing or differ.

Readers show none of it, and a program that hides cells may leave it as it was.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self

import polars as pl

from incrowd.checker import parquet

VALUES, CHARACTERS = (1, 2, 5, 6), (pl.String, pl.Categorical, pl.Enum)
BROKEN = (IndexError, KeyError, TypeError, ValueError)
STEPS = (1, 1_000, 1_000_000, 86_400_000)  # polars may count time in smaller steps than a file
ZEROS = (0.0, -0.0)
FILTER = "a filter that tells which values there were (DuckDB: WRITE_BLOOM_FILTER false)"


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a file says of some cells of a column.

    Attributes
    ----------
    rows: whose cells they are: begin and end of each run, from 0.
    column, leaf: numbers of the column, and of the column within it (0 where there is none).
    """

    rows: list[tuple[int, int]] = field(default_factory=list)
    column: int = 0
    leaf: int = 0

    def moved(self, column: int, rows: int) -> Self:
        """Return it as that of another column, with so many rows of other files before it."""
        runs = [(begin + rows, end + rows) for begin, end in self.rows]
        return replace(self, column=column, rows=runs)

    def exceed(self, cells: pl.Series, plain: bool) -> bool:
        """Whether the cells show less; ``plain``: they are not those within lists or structs."""
        raise NotImplementedError


@dataclass(frozen=True)
class Claims(Said):
    """Least and greatest cells, and how many are missing or differ.

    Attributes
    ----------
    values: least and greatest ones, in the bytes of the file.
    missing: how many there are, as is said at several places; different: likewise, or None.
    length: how many bytes the texts have, as is said at several places.
    """

    values: frozenset[bytes]
    missing: frozenset[int]
    different: int | None
    length: frozenset[int]

    def exceed(self, cells: pl.Series, plain: bool) -> bool:
        """Whether the cells show less; ``plain``: they are not those within lists or structs."""
        if plain and not self.missing <= {cells.null_count()}:
            return True
        if plain and self.length and not self.length <= {length_of(cells)}:
            return True
        shown = cells.drop_nulls().unique()
        if plain and self.different not in (None, len(shown)):
            return True
        if not self.values:
            return False
        if shown.dtype.base_type() in CHARACTERS or shown.dtype == pl.Binary:
            texts = shown if shown.dtype == pl.Binary else shown.cast(pl.String).cast(pl.Binary)
            held = sorted(texts.to_list())
            return not all(begun(value, held) for value in self.values)
        forms = set(written(shown))
        return not {value.rstrip(b"\0") for value in self.values} <= forms


def begun(value: bytes, held: list[bytes]) -> bool:
    """Whether some text begins so; or so but for a last character or byte that is one less.

    Long texts are cut, the greatest one to what is greater.  ``held``: sorted.
    """
    ways = [value]
    try:
        text = value.decode()
        ways += [(text[:-1] + chr(ord(text[-1]) - 1)).encode()] if text[-1:] > "\0" else []
    except (UnicodeDecodeError, UnicodeEncodeError):
        pass
    ways += [value[:-1] + bytes([value[-1] - 1])] if value[-1:] > b"\0" else []
    places = ((way, bisect_left(held, way)) for way in ways)
    return any(at < len(held) and held[at].startswith(way) for way, at in places)


def written(cells: pl.Series) -> Iterator[bytes]:
    """Yield how cells may stand in a file, without the zeros at the end."""
    kind = cells.dtype
    if kind.is_float():
        width = {pl.Float64: 8, pl.Float32: 4}.get(kind.base_type(), 2)  # type: ignore[call-overload]
        zero = pl.Series(ZEROS, dtype=kind)
        both = pl.concat([cells.alias(""), zero]) if (cells == 0).any() else cells
        data = both.rechunk().to_numpy().tobytes()
        yield from (data[at : at + width].rstrip(b"\0") for at in range(0, len(data), width))
        return
    steps = STEPS if kind.is_temporal() else STEPS[:1]
    for number in map(int, cells.to_physical().to_list()):
        for step in steps:
            count = number // step
            for width in (4, 8):
                yield (count % (1 << 8 * width)).to_bytes(width, "little").rstrip(b"\0")
            if kind.is_decimal() or kind == pl.Int128:
                for width in range(1, 17):
                    yield (count % (1 << 8 * width)).to_bytes(width, "big").rstrip(b"\0")


def length_of(cells: pl.Series) -> int:
    """Return how many bytes the texts of a column have; −1 where it holds none."""
    if cells.dtype == pl.Binary:
        return int(cells.bin.size().cast(pl.Int64).sum())
    if cells.dtype.base_type() not in CHARACTERS:
        return -1
    return int(cells.cast(pl.String).str.len_bytes().cast(pl.Int64).sum())


def of_parquet(data: bytes) -> dict[int, list[Claims]]:
    """Return by column of the file what it says of the cells of each of its groups of rows."""
    found, row = defaultdict(list), 0
    for group in parquet.footer(data)[4]:
        end = row + group[3]
        for number, column in enumerate(group[1]):
            whole = column[3].get(12, {})
            said = [whole, *_of_pages(data, column[3])]
            values = {each[key] for each in said for key in VALUES if key in each}
            values |= set(_of_index(data, column))
            missing = {whole[3]} if 3 in whole else set()
            missing |= set(_missing(data, column))
            length = frozenset(_lengths(data, column))
            told = frozenset(values), frozenset(missing), whole.get(4), length
            found[number].append(Claims(*told, rows=[(row, end)]))
        row = end
    return found


def _of_pages(data: bytes, chunk: Any) -> Iterator[Any]:
    for kind, _, head, _ in parquet.pages(data, chunk):
        if kind in (parquet.DATA, parquet.DATA_2):
            yield head.get(5 if kind == parquet.DATA else 8, {})


def _of_index(data: bytes, column: Any) -> Iterator[bytes]:
    """Yield what the index of a column's pages says; of pages without values it is empty."""
    if index := _table(data, column, 6):
        for empty, *pair in zip(index[1], index[2], index[3], strict=True):
            yield from pair if empty not in (1, True) else filter(None, pair)


def _missing(data: bytes, column: Any) -> Iterator[int]:
    """Yield the numbers of missing cells: of pages, their index, and by how deep a cell is there.

    Of a column within no other the cells that are not there are the first of two such numbers.
    """
    heads = [(kind, head) for kind, _, head, _ in parquet.pages(data, column[3])]
    second = [head for kind, head in heads if kind == parquet.DATA_2]
    if second:
        yield sum(head[2] for head in second)
    if len(column[3][3]) == 1:
        yield from _absent(data, column)
    said = [each.get(3) for each in _of_pages(data, column[3])]
    if said and None not in said:
        yield sum(said)
    depth = column[3].get(16, {}).get(3, [])
    yield from depth[:1] if len(depth) == 2 else []
    index = _table(data, column, 6)
    yield from [sum(index[5])] if 5 in index else []
    depth = index.get(7, [])
    yield from [sum(depth[::2])] if depth and len(depth) == 2 * len(index[1]) else []


def _absent(data: bytes, column: Any) -> Iterator[int]:
    """Yield how many cells are missing by their levels, of pages of the second version.

    Polars believes the page's header where that says that none is, and other readers the levels.
    """
    pages = [page for page in parquet.pages(data, column[3]) if page[0] == parquet.DATA_2]
    missing = 0
    for _, _, head, place in pages:
        begin = place.start + head[6]
        missing += _zeros(data[begin : begin + head[5]], head[1]) if head[5] else 0
    yield from [missing] if pages else []


def _zeros(levels: bytes, cells: int) -> int:
    """Return how many of the levels, of one bit each, are 0.

    They stand in runs of equal ones, and in groups of eight, see
    https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE.
    """
    reader, zeros = parquet.Compact(levels), 0
    while cells > 0:
        run, packed = divmod(reader.varint(), 2)
        width, size = (run, min(cells, 8 * run)) if packed else (1, min(cells, run))
        bits = levels[reader.at : reader.at + width]
        if len(bits) < width:
            raise IndexError
        reader.at += width
        shown = (int.from_bytes(bits, "little") & (1 << size) - 1).bit_count() if packed else 0
        zeros += size - shown if packed or not bits[0] & 1 else 0
        cells -= size
    return zeros


def _lengths(data: bytes, column: Any) -> Iterator[int]:
    """Yield the numbers of bytes of all texts."""
    sizes = column[3].get(16, {})
    yield from [sizes[1]] if 1 in sizes else []
    places = _table(data, column, 4)
    yield from [sum(places[2])] if 2 in places else []


def _table(data: bytes, column: Any, field: int) -> Any:
    """Return the index of a column's pages (field 6), or their places (4); nothing without one."""
    if field not in column:
        return {}
    return parquet.Compact(data[column[field] : column[field] + column[field + 1]]).struct()


def between(data: bytes) -> str | None:
    """Return what a file holds beside pages, their index and what it says of itself; or None."""
    facts, held = parquet.footer(data), [(0, 4)]
    held.append((len(data) - 8 - int.from_bytes(data[-8:-4], "little"), len(data)))
    for column in (column for group in facts[4] for column in group[1]):
        chunk = column[3]
        if 14 in chunk:
            return FILTER
        begin = chunk.get(11, chunk[9])
        end = begin + chunk[7]
        held += [(begin, end), (column.get(4, 0), column.get(4, 0) + column.get(5, 0))]
        held += [(column.get(6, 0), column.get(6, 0) + column.get(7, 0))]
        reader = parquet.Compact(data[end : end + parquet.HEADER])
        with suppress(*BROKEN):  # some writers say behind a chunk what they say of it at the end
            same = reader.struct() == chunk
            held += [(end, end + reader.at)] if same else []
    at = 0
    for begin, end in sorted(held):
        if any(data[at:begin]):
            return "bytes that are of none of its pages"
        at = max(at, end)
    return None
