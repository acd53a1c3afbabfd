"""Tests of combinations of columns with a k of their own: search and bounds against brute force."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from dial import few
from incrowd.combinations import solving
from incrowd.combinations.bound import MOST_OF_ALL, least, rows_least
from incrowd.combinations.cells import Cells, Crowd
from incrowd.combinations.solving import improved, raised
from incrowd.errors import InputError, NoLawfulReleaseError, OutOfScopeError
from incrowd.hierarchy.tree import Tree
from incrowd.policy.protect import telling
from incrowd.privacy.combination import Combination
from incrowd.problem.instance import from_codes
from incrowd.run.stop import Stop

DEEP = Tree(
    "a",
    (("0", "1", "2"), ("low", "high"), ("*",)),
    np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]], np.int32),
    np.array([[0, 0, 0], [1, 1, 1], [3, 3, 3]], np.int64),
)


def tables(seed: int, rows: int, columns: int, deep: bool) -> tuple[Cells, tuple[Crowd, ...]]:
    """Return a random table with two or three random combinations."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (rows, columns)).astype(np.int32)
    trees = [DEEP if deep and j == 0 else Tree.suppression(f"c{j}", ("0", "1", "2"), 1 + j % 2)
             for j in range(columns)]  # fmt: skip
    instance, _ = from_codes(codes, tuple(trees))
    crowds = []
    for _ in range(int(rng.integers(1, 4))):
        size = int(rng.integers(1, columns + 1))
        mine = tuple(sorted(rng.choice(columns, size, replace=False).tolist()))
        if mine not in [crowd.columns for crowd in crowds]:
            crowds.append(Crowd(mine, int(rng.integers(2, 4))))
    return Cells(instance, instance.trees, tuple(crowds)), tuple(crowds)  # type: ignore[arg-type]


def paths(cells: Cells) -> list[list[list[tuple[Any, int]]]]:
    """By row and column: what the cell may show, and at what cost; written out plainly."""
    found = []
    for codes in cells.leaves.tolist():
        found.append([
            [(tree.labels[up][tree.node[up][code]], int(tree.cost[up][code]))
             for up in range(tree.levels)]
            for tree, code in zip(cells.trees, codes, strict=True)
        ])  # fmt: skip
    return found


def optimum(cells: Cells, crowds: Sequence[Crowd]) -> int:
    """Return the least cost of all choices of a level for each cell, tried one by one."""
    every = [list(product(*row)) for row in paths(cells)]
    best = 1 << 60
    for release in product(*every):
        cost = sum(price for row in release for _, price in row)
        if cost < best and all(
            min(Counter(tuple(row[j][0] for j in c.columns) for row in release).values()) >= c.k
            for c in crowds
        ):
            best = cost
    return best


@pytest.mark.parametrize("seed", range(few(24)))
def test_bound_optimum_release(seed: int) -> None:
    """Tests bound ≤ optimum ≤ release on tables small enough to try everything."""
    deep = seed % 3 == 0
    rows, columns = (4, 3) if seed % 2 and not deep else (5, 2)
    cells, crowds = tables(seed, rows, columns, deep)
    best = optimum(cells, crowds)
    known = least(cells, Stop())
    start = raised(cells, np.zeros((rows, columns), np.int8))
    assert cells.lawful(start)
    level = improved(cells, start, np.random.default_rng(seed), lambda: False, lambda cost: None)
    assert cells.lawful(level)
    cost = int(cells.costs(level).sum())
    assert cells.solution(level).cost == cost
    assert known.bound <= best <= cost <= int(cells.costs(start).sum())
    assert rows_least(cells, crowds, [MOST_OF_ALL]) <= best
    priced = known.prices.bound(cells.instance.counts)
    assert priced <= best


def test_search_and_bound_meet_often() -> None:
    """Tests that neither is worth little: a fifth of these is proven optimal, most are."""
    met = far = 0
    for seed in range(28):
        cells, crowds = tables(100 + seed, 5, 2, seed % 3 == 0)
        best = optimum(cells, crowds)
        start = raised(cells, np.zeros((5, 2), np.int8))
        level = improved(cells, start, np.random.default_rng(0), lambda: False, lambda cost: None)
        cost = int(cells.costs(level).sum())
        met += least(cells, Stop()).bound == best
        far += cost > best
    assert met >= 6 and far <= 3, (met, far)


