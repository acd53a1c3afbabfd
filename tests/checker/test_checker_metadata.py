"""Tests that what a Parquet or Arrow file claims of its cells is refused or changes none of them.

Each lie is one that some reader could believe: counts, least and largest values, orders, indexes of
pages, types in a second place, dictionaries.  A seed says which, where, and what is said instead.
"""

import io
import random
from typing import Any

import polars as pl
import pytest
from parquet_forger import BOOL, I32, LIST, STRUCT, chunks, with_footer, with_page
from parquet_lies import lie, page_lie
from polars.testing import assert_frame_equal

from dial import crossed, few
from incrowd.checker.files import as_text, read_table
from incrowd.checker.parquet import require_moderate
from incrowd.checker.rejection import RejectedError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 40
SORTED = (LIST, (STRUCT, [{1: (I32, 0), 2: (BOOL, False), 3: (BOOL, True)}]))


def table() -> pl.DataFrame:
    """Unsorted columns of several types with repeated and missing values."""
    draw = random.Random(3)
    some = {
        "number": [draw.randrange(-9, 9) for _ in range(ROWS)],
        "text": [draw.choice(["b", "a", "", None, "zz"]) for _ in range(ROWS)],
        "gaps": [draw.choice([None, 5, 4]) for _ in range(ROWS)],
        "share": [draw.choice([0.5, -1.0, None]) for _ in range(ROWS)],
        "yes": [draw.choice([True, False, None]) for _ in range(ROWS)],
        "day": [draw.choice([3, 1, None]) for _ in range(ROWS)],
        "kind": [draw.choice(["x", "y", None]) for _ in range(ROWS)],
    }
    kinds = {"day": pl.Date, "kind": pl.Categorical}
    return pl.DataFrame(some).cast(kinds)  # type: ignore[arg-type]


def written(form: str) -> bytes:
    """The table as Parquet: by polars, or by pyarrow in two versions of its pages."""
    out = io.BytesIO()
    if form == "polars":
        table().write_parquet(out, row_group_size=20)
    else:
        how: dict[str, Any] = {"data_page_version": form, "write_page_index": True}
        pq.write_table(table().to_arrow(), out, row_group_size=20, **how)
    return out.getvalue()


def require_same(data: bytes, whole: pl.DataFrame) -> bool:
    """Reject, or read the very same cells; whether they were read."""
    try:
        require_moderate(data, whole.height, "it", flat=False)
        found = read_table(data, {}, released=True)
    except (RejectedError, LookupError, TypeError, ValueError):  # which the checker makes verdicts
        return False
    cells = pl.DataFrame([as_text(found[f"={c}"]).alias(c) for c in whole.columns])
    assert_frame_equal(cells, whole)
    assert not any(column.flags["SORTED_ASC"] for column in found.get_columns())
    for column in found.get_columns():
        assert column.null_count() == whole[column.name[1:]].null_count()
        assert as_text(column).n_unique() == whole[column.name[1:]].n_unique()
        assert as_text(column).max() == whole[column.name[1:]].max()
    return True


@pytest.mark.parametrize(("form", "seed"), crossed(["polars", "1.0", "2.0"], range(few(40))))
def test_claims_of_parquet_files(seed: int, form: str) -> None:
    """Tests one to three lies in the footer and in a page's header."""
    draw = random.Random(seed)
    data = written(form)
    whole = pl.DataFrame([as_text(column) for column in table().get_columns()])
    assert require_same(data, whole)
    for _ in range(draw.randrange(1, 4)):
        if draw.random() < 0.3:
            data = with_page(data, draw.randrange(7), lambda header: page_lie(draw, header))
        else:
            data = with_footer(data, lambda facts: lie(draw, facts))
        if not require_same(data, whole):
            return


