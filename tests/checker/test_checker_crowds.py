"""Tests of the price inequality checked by sets of rows, against brute force over patterns."""

from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_samples import Forger, broken_pattern, coded, problems, scaled, write_honest

from dial import few
from incrowd.bounds.closed_sets import ClosedSets
from incrowd.bounds.prices import Prices
from incrowd.bounds.row_sets import MEND
from incrowd.checker import crowds, inequality, spans
from incrowd.checker.ranges import Windows
from incrowd.checker.rejection import RejectedError
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.published.ladders import ranges_of
from oracle import join_cost, optimum
from solvers.ranged_tables import ranged_tables

QUANTUM = 12


@settings(max_examples=few(50), deadline=None)
@given(problems(), st.data())
def test_any_prices(problem, data) -> None:
    """Tests that a set is found exactly where a pattern breaks the inequality, at any chunk."""
    instance, codes, _, k = problem
    most = QUANTUM * (sum(int(tree.cost.max()) for tree in instance.trees) + 1)
    price = data.draw(st.lists(st.integers(-3, most), min_size=len(codes), max_size=len(codes)))
    leaves, trees = coded(instance.trees, codes)
    mark = np.zeros(len(codes), np.int64)
    rows = inequality.merged(leaves, np.array(price), mark, scaled(trees, QUANTUM))
    with pytest.MonkeyPatch.context() as small:
        small.setattr(crowds, "CHUNK", data.draw(st.sampled_from([1, 3, 1 << 19])))
        small.setattr(crowds, "BEGINS", data.draw(st.sampled_from([1, 20, 1 << 22])))
        found = list(crowds.violations(rows, k))
    assert bool(found) == broken_pattern(codes, price, instance.trees, k, QUANTUM)
    assert all(len(at) and cost >= 0 for at, cost in found)


def by_rows(instance, k: int) -> Prices:
    """Prices that hold, none of which can be raised."""
    sets, price = ClosedSets(instance, k), np.zeros(instance.distinct, np.int64)
    most = QUANTUM * k * (1 + sum(int(tree.cost.max()) for tree in instance.trees))
    for row in range(instance.distinct):
        step = 1 << most.bit_length()
        while step := step // 2:
            price[row] += step
            if sets.run(MEND, price.copy(), QUANTUM, lambda: False):
                price[row] -= step
    return Prices(price, QUANTUM, by_rows=True)


