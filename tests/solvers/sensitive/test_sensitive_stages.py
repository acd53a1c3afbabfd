"""Tests of fractional releases, of rounding them, and of candidates in stages."""

import numpy as np
import pytest

from dial import few
from incrowd.kernels.halt import NEVER
from incrowd.lattice.emission import Emission
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.violation import violation
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.candidates import build_candidates
from incrowd.solvers.engine.windows import window_emission
from incrowd.solvers.sensitive.anneal import LawfulAnnealing, slices
from incrowd.solvers.sensitive.by_regions import Lists
from incrowd.solvers.sensitive.engine import Run
from incrowd.solvers.sensitive.prune import narrowed, owners, reduced_costs, united, with_start
from incrowd.solvers.sensitive.rounding import rounded
from incrowd.solvers.sensitive.rules import rules_of
from incrowd.solvers.sensitive.soften import SoftAnnealing
from incrowd.solvers.sensitive.start import greedy, trim
from solvers.ranged_tables import ranged_tables
from solvers.sensitive.quick import LAWFUL, fractional

MODELS: list[Model] = [
    FrequencyDiversity(3),
    DistinctDiversity(2) & KAnonymity(3),
    TCloseness("0.3"),
]


def table(seed: int, rows: int = 150) -> Instance:
    """A table of four columns with copies, and a sensitive attribute of four values."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.5, (rows, 4)) - 1, 3)
    return from_codes(codes, None, rng.permutation(np.arange(rows) % 4))[0]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_shares_cover_the_table(model: Model) -> None:
    """Tests that the shares carry every row about as often as it occurs, more so with more steps.

    They cover all copies together exactly, and cost about what the prices prove.
    """
    problem = Problem(table(1), model)
    counts = problem.instance.counts
    missed = []
    for iterations in (30, 1500):
        _, price, emission, share = fractional(problem, iterations)
        cover = np.bincount(emission.rows, weights=share, minlength=len(counts))
        missed.append(np.abs(cover - counts).sum() / counts.sum())
        assert share.min() >= 0
    assert missed[1] < min(missed[0], 0.25)
    cost = float(share @ emission.cost[owners(emission)])
    assert cost == pytest.approx(float(price @ counts), rel=0.25)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("seed", range(few(3, 1)))
def test_rounded_classes_are_lawful(model: Model, seed: int) -> None:
    """Tests that rounding places copies below patterns that carry them, in lawful classes."""
    problem = Problem(table(seed), model)
    instance = problem.instance
    _, _, emission, share = fractional(problem)
    rules = rules_of(problem)
    pattern = rounded(instance, emission, share, rules, seed)
    assert (pattern >= 0).any()
    carried = set(
        zip(owners(emission)[share > 0].tolist(), emission.rows[share > 0].tolist(), strict=True)
    )
    for p in np.unique(pattern[pattern >= 0]):
        copies = np.flatnonzero(pattern == p)
        assert model.lawful(problem.group(copies), problem.table)
        assert {(int(p), int(r)) for r in instance.copies[copies]} <= carried


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_reduced_costs(model: Model) -> None:
    """Tests that a pattern's least reduced cost is that of its dearest class, K·(cost − mean)."""
    from incrowd.bounds.pricing import dearest

    problem = Problem(table(4), model)
    tree, price, emission, _ = fractional(problem)
    reduced = reduced_costs(tree, price, emission)
    counts, k = problem.instance.counts, problem.smallest_class
    for p, (begin, end) in enumerate(zip(emission.offset[:-1], emission.offset[1:], strict=True)):
        mean, _ = dearest(emission.rows, begin, end, price, counts, -1e300, tree.pricing, tree.pad)
        if mean > -1e300:
            least = k * (emission.cost[p] - mean)
            assert reduced[begin:end].min() == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_candidates_hold_the_start(model: Model) -> None:
    """Tests that the first candidates contain every copy's pattern at its cost, or the root."""
    problem = Problem(table(5), model)
    instance = problem.instance
    _, _, emission, share = fractional(problem)
    rules = rules_of(problem)
    pattern = rounded(instance, emission, share, rules, 0)
    keep = share > 0.5
    c, start = with_start(instance, emission, keep, pattern)
    for i, p in enumerate(start):
        members = c.rows[c.offset[p] : c.offset[p + 1]]
        assert c.row_of[i] in members
        if pattern[i] >= 0:
            assert c.cost[p] == emission.cost[pattern[i]]
    kept, number = narrowed(emission, keep)
    assert len(kept.rows) == keep.sum() and (np.diff(kept.offset) > 0).all()
    assert (kept.cost[number[number >= 0]] == emission.cost[number >= 0]).all()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_annealing_mends_an_unlawful_start(model: Model) -> None:
    """Tests that copies which wait at the root, in whatever mix, end up in lawful classes."""
    problem = Problem(table(6), model)
    instance = problem.instance
    _, price, emission, share = fractional(problem)
    rules = rules_of(problem)
    drawn = rounded(instance, emission, share, rules, 0)
    keep = np.ones(len(share), np.bool_)
    c, start = with_start(instance, emission, keep, drawn)
    for moves in (0.02, 20):
        lists = Lists(c, rules, price, start)
        found = LawfulAnnealing(moves=moves).run(lists, 1.0, 1.0, 0)
        for p in np.unique(found):
            assert model.lawful(problem.group(np.flatnonzero(found == p)), problem.table)