def test_some_lies_are_read_and_some_are_not() -> None:
    """Tests that the fuzz above does not reject all that it makes, nor take all."""
    whole = pl.DataFrame([as_text(column) for column in table().get_columns()])
    read = []
    for seed in range(30):
        data = with_footer(written("polars"), lambda f, s=seed: lie(random.Random(s), f))
        read.append(require_same(data, whole))
    assert 5 < sum(read) < 29
    claimed = with_footer(written("polars"), lambda f: f[4][1][1][0].__setitem__(4, SORTED))
    assert chunks_of(claimed) == chunks_of(written("polars")) and require_same(claimed, whole)


def chunks_of(data: bytes) -> int:
    found: list[int] = []
    with_footer(data, lambda facts: found.append(len(chunks(facts))))
    return found[0]


def arrow_file(table: Any) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue()


def dictionary(values: list[str | None], ordered: bool = False) -> Any:
    codes = pa.array([0, 1, 2, 0, None, 1])
    return pa.DictionaryArray.from_arrays(codes, pa.array(values), ordered=ordered)


@pytest.mark.parametrize(
    "values", [["b", "b", "a"], ["b", None, "a"], ["b", "a", "c"], ["", "", ""]]
)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_dictionaries(values: list[str | None], ordered: bool, form: str) -> None:
    """Tests a value twice in a dictionary, a missing one in it, and an order that is none.

    Of a release the first two tell rows apart.
    """
    arrow = pa.table({"x": dictionary(values, ordered)})
    out = io.BytesIO()
    if form == "arrow":
        out = io.BytesIO(arrow_file(arrow))
    elif None in values:
        pytest.skip("no Parquet file has that")
    else:
        pq.write_table(arrow, out)
    if form == "arrow" and len({*values} - {None}) < len(values):  # Parquet's writer drops them
        with pytest.raises(RejectedError, match="more values"):
            read_table(out.getvalue(), {}, released=True)
    texts = as_text(read_table(out.getvalue(), {})["=x"])
    assert texts.to_list() == [values[0], values[1], values[2], values[0], None, values[1]]
    assert texts.n_unique() == len({*values, None})


def test_a_column_that_stands_twice() -> None:
    """Tests names of which readers take the first or the last."""
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    out = io.BytesIO()
    pq.write_table(twice, out)
    for data in (arrow_file(twice), out.getvalue()):
        with pytest.raises(RejectedError, match="cannot be read"):
            read_table(data, {})


@pytest.mark.parametrize("seed", range(few(60)))
def test_claims_of_arrow_files(seed: int) -> None:
    """Tests bytes of an Arrow file's metadata: reading ends in a table or in a refusal.

    Other bytes there may mean other cells, to every reader alike.
    """
    draw = random.Random(seed)
    data = bytearray(arrow_file(table().drop("kind").to_arrow()))
    start = data.index(b"\xff\xff\xff\xff")
    data[draw.randrange(start, start + 900)] = draw.choice([0, 1, 127, 128, 255])
    try:
        found = read_table(bytes(data), {}, released=True)
    except RejectedError:
        return
    assert found.width <= 7


@pytest.mark.parametrize("seed", range(few(20)))
def test_keys_of_arrow_files(seed: int) -> None:
    """Tests metadata of an Arrow schema and its fields: of pandas, polars and another schema."""
    draw = random.Random(seed)
    arrow = table().drop("kind").to_arrow()
    known = {b"pandas": b'{"index_columns": ["number"]}', b"ARROW:schema": b"AAAA"}
    known |= {b"sorted": b"true", b"_PL_ENUM_VALUES2": b"1;a", b"PARQUET:field_id": b"1"}
    some = {key: known[key] for key in draw.sample(list(known), draw.randrange(1, 5))}
    number = draw.randrange(6)
    fields = [f.with_metadata(some) if i == number else f for i, f in enumerate(arrow.schema)]
    lying = arrow.cast(pa.schema(fields, metadata=some))
    whole = pl.DataFrame([as_text(column) for column in table().drop("kind").get_columns()])
    found = read_table(arrow_file(lying), {})  # of a release most are refused
    cells = pl.DataFrame([as_text(found[f"={c}"]).alias(c) for c in whole.columns])
    assert_frame_equal(cells, whole)