@settings(max_examples=few(10), deadline=None)
@given(problems(), st.data())
def test_proofs_by_rows(problem, data) -> None:
    """Tests honest proofs, and prices one unit higher against all patterns."""
    instance, codes, copy, k = problem
    n = len(codes)
    classes = np.minimum(np.arange(n) // k, n // k - 1)
    row = data.draw(st.integers(0, n - 1))
    prices = by_rows(instance, k)
    with TemporaryDirectory() as honest, TemporaryDirectory() as folder:
        paths = write_honest(Path(honest), instance, codes, copy, classes, k, prices)
        verdict = check(*paths)
        forger = Forger(Path(honest), Path(folder))
        assert forger.facts["search"] == "rows"
        forger.cell("rows.parquet", "price", row, lambda p: p + 1)
        raised = forger.parts["rows.parquet"]["price"].to_list()
        forged = forger.save()
    if any(tree.cost.any() for tree in instance.trees):  # else a bound says nothing
        assert verdict.accepted, verdict.reason
        least = optimum(instance, KAnonymity(k))
        assert least is not None and verdict.facts["bound"] <= least
        assert forged.accepted != broken_pattern(codes, raised, instance.trees, k, QUANTUM)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release of 60 rows in 70 columns, and its proof by sets of rows."""
    folder = tmp_path_factory.mktemp("crowds")
    rng = np.random.default_rng(5)
    codes = (rng.random((60, 70)) < rng.random(70) / 2).astype(np.int32)
    instance, copy = from_codes(codes)
    classes = np.empty(60, np.int64)
    classes[copy] = np.arange(60) // 4
    write_honest(folder, instance, codes, copy, classes, 4, by_rows(instance, 4))
    return folder


def test_one_too_high(honest: Path, tmp_path: Path) -> None:
    """Tests prices of a wide table one unit higher: all of them are as high as can be."""
    assert Forger(honest, tmp_path).save().accepted
    forger = Forger(honest, tmp_path)
    forger.cell("rows.parquet", "price", 50, lambda p: p + 1)
    assert "too high" in str(forger.save().reason)


def test_a_higher_bound(honest: Path, tmp_path: Path) -> None:
    """Tests that the bound is what the prices prove."""
    forger = Forger(honest, tmp_path)
    forger.facts["bound"] += 1
    assert "the prices prove" in str(forger.save().reason)


def test_too_many_sets(honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a proof is refused when the steps run out, wherever that is."""
    for steps in (0, 60, 3700):
        monkeypatch.setattr(crowds, "FEW", steps - 60)
        monkeypatch.setattr(crowds, "STEPS", 1)
        assert "too many sets" in str(Forger(honest, tmp_path).save().reason)


@pytest.mark.parametrize("stated", [None, "columns", ["rows"], 1])
def test_searches_that_are_not_known(stated, honest: Path, tmp_path: Path, monkeypatch) -> None:
    """Tests that only ``rows`` means sets of rows: all else is asked by patterns."""
    monkeypatch.setattr(inequality, "STEPS", 0)
    forger = Forger(honest, tmp_path)
    forger.facts["search"] = stated
    assert "too many patterns" in str(forger.save().reason)


def test_rules_and_odd_sets_do_not_go_with_rows() -> None:
    """Tests that sets of rows are refused where they would not show every class that breaks."""
    from types import SimpleNamespace

    for facts, law, sets in (({}, None, 0), ({}, object(), 1), ({"search": "rows"}, None, 0)):
        proof = SimpleNamespace(facts=facts, sets=SimpleNamespace(height=sets))
        assert (crowds.search_of(proof, law) is crowds.violations) == bool(facts)
    for law, sets in ((object(), 0), (None, 1)):
        facts = {"search": "rows"}
        proof = SimpleNamespace(facts=facts, sets=SimpleNamespace(height=sets))
        with pytest.raises(RejectedError, match="no rules and no odd sets"):
            crowds.search_of(proof, law)


@pytest.mark.parametrize("most", [False, True])
def test_prices_by_rows_of_ranges(most: bool) -> None:
    """Tests random prices against all sets of k rows."""
    outcomes = set()
    for instance, rng in ranged_tables(200 + most, 100, (3, 9), most):
        k, n = int(rng.integers(1, 4)), instance.rows
        codes, own = instance.codes[instance.copies], ranges_of(instance.trees)
        price = rng.integers(-100, 900, n) * 1000
        if rng.random() < 0.5:  # these hold: what the cheapest set costs each row
            sets = list(combinations(range(n), k))
            price = np.array(
                [min(join_cost(instance, s) for s in sets if r in s) for r in range(n)]
            )
            price[rng.integers(n)] += rng.integers(2)  # one unit may be too much
        leaves, trees = [], []
        for j, tree in enumerate(instance.trees):
            if isinstance(tree, RangeFamily):
                trees.append(own[tree.column].windows())
                leaves.append(codes[:, j].astype(np.int64))
            else:
                one, table = coded((tree,), codes[:, [j]])
                leaves, trees = leaves + one, trees + table
        rows = inequality.merged(leaves, price, np.zeros(n, np.int64), trees)
        with pytest.MonkeyPatch.context() as small:
            small.setattr(spans, "BOX", int(rng.choice([1, 2, 16])))
            small.setattr(spans, "PARTS", int(rng.choice([2, 1 << 12])))
            small.setattr(spans, "CHUNK", int(rng.choice([1, 5, 1 << 18])))
            found = bool(list(crowds.violations(rows, k)))
        broken = any(
            price[list(some)].sum() > k * join_cost(instance, some)
            for some in combinations(range(n), k)
        )
        assert found == broken
        outcomes.add(found)
    assert outcomes == {True, False}


def interval_rows(rows: int, columns: int, price: int | None = None) -> inequality.Rows:
    """Rows of several ranges, priced each at what its join with a near row costs, or alike."""
    rng = np.random.default_rng(8)
    place = np.arange(12) * 1000
    tree = Windows(place, place, np.full(12, 11), 12_000, 12)
    code = rng.integers(0, 12, (rows, columns))
    apart = np.abs(code[:, None] - code[None]).sum(axis=2) * 1000 + 10**6 * np.eye(rows, dtype=int)
    prices = apart.min(axis=1) if price is None else np.full(rows, price)
    leaves = [*code.T]
    return inequality.merged(leaves, prices, prices * 0, [tree] * columns)


def test_near_rows_of_many_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests prices of neighbours, which hold, in a table of many boxes, and one that is raised.

    A few thousand of the pairs of rows are looked at, not all of them.
    """
    rows = interval_rows(400, 6)
    monkeypatch.setattr(spans, "MOST", 400 * 400 // 2)
    assert not list(crowds.violations(rows, 2))
    for chunk in (7, 1 << 18):
        monkeypatch.setattr(spans, "CHUNK", chunk)
        for at in (0, len(rows.price) // 2, len(rows.price) - 1):
            price = rows.price.copy()
            price[at] = 10**5
            order = np.argsort(-price, kind="stable")
            fields = (price[order], rows.mark, rows.copies[order], rows.first[order])
            raised = inequality.Rows(*fields, [leaf[order] for leaf in rows.leaf], rows.trees)
            assert list(crowds.violations(raised, 2))


def test_ranges_with_too_many_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that prices of ranges are refused in words, wherever the steps run out."""
    rows = interval_rows(40, 3, 1500)
    work = spans.Work(spans.MOST)
    monkeypatch.setattr(spans, "Work", lambda left: work)
    before = work.left
    list(crowds.violations(rows, 4))
    spent = before - work.left
    monkeypatch.undo()
    monkeypatch.setattr(spans, "MOST", spent)
    list(crowds.violations(rows, 4))
    for most in (0, spent // 3, spent // 2, spent - 1):
        monkeypatch.setattr(spans, "MOST", most)
        with pytest.raises(RejectedError, match="too many sets"):
            list(crowds.violations(rows, 4))


def test_a_proof_by_rows_of_a_wide_table_with_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests a release whose bound comes from sets of rows, and that its proof is accepted."""
    monkeypatch.setattr("incrowd.solvers.engine.pricing.affordable", lambda *_: 1000)
    rng = np.random.default_rng(7)
    columns = [f"c{j}" for j in range(18)]
    center = rng.integers(0, 30, (7, 18)) + rng.integers(0, 4, (4, 7, 18))
    pl.DataFrame(center.reshape(28, 18), columns).write_csv(tmp_path / "in.csv")
    words = ["anonymize", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), "-k", "3"]
    words += [w for name in columns for w in ("--hierarchy", f"{name}=range")]
    done = CliRunner().invoke(cli, [*words, "--proof", str(tmp_path / "p")])
    assert done.exit_code == 0, done.output
    verdict = check(tmp_path / "out.csv", tmp_path / "in.csv", tmp_path / "p")
    assert verdict.accepted and verdict.facts["bound"] > 0
    assert verdict.proof is not None and verdict.proof.facts["search"] == "rows"
