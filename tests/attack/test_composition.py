"""Tests of composition: two releases whose classes meet in one value."""

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from attack.worlds import drawn
from incrowd.errors import InputError

FRAME = pl.DataFrame(
    {
        "a": list("xxyy") * 10,
        "b": list("1212") * 10,
        "s": ["f", "g", "h", "f"] * 10,
    }
)
BY_A = FRAME.with_columns(b=pl.lit("*"))  # x: f, g; y: f, h
BY_B = FRAME.with_columns(a=pl.lit("*"))  # 1: f, h; 2: f, g


def test_planted():
    """Tests that x1 and y2 meet in f, x2 in f and g, y1 in f and h: half is disclosed."""
    (found,) = ic.attack(BY_A, FRAME, other=BY_B, k=2, sensitive="s", attacks="composition")
    assert (found.outcome.attack.success, found.outcome.attack.tries) == (20, 40)
    assert found.outcome.more == {"classes_known": 0.5}
    assert found.outcome.control.success == 0
    assert found.risk == 0.5


def test_the_same_release_twice():
    """Tests that nothing is gained."""
    (found,) = ic.attack(BY_A, FRAME, other=BY_A, k=2, sensitive="s", attacks="composition")
    assert found.outcome.attack.success == 0


def test_a_release_of_some_of_them_in_another_order():
    """Tests two releases of overlapping people, given as values, against sets by hand."""
    frame = drawn(300, 1, secrets=12)
    one = ic.anonymize(frame, k=3, sensitive="s", order="shuffle")
    two = ic.anonymize(frame, k=4, sensitive="s", order="shuffle")
    (found,) = ic.attack(one, other=two, attacks="composition")
    names = ["a", "b", "c", "d"]
    sets = []
    for release in (one, two):
        cells = release.data[np.argsort(release.edit.order)]
        table = cells.select(names)
        of = cells.group_by(names).agg(pl.col("s").unique().alias("v"))
        sets.append(table.join(of, on=names, how="left", maintain_order="left")["v"].to_list())
    alone = [set(a) & set(b) == {s} for a, b, s in zip(*sets, frame["s"], strict=True)]
    assert found.outcome.more["classes_known"] == pytest.approx(np.mean(alone))
    assert not found.approximate
    assert found.outcome.attack.tries == 300


def test_without_another_release():
    """Tests that it is left out, unless it is asked for by name."""
    release = ic.anonymize(drawn(60, 1), k=3, sensitive="s")
    with pytest.raises(InputError, match=r"composition: needs another release .*\(--other\)"):
        ic.attack(release, attacks="composition")
    with pytest.raises(InputError, match="the other release lacks the columns 's'"):
        ic.attack(release, other=release.data.drop("s"), attacks="composition")
    with pytest.raises(InputError, match="none of the quasi-identifiers"):
        ic.attack(release, other=release.data.select("s"), attacks="composition")
