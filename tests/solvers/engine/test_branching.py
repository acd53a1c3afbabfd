"""Branching over open patterns: each part against brute force."""

from itertools import combinations

import numpy as np
import pytest

from bounds.odd_set_samples import classes_of, everything, raised, worth_of
from dial import crossed
from incrowd.bounds.odd_sets.certificate import exact, settled
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.branching.relaxation import Node, Relaxation
from incrowd.solvers.engine.branching.tree import Branching, dealt
from incrowd.solvers.engine.prove import classes_within, prove
from incrowd.solvers.engine.windows import sorted_classes
from oracle import optimum
from solvers.engine.engine_samples import KINDS, lawful, naive_cost, random_tables

SETTINGS = Branching(), Branching(tried=(1, 1), iterations=0)  # any choice of patterns is right


def poor_prices(instance: Instance, k: int) -> Lifted:
    """Prices without odd sets that leave a wide gap."""
    start, _ = support_prices(PrefixTree(instance), k)
    return Lifted(everything(instance, k), start.astype(np.float64), [])


def all_within(instance: Instance, k: int, most: int, good: bool) -> tuple[Lifted, Classes]:
    """Prices, and the classes that a release of cost ``most`` may have."""
    lifted = poor_prices(instance, k)
    worth = float(lifted.price @ instance.counts)
    if good:
        lifted, _ = raised(instance, k, turns=1 + most % 9)
        prices = settled(lifted.lists, lifted, instance, k)
        worth = prices.total(instance.counts) / prices.quantum
        lifted = exact(prices, lifted.lists, instance)
    classes = classes_within(lifted, instance, k, most - worth + 1e-6)
    assert classes is not None
    return lifted, classes


@pytest.mark.parametrize(("kind", "good"), crossed(KINDS, [False, True]))
def test_a_cost_is_reached_or_refuted(kind: str, good: bool) -> None:
    """Tests the optimum where the cost allows it, and otherwise the proof that nothing does."""
    branched = 0
    for number, (instance, rng) in enumerate(random_tables(61, 12, kind, (4, 11), (2, 5))):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        best = optimum(instance, KAnonymity(k))
        assert best is not None
        for most in {best - 1, best, best + int(rng.integers(1, 4))} - {-1}:
            lifted, classes = all_within(instance, k, most, good)
            if not len(classes.size):
                assert most < best
                continue
            problem = classes, lifted, instance, k, most
            found, complete = SETTINGS[number % 2].run(*problem, 10_000, lambda: 60.0)
            assert complete
            assert (found is not None) == (most >= best)
            if found is not None:
                assert lawful(found, k) and naive_cost(found) == found.cost == best
            _, early = Branching().run(*problem, 1, lambda: 60.0)
            branched += not early
            assert Branching().run(*problem, 10_000, lambda: 0.0) == (None, False)
    assert branched  # one node is not always enough


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_dealt_at_least_cost(kind: str) -> None:
    """Tests every way to give each copy one of the open patterns."""
    possible = impossible = 0
    for instance, rng in random_tables(62, 24, kind, (3, 6), (1, 3)):
        k = int(rng.integers(2, 4))
        lists = everything(instance, k)
        if not len(lists.cost):
            continue
        n = int(rng.integers(1, min(3, len(lists.cost)) + 1))
        opened = np.sort(rng.choice(len(lists.cost), n, replace=False))
        matching = [lists.rows[lists.offset[p] : lists.offset[p + 1]].tolist() for p in opened]
        ways = [()]
        for copy in instance.copies:
            ways = [(*w, p) for w in ways for p in range(n) if copy in matching[p]]
        costs = [
            sum(int(lists.cost[opened[p]]) for p in way)
            for way in ways
            if all(way.count(p) >= k for p in range(n))
        ]
        found = dealt(lists, opened, instance, k, lambda: 60.0)
        if costs:
            possible += 1
            # a class may have a join below the pattern that it publishes
            assert found is not None and lawful(found, k) and found.cost <= min(costs)
            assert found.cost >= (optimum(instance, KAnonymity(k)) or 0)
        else:
            impossible += 1
            assert found is None
    assert possible and impossible


