"""Tests of what must not change the engine's result, of its budget, and of its edges."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import dial
from incrowd.hierarchy.costs import RULES
from incrowd.hierarchy.ranges import Ranges
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.events import Event
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context, Outcome
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.engine import Engine, Run
from solvers.engine.engine_samples import (
    KINDS,
    lawful,
    naive_cost,
    prices_hold,
    ragged_tree,
    random_rows,
    random_tables,
)

QUICK = Engine(annealing=Annealing(moves=20))


def run(instance: Instance, k: int, context: Context | None = None) -> Outcome:
    """Run the engine with little annealing."""
    return QUICK.run(Problem(instance, KAnonymity(k)), context or Context())


def solved(instance: Instance, k: int) -> int | None:
    """The proven optimum, or None."""
    outcome = run(instance, k)
    assert outcome.solution is not None and lawful(outcome.solution, k)
    return outcome.bound if outcome.bound == outcome.solution.cost else None


def renamed(tree: Tree, rng: np.random.Generator) -> tuple[Tree, NDArray[np.int64]]:
    """Permute the children of every node; returns the tree and each leaf's new code."""
    keys = [rng.permutation(tree.node.shape[1])[level] for level in reversed(tree.node)]
    order = np.lexsort(keys[::-1])
    node = np.array([first_seen(level[order]) for level in tree.node], np.int32)
    code = np.empty(len(order), np.int64)
    code[order] = np.arange(len(order))
    return Tree(tree.column, tree.labels, node, tree.cost[:, order].copy()), code


