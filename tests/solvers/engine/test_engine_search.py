"""Tests of the search's parts: greedy, annealing, blocks, and the links they keep."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from incrowd.bounds.ascent import Ascent
from incrowd.bounds.prefix_tree import EMIT, PrefixTree, Slack
from incrowd.bounds.price import PriceBound
from incrowd.bounds.support import support_prices
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.anneal import Annealing, Mix, anneal_slice
from incrowd.solvers.engine.assignment import (
    Pad,
    State,
    cheapest_open,
    new_pad,
    new_state,
    total_cost,
)
from incrowd.solvers.engine.block import BlockMaker
from incrowd.solvers.engine.candidates import Candidates, build_candidates
from incrowd.solvers.engine.greedy import greedy
from incrowd.solvers.engine.neighbourhood import Neighbourhoods, apply_block, solve_block
from incrowd.solvers.engine.rounding import rounded
from incrowd.solvers.engine.warm import with_solution
from incrowd.solvers.engine.windows import sorted_classes, window_emission
from oracle import join_cost
from solvers.engine.engine_samples import KINDS, lawful, naive_cost, random_tables


@dataclass
class Case:
    """A table, candidates of it, and a lawful assignment."""

    instance: Instance
    k: int
    price: NDArray[np.float64]
    candidates: Candidates
    pattern: NDArray[np.int64]
    rng: np.random.Generator

    @property
    def cost(self) -> int:
        """What the assignment costs, by candidates."""
        return int(self.candidates.cost[self.pattern].sum())

    def require(self, pattern: NDArray[np.int64]) -> int:
        """Check that an assignment is a release of the table; return its cost by candidates."""
        c = self.candidates
        size = np.bincount(pattern, minlength=len(c.cost))
        assert len(pattern) == self.instance.rows
        assert ((size == 0) | (size >= self.k)).all()
        for i, p in enumerate(pattern.tolist()):
            listed = c.rows[c.offset[p] : c.offset[p + 1]]
            if c.row_of[i] not in listed:  # candidates list some of the rows that match
                copies = (i, *c.first_copy[listed].tolist())
                assert join_cost(self.instance, copies) <= c.cost[p]
        solution = Solution.of(self.instance, pattern)
        assert lawful(solution, self.k)
        cost = int(c.cost[pattern].sum())
        assert naive_cost(solution) == solution.cost <= cost
        return cost


def all_candidates(instance: Instance, k: int, price: NDArray[np.float64]) -> Emission:
    """Every supported closed pattern with all its rows."""
    sink = Emission(np.empty(20_000, np.int64), np.zeros(20_001, np.int64), np.empty(400_000, "i4"))
    state = PrefixTree(instance).run(EMIT, k, price, slack=Slack(1e9, True), sink=sink)
    assert state[3] == 0
    p, z = int(state[0]), int(state[1])
    return Emission(sink.cost[:p].copy(), sink.offset[: p + 1].copy(), sink.rows[:z].copy())


def cases(seed: int, number: int, kind: str) -> Iterator[Case]:
    """Yield tables of up to 40 rows, k = 2 to 6, half of them with candidates from windows."""
    for instance, rng in random_tables(seed, number, kind, (6, 41), (1, 5)):
        k = int(rng.integers(2, 7))
        price = support_prices(PrefixTree(instance), k)[0].astype(np.float64)
        if rng.random() < 0.5:
            emission = all_candidates(instance, k, price)
        else:
            emission = window_emission(instance, k, 3, seed)
        candidates = build_candidates(instance, emission)
        yield Case(instance, k, price, candidates, greedy(candidates, k, 1), rng)


def require_links(state: State) -> None:
    """Recompute sizes and lists from the assignment."""
    pattern = state.pattern
    assert (state.size == np.bincount(pattern, minlength=len(state.size))).all()
    for p in range(len(state.size)):
        listed, before, i = [], -1, int(state.head[p])
        while i >= 0:
            assert state.prev[i] == before
            listed.append(i)
            before, i = i, int(state.next[i])
            assert len(listed) <= state.size[p]
        assert sorted(listed) == np.flatnonzero(pattern == p).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_are_sorted_patterns_both_ways(kind: str) -> None:
    """Tests order, root, transposition and supports."""
    for case in cases(31, 24, kind):
        c = case.candidates
        instance = case.instance
        assert (np.diff(c.cost) >= 0).all()
        assert c.rows[c.offset[-2] :].tolist() == list(range(instance.distinct))
        pairs = {(int(r), p) for p in range(len(c.cost)) for r in rows_of(c, p)}
        back = set()
        for r in range(instance.distinct):
            mine = c.row_patterns[c.row_offset[r] : c.row_offset[r + 1]]
            assert (np.diff(c.cost[mine]) >= 0).all()
            back |= {(r, int(p)) for p in mine}
        assert back == pairs
        for p in range(len(c.cost)):
            assert c.support[p] == instance.counts[rows_of(c, p)].sum()


def rows_of(c: Candidates, p: int) -> NDArray[np.int32]:
    """The distinct rows listed for a pattern."""
    return c.rows[c.offset[p] : c.offset[p + 1]]


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_is_lawful(kind: str) -> None:
    """Tests greedy assignments in bands of several widths, with few candidates too."""
    for case in cases(32, 36, kind):
        for step in (1, 3, 10**6):
            case.require(greedy(case.candidates, case.k, step))
        nothing = Emission(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32))
        root = build_candidates(case.instance, nothing)
        assert (greedy(root, case.k, 1) == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_annealing_never_returns_worse(kind: str) -> None:
    """Tests lawfulness and cost from a greedy start, hot and cold, stopped and not."""
    improved = 0
    for number, case in enumerate(cases(33, 10, kind)):
        before = case.require(case.pattern)
        for heat in ((5.0, 1.0), (1e-4, 1e-4)):
            reports: list[int] = []
            asked = iter(range(int(case.rng.integers(0, 6))))
            after = Annealing(moves=50, heat=heat, focus=0.5 * (number % 2)).run(
                case.candidates,
                case.pattern.copy(),
                case.k,
                1.0,
                number,
                lambda asked=asked: next(asked, None) is None,
                lambda cost, share, reports=reports: reports.append(cost),
                case.price,
            )
            cost = case.require(after)
            assert cost <= before and cost == reports[-1]
            assert reports == sorted(reports, reverse=True)
            improved += cost < before
    assert improved


@pytest.mark.parametrize("kind", KINDS)
def test_moves_keep_links_and_count_right(kind: str) -> None:
    """Tests sizes, lists, lawfulness and the running cost after slices of moves of all kinds."""
    mixes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.3, 0.4, 0.5))
    changed = np.zeros(len(mixes), np.int64)
    for number, case in enumerate(cases(34, 120, kind)):
        c = case.candidates
        state = new_state(c, case.pattern)
        most_support = int(case.rng.choice([10, 5000]))
        pad = new_pad(c, case.k, most_support)
        dice = np.array([number], np.uint64)
        cost = total_cost(state, c)
        assert cost == case.cost
        first, everyone = 0, np.arange(case.instance.rows)
        for m, shares in enumerate(mixes):
            heat, last = float(case.rng.choice([1e-4, 0.5, 5.0])), first + 300
            change = anneal_slice(
                (first, last), (heat, heat / 2), Mix(case.k, 1, *shares, 0.3, most_support, 0.2),
                state, pad, c, dice, everyone, np.arange(2),
            )  # fmt: skip
            cost += change
            changed[m] += change != 0
            first = last
            require_links(state)
            assert case.require(state.pattern) == cost == total_cost(state, c)
            assert not pad.dying.any()
            require_open_patterns(case, state, pad)
    assert changed.all()


def require_open_patterns(case: Case, state: State, pad: Pad) -> None:
    """Check what rows remember of open patterns against a scan of all their patterns."""
    c, k = case.candidates, case.k
    for row in range(case.instance.distinct):
        own = c.row_patterns[c.row_offset[row] : c.row_offset[row + 1]].tolist()
        for besides in (-1, *own):
            dying = int(case.rng.choice(own))
            pad.dying[dying] = case.rng.random() < 0.3
            usable = [p for p in own if p != besides and state.size[p] >= k and not pad.dying[p]]
            found = cheapest_open(row, besides, k, state, pad, c)
            assert found == min(usable, default=-1)
            pad.dying[dying] = False


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_never_return_worse(kind: str) -> None:
    """Tests rounds of re-solved blocks: lawful, at most the cost before, prices of any kind."""
    improved = 0
    for number, case in enumerate(cases(35, 8, kind)):
        before = case.require(case.pattern)
        reports: list[int] = []
        after = Neighbourhoods(size=15, blocks=6).run(
            case.candidates,
            case.pattern.copy(),
            case.price,
            case.k,
            1.0,
            number,
            report=lambda cost, share, reports=reports: reports.append(cost),
        )
        cost = case.require(after)
        assert cost <= before
        assert not reports or cost == reports[-1]
        improved += cost < before
    assert improved


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_is_applied_whole_or_not_at_all(kind: str) -> None:
    """Tests that a solved block changes the cost as it says and a bad one changes nothing."""
    applied = refused = 0
    for case in cases(36, 15, kind):
        c, k = case.candidates, case.k
        if case.rng.random() < 0.5:  # everything suppressed: much to gain
            case.pattern[:] = len(c.cost) - 1
        state = new_state(c, case.pattern)
        open_now = np.flatnonzero(state.size)
        torn = case.rng.permutation(open_now)[: max(1, len(open_now) // 2)]
        block = BlockMaker(c).make(torn, k, 2, 20, state)
        assert block is not None
        assert block.pays == c.cost[torn] @ state.size[torn]
        before = total_cost(state, c)
        bad = np.zeros(len(block.row), np.int64)
        own = np.flatnonzero(block.row >= 0)
        bad[case.rng.choice(own)] = 1  # most copies stay behind in classes that may break
        kept = state.pattern.copy()
        change = apply_block(block, bad, torn, k, state, c)
        require_links(state)
        assert case.require(state.pattern) == before + change and change <= 0
        if change == 0:
            refused += 1
            assert (state.pattern == kept).all()
        state = new_state(c, case.pattern)
        outside = state.size >= k
        outside[torn] = False
        taken, bound = solve_block(block, k, outside, state, case.price, 200, Stop())
        assert bound <= block.pays
        if taken is None:
            continue
        promised = int(taken @ block.cost) - block.pays
        assert promised < 0
        assert apply_block(block, taken, torn, k, state, c) == promised
        require_links(state)
        assert case.require(state.pattern) == before + promised
        applied += 1
    assert applied and refused


@pytest.mark.parametrize("kind", KINDS)
def test_a_given_solution_becomes_candidates(kind: str) -> None:
    """Tests that any release can be taken up, at its cost, beside few candidates or none."""
    for case in cases(38, 24, kind):
        instance, k = case.instance, case.k
        nothing = Emission(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32))
        few = window_emission(instance, k, 1, 3)
        every = all_candidates(instance, k, case.price)
        shuffled = case.rng.permutation(instance.rows) // k
        shuffled[shuffled == shuffled.max()] = max(0, instance.rows // k - 1)
        for classes in (sorted_classes(instance, k), shuffled):
            solution = Solution.of(instance, np.minimum(classes, max(0, instance.rows // k - 1)))
            if not lawful(solution, k):
                continue
            for emission in (nothing, few, every):
                candidates, pattern = with_solution(emission, solution)
                size = np.bincount(pattern, minlength=len(candidates.cost))
                assert ((size == 0) | (size >= k)).all()
                assert int(candidates.cost[pattern].sum()) == solution.cost
                assert Solution.of(instance, pattern).cost <= solution.cost


@pytest.mark.parametrize("kind", KINDS)
def test_a_rounded_start_is_lawful(kind: str) -> None:
    """Tests that every copy stands somewhere, in classes of at least k, whatever the prices."""
    for case in cases(39, 24, kind):
        price = case.price * case.rng.random(case.instance.distinct)
        for u in (case.price, price):
            case.require(rounded(case.candidates, case.instance.counts, u, case.k, 1.0))


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_a_fractional_release(kind: str) -> None:
    """Tests that near the best prices the pairs cover the rows, for about what the prices say."""
    for instance, rng in random_tables(40, 5, kind, (30, 41), (2, 4)):
        k = int(rng.integers(2, 5))
        tree = PrefixTree(instance)
        start = support_prices(tree, k)[0].astype(np.float64)
        price = PriceBound(rounds=8, iterations=150).ascend(tree, k, start)
        emission = all_candidates(instance, k, price)
        cost, offset = emission.cost, emission.offset
        ascent = Ascent(Emission(cost, offset, emission.rows), len(cost), instance.counts, k)
        share, _ = ascent.shares(price, 0.05 * instance.cell, 4000, 0.002 * instance.cell)
        assert (share >= 0).all()
        covered = np.bincount(emission.rows, weights=share, minlength=instance.distinct)
        paying = price > 0.01 * instance.cell
        missed = np.abs(covered - instance.counts)[paying].sum()
        assert missed <= 0.1 * instance.rows
        pays = share @ np.repeat(cost, np.diff(offset))
        assert abs(pays - price @ instance.counts) <= 0.1 * pays + instance.cell
