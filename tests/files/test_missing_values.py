"""Tests that what stands under missing cells of an original is in no release."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import incrowd as ic
from incrowd.tables.released import fresh

MASK = pa.py_buffer(bytes([0b0101]))  # every other cell is missing
NUMBER, BYTES = 7_777_777, (7_777_777).to_bytes(8, "little")
INTS = pa.array([1, NUMBER, 1, NUMBER])
PLAIN = pa.Array.from_buffers(pa.int64(), 4, [MASK, INTS.buffers()[1]])
STRUCT = pa.Array.from_buffers(pa.struct([("n", pa.int64())]), 4, [MASK], children=[INTS])
ENDS = pa.array([0, 1, 2, 3, 4], pa.int64()).buffers()[1]
LIST = pa.Array.from_buffers(pa.large_list(pa.int64()), 4, [MASK, ENDS], children=[INTS])


def in_arrow(frame: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.write_ipc(out)
    return out.getvalue()


@pytest.mark.parametrize("cells", [PLAIN, STRUCT, LIST], ids=["plain", "struct", "list"])
def test_fresh_cells_hold_nothing_of_missing_ones(cells: pa.Array):
    series = pl.Series("^a$", pl.from_arrow(cells))
    made = fresh(series)
    assert BYTES in in_arrow(series.to_frame())
    assert BYTES not in in_arrow(made.to_frame())
    assert made.name == "^a$" and made.equals(series, null_equal=True)


def test_structs_of_no_column_stay():
    series = pl.Series("a", [{}, None], dtype=pl.Struct([]))
    assert fresh(series).equals(series, null_equal=True)


def test_release_holds_nothing_of_missing_cells():
    wage = pl.Series("wage", pl.from_arrow(PLAIN))
    frame = pl.DataFrame({"age": [34, 34, 36, 36], "wage": wage})
    release = ic.anonymize(frame, 2, qi=["age"], keep=["wage"])
    assert BYTES in in_arrow(frame)
    assert BYTES not in in_arrow(release.data)


def kept_as(kind: str) -> object:
    """Return the column as a program holds it that hides cells by a mask."""
    if kind == "pandas, numbers":
        hidden = np.array([False, True, False, True])
        return pd.Series(pd.arrays.IntegerArray(INTS.to_numpy().copy(), hidden))
    array = {"struct": STRUCT, "list": LIST}.get(kind, PLAIN)
    return pd.Series(pd.arrays.ArrowExtensionArray(array)) if "pandas" in kind else array


@pytest.mark.parametrize("order", ["keep", "shuffle"])
@pytest.mark.parametrize("kind", ["plain", "struct", "list", "pandas", "pandas, numbers"])
def test_no_frame_holds_anything_of_missing_cells(kind: str, order: str):
    columns = {"age": [34, 34, 36, 36], "^a$": kept_as(kind)}
    frame = pd.DataFrame(columns) if "pandas" in kind else pa.table(columns)
    released = ic.anonymize(frame, 2, qi=["age"], keep=["^a$"], order=order, seed=1).data
    tables = [pa.table(x) if "pandas" in kind else x for x in (frame, released)]
    before, after = (in_ipc(table) for table in tables)
    assert BYTES in before
    assert BYTES not in after
    cells = released["^a$"]
    assert cells.isna().sum() == 2 if "pandas" in kind else cells.null_count == 2
    assert (
        cells.dtype == frame["^a$"].dtype if "pandas" in kind else cells.type == columns["^a$"].type
    )


def in_ipc(table: pa.Table) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.large_binary()])
def test_a_slice_shares_no_memory_with_other_rows(kind: pa.DataType):
    texts = [f"a text longer than a view holds, {i}" for i in range(6)]
    cells = pa.array(texts).cast(kind).slice(1, 4)
    frame = pa.table({"age": [34, 34, 36, 36], "text": cells})
    made = ic.anonymize(frame, 2, qi=["age"], keep=["text"]).data["text"]
    held = b"".join(b.to_pybytes() for c in made.chunks for b in c.buffers() if b is not None)
    assert texts[1].encode() in held
    assert texts[0].encode() not in held