def test_trim_drops_the_most_frequent() -> None:
    """Tests that of 2, 2, 1, 1, 1 rows under l = 5 one of each value stays."""
    instance, _ = from_codes(np.zeros((10, 1), int), None, np.arange(10) % 5)
    rules = rules_of(Problem(instance, FrequencyDiversity(5)))
    hist, held = np.array([2, 2, 1, 1, 1]), np.zeros(5, np.int64)
    held[rules.profile[np.argsort(instance.sensitive_codes[:, 0])]] = hist
    assert trim(7, 5, 5, rules, hist, held, np.arange(5)) == 5
    assert violation(rules.laws, hist, 5) == 0


def test_slices_keep_the_pace() -> None:
    """Tests that a search with time makes all moves, and one without leaves out but the last."""
    for total in (1, 39, 4000, 2_500_000):
        whole = list(slices(total, lambda: 0.0))
        assert [first for first, _ in whole] == [0] + [last for _, last in whole[:-1]]
        assert whole[-1][1] == total
        late = list(slices(total, lambda: 1.0))
        assert late[0] == whole[0] and late[-1][1] == total and len(late) <= 2
    paces = iter([0.5, 0.5, 0.9])
    half = list(slices(4000, lambda: next(paces, 0.0)))
    assert half[:4] == [(0, 100), (2000, 2005), (2005, 2015), (3600, 3601)]
    assert half[4:7] == [(3601, 3603), (3603, 3607), (3607, 3615)] and half[-1][1] == 4000


def test_slow_moves_make_short_slices() -> None:
    """Tests that a search whose moves take 30 times as long as there is time for still cools.

    Its slices had been so long that the second one was the last, at half of the heat.
    """
    spent, total = 0, 40_000

    def pace() -> float:
        return spent * 30 / total

    firsts = []
    for first, last in slices(total, pace):
        spent += last - first
        firsts.append(first)
    assert spent * 30 < 2 * total and firsts[-1] > 0.95 * total and len(firsts) > 10


def test_slices_end_where_they_stand() -> None:
    """Tests that both kernels make no move once their word is written, as the limit's is."""
    problem = Problem(table(6), TCloseness("0.3"))
    run = Run(LAWFUL, problem, Context(stop=Stop(1e9)))
    c = build_candidates(problem.instance, window_emission(problem.instance, run.k, 2, 0))
    start = greedy(c, run.rules, 1, 0)
    lists = run.moves.lists(c, start)
    assert np.shares_memory(lists.halt, run.stop.over)
    run.stop.halt()
    found = LawfulAnnealing(moves=20).run(lists, 1.0, 1.0, 0)
    assert (found == start).all()
    asked = (1.0, 20, (1.0, 0.1), (5.0, 5.0), 0)
    found = SoftAnnealing().run(lists, *asked)
    assert (found == start).all()
    free = SoftAnnealing().run(lists._replace(halt=NEVER), *asked)
    assert (free != start).any()


def test_patterns_of_two_lists_stand_once() -> None:
    """Tests united lists against dictionaries of patterns by their rows."""
    rng = np.random.default_rng(4)
    for _ in range(few(20)):
        known = [
            tuple(sorted(rng.choice(9, rng.integers(1, 5), replace=False).tolist()))
            for _ in range(8)
        ]
        costs = {rows: 10 + number for number, rows in enumerate(dict.fromkeys(known))}
        patterns = list(costs)
        lists, shares = [], []
        for part in (patterns[:5], patterns[3:]):
            rows = [rng.permutation(one) for one in part]
            lists.append(
                Emission(
                    np.array([costs[one] for one in part], np.int64),
                    np.cumsum([0, *map(len, rows)]).astype(np.int64),
                    np.concatenate(rows).astype(np.int32),
                )
            )
            shares.append(rng.random(len(lists[-1].rows)))
        both, share = united(*lists, shares[1], 9)
        found = {}
        for p, cost in enumerate(both.cost):
            run = slice(both.offset[p], both.offset[p + 1])
            found[tuple(sorted(both.rows[run].tolist()))] = int(cost)
            for r, x in zip(both.rows[run], share[run], strict=True):
                other = [
                    shares[1][i]
                    for q in range(len(lists[1].cost))
                    for i in range(lists[1].offset[q], lists[1].offset[q + 1])
                    if lists[1].rows[i] == r and lists[1].cost[q] == cost
                ]
                assert x == pytest.approx(sum(other))
        assert found == costs
        assert len(both.cost) == len(costs)


def test_ranges_are_not_searched_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the search for supported patterns, which has grace, is left out for intervals.

    A visit to one of thousands takes milliseconds: a limit of 1 s took 2.
    """
    asked = []
    monkeypatch.setattr(
        "incrowd.solvers.sensitive.bounding.support_prices",
        lambda tree, *args, **more: asked.append(tree) or (np.zeros(tree.instance.distinct), False),
    )
    ranged = next(ranged_tables(5, 1, (8, 9), sensitive=(3,)))[0]
    for instance, searched in ((table(2), 1), (ranged, 0)):
        asked.clear()
        Run(LAWFUL, Problem(instance, FrequencyDiversity(2)), Context()).bounds.bound_at_once()
        assert len(asked) == searched
