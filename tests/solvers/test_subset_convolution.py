"""Tests of the subset convolution's parts: prices, counts, and the way back to classes."""

import numpy as np
import pytest

from dial import enough, few
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.exact import subset_convolution
from incrowd.solvers.exact.class_prices import class_prices
from incrowd.solvers.exact.subset_convolution import (
    CandidateClasses,
    SubsetConvolution,
    counted,
    sequences,
    tile,
)
from incrowd.solvers.exact.subset_dp import SubsetDP
from oracle import optimum
from partings import partitions


def as_bits(group) -> int:
    return sum(1 << row for row in group)


def random_candidates(rng, rows: int, smallest: int) -> CandidateClasses:
    """About half of all sets of enough rows, with slacks 0 to 3."""
    part = np.array([s for s in range(1, 1 << rows) if s.bit_count() >= smallest], np.int64)
    part = part[rng.random(len(part)) < 0.5]
    size = np.array([int(s).bit_count() for s in part], np.int64)
    return CandidateClasses(part, size, rng.integers(0, 4, len(part)), rows, smallest)


def naive_counts(found: CandidateClasses, most: int) -> list[int]:
    """Partitions by slack, each counted once for every order of its classes."""
    slack = dict(zip(found.part.tolist(), found.slack.tolist(), strict=True))
    counts = [0] * (most + 1)
    for partition in partitions(list(range(found.rows))):
        parts = [as_bits(group) for group in partition]
        if all(part in slack for part in parts) and (g := sum(slack[p] for p in parts)) <= most:
            orders = 1
            for i in range(len(parts)):
                orders *= i + 1
            counts[g] += orders
    return counts


@pytest.mark.parametrize("low", [2, 12])
def test_counts(low, monkeypatch):
    """Tests the counts by inclusion and exclusion against enumeration, in one block and in many."""
    monkeypatch.setattr(subset_convolution, "LOW", low)
    rng = np.random.default_rng(low)
    some = 0
    for _ in range(few(20)):
        found = random_candidates(rng, int(rng.integers(3, 8)), int(rng.integers(1, 3)))
        most = int(rng.integers(0, 7))
        told = counted(found.within(most), most, Context())
        assert told is not None
        assert told.tolist() == naive_counts(found, most)
        some += int(told.sum())
    assert some > enough(100)


def test_number_of_sequences():
    """Tests the bound on counts: ordered set partitions, of blocks of 1 and of 2 and more."""
    assert [sequences(n, 1) for n in range(6)] == [1, 1, 3, 13, 75, 541]  # Fubini numbers
    for rows in range(2, 8):
        naive = 0
        for partition in partitions(list(range(rows))):
            if min(map(len, partition)) >= 2:
                orders = 1
                for i in range(len(partition)):
                    orders *= i + 1
                naive += orders
        assert sequences(rows, 2) == naive
    assert sequences(18, 1) < 1 << 64 <= sequences(20, 1)
    assert sequences(24, 3) < 1 << 64


@pytest.mark.parametrize("tries", [0, 50_000])
def test_tiling(tries, monkeypatch):
    """Tests that the search and the sure way behind it find classes of the wanted slack."""
    monkeypatch.setattr(subset_convolution, "TRIES", tries)
    rng = np.random.default_rng(4)
    for _ in range(few(12)):
        found = random_candidates(rng, 6, 2)
        counts = counted(found, 8, Context())
        assert counts is not None
        for slack in np.flatnonzero(counts).tolist():
            chosen = tile(found, slack, Context(), counted)
            assert chosen is not None
            of = dict(zip(found.part.tolist(), found.slack.tolist(), strict=True))
            assert sum(of[part] for part in chosen) == slack
            assert sum(chosen) == 63
            assert np.bitwise_or.reduce(chosen) == 63


def test_prices_never_exceed_a_class():
    """Tests prices in whole numbers: no class is exceeded, no sum is above the optimum."""
    rng = np.random.default_rng(2)
    for _ in range(few(20)):
        rows = int(rng.integers(3, 8))
        price = rng.integers(0, 30, 1 << rows)
        price[rng.random(1 << rows) < 0.3] = -1
        price[0], price[-1] = -1, 40
        prices = class_prices(price, rows, Stop())
        assert prices is not None
        for s in range(1, 1 << rows):
            worth = sum(int(prices.worth[r]) for r in range(rows) if s >> r & 1)
            if price[s] < 0:
                assert prices.slack[s] == -1
            else:
                assert prices.slack[s] == prices.units * price[s] - worth >= 0
        best = min(
            sum(int(price[as_bits(g)]) for g in partition)
            for partition in partitions(list(range(rows)))
            if all(price[as_bits(g)] >= 0 for g in partition)
        )
        assert prices.bound <= best


@pytest.mark.parametrize("rows", [15, 16])
def test_beyond_the_oracle(rows):
    """Tests tables of more rows against dynamic programming, several models."""
    rng = np.random.default_rng(rows)
    instance, _ = from_codes(rng.integers(0, 4, (rows, 4)), None, rng.integers(0, 3, rows))
    for model in (KAnonymity(2), KAnonymity(4), TCloseness("0.3") & KAnonymity(3)):
        problem = Problem(instance, model)
        assert SubsetConvolution().refuse(problem) is None
        outcome = SubsetConvolution().run(problem, Context())
        assert outcome.solution is not None
        assert outcome.bound == outcome.solution.cost == SubsetDP().run(problem, Context()).bound


def test_where_prices_leave_a_gap():
    """Tests a table whose prices stay below the optimum, so that the slack has to grow."""
    rng = np.random.default_rng(0)
    grown = 0
    for _ in range(few(60)):
        instance, _ = from_codes(rng.integers(0, 3, (9, 4)))
        problem = Problem(instance, KAnonymity(3))
        steps = []
        context = Context(listener=lambda event, steps=steps: steps.append(event.bound))
        outcome = SubsetConvolution().run(problem, context)
        assert outcome.bound == optimum(instance, problem.model)
        bounds = {bound for bound in steps if bound}
        assert max(bounds, default=0) <= outcome.bound
        grown += len(bounds) > 1
    assert grown
