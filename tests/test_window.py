"""Windows of a release: the same cells as in the whole tables, whatever is chosen."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.errors import InputError

CELLS = st.sampled_from(["a", "b", None])


@settings(max_examples=few(40))
@given(st.data())
def test_windows_are_cut_out_of_the_whole(data: st.DataObject):
    """Tests every choice against the released frame, in kept and in shuffled order."""
    rows = data.draw(st.integers(2, 9))
    texts = st.lists(CELLS, min_size=rows, max_size=rows)
    frame = pl.DataFrame(
        {"id": [str(i) for i in range(rows)], **{c: data.draw(texts) for c in "xyz"}},
        schema=dict.fromkeys(["id", *"xyz"], pl.String),
    )
    order = data.draw(st.sampled_from(["keep", "shuffle"]))
    release = ic.anonymize(frame, k=2, id="id", keep="z", order=order)
    after = release.data if order == "keep" else release.data[inverse(release.edit.order)]
    before = frame.select("x", "y", "z").rows()
    new = after.rows()
    touched = [i for i in range(rows) if before[i] != new[i]]
    in_x = [i for i in range(rows) if before[i][0] != new[i][0]]
    whole = release.window(0, rows + 5)
    assert whole.columns == ("x", "y", "z")
    assert list(whole.before) == before and list(whole.after) == new
    assert list(release.window(0, 99, changed=True).rows) == touched
    assert list(release.window(0, 99, changed="x").rows) == in_x
    value = data.draw(CELLS)
    assert list(release.window(0, 99, where=("x", value)).rows) == [
        i for i in range(rows) if before[i][0] == value
    ]
    start, count = data.draw(st.integers(0, rows)), data.draw(st.integers(0, rows))
    part = release.window(start, count)
    assert part.rows == whole.rows[start : start + count] and part.total == rows
    for number, size in zip(whole.classes, whole.sizes, strict=True):
        members = release.window(0, 99, of_class=number)
        assert members.total == size == len({*members.rows})
        assert len({cells[:2] for cells in members.after}) == 1


def inverse(order):
    """The place of each original row in the release."""
    place = [0] * len(order)
    for released, original in enumerate(order.tolist()):
        place[original] = released
    return place


def test_what_is_no_window():
    """Tests the refusals."""
    release = ic.anonymize(pl.DataFrame({"a": ["x", "x"]}), k=2)
    with pytest.raises(InputError, match="from 0 on"):
        release.window(-1, 2)
    with pytest.raises(InputError, match="'b'"):
        release.window(where=("b", "x"))