def node_cost(instance: Instance, program: Relaxation, node: Node, classes: Classes) -> float:
    """The least cost of a release made of usable classes that opens what it must; inf for none."""
    least = np.inf
    usable = np.flatnonzero(node.usable).tolist()
    for n in range(1, instance.rows // 2 + 1):
        for some in combinations(usable, n):
            chosen = list(some)
            rows = classes.rows[chosen][classes.taken[chosen]]
            covered = np.bincount(rows, minlength=instance.distinct)
            opens = set(program.pattern[chosen].tolist())
            if (covered == instance.counts).all() and opens >= set(np.flatnonzero(node.opened)):
                least = min(least, float(program.cost[chosen].sum()))
    return least


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_of_a_node(kind: str) -> None:
    """Tests what any duals prove, and what the optimum does, against all releases of a node."""
    held = 0
    for instance, rng in random_tables(63, 15, kind, (4, 7), (1, 3)):
        lifted, _ = raised(instance, 2, turns=3)
        best = optimum(instance, KAnonymity(2))
        classes = classes_within(lifted, instance, 2, 2.0 * instance.cell)
        if classes is None or not 2 <= len(classes.size) <= 25 or best is None:
            continue
        program = Relaxation(classes, lifted, instance, 2)
        usable = rng.random(len(classes.size)) < 0.9
        node = Node(usable, rng.random(len(program.names)) < 0.2)
        program.enter(node)
        least = node_cost(instance, program, node, classes)
        duals = rng.normal(size=program.matrix.shape[0])
        bound, _ = program.proven(duals)
        assert bound <= least + 1e-9
        relaxed = program.solve(np.inf, lambda: 60.0)
        assert relaxed is not None and relaxed.x is not None
        assert relaxed.bound <= least + 1e-6
        held += np.isfinite(least)
        early = program.solve(relaxed.bound - 1.0, lambda: 60.0)
        assert early is not None and early.x is None and early.bound > relaxed.bound - 1.0
    assert held


@pytest.mark.parametrize("kind", KINDS)
def test_the_proof_with_odd_sets_of_any_release(kind: str) -> None:
    """Tests that prove() ends at the optimum from a poor release and from the best."""
    for instance, rng in random_tables(64, 10, kind, (6, 12), (2, 5)):
        k = int(rng.integers(2, 4))
        best = optimum(instance, KAnonymity(k))
        tree = PrefixTree(instance)
        price, _ = support_prices(tree, k)
        lifted, _ = raised(instance, k, turns=int(rng.integers(1, 6)))
        start = Solution.of(instance, sorted_classes(instance, k))
        problem = price.astype(np.float64), 0, k, Stop(60.0)
        found, bound = prove(tree, start, *problem, False, lifted)
        assert lawful(found, k) and found.cost == bound == best
        again, bound = prove(tree, found, *problem, True, lifted)
        assert again.cost == bound == best
        assert prove(tree, start, *problem[:3], Stop(0.0), True, lifted)[0] is start


@pytest.mark.parametrize("kind", KINDS)
def test_the_settled_program_is_exact(kind: str) -> None:
    """Tests that no class is worth more than nothing, and that turns alone prove no more."""
    charged = 0
    for instance, rng in random_tables(67, 20, kind, (5, 11), (2, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, _ = raised(instance, k, turns=int(rng.integers(4, 60)))
        for p in range(len(lifted.lists.cost)):
            for c in classes_of(instance, p, lifted.lists, k):
                assert worth_of(c, p, lifted.lists, lifted) < 1e-6 * instance.cell
        charged += len(lifted.sets)
        best = optimum(instance, KAnonymity(k))
        assert best is not None
        proven = settled(lifted.lists, lifted, instance, k)
        assert proven.total(instance.counts) <= best * proven.quantum
    assert charged