def frame(rows: int = 200, seed: int = 0) -> pl.DataFrame:
    """A table of four columns, ages over a wide range."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "age": [str(v) for v in rng.integers(20, 60, rows)],
        "sex": [str(v) for v in rng.choice(["m", "f"], rows)],
        "zip": [f"1{v}" for v in rng.integers(0, 9, rows)],
        "job": [f"job {v}" for v in rng.geometric(0.3, rows)],
        "note": [f"n{i}" for i in range(rows)],
    })  # fmt: skip


ASKED = ["age,sex,zip:5", "age,job:3"]
QI = ["age", "sex", "zip", "job"]


def smallest(data: pl.DataFrame, columns: Sequence[str]) -> int:
    """Rows of the smallest group of rows alike."""
    return min(Counter(data.select(columns).rows()).values())


@pytest.mark.parametrize("hierarchies", [{}, {"age": "interval:5,20", "zip": "prefix:1"}])
def test_release(hierarchies: dict[str, str]) -> None:
    """Tests each combination, what is unchanged, and that the whole need not be alike."""
    data = frame(rows=60)
    release = ic.anonymize(data, protect=ASKED, qi=QI, keep="note", hierarchies=hierarchies)
    assert smallest(release.data, ["age", "sex", "zip"]) >= 5
    assert smallest(release.data, ["age", "job"]) >= 3
    assert release.smallest_groups == (
        smallest(release.data, ["age", "sex", "zip"]), smallest(release.data, ["age", "job"])
    )  # fmt: skip
    assert smallest(release.data, QI) < 5
    assert release.verify() and release.k == 1
    assert release.data["note"].to_list() == data["note"].to_list()
    whole = ic.anonymize(data, 5, qi=QI, keep="note", hierarchies=hierarchies)
    job = {name: spec for name, spec in hierarchies.items() if name == "age"}
    alone = [ic.anonymize(data, 5, qi=QI[:3], keep=["job", "note"], hierarchies=hierarchies)]
    alone += [
        ic.anonymize(data, 3, qi=["age", "job"], keep=["sex", "zip", "note"], hierarchies=job)
    ]
    strongest = max(one.lower_bound for one in alone)
    assert strongest <= release.lower_bound <= release.cost < whole.cost
    again = ic.anonymize(data, protect=ASKED, qi=QI, keep="note", hierarchies=hierarchies)
    assert again.data.equals(release.data)
    assert release.models == ("5-anonymity of age, sex, zip", "3-anonymity of age, job")


def test_beside_a_whole_k() -> None:
    """Tests that a k that is said holds for all quasi-identifiers, and one that is not does not."""
    data = frame()
    release = ic.anonymize(data, 2, protect=["age,sex:6"], qi=QI, keep="note")
    assert smallest(release.data, QI) >= 2 and smallest(release.data, ["age", "sex"]) >= 6
    assert ic.Policy(protect=["age,sex:6"]).k == 1
    assert ic.Policy(k=5, protect=["age,sex:6"]).k == 5
    assert ic.Policy().k == 5


def test_one_combination_is_its_columns_alone() -> None:
    """Tests that a single combination gets the release that its columns would get alone."""
    data = frame()
    one = ic.anonymize(data, protect="age,sex:4", qi=QI, keep="note")
    alone = ic.anonymize(data, 4, qi=["age", "sex"], keep=["zip", "job", "note"])
    assert one.cost <= alone.cost and one.lower_bound <= alone.cost
    assert alone.lower_bound <= one.lower_bound
    assert any("in no combination" in warning for warning in one.warnings)


def test_copies_and_missing_values() -> None:
    """Tests rows that repeat and missing cells."""
    data = pl.DataFrame(
        {"a": ["1", None, "1", None, "2", "1"], "b": ["x", "x", "y", "y", "x", "x"]}
    )
    release = ic.anonymize(data, protect=["a:2", "b:3"], qi=["a", "b"])
    assert smallest(release.data, ["a"]) >= 2 and smallest(release.data, ["b"]) >= 3


def test_empty_table() -> None:
    """Tests that a table without rows stays one."""
    release = ic.anonymize(pl.DataFrame({"a": [], "b": []}), protect=["a:2"])
    assert release.rows == 0 and release.verify()


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"protect": "age:0"}, InputError, "k"),
        ({"protect": "age"}, InputError, "expected COL"),
        ({"protect": "age,age:3"}, InputError, "twice"),
        ({"protect": ["age,sex:3", "sex,age:4"]}, InputError, "same columns"),
        ({"protect": "ages:3"}, InputError, "age"),
        ({"protect": [{"columns": ["age"]}]}, InputError, "lacks its k"),
        ({"protect": {("age",): 3}}, InputError, "expected COL"),
        ({"protect": "age:201"}, NoLawfulReleaseError, "201"),
        ({"protect": "age:3", "suppress_rows": 2}, InputError, "suppress_rows"),
        ({"protect": "age:3", "method": "mondrian"}, InputError, "method"),
        ({"protect": "age:3", "hierarchies": {"age": "range"}}, OutOfScopeError, "protect"),
    ],
)
def test_refused(asked: dict[str, Any], error: type[Exception], words: str) -> None:
    """Tests that what is wrong or not served is said by name."""
    with pytest.raises(error, match=words):
        ic.anonymize(frame(), qi=QI, keep="note", **asked)


def test_implied_combinations_are_left_out() -> None:
    """Tests that a combination that another implies is searched for by nobody."""
    one, two = Combination(("a", "b"), 5), Combination(("a",), 5)
    assert telling([one, two, one]) == (one,) == telling([two, one])
    assert set(telling([one, Combination(("a",), 6)])) == {one, Combination(("a",), 6)}


def test_time_limit() -> None:
    """Tests that what is there when time is up is lawful."""
    release = ic.anonymize(frame(2000), protect=ASKED, qi=QI, keep="note", time_limit=0.001)
    assert release.verify() and release.ended == "time limit"


def test_an_optimum_is_finished_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that no summary says of a proven optimum that the time limit cut it off."""
    alike = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["1", "1", "2", "2"]})
    search = solving.searched

    def until_time_is_up(cells: Any, level: Any, context: Any, bound: int) -> Any:
        found = search(cells, level, context, bound)
        context.stop.time_limit = 1e-9
        return found

    monkeypatch.setattr(solving, "searched", until_time_is_up)
    release = ic.anonymize(alike, protect=["a:2", "b:2"], time_limit=100)
    assert (release.status, release.ended) == ("optimal", "finished")


def test_measure() -> None:
    """Tests the smallest group, and the rows in groups that are too small."""
    data = frame()
    found = ic.measure(data, qi=QI, protect=ASKED)
    for one in found.combinations:
        sizes = Counter(data.select(one.columns).rows()).values()
        assert one.smallest_group == min(sizes)
        assert one.rows_below == sum(size for size in sizes if size < one.k)
    assert "age, job" in str(found)
    with pytest.raises(InputError, match="none of the measured columns"):
        ic.measure(data, qi=QI, protect="note:2")
