"""Tests of prices with odd sets against brute force."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from bounds.odd_set_samples import classes_of, everything, raised, worth_of
from checker.proof_samples import broken_class
from dial import enough, few
from incrowd.bounds.listing import within
from incrowd.bounds.odd_sets.certificate import certify_with_sets
from incrowd.bounds.odd_sets.classes import all_classes, dearest, line_up
from incrowd.bounds.odd_sets.evaluation import Found, excesses, lower_all, penalized
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes, OddSet, PricingProblem
from incrowd.bounds.odd_sets.program import Pool, Program
from incrowd.bounds.odd_sets.separation import Fractional, broken_sets
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices
from incrowd.bounds.support import support_prices
from incrowd.hierarchy.build import build_trees
from incrowd.lattice.emission import Emission
from incrowd.lattice.topk import top_k_buffers
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.branching.relaxation import copies_in, groups
from incrowd.solvers.engine.engine import Engine, Run
from incrowd.solvers.engine.prove import classes_within
from oracle import optimum
from solvers.engine.engine_samples import KINDS, random_tables


def holds(instance: Instance, k: int, prices: Prices) -> bool:
    """Whether no class of any size breaks the inequality of the certificate."""
    copies = instance.copies
    sets = [({int(c) for c in s.copies}, s.weight, s.modulus) for s in prices.odd_sets]
    problem = instance.codes[copies], prices.price[copies].tolist(), sets, instance.trees
    return not broken_class(*problem, k, prices.quantum)


@pytest.mark.parametrize("kind", KINDS)
def test_bound_lies_between_linear_program_and_optimum(kind: str) -> None:
    """Tests price bound ≤ odd sets ≤ optimum, and the certificate class by class."""
    above = 0
    for instance, rng in random_tables(31, 16, kind, (4, 11), (2, 5)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, tree = raised(instance, k)
        best = optimum(instance, KAnonymity(k))
        assert best is not None
        prices = certify_with_sets(tree, k, lifted)
        assert prices is not None and holds(instance, k, prices)
        start, _ = support_prices(tree, k)
        ascended = PriceBound().ascend(tree, k, start.astype(float))
        plain = certify(tree, k, ascended).bound(instance.counts)
        assert plain <= prices.bound(instance.counts) <= best
        above += prices.bound(instance.counts) > plain
    assert above  # on some of the tables the linear program is not enough


def test_odd_sets_close_the_gap_of_two_triangles() -> None:
    """Tests rows that differ in two cells: three halves of pairs cost 6, but three is odd."""
    triangle = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    far = np.hstack([np.vstack([triangle, triangle + 5]), np.repeat([[0], [1]], 3, axis=0)])
    instance, _ = from_codes(far)
    without, tree = raised(instance, 2, searches=0)
    with_sets, _ = raised(instance, 2)
    plain, odd = (certify_with_sets(tree, 2, lifted) for lifted in (without, with_sets))
    assert plain is not None and odd is not None
    assert plain.bound(instance.counts) == 12
    assert odd.bound(instance.counts) == 16 == optimum(instance, KAnonymity(2))


def test_certificates_fit_64_bits() -> None:
    """Tests the two triangles beside many equal rows, with a column whose stars are dear."""
    triangle = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    far = np.hstack([np.vstack([triangle, triangle + 2]), np.repeat([[0], [1]], 3, axis=0)])
    codes = np.vstack([far, np.repeat([[4, 4, 4, 2]], 2000, axis=0)]).astype(np.int32)
    values = {name: [str(v) for v in range(5 if name < "d" else 3)] for name in "abcd"}
    trees, scale = build_trees(values, {}, "level", {"d": 2**39})
    instance, _ = from_codes(codes, tuple(trees), None, scale)
    lifted, tree = raised(instance, 2)
    odd = certify_with_sets(tree, 2, lifted)
    assert odd is not None
    assert odd.bound(instance.counts) == 18
    assert 2 * sum(tree.dearest for tree in trees) * odd.quantum <= 2**61


@pytest.mark.parametrize("kind", KINDS)
def test_searches_for_classes_agree_with_all_classes(kind: str) -> None:
    """Tests the dearest class, the highest mean, and the lists of those above a threshold."""
    paying = 0
    for instance, rng in random_tables(32, 18, kind, (4, 9), (1, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lists = everything(instance, k)
        price = rng.integers(0, 6, instance.distinct) / 2.0
        sets = [
            OddSet(np.sort(rng.choice(instance.distinct, 3, False)), q, rng.integers(1, 4) / 2)
            for q in ((2, 2, 3) if instance.distinct >= 3 else ())
        ]
        lifted = Lifted(lists, price, sets)
        n = len(lists.cost)
        found = Classes.room(5000, k)
        problem = PricingProblem.of(lists, instance.counts, k, price, sets)
        count = all_classes(problem, 1.0, found)
        listed = [
            (int(p), tuple(sorted(r[:s].tolist())))
            for p, s, r in zip(found[0][:count], found[1][:count], found[2][:count], strict=True)
        ]
        wanted, mean = [], np.zeros(n)
        for p in range(n):
            known = {c: worth_of(c, p, lists, lifted) for c in classes_of(instance, p, lists, k)}
            worth, size = dearest(line_up(p, problem), 0.0, problem)
            best = max(known.values())
            assert (size > 0) == (best > 0)
            if size:
                assert worth == best == known[tuple(sorted(problem.pad.best[:size].tolist()))]
            wanted += [(p, c) for c, w in known.items() if w >= -1.0]
            mean[p] = max(w / len(c) for c, w in known.items())
        assert sorted(listed) == sorted(wanted)
        in_cells = lists._replace(cost=lists.cost.astype(float))  # as the engine's programs are
        program = Program(in_cells, instance.counts, k, price, np.full(instance.distinct, 99.0))
        program.members = [s._replace(penalty=0.0) for s in sets]
        program.penalty = np.array([s.penalty for s in sets])
        program.index()
        program.evaluate()
        for p, (size, rows, most) in enumerate(zip(*program.found, strict=True)):
            assert (size > 0) == (mean[p] > 1e-12)
            if size:
                worth = worth_of(tuple(rows[:size].tolist()), p, lists, lifted)
                assert np.isclose(worth / size, mean[p]) and np.isclose(most, mean[p])
        count = penalized(program.pricing(price), program.found, found)
        for p, s, r in zip(found[0][:count], found[1][:count], found[2][:count], strict=True):
            worth = worth_of(tuple(r[:s].tolist()), int(p), lists, lifted)
            assert worth >= program.found.mean[p] * program.found.size[p] / 2 - 1e-9
            paying += 1
        lowered = program.price.copy()
        lower_all(program.pricing(lowered), program.buffers, program.found, program.spare)
        sure = Lifted(lists, lowered, sets)
        for p in range(n):
            for c in classes_of(instance, p, lists, k):
                assert worth_of(c, p, lists, sure) < 1e-8
        touched = lowered < program.price
        assert (lowered <= program.price).all() and touched.any() == (mean > 1e-12).any()
    assert paying  # classes that pay penalties were listed


def test_highest_mean_where_costs_lie_far_apart() -> None:
    """Tests prices of 10⁹ and penalties of 1, where looking for more than rounding never ended."""
    rng, seen = np.random.default_rng(5), 0
    for _ in range(few(72)):
        k = int(rng.integers(3, 5))
        n = int(rng.integers(2 * k, 11))
        lists = Emission(np.array([1e9]), np.array([0, n]), np.arange(n, dtype=np.int32))
        price = 1e9 + rng.random(n) * 10.0 ** rng.integers(0, 9)
        sets = [
            OddSet(np.sort(rng.choice(n, size, False)), int(rng.integers(2, k + 1)), penalty)
            for size, penalty in zip(
                rng.integers(3, n, 3), rng.random(3) * 10.0 ** rng.integers(0, 9, 3), strict=True
            )
        ]
        problem = PricingProblem.of(lists, np.ones(n, np.int64), k, price, sets)
        found = Found.new(1, k)
        excesses(problem, top_k_buffers(k, np.float64), found)
        lifted = Lifted(lists, price, sets)
        classes = (c for size in range(k, 2 * k) for c in combinations(range(n), size))
        best = max(worth_of(c, 0, lists, lifted) / len(c) for c in classes)
        here = tuple(found.rows[0, : found.size[0]].tolist())
        assert np.isclose(found.mean[0], max(best, 0.0), atol=1e-5)
        if here:
            assert np.isclose(worth_of(here, 0, lists, lifted) / len(here), best, atol=1e-5)
            seen += 1
    assert seen > enough(50)


def test_a_class_costs_what_its_narrowest_pattern_does() -> None:
    """Tests that a class met in a dear pattern first is taken at the price of a cheap one."""
    pool = Pool(4, 2)
    wide, narrow = np.array([[0, 1, -1], [2, 3, -1]]), np.array([[1, 0, -1], [1, 0, -1]])
    assert pool.add(wide, np.array([2.0, 2.0])) == 2
    assert pool.add(narrow, np.array([1.5, 1.0])) == 1
    assert pool.add(np.concatenate([wide, narrow]), np.array([2.0, 2.0, 1.5, 1.0])) == 0
    least = {tuple(row): 9.0 for row in pool.rows.tolist()}
    for row, cost in zip(pool.rows.tolist(), pool.cost.tolist(), strict=True):
        least[tuple(row)] = min(cost, least[tuple(row)])
    assert least == {(0, 1, -1): 1.0, (2, 3, -1): 2.0}


def broken(classes: list[list[int]], share: float, k: int = 2, counts: Any = None) -> list[OddSet]:
    """Odd sets that some classes with the same share break."""
    width = max(map(len, classes))
    padded = np.array([c + [-1] * (width - len(c)) for c in classes])
    fractional = Fractional.of(padded, np.full(len(classes), share))
    counts = np.ones(padded.max() + 1, np.int64) if counts is None else np.array(counts)
    found = broken_sets(fractional, counts, k, 40, 10, 0)
    for members, modulus, _ in found:
        held = sum(share * (np.isin(c, members).sum() // modulus) for c in padded)
        assert held > counts[members].sum() // modulus
    return found


def rows_of(found: list[OddSet]) -> list[list[int]]:
    """The distinct rows of each set."""
    return [s.rows.tolist() for s in found]


def test_broken_sets_are_broken() -> None:
    """Tests the triangle, the cycle of five, and that an integral release breaks nothing."""
    triangle = [[0, 1], [1, 2], [0, 2]]
    assert rows_of(broken(triangle, 0.5)) == [[0, 1, 2]]
    cycle = [sorted([i, (i + 1) % 5]) for i in range(5)]
    assert rows_of(broken(cycle, 0.5)) == [[0, 1, 2, 3, 4]]
    assert broken(triangle, 0.5, counts=[2, 1, 1]) == []  # two copies are a class by themselves
    assert broken([[0, 1, 2], [3, 4, 5]], 1.0) == []


def test_five_rows_hold_one_class_of_three() -> None:
    """Tests modulus 3: all ten triples of five rows, a sixth of each, make five thirds of one."""
    triples = [list(c) for c in combinations(range(5), 3)]
    found = broken(triples, 1 / 6, k=3)
    assert (found[0].modulus, found[0].rows.tolist()) == (3, [0, 1, 2, 3, 4])


def test_broken_sets_hold_all_copies_of_a_row() -> None:
    """Tests a row with three copies between two halves: each class takes one or two of them."""
    classes = [[0, 0, 1], [0, 1], [0, 0, 2], [0, 2]]
    padded = np.array([c + [-1] * (3 - len(c)) for c in classes])
    fractional = Fractional.of(padded, np.full(4, 0.5))
    assert fractional.times.tolist() == [2, 1, 1, 1, 2, 1, 1, 1]
    for one in broken(classes, 0.5, k=4, counts=[3, 1, 1]):
        assert one.modulus in (2, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_what_odd_sets_count(kind: str) -> None:
    """Tests ⌊|C∩S|/q⌋ of every class and set against the definition."""
    seen = 0
    for instance, rng in random_tables(33, 12, kind, (4, 10), (2, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, _ = raised(instance, k)
        classes = classes_within(lifted, instance, k, instance.cell)
        assert classes is not None
        if not lifted.sets:
            continue
        counted = groups(lifted.sets, copies_in(classes, instance)).toarray()
        for s, row in zip(lifted.sets, counted, strict=True):
            inside = np.isin(classes.rows, s.rows) & classes.taken
            assert (row == inside.sum(axis=1) // s.modulus).all()
        seen += counted.any()
    assert seen


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_and_an_early_end_prove_what_no_class_refutes(kind: str) -> None:
    """Tests support bound ≤ bound ≤ optimum, and the certificate class by class."""
    for instance, rng in random_tables(34, 10, kind, (5, 11), (2, 5)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, tree = raised(instance, k, room=1.0, turns=int(rng.integers(1, 8)))
        prices = certify_with_sets(tree, k, lifted)
        best = optimum(instance, KAnonymity(k))
        assert prices is not None and best is not None and holds(instance, k, prices)
        start, _ = support_prices(tree, k)
        assert (
            prices.total(instance.counts) / prices.quantum
            >= start @ instance.counts - 1e-3 * instance.cell
        )
        assert prices.bound(instance.counts) <= best


def linear_program(instance: Instance, k: int, lists: Emission) -> float:
    """Its value without odd sets, by another solver."""
    columns, costs = [], []
    for p in range(len(lists.cost)):
        for rows in classes_of(instance, p, lists, k):
            columns.append(np.bincount(rows, minlength=instance.distinct))
            costs.append(len(rows) * lists.cost[p])
    matrix = -np.array(columns).T
    return float(linprog(costs, matrix, -instance.counts, method="highs").fun)


@pytest.mark.parametrize("kind", KINDS)
def test_without_sets_it_is_the_linear_program(kind: str) -> None:
    """Tests the value of the steps against a simplex method."""
    for instance, rng in random_tables(35, 10, kind, (4, 9), (2, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, _ = raised(instance, k, searches=0, turns=60)
        wanted = linear_program(instance, k, everything(instance, k))
        value = float(lifted.price @ instance.counts)
        assert wanted * (1 - 1e-3) <= value <= wanted * (1 + 1e-9) + 1e-9


def test_medium_tables_gain_and_are_not_called_optimal() -> None:
    """Tests a box on a larger table: only lists of all that could matter lead to `optimal`."""
    rng = np.random.default_rng(1)
    instance, _ = from_codes(rng.integers(0, 4, (150, 6)))
    k = 3
    run = Run(Engine(), Problem(instance, KAnonymity(k)), Context(0, Stop(None, None)))
    pricing, search, progress = run.pricing, run.search, run.progress
    first = pricing.bound_by_support, pricing.first_prices, search.first_search
    for stage in (*first, pricing.bound_by_prices):
        stage()
    lists = within(search.tree, search.price, k, 0.9 * k, 10**6)
    assert lists is not None
    lifted = run.lifting.raised(lists, 0.9, lambda n: n / 30)
    assert run.lifting.lifted is None and lifted.sets
    prices = certify_with_sets(search.tree, k, lifted)
    assert (
        prices is not None and progress.bound < prices.bound(instance.counts) <= progress.best.cost
    )
