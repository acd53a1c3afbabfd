"""Tests of adding rows under caps: the new rows meet them, and nobody could pay less."""

from itertools import chain, combinations, product
from math import floor

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.existing.capping import JoiningCapped
from incrowd.existing.of_table import ExtendedRelease
from partings import partitions

COLUMNS = ["a", "b"]
Row = tuple[str, ...]
Stars = tuple[int, ...]


def joins(row: Row, published: set[Row]) -> set[Stars]:
    """The stars, by column, that a row may get in a published class."""
    fits = [
        labels
        for labels in published
        if all(label in (cell, "*") for cell, label in zip(row, labels, strict=True))
    ]
    return {tuple(int(label == "*") for label in labels) for labels in fits}


def alone(rows: list[Row]) -> Stars:
    """The stars, by column, of a class of new rows."""
    return tuple(len(rows) * (len(set(column)) > 1) for column in zip(*rows, strict=True))


def added(stars: list[Stars]) -> Stars:
    """Their sum, by column."""
    return tuple(map(sum, zip((0, 0), *stars, strict=True)))


def optimum(new: list[Row], published: set[Row], k: int, most: int) -> int | None:
    """The least number of new stars, at most so many in a, by trying everything."""
    places, found = range(len(new)), []
    for apart in chain.from_iterable(combinations(places, size) for size in range(len(new) + 1)):
        rest = [joins(new[i], published) for i in places if i not in apart]
        for blocks in partitions(list(apart), k):
            own = [alone([new[i] for i in block]) for block in blocks]
            found += [added([*own, *each]) for each in product(*rest)]
    return min((sum(stars) for stars in found if stars[0] <= most), default=None)


cells, labels = st.sampled_from(["x", "y"]), st.sampled_from(["x", "y", "*"])


@settings(max_examples=few(60), deadline=None)
@given(
    st.lists(st.tuples(cells, cells), min_size=2, max_size=5),
    st.sets(st.tuples(labels, labels), min_size=1, max_size=3),
    st.sampled_from([0, 0.25, 0.5]),
    st.booleans(),
)
def test_against_everything(
    new: list[Row], published: set[Row], share: float, linked: bool
) -> None:
    """Tests bound ≤ optimum ≤ cost within the cap; what is refused as impossible is so."""
    if linked:  # classes that tear the link are joined by nobody
        published = {row for row in published if row.count("*") != 1} or {("*", "*")}
    earlier = pl.DataFrame(sorted(published) * 2, schema=COLUMNS, orient="row")
    frame = pl.DataFrame(new, schema=COLUMNS, orient="row")
    most = floor(share * len(new))
    asked = {"existing": earlier, "caps": {"a": share}, "linked": [COLUMNS] if linked else []}
    best = optimum(new, published, 2, most) if not linked else None
    try:
        release = ic.anonymize(frame, 2, **asked)
    except ic.NoLawfulReleaseError:
        assert best is None
    except ic.StoppedError:
        pass  # not found, and not proven impossible either
    else:
        stars = (release.data[earlier.height :] == "*").sum()
        assert release.verify() and stars["a"][0] <= most
        assert release.cost == stars.sum_horizontal()[0]
        if not linked:
            assert best is not None and release.lower_bound <= best <= release.cost


def test_a_cap_is_met_at_a_price() -> None:
    """Tests rows that join a dearer class to keep the capped column, and what is refused."""
    earlier = pl.DataFrame({"a": ["*", "1"] * 5, "b": ["1", "*"] * 5, "c": ["1", "*"] * 5})
    new = pl.DataFrame({"a": ["1"] * 4, "b": ["1"] * 4, "c": [*"1112"]})
    free, capped = (ic.anonymize(new, 5, existing=earlier, caps=caps) for caps in ({}, {"a": 0.5}))
    assert [free.cost, free.data[10:]["a"].eq("*").sum()] == [3 * 1 + 2, 3]
    assert [capped.cost, capped.lower_bound] == [2 * 1 + 2 + 2, 6]
    with pytest.raises(
        ic.NoLawfulReleaseError, match=r"'b' at most 10.00%.*changes 25.00% or more"
    ):
        ic.anonymize(new, 5, existing=earlier, caps={"b": 0.1})
    with pytest.raises(ic.OutOfScopeError, match="rows with 'c' = '1' is not served with existing"):
        ic.anonymize(new, 5, existing=earlier, caps=[{"column": "c", "value": "1", "share": 0.1}])


def test_a_cap_holds_for_what_is_published() -> None:
    """Tests rows held back, whose leaving makes a cap tighter."""
    earlier = pl.DataFrame({"a": [*"****"], "b": [*"11**"], "s": [*"xyxy"]})
    new = pl.DataFrame({"a": [*"111123"], "b": [*"222211"], "s": [*"xyxyxy"]})
    asked = {"k": 2, "sensitive": "s", "existing": earlier, "hold_back": True, "caps": {"a": 0.34}}
    release = ic.anonymize(new, **asked)
    assert isinstance(release, ExtendedRelease) and release.verify() and not len(release.held)
    with pytest.raises(ic.NoLawfulReleaseError, match=r"'a' at most 34.00%.*changes 100.00%"):
        ic.anonymize(new.with_columns(s=pl.Series([*"xxxxxy"])), **asked)


def test_no_bound_counts_cells_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a cap's price claims nothing of cells that read like their class's interval."""
    rows = [(n, b) for b in "xyzw" for n in ("1", "1.0")]
    rows += [(n, b) for b in "uv" for n in ("2", "3")]
    earlier = pl.DataFrame([("1", "q")] * 2 + [("3", "q")] * 2, COLUMNS, orient="row")
    made: list[JoiningCapped] = []
    start = JoiningCapped.__init__
    monkeypatch.setattr(
        JoiningCapped, "__init__", lambda new, *given: (made.append(new), start(new, *given))[1]
    )
    ic.anonymize(
        pl.DataFrame(rows, COLUMNS, orient="row"),
        2, existing=earlier, hierarchies={"a": "range"}, weights={"b": 1.5}, caps={"a": "1/3"},
    )  # fmt: skip
    # four of the numbers that are written twice change, and no other: the rest is by stars of b
    (joining,) = made
    assert joining.bound() <= 4 * joining.instance.trees[1].dearest
