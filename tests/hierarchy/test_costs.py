"""Tests that costs are exact, share one scale, and never fall towards the root."""

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import HierarchyError, InputError
from incrowd.hierarchy import Explicit, HierarchyFile, HierarchyRows, build_trees, parse, parse_cost
from incrowd.hierarchy.costs import Number, exact

ROWS = (("a", "A", "X", "*"), ("b", "A", "X", "*"), ("c", "C", "X", "*"), ("d", "D", "Y", "*"))
SOURCES = {"q": HierarchyRows(ROWS), "age": parse("interval:5,10,20")}
VALUES: dict[str, list[str | None]] = {"q": ["d", "a", "c"], "age": ["3", "41"], "sex": ["f", "m"]}


def test_one_scale_for_all_columns() -> None:
    """Tests level costs of heights 3, 4 and 1: in units of 1/12."""
    (q, age, sex), scale = build_trees(VALUES, SOURCES)
    assert scale == 12
    assert (q.column, age.column, sex.column) == ("q", "age", "sex")
    assert q.cost[:, 0].tolist() == [0, 4, 8, 12]
    assert age.cost[:, 0].tolist() == [0, 3, 6, 9, 12]
    assert sex.cost[:, 0].tolist() == [0, 12]


def test_weights_are_exact() -> None:
    """Tests that every cost over the scale is the weight times the cost, as fractions."""
    weights: dict[str, Number] = {"q": "0.3", "age": Fraction(2, 7), "sex": 1.25}
    trees, scale = build_trees(VALUES, SOURCES, "level", weights)
    assert scale == math.lcm(3 * 10, 4 * 7, 1 * 4)  # height × the weight's denominator
    exactly = (Fraction(3, 10), Fraction(2, 7), Fraction(5, 4))
    for tree, weight in zip(trees, exactly, strict=True):
        for level, costs in enumerate(tree.cost):
            assert {Fraction(int(c), scale) for c in costs} == {weight * level / (tree.levels - 1)}


def test_level_and_stars_agree_under_suppression() -> None:
    """Tests the two on columns without hierarchies, weighted."""
    values: dict[str, list[str | None]] = {"a": ["x", None], "b": ["y"]}
    level, one = build_trees(values, weights={"a": Decimal("1.5")})
    stars, two = build_trees(values, cost="stars", weights={"a": Decimal("1.5")})
    assert one == two == 2
    assert all((x.cost == y.cost).all() for x, y in zip(level, stars, strict=True))


def test_ncp_and_stars() -> None:
    """Tests both on a tree with a singleton group."""
    (ncp,), scale = build_trees({"q": ["a", "c"]}, {"q": SOURCES["q"]}, "ncp")
    assert scale == 10**6
    assert ncp.cost.T.tolist() == [[0, 333333, 666667, 1000000], [0, 0, 666667, 1000000]]
    (stars,), scale = build_trees({"q": ["a", "c"]}, {"q": SOURCES["q"]}, "stars", {"q": 3})
    assert (stars.cost.T.tolist(), scale) == ([[0, 3, 3, 3], [0, 3, 3, 3]], 1)


def test_a_domain_of_one_loses_nothing() -> None:
    """Tests NCP where its denominator is 0."""
    (tree,), _ = build_trees({"q": ["a"]}, cost="ncp")
    assert tree.cost.tolist() == [[0], [0]]


def test_costs_by_column() -> None:
    """Tests a mapping; columns not named pay by level."""
    trees, scale = build_trees(VALUES, SOURCES, {"q": "stars", "age": parse_cost("NCP")})
    assert scale == 10**6
    assert [int(tree.cost[1].max()) for tree in trees] == [10**6, 0, 10**6]


def test_explicit_costs(tmp_path: Path) -> None:
    """Tests a file with a heading, decimals and a spare label, and the same as a mapping."""
    path = tmp_path / "costs.csv"
    path.write_text("label;cost\nA;0.25\nC;0\nD;0.5\nX;0.5\nY;0.5\n*;1.125\nspare;9\n")
    cost = parse_cost(str(path))
    (tree,), scale = build_trees({"q": ["a", "c", "d"]}, {"q": SOURCES["q"]}, cost)
    assert scale == 8
    assert tree.cost.T.tolist() == [[0, 2, 4, 9], [0, 0, 4, 9], [0, 4, 4, 9]]
    given_costs = Explicit(
        {"A": 0.25, "C": 0, "D": "0.5", "X": Fraction(1, 2), "Y": 0.5, "*": 1.125}
    )
    (same,), _ = build_trees({"q": ["a", "c", "d"]}, {"q": SOURCES["q"]}, given_costs)
    assert (same.cost == tree.cost).all()


def test_values_may_cost_something(tmp_path: Path) -> None:
    """Tests that a listed value costs what is said, also where it repeats itself."""
    path = tmp_path / "h.csv"
    path.write_text("a;A;X;*\nb;X;*\nc;X;*\n")
    costs = Explicit({"a": "0.5", "b": "0.25", "A": 1, "X": 2, "*": 3})
    (tree,), scale = build_trees({"q": ["a", "b", "c"]}, {"q": HierarchyFile(path)}, costs)
    assert scale == 4
    assert dict(zip(tree.leaves, tree.cost.T.tolist(), strict=True)) == {
        "a": [2, 4, 8, 12],
        "b": [1, 1, 8, 12],
        "c": [0, 0, 8, 12],
    }


