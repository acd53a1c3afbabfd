"""Tests that the re-check accepts a true release and names the place of each violation."""

import numpy as np
import polars as pl
import pytest

from incrowd.checker.ladder import validated
from incrowd.checker.recheck import classes_of, recheck
from incrowd.checker.rejection import RejectedError
from incrowd.errors import VerificationError
from incrowd.hierarchy.tree import Tree
from incrowd.published.ladders import ladders_of

AGE = Tree(
    "age",
    (("1", "2", "9", None), ("low", "high", None), ("*",)),
    np.array([[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0]], np.int32),
    np.array([[0, 0, 0, 0], [1, 1, 0, 0], [2, 2, 2, 2]], np.int64),
)
SEX = Tree.suppression("sex", ("f", "m"), weight=3)
LADDERS = ladders_of((AGE, SEX))
ORIGINAL = pl.DataFrame({"age": ["1", "2", "9", None, None], "sex": ["f", "f", "m", "m", "f"]})
RELEASED = pl.DataFrame(
    {"age": ["low", "low", "*", "*", "*"], "sex": ["f", "f", "*", "*", "*"]},
)
COST = 2 * 1 + 3 * (2 + 3)


def change(column: str, row: int, value: str | None) -> pl.DataFrame:
    """Return the honest release with one cell changed."""
    cells = RELEASED[column].to_list()
    cells[row] = value
    return RELEASED.with_columns(pl.Series(column, cells, dtype=pl.String))


def test_accepts_and_numbers_classes() -> None:
    """Tests that an honest release passes and its classes are numbered by appearance."""
    assert recheck(ORIGINAL, RELEASED, LADDERS, 2, COST).tolist() == [0, 0, 1, 1, 1]


def test_accepts_shuffled() -> None:
    """Tests that a row map explains a shuffled release."""
    origin = np.array([3, 0, 4, 1, 2])
    recheck(ORIGINAL, RELEASED[origin.tolist()], LADDERS, 2, COST, origin=origin)
    with pytest.raises(RejectedError):
        recheck(ORIGINAL, RELEASED[origin.tolist()], LADDERS, 2, COST)


@pytest.mark.parametrize(
    ("release", "row", "column"),
    [
        (change("age", 1, "high"), 2, "age"),  # the ancestor of another value
        (change("age", 1, None), 2, "age"),  # missing is a value, not a star
        (change("age", 3, "None"), 4, "age"),  # nor is its name
        (change("age", 0, "1"), 1, None),  # true, but alone in its class
        (change("sex", 4, "m"), 5, "sex"),
        (RELEASED[:4], None, None),
        (RELEASED.drop("sex"), None, "sex"),
    ],
)
def test_names_the_place(release: pl.DataFrame, row: int | None, column: str | None) -> None:
    """Tests that the first violation is named by row and column."""
    with pytest.raises(RejectedError) as caught:
        recheck(ORIGINAL, release, LADDERS, 2, COST)
    assert (caught.value.row, caught.value.column) == (row, column)


def test_all_star_class_counts_too() -> None:
    """Tests that the fully suppressed class must have k rows as well."""
    with pytest.raises(RejectedError, match="fewer than k = 3"):
        recheck(ORIGINAL[:2], pl.DataFrame({"age": ["*"] * 2, "sex": ["*"] * 2}), LADDERS, 3, 10)


@pytest.mark.parametrize("wrong", [COST - 1, COST + 1, 0])
def test_cost(wrong: int) -> None:
    """Tests that the claimed cost must be the cost."""
    with pytest.raises(RejectedError, match="costs 17"):
        recheck(ORIGINAL, RELEASED, LADDERS, 2, wrong)


@pytest.mark.parametrize(
    "origin", [[0, 1, 2, 3], [0, 1, 2, 3, 3], [0, 1, 2, 3, 5], [0, 1, 2, 3, -1]]
)
def test_row_map_must_be_a_permutation(origin: list[int]) -> None:
    """Tests that a row map that loses or doubles a row is rejected."""
    with pytest.raises(RejectedError, match="row map"):
        recheck(ORIGINAL, RELEASED, LADDERS, 2, COST, origin=np.array(origin))


def test_empty_table() -> None:
    """Tests that the empty table is its own release."""
    assert len(recheck(ORIGINAL[:0], RELEASED[:0], LADDERS, 2, 0)) == 0


