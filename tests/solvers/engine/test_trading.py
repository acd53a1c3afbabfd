"""Tests of the search of wide tables: near rows, classes gathered from them, classes that trade."""

from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from dial import enough
from incrowd.driver.solve import solve
from incrowd.hierarchy.costs import RULES
from incrowd.hierarchy.ranges import Ranges
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.join import join_cost
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.engine import Engine, Run
from incrowd.solvers.engine.growing import grown
from incrowd.solvers.engine.near import NEAR, Near, near_rows
from incrowd.solvers.engine.relief import submodular
from incrowd.solvers.engine.traded import FAR, even_cost
from incrowd.solvers.engine.trading import Trading
from oracle import optimum
from solvers.engine.engine_samples import (
    KINDS,
    naive_cost,
    random_table,
    random_tables,
)
from solvers.ranged_tables import ranged_tables


def apart(instance: Instance, a: int, b: int) -> int:
    """What each of two rows pays in a class of both, tree by tree."""
    total = 0
    for j, tree in enumerate(instance.trees):
        x, y = instance.codes[[a, b], j]
        level = next(lv for lv in range(tree.levels) if tree.node[lv, x] == tree.node[lv, y])
        total += int(tree.cost[level, x])
    return total


def lawful(classes: np.ndarray, k: int) -> bool:
    """Whether each class has k to 2k − 1 copies."""
    sizes = np.bincount(classes)
    return bool((sizes[sizes > 0] >= k).all() and (sizes < 2 * k).all())


@pytest.mark.parametrize("kind", KINDS)
def test_near_rows_are_as_far_as_they_say(kind: str) -> None:
    """Tests lists of different other rows, in order; most of the nearest rows are in them."""
    found = all_of = 0
    for instance, rng in random_tables(31, 12, kind, (1, 60), (1, 6)):
        near = near_rows(instance, int(rng.integers(99)), Stop())
        for r in range(instance.distinct):
            rows, far = near.rows[r], near.apart[r]
            held = rows[rows >= 0].tolist()
            assert len({*held, r}) == len(held) + 1
            assert [apart(instance, r, s) for s in held] == far[: len(held)].tolist()
            assert sorted(far.tolist()) == far.tolist()
            others = [apart(instance, r, s) for s in range(instance.distinct) if s != r]
            least = sorted(others)[:NEAR]
            found += sum(f <= least[-1] for f in far[: len(held)].tolist()) if least else 0
            all_of += len(least)
    assert found > 0.95 * all_of


