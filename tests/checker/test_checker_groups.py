"""Tests of proofs whose prices are those of groups of columns: honest ones, and forged ones."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from proof_samples import Forger, broken_pattern, problems, write_honest

from dial import few
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import ColumnGroup, Prices
from incrowd.bounds.support import support_prices
from incrowd.checker.verify import check
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from oracle import optimum

QUANTUM = 1000


def by_groups(instance: Instance, groups: Sequence[Sequence[int]], k: int) -> Prices:
    """Certified prices of each group, from the table of its columns."""
    found = []
    for columns in groups:
        alone, row = instance.of_columns(columns)
        tree = PrefixTree(alone)
        start, _ = support_prices(tree, k)
        sharper = PriceBound(rounds=3, iterations=30).ascend(tree, k, start.astype(np.float64))
        price = certify(tree, k, sharper, QUANTUM).price
        found.append(ColumnGroup(tuple(columns), price[row]))
    price = sum((group.price for group in found), np.zeros(instance.distinct, np.int64))
    return Prices(price, QUANTUM, groups=tuple(found))


def drawn_groups(data: st.DataObject, columns: int) -> list[list[int]]:
    """Up to three groups in any order; columns may be left out."""
    place = data.draw(st.lists(st.integers(-1, 2), min_size=columns, max_size=columns))
    groups = [[j for j in range(columns) if place[j] == number] for number in {*place} - {-1}]
    assume(groups)
    return data.draw(st.permutations(groups))


@settings(max_examples=few(30), deadline=None)
@given(problems(), st.data())
def test_honest_groups_are_accepted(problem, data) -> None:
    """Tests that prices of any groups are accepted, with a bound below the optimum."""
    instance, codes, copy, k = problem
    assume(any(tree.cost.any() for tree in instance.trees))  # else a bound says nothing
    n = len(codes)
    classes = np.minimum(np.array(data.draw(st.permutations(range(n)))) // k, n // k - 1)
    order = np.array(data.draw(st.permutations(range(n))))
    prices = by_groups(instance, drawn_groups(data, instance.columns), k)
    with TemporaryDirectory() as folder:
        paths = write_honest(Path(folder), instance, codes, copy, classes, k, prices, order)
        verdict = check(*paths)
    assert verdict.accepted, verdict.reason
    least = optimum(instance, KAnonymity(k))
    assert least is not None
    assert verdict.facts["bound"] == prices.bound(instance.counts)
    assert verdict.facts["bound"] <= least <= verdict.facts["cost"]


@settings(max_examples=few(40), deadline=None)
@given(problems(), st.data())
def test_raised_prices_are_rejected_where_they_break_a_group(problem, data) -> None:
    """Tests one price of one group raised by a little against all patterns of that group."""
    instance, codes, copy, k = problem
    n = len(codes)
    classes = np.minimum(np.arange(n) // k, n // k - 1)
    groups = drawn_groups(data, instance.columns)
    prices = by_groups(instance, groups, k)
    at, row = data.draw(st.integers(0, len(groups) - 1)), data.draw(st.integers(0, n - 1))
    by = data.draw(st.sampled_from([1, QUANTUM // 2, QUANTUM, 2 * QUANTUM]))
    with TemporaryDirectory() as honest, TemporaryDirectory() as folder:
        write_honest(Path(honest), instance, codes, copy, classes, k, prices)
        forger = Forger(Path(honest), Path(folder))
        name = f"price_{at}" if at else "price"
        forger.cell("rows.parquet", name, row, lambda p: p + by)
        raised = forger.parts["rows.parquet"][name].to_list()
        verdict = forger.save()
    trees = [instance.trees[j] for j in groups[at]]
    broken = broken_pattern(codes[:, groups[at]], raised, trees, k, QUANTUM)
    assert verdict.accepted != broken, verdict.reason


TREES = (
    Tree(
        "age", (("1", "2", "9", None), ("low", "high", "?"), ("*",)),
        np.array([[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0]], np.int32),
        np.array([[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]], np.int64),
    ),
    Tree.suppression("sex", ("f", "m", "x"), weight=2),
    Tree.suppression("zip", ("7", "8", "9"), weight=3),
)  # fmt: skip
CODES = np.array(
    [[0, 0, 0], [1, 0, 0], [0, 0, 1], [2, 1, 2], [3, 1, 2], [2, 1, 2], [1, 2, 0], [3, 1, 2]],
    np.int32,
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release and its proof by two groups, both of which prove something."""
    folder = tmp_path_factory.mktemp("groups")
    instance, copy = from_codes(CODES, TREES)
    classes = np.empty(len(CODES), np.int64)
    classes[copy] = [0, 0, 0, 1, 1, 1, 0, 1]
    prices = by_groups(instance, [[1], [0, 2]], 2)
    assert all(group.price.any() for group in prices.groups)
    write_honest(folder, instance, CODES, copy, classes, 2, prices)
    return folder