BROKEN = {
    "cost falls": (("age", 2, 2, "cost", 0), "falls|two costs"),
    "two costs for one node": (("age", 2, 1, "cost", 2), "two costs"),
    "leaf costs more than its group": (("age", 2, 0, "cost", 9), "falls"),
    "leaf is not itself": (("age", 2, 0, "label", "x"), "value itself"),
    "two roots": (("age", 2, 2, "label", "x"), "root"),
    "two meanings of a label": (("age", 9, 1, "label", "2"), "two different nodes"),
    "negative cost": (("sex", 0, 1, "cost", -1), "below 0"),
    "huge cost": (("sex", 0, 1, "cost", 2**50), "2\\^40|two costs"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_ladders(name: str) -> None:
    """Tests that a ladder that is no tree with monotone costs is rejected."""
    (column, leaf, level, field, value), message = BROKEN[name]
    ladder = LADDERS[column]
    leaf = str(leaf) if column == "age" else ["f", "m"][int(leaf)]
    here = (pl.col("leaf") == leaf) & (pl.col("level") == level)
    broken = ladder.with_columns(pl.when(here).then(pl.lit(value)).otherwise(field).alias(field))
    with pytest.raises(RejectedError, match=message) as caught:
        validated(broken, column)
    assert caught.value.column == column


def rungs_of(*paths: tuple[str, ...], costs: tuple[int, ...] = (0, 1, 2, 3)) -> pl.DataFrame:
    """A ladder from each value's labels, level by level."""
    steps = [(path[0], i, label, costs[i]) for path in paths for i, label in enumerate(path)]
    return pl.DataFrame(steps, ["leaf", "level", "label", "cost"], orient="row")


CROOKED = {
    "two parents": (
        rungs_of(("a", "low", "p", "*"), ("b", "low", "q", "*"), ("c", "c", "c", "*")),
        "two parents",
    ),
    "values that swap places below level 0": (
        pl.DataFrame({"leaf": ["a", "b"] * 2, "level": [-1, -1, 1, 1],
                      "label": ["b", "a", "*", "*"], "cost": [0, 0, 1, 1]}),
        "start at level 0",
    ),
    "a value without a root, another with a level twice": (
        rungs_of(("a", "x", "*"), ("b", "z")).vstack(
            pl.DataFrame({"leaf": ["a"], "level": [1], "label": ["y"], "cost": [1]})
        ),
        "twice at a level",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CROOKED)
def test_ladders_that_are_no_trees(name: str) -> None:
    """Tests ladders whose costs are in order and whose labels are each of one set of values."""
    ladder, message = CROOKED[name]
    with pytest.raises(RejectedError, match=message):
        validated(ladder, "a")


def test_a_fall_so_deep_that_the_difference_wraps() -> None:
    """Tests a root that pays 2^63 to those who use it."""
    tree = Tree("a", (("1", "2"), ("low",), ("*",)), np.array([[0, 1], [0, 0], [0, 0]], np.int32),
                np.array([[0, 0], [1, 1], [-(2**63), -(2**63)]]))  # fmt: skip
    with pytest.raises(VerificationError, match="below 0"):
        ladders_of((tree,))


def enums(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the same text, each different one held once."""
    held = [pl.Enum([x for x in s.unique().to_list() if x is not None]) for s in frame]
    return frame.with_columns(pl.col(s.name).cast(k) for s, k in zip(frame, held, strict=True))


def test_text_in_few_words() -> None:
    """Tests that Enum columns are text like any other, each with categories of its own."""
    classes = recheck(enums(ORIGINAL), enums(RELEASED), LADDERS, 2, COST)
    assert classes.tolist() == [0, 0, 1, 1, 1]
    with pytest.raises(RejectedError) as caught:
        recheck(enums(ORIGINAL), enums(change("age", 1, "high")), LADDERS, 2, COST)
    assert (caught.value.row, caught.value.column) == (2, "age")


def test_classes_that_differ_in_one_of_many_columns() -> None:
    """Tests columns of four numbers each: behind 32 others a number leaves 64 bits whole."""
    kind = pl.Enum(["x", "y", "z"])
    alike, apart = (pl.Series(["x", cell, "x", "z"], dtype=kind) for cell in "xz")
    for one in range(40):
        frame = pl.DataFrame({str(j): apart if j == one else alike for j in range(40)})
        assert classes_of(frame, frame.columns).tolist() == [0, 1, 0, 2]


def test_classes_of_many_columns() -> None:
    """Tests classes of rows that no single integer can number column by column."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 50, (30, 40))
    rows = rng.integers(0, 30, 400)
    frame = pl.DataFrame(
        {str(j): pl.Series(kinds[rows, j]).cast(pl.String) for j in range(40)}
    ).with_columns(pl.when(pl.col("3") == "7").then(None).otherwise(pl.col("3")).alias("3"))
    expected = {row: i for i, row in enumerate(dict.fromkeys(frame.rows()))}
    found = classes_of(frame, frame.columns)
    assert found.tolist() == [expected[row] for row in frame.rows()]
    assert classes_of(enums(frame), frame.columns).tolist() == found.tolist()