def test_without_time_lists_may_be_short() -> None:
    """Tests that there are some near rows even then."""
    instance = random_table(np.random.default_rng(32), "trees", (40, 41), (4, 5))
    near = near_rows(instance, 0, Stop(time_limit=0.0))
    assert (near.rows[:, 0] >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_gathered_classes_are_lawful(kind: str) -> None:
    """Tests sizes, whatever the table and however few near rows are known."""
    for instance, rng in random_tables(33, 90, kind, (1, 40), (1, 5)):
        k = int(rng.integers(2, 7))
        if instance.rows < k:
            continue
        near = near_rows(instance, 0, Stop())
        nobody = Near(np.full_like(near.rows, -1), near.apart)
        for known in (near, nobody):
            assert lawful(grown(instance, known, k), k)
        pure = instance.counts >= k  # their first k copies stay as they are
        cost = Solution.of(instance, grown(instance, near, k)).cost
        assert cost == 0 if pure.all() and (instance.counts % k == 0).all() else cost >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_trading_keeps_classes_lawful_and_its_books(kind: str) -> None:
    """Tests that the cost it tells is that of the classes, also when it is stopped."""
    better = 0
    for instance, rng in random_tables(34, 12, kind, (4, 40), (1, 6)):
        k = int(rng.integers(2, 6))
        if instance.rows < k:
            continue
        near = near_rows(instance, 0, Stop())
        start = Solution.of(instance, grown(instance, near, k))
        told: list[int] = []
        turns = iter([False, False, True] if rng.random() < 0.3 else [False] * 9)
        trading = Trading(moves=1, least=100_000, heat=(3.0, 0.05), regroups=0.2, bisects=0.2)
        stop = partial(next, turns, True)
        end = trading.run(
            start, near, k, 1, None, stop, lambda cost, _, told=told: told.append(cost)
        )
        assert lawful(end.classes, k)
        assert len(end.classes) == instance.rows
        assert end.cost == told[-1]
        better += end.cost < start.cost
    assert better > enough(3)


def tables(kind: str, seed: int, many: int, most: bool = True) -> list[tuple[Instance, Any]]:
    """Small random tables of trees, stars or ranges."""
    if kind == "ranges":
        return [*ranged_tables(seed, many, (4, 24), values=9, most=most)]
    return [*random_tables(seed, many, kind, (4, 24), (1, 6))]


@pytest.mark.parametrize("kind", [*KINDS, "ranges"])
def test_who_joins_spares_nobody_more(kind: str) -> None:
    """Tests the claim of reliefs on classes of random rows; a widest interval may break it."""
    broken = told = 0
    for instance, rng in tables(kind, 39, 216):
        known = submodular(instance)
        told += known
        for _ in range(30):
            rows = rng.integers(0, instance.distinct, int(rng.integers(3, 6)))

            def cost(*chosen: int, codes: Any = instance.codes, trees: Any = instance) -> int:
                some = codes[[*chosen]]
                return int(join_cost(some.min(0), some.max(0), trees.tables, FAR))

            r, z, *rest = rows.tolist()
            spared = cost(*rest, z) - cost(*rest)
            fine = cost(*rest, z, r) - cost(*rest, r) <= spared
            assert fine or not known
            broken += not fine
    assert told and (broken > 0) == (kind == "ranges")


@pytest.mark.parametrize("kind", [*KINDS, "ranges"])
def test_what_reliefs_pass_over_would_not_have_been_done(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that the same classes come out where nothing is known of reliefs."""
    module = "incrowd.solvers.engine.trading.submodular"
    changed = 0
    for instance, rng in tables(kind, 40, 15):
        k = int(rng.integers(2, 5))
        if instance.rows < k:
            continue
        near = near_rows(instance, 0, Stop())
        start = Solution.of(instance, grown(instance, near, k))
        trading = Trading(moves=1, least=3_000, heat=(3.0, 0.05), regroups=0.1, bisects=0.1)
        one = trading.run(start, near, k, 1)
        with monkeypatch.context() as patch:
            patch.setattr(module, lambda instance: False)
            two = trading.run(start, near, k, 1)
        assert (one.classes == two.classes).all()
        changed += one.cost != start.cost
    assert changed > enough(5)


@pytest.mark.parametrize("kind", [*KINDS, "ranges"])
def test_hidden_columns_are_counted_only_where_all_cost_the_same(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that the same classes come out as where each column's cost is looked up."""
    counted = changed = 0
    for instance, rng in tables(kind, 41, 15):
        k = int(rng.integers(2, 5))
        if instance.rows < k:
            continue
        counted += even_cost(instance) > 0
        near = near_rows(instance, 0, Stop())
        start = Solution.of(instance, grown(instance, near, k))
        trading = Trading(moves=1, least=3_000, heat=(3.0, 0.05), regroups=0.1, bisects=0.1)
        one = trading.run(start, near, k, 1)
        with monkeypatch.context() as patch:
            patch.setattr("incrowd.solvers.engine.traded.even_cost", lambda instance: 0)
            two = trading.run(start, near, k, 1)
        assert (one.classes == two.classes).all()
        changed += one.cost != start.cost
    assert changed > enough(5)
    assert (counted > 5) == (kind == "suppression")


@pytest.mark.parametrize("kind", [*KINDS, "ranges"])
def test_wide_search_is_lawful_and_comes_near_the_optimum(kind: str) -> None:
    """Tests the engine where every table counts as too wide: at most 3 % above all optima."""
    cost = least = 0
    ranged = ranged_tables(35, 10, (3, 10), values=9)
    for instance, rng in (
        ranged if kind == "ranges" else random_tables(35, 10, kind, (3, 10), (1, 6))
    ):
        k = int(rng.integers(2, 5))
        if instance.rows < k:
            continue
        problem = Problem(instance, KAnonymity(k))
        solved = solve(problem, Engine(visits=1), Context(seed=3))
        best = optimum(instance, problem.model)
        assert best is not None
        assert solved.bound <= best <= solved.cost
        cost, least = cost + solved.cost, least + best
    assert least <= cost <= 1.03 * least


@pytest.mark.parametrize(("k", "rows"), [(3, 110), (8, 105)])
def test_wide_search_by_suppression_ends_with_blocks_of_small_classes(
    k: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests equal classes for equal seeds, bound and stages without a time limit."""
    monkeypatch.setattr("incrowd.solvers.engine.search.SMALL", 100)  # rows without blocks
    instance = random_table(np.random.default_rng(39), "suppression", (rows, rows + 1), (6, 7))
    told: list[tuple[str, int]] = []
    one, two = (
        solve(
            Problem(instance, KAnonymity(k)), Engine(visits=1),
            Context(seed=5, listener=lambda event: told.append((event.stage, event.cost))),
        )
        for _ in range(2)
    )  # fmt: skip
    assert (one.solution.classes == two.solution.classes).all() and one.bound == two.bound
    assert lawful(one.solution.classes, k) and one.bound <= one.solution.cost == naive_cost(
        one.solution
    )
    blocks = [cost for stage, cost in told if stage == "blocks of rows"]
    assert bool(blocks) == (k == 3)
    if blocks:
        assert min(blocks) <= min(cost for stage, cost in told if stage == "trading")


def test_wide_search_among_ranges_is_repeatable_and_ends_with_blocks() -> None:
    """Tests equal classes for equal seeds where blocks of rows follow trading, and the bound."""
    rng = np.random.default_rng(38)
    frame = pl.DataFrame({f"m{j}": rng.normal(0, 100, 90).round().astype(str) for j in range(3)})
    told: list[str] = []
    one, two = (
        ic.anonymize(
            frame, 3, qi=frame.columns, hierarchies=dict.fromkeys(frame.columns, "range"),
            cost="ncp", method=Engine(visits=1), seed=1,
            progress=lambda event: told.append(event.stage),
        )
        for _ in range(2)
    )  # fmt: skip
    assert "blocks of rows" in told
    assert one.data.equals(two.data) and one.lower_bound == two.lower_bound
    assert one.verify() and float(one.gap) < 0.2


def test_a_wide_table_of_ranges_end_to_end() -> None:
    """Tests a release of 60 people and twelve measurements: its texts and its bound."""
    rng = np.random.default_rng(37)
    centre = rng.normal(0, 3, (60, 1))
    cells = np.round(100 + 10 * (centre + rng.normal(0, 1, (60, 12))), 1).astype(str)
    frame = pl.DataFrame({f"m{j}": cells[:, j] for j in range(12)})
    rules = dict.fromkeys(frame.columns, "range")
    release = ic.anonymize(
        frame, 4, qi=frame.columns, hierarchies=rules, cost="ncp", method=Engine(visits=1), seed=1
    )
    assert release.method == "engine"
    assert release.verify()
    assert 0 < release.lower_bound < release.cost < 60 * 12 / 3
    assert release.data.group_by(frame.columns).len()["len"].min() >= 4


@pytest.mark.parametrize("kind", ["ranges", "suppression"])
def test_near_classes_of_few_rows_trade_after_annealing(kind: str) -> None:
    """Tests that annealed releases become cheaper, and that those of stars stay as they are."""
    gained = 0
    for instance in annealable(kind):
        run = Run(Engine(), Problem(instance, KAnonymity(7)), Context())
        for stage in run.stages():
            if stage == run.near.repartition:
                break
            stage()
        before = run.progress.best
        run.near.repartition()
        after = run.progress.best
        assert after.cost <= before.cost
        assert after.cost >= run.progress.bound
        assert after.sizes.min() >= 7
        gained += after.cost < before.cost
    assert gained == 0 if kind == "suppression" else gained > 0


def annealable(kind: str) -> list[Instance]:
    """Two tables of 60 rows and two columns, as ranges or suppressed."""
    found, rng = [], np.random.default_rng(71)
    labels = [str(value) for value in range(40)]
    for _ in range(2):
        table, families = rng.integers(0, 40, (60, 2)), None
        if kind == "ranges":
            families = tuple(Ranges().family(f"q{j}", labels, RULES["ncp"])[0] for j in range(2))
        found.append(from_codes(table, families)[0])
    return found


@pytest.mark.parametrize("loose", [True, False])
def test_classes_trade_where_prices_miss_what_they_need(loose: bool) -> None:
    """Tests that prices far below the release let its classes trade, and near ones do not."""
    instance, _ = from_codes(np.random.default_rng(3).integers(0, 3, (60, 8)).astype(np.int32))
    run = Run(Engine(), Problem(instance, KAnonymity(4)), Context())
    before = run.progress.best.cost
    run.search.priced = True
    run.search.price = np.full(instance.distinct, before / 60 / (1.2 if loose else 1.05))
    run.near.repartition()
    assert lawful(run.progress.best.classes, 4)
    assert (run.progress.best.cost < before) == loose