def groups(*stated: Any) -> Callable[[Forger], Any]:
    return lambda f: f.facts.__setitem__("groups", list(stated))


def stated(value: Any) -> Callable[[Forger], Any]:
    return lambda f: f.facts.__setitem__("groups", value)


def rows(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Forger], Any]:
    return lambda f: f.put("rows.parquet", change(f.parts["rows.parquet"]))


def both(one: Callable[[Forger], Any], other: Callable[[Forger], Any]) -> Callable[[Forger], Any]:
    return lambda f: (one(f), other(f))


def odd_set(f: Forger) -> None:
    f.put("sets.parquet", pl.DataFrame({"set": 0, "row": 0, "weight": 0, "modulus": 2}))


TWICE = "name one twice, or one that is not a quasi-identifier"
OTHER = "other columns than"
HIGH = "the prices of this row and others are too high"
LIST = "does not list its groups"
SENSE = "makes no sense"
FORGERIES: dict[str, tuple[Callable[[Forger], Any], str]] = {
    "a column in two groups": (groups(["sex"], ["age", "zip", "sex"]), TWICE),
    "a column twice in one group": (groups(["sex", "sex"], ["age", "zip"]), TWICE),
    "the same group twice": (groups(["age", "sex", "zip"], ["age", "sex", "zip"]), TWICE),
    "a kept column": (groups(["sex", "note"], ["age", "zip"]), TWICE),
    "a direct identifier": (groups(["sex"], ["age", "zip", "id"]), TWICE),
    "a column that is not there": (groups(["sex", "none"], ["age", "zip"]), TWICE),
    "a mark before the name": (groups(["=sex"], ["age", "zip"]), TWICE),
    "groups swapped": (groups(["age", "zip"], ["sex"]), HIGH),
    "a group without columns": (groups([], ["age", "sex", "zip"]), HIGH),
    "a column taken from its group": (groups(["sex"], ["age"]), HIGH),
    "prices swapped": (rows(lambda t: t.rename({"price": "price_1", "price_1": "price"})), OTHER),
    "prices swapped in place": (
        rows(lambda t: t.with_columns(price="price_1", price_1="price")), HIGH
    ),
    "all prices given to one group": (
        rows(lambda t: t.with_columns(pl.col("price") + pl.col("price_1"), price_1=0)), HIGH
    ),
    "no list": (stated({"sex": 1, "age": 2}), LIST),
    "text": (stated("ab"), LIST),
    "a number": (stated(2), LIST),
    "no lists in it": (groups("sex", "age"), LIST),
    "something missing in it": (groups(["sex"], None), LIST),
    "numbers for columns": (groups([1], [2]), SENSE),
    "lists for columns": (groups([["sex"]], [["age"]]), SENSE),
    "no groups": (groups(), OTHER),
    "groups left out": (lambda f: f.facts.pop("groups"), OTHER),
    "fewer groups than prices": (groups(["sex"]), OTHER),
    "more groups than prices": (groups(["sex"], ["age"], ["zip"]), OTHER),
    "prices missing": (rows(lambda t: t.drop("price_1")), OTHER),
    "prices by another name": (rows(lambda t: t.rename({"price_1": "price_2"})), OTHER),
    "prices too many": (rows(lambda t: t.with_columns(price_2=0)), OTHER),
    "prices as decimals": (rows(lambda t: t.with_columns(price_1=0.5)), "not a whole number"),
    "a price missing": (
        lambda f: f.cell("rows.parquet", "price_1", 0, lambda _: None), "has an empty cell"
    ),
    "a price that overflows": (
        lambda f: f.cell("rows.parquet", "price_1", 0, lambda _: 2**62), "exceed 64 bits"
    ),
    "odd sets beside groups": (odd_set, "no odd sets"),
    "a higher bound": (
        lambda f: f.facts.__setitem__("bound", f.facts["bound"] + 1), "the prices prove"
    ),
    "the bound of two groups for one": (
        both(groups(["age", "zip"]), rows(lambda t: t.drop("price").rename({"price_1": "price"}))),
        "the prices prove",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_groups_are_rejected(name: str, honest: Path, tmp_path: Path) -> None:
    """Tests groups and their prices changed by a forger, all hashes made to fit."""
    assert Forger(honest, tmp_path).save().accepted
    forger = Forger(honest, tmp_path)
    forge, reason = FORGERIES[name]
    forge(forger)
    verdict = forger.save()
    assert not verdict.accepted and reason in str(verdict.reason)