def first_seen(ids: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number nodes by where they first stand."""
    return np.concatenate([[0], np.cumsum(ids[1:] != ids[:-1])])


@pytest.mark.parametrize("height", ["suppression", "trees"])
def test_order_and_names_do_not_matter(height: str) -> None:
    """Tests that rows, columns and values may be permuted, all at once: the optimum stays."""
    rng = np.random.default_rng(41)
    proven = 0
    for _ in range(3):
        n, m, values = int(rng.integers(8, 25)), int(rng.integers(2, 5)), int(rng.integers(2, 6))
        rows, k = random_rows(rng, n, m, values), int(rng.integers(2, 5))
        leaves = tuple(map(str, range(values)))
        trees = [
            Tree.suppression("q", leaves, int(rng.integers(1, 4)))
            if height == "suppression"
            else ragged_tree("q", values, rng)
            for _ in range(m)
        ]
        optimum = solved(from_codes(rows, tuple(trees))[0], k)
        if optimum is None:
            continue
        proven += 1
        columns = rng.permutation(m)
        other, codes = zip(*(renamed(tree, rng) for tree in trees), strict=True)
        renumbered = np.column_stack([codes[j][rows[:, j]] for j in range(m)])
        apart = [
            (rows[rng.permutation(n)], trees),
            (rows[:, columns], [trees[j] for j in columns]),
            (renumbered, other),
        ]
        at_once = renumbered[rng.permutation(n)][:, columns], [other[j] for j in columns]
        for changed, its in (*(apart if dial.thorough else ()), at_once):
            assert solved(from_codes(changed, tuple(its))[0], k) in (optimum, None)
    assert proven > 1


@pytest.mark.parametrize("kind", KINDS)
def test_raising_k_never_lowers_the_optimum(kind: str) -> None:
    """Tests costs and bounds along k, up to the whole table as one class."""
    for instance, _ in random_tables(42, 2, kind, (8, 12), (2, 5)):
        before = 0
        for k in range(1, instance.rows + 1):
            outcome = run(instance, k)
            assert outcome.solution is not None
            assert lawful(outcome.solution, k) and outcome.solution.cost >= before
            if outcome.bound == outcome.solution.cost:
                before = outcome.bound
        assert len(outcome.solution.sizes) == 1


def test_the_same_seed_gives_the_same_release() -> None:
    """Tests repeatability, also after other runs."""
    (instance, _), *others = list(random_tables(43, 2, "trees", (40, 41), (4, 5)))
    first = run(instance, 3, Context(seed=5))
    for other, _ in others:
        run(other, 3, Context(seed=9))
    again = run(instance, 3, Context(seed=5))
    assert first.solution is not None and again.solution is not None
    assert (first.solution.classes == again.solution.classes).all()
    assert first.bound == again.bound and first.ended == again.ended


@dataclass
class Interrupter:
    """A listener that interrupts after some events, and checks that they only improve."""

    stop: Stop
    events: int
    cost: float = float("inf")
    bound: int = 0

    def __call__(self, event: Event) -> None:
        assert event.cost is not None and event.cost <= self.cost
        assert event.bound is not None and event.bound >= self.bound
        assert event.share is None or 0 <= event.share <= 1
        self.cost, self.bound = event.cost, event.bound
        self.events -= 1
        if self.events <= 0:
            self.stop.interrupt()


@pytest.mark.parametrize("events", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
def test_an_interrupt_at_any_time_yields_a_lawful_release(events: int) -> None:
    """Tests that the best so far and a true bound are there after any number of events."""
    for instance, _ in random_tables(44, 2, "trees", (30, 31), (4, 5)):
        stop = Stop()
        if not events:
            stop.interrupt()
        listener = Interrupter(stop, events)
        outcome = run(instance, 3, Context(stop=stop, listener=listener))
        solution, prices = outcome.solution, outcome.prices
        assert solution is not None and prices is not None
        assert lawful(solution, 3) and naive_cost(solution) == solution.cost
        assert outcome.bound <= solution.cost <= listener.cost
        assert prices_hold(instance, 3, prices.price, prices.quantum)
        assert outcome.ended in ("interrupted", "finished")


def test_budgets_are_told_apart() -> None:
    """Tests no time, and a gap that the first bound meets."""
    instance, _ = next(random_tables(45, 1, "suppression", (40, 41), (5, 6)))
    none = run(instance, 4, Context(stop=Stop(time_limit=0.0)))
    assert none.solution is not None and lawful(none.solution, 4)
    assert none.ended == "time limit"
    wide = run(instance, 4, Context(stop=Stop(gap=0.99)))
    assert wide.solution is not None and lawful(wide.solution, 4)
    assert wide.ended == "gap reached"
    assert wide.bound >= 0.01 * wide.solution.cost


def test_a_gap_is_noticed_within_a_stage() -> None:
    """Tests that annealing ends with the first release of which a gap is small enough."""
    instance, _ = next(random_tables(46, 1, "suppression", (200, 201), (6, 7)))
    events: list[Event] = []
    run(instance, 3, Context(listener=events.append))
    told = [e for e in events if e.stage == "annealing"]
    bound, costs = told[0].bound, [e.cost for e in told if e.bound == told[0].bound]
    asked = costs[len(costs) // 2]
    assert bound and costs[0] and asked and costs[0] > asked
    events.clear()
    gap = 1 - bound / asked + 1e-9
    aimed = run(instance, 3, Context(stop=Stop(gap=gap), listener=events.append))
    met = [e.cost is not None and e.cost <= asked for e in events]
    last = events[-1]
    assert aimed.ended == "gap reached" and met.index(True) == len(met) - 1
    assert last.stage == "annealing" and last.share is not None and last.share < 1.0


def ranged(rows: int) -> Instance:
    """A table with one column of intervals, one of suppression."""
    values = [str(n) for n in range(12)]
    family, _ = Ranges().family("r", values, RULES["level"])
    codes = np.random.default_rng(46).integers(0, 12, (rows, 2))
    return from_codes(codes, (family, Tree.suppression("q", tuple(values), 400_000)))[0]


@pytest.mark.parametrize("kind", ["suppression", "trees", "ranges"])
def test_large_tables_are_polished_where_a_gap_is_asked_for_or_nothing_better(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that those with trees are polished anyhow."""
    monkeypatch.setattr("incrowd.solvers.engine.search.SMALL", 100)  # rows
    tables = random_tables(46, 1, kind, (120, 121), (4, 5)) if kind != "ranges" else None
    instance = next(tables)[0] if tables else ranged(120)

    def polished(stop: Stop) -> bool:
        stages: set[str] = set()

        def hear(event: Event) -> None:
            stages.add(event.stage)
            if event.stage == "polishing":
                stop.interrupt()  # that it began is enough

        run_of = Run(QUICK, Problem(instance, KAnonymity(3)), Context(stop=stop, listener=hear))
        run_of.at_once()
        run_of.search.priced = True
        run_of.search.polish()
        return "polishing" in stages

    assert polished(Stop()) == (kind == "trees")
    assert polished(Stop(gap=1e-6))


def counted(codes: list[list[int]], counts: list[int]) -> Instance:
    """Distinct rows in sorted order, with copies."""
    instance, _ = from_codes(np.array(codes))
    return Instance(instance.codes, np.array(counts), instance.trees)


def test_edges() -> None:
    """Tests tables whose optimum is plain to see."""
    rng = np.random.default_rng(46)
    many = rng.integers(0, 9, (40, 3))
    column = np.sort(rng.integers(0, 4, (30, 1)), axis=0)
    cases: list[tuple[Instance, int, int]] = [
        (counted([[0, 0, 0]], [50]), 7, 0),  # all rows equal
        (counted([[0, 0, 0]], [7]), 7, 0),  # as many copies as k
        (from_codes(many)[0], 40, 3 * 40),  # k = rows
        (from_codes(many)[0], 1, 0),  # k = 1
        (from_codes(column)[0], 1, 0),  # one column
        (counted([[0], [1], [2]], [1, 5, 1]), 2, 2),  # the two single values share a star
        (counted([[0], [1]], [1, 5]), 2, 2),  # one copy of the other keeps it company
        (counted([[0, 3], [0, 4]], [1, 1]), 2, 2),  # a column with a single value stays
        (counted([[0, 0], [0, 1], [1, 1]], [9, 1, 9]), 5, 5),
    ]
    for instance, k, cost in cases:
        outcome = run(instance, k)
        assert outcome.solution is not None and lawful(outcome.solution, k)
        assert outcome.solution.cost == outcome.bound == cost
        assert outcome.ended == "finished"


def test_columns_that_cost_nothing() -> None:
    """Tests weights of 0 everywhere, and in all columns but one."""
    rng = np.random.default_rng(47)
    rows, leaves = rng.integers(0, 5, (30, 3)), tuple("01234")
    free = tuple(Tree.suppression(name, leaves, 0) for name in "abc")
    outcome = run(from_codes(rows, free)[0], 4)
    assert outcome.solution is not None and outcome.solution.cost == outcome.bound == 0
    paid = (*free[:2], Tree.suppression("c", leaves, 3))
    alone = from_codes(rows[:, 2:], paid[2:])[0]
    assert solved(from_codes(rows, paid)[0], 4) == solved(alone, 4)