def test_padding_is_free_under_explicit_costs(tmp_path: Path) -> None:
    """Tests that shallow leaves and missing values cost nothing until they change."""
    path = tmp_path / "h.csv"
    path.write_text("a;A;X;*\nb;X;*\n")
    costs = Explicit({"A": 1, "X": 2, "*": 3})
    (tree,), _ = build_trees({"q": ["a", "b", None]}, {"q": HierarchyFile(path)}, costs)
    assert dict(zip(tree.leaves, tree.cost.T.tolist(), strict=True)) == {
        "a": [0, 1, 2, 3],
        "b": [0, 0, 2, 3],
        None: [0, 0, 0, 3],
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "A;0.5\nX;0.2\nY;1\nC;0\nD;0\n*;1\n",
            r"line 2: a cost falls.*0\.2, less.*0\.5.*line 1",
        ),
        ("A;0.5\nX;0.7\nY;1\nC;0\nD;0\n*;0.6\n", r"line 6: a cost falls.* 0\.6, less.*line [23]"),
        (
            "A;0.5\nX;1\nY;1\n*;1\nCC;0\nD;0\n",
            r"lacks the cost of a label of.* form 'a'",
        ),
        ("A;0.5\nX;1\nY;1\nC;0\nD;0\n", r"lacks the cost of a label of .* the form '\*'"),
        ("a;0.5\nA;0.2\nX;1\nY;1\nC;0\nD;0\n*;1\n", r"line 2: a cost falls.* 0\.2, less.*line 1"),
        ("A;cheap\n*;1\n", r"line 1: the cost is not a number of 0 or more"),
        ("*;1\nA;-1\n", r"line 2: the cost is not a number of 0 or more"),
        ("A;0.1234567\n*;1\n", r"line 1: the cost .* at most six decimals"),
        ("A;1\n\nA;2\n*;1\n", r"line 3: this label has another cost further up"),
        ("A;1;2\n*;1\n", r"line 1: expected label;cost, found 3 fields"),
    ],
)
def test_broken_explicit_costs(tmp_path: Path, lines: str, message: str) -> None:
    """Tests that each broken list names file and line, and quotes no value of the column."""
    path = tmp_path / "costs.csv"
    path.write_text(lines)
    with pytest.raises(HierarchyError, match=message) as error:
        build_trees({"q": ["a", "c", "d"]}, {"q": SOURCES["q"]}, parse_cost(str(path)))
    assert "costs.csv" in str(error.value)
    assert "'c'" not in str(error.value) and "'d'" not in str(error.value)


def test_broken_costs_given_in_memory() -> None:
    """Tests that a mapping's mistakes name the form of the label."""
    for wrong, message in (
        ({"A9": -1}, "label of the form 'a9': the cost is not a number"),
        ({"A": 1, "X": 0, "*": 1}, "form 'a': a cost falls towards the root: 0, less than 1"),
    ):
        with pytest.raises(HierarchyError, match=message):
            build_trees({"q": ["a"]}, {"q": SOURCES["q"]}, Explicit(wrong))


@pytest.mark.parametrize("weight", [0, -1, "heavy", float("nan"), float("inf"), "1e-7", "0.0"])
def test_weights_that_cannot_be(weight: Number) -> None:
    """Tests that the message names the column, and what a weight may be."""
    with pytest.raises(InputError, match=r"weight of column 'sex'.*(positive|above 0)"):
        build_trees(VALUES, SOURCES, "level", {"sex": weight})


def test_names_that_are_no_columns() -> None:
    """Tests that a misspelt column is found, wherever it is named."""
    with pytest.raises(InputError, match=r"hierarchy for the column 'agee'.*did you mean 'age'"):
        build_trees(VALUES, {"agee": parse("none")})
    with pytest.raises(InputError, match=r"weight for the column 'sxe'.*did you mean 'sex'"):
        build_trees(VALUES, weights={"sxe": 2})
    with pytest.raises(InputError, match=r"cost for the column 'Q'"):
        build_trees(VALUES, cost={"Q": "ncp"})
    with pytest.raises(HierarchyError, match=r"unknown cost 'npc'; did you mean 'ncp'"):
        build_trees(VALUES, cost="npc")


def test_too_many_digits() -> None:
    """Tests that weights whose common unit does not fit are refused."""
    wild: dict[str, Number] = {"q": "0.000001", "sex": 10**9}
    with pytest.raises(InputError, match="use rounder weights"):
        build_trees(VALUES, SOURCES, "ncp", wild)


@given(st.decimals(0, 10**6, places=6))
def test_exact_reads_what_was_written(number: Decimal) -> None:
    """Tests decimals as text, as Decimal and, where short, as float."""
    assert exact(str(number)) == exact(number) == Fraction(number)
    assert exact(float(number)) == Fraction(str(float(number)))
