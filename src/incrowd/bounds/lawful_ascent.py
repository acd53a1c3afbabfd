"""Ascent of the price bound of any sensitive model: pricing says what its dearest class is."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.bounds.ascent import Ascent, Steps, load_cutters, note_excess, take_part
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import answer, dearest
from incrowd.bounds.strides import Strides
from incrowd.bounds.tops import LOOKS
from incrowd.kernels.jit import lean_kernel

WORK = 5_000_000_000  # copies that pricing may look at: some 4 ns each where classes are large
FEWEST_STEPS = 10  # of an ascent, whatever they take


@lean_kernel
def reductions(
    u: Any,
    offset: Any,
    rows: Any,
    cost: Any,
    patterns: int,
    counts: Any,
    pr: Any,
    pad: Any,
    cut: Any,
    cutter: Any,
    problem: Any,
    due: Any,
    risen: float,
) -> None:
    """Fill ``cut[r]``, the largest excess of a pattern over r, and ``cutter[r]``, that pattern.

    ``problem[p]`` is the pricing problem that decided pattern p.  ``risen`` is by how much any
    price can have risen since the start, step by step: no mean rises by more, so a pattern that
    was within its cost by some margin need not be asked before that is used up, at ``due[p]``.
    """
    cut[:] = 0.0
    cutter[:] = -1
    for p in range(patterns):
        if risen < due[p]:
            continue
        c = float(cost[p])
        begin = offset[p]
        end = offset[p + 1]
        highest = -1e300
        for i in range(begin, end):
            highest = max(highest, u[rows[i]])
            if highest > c:
                break
        if highest <= c:
            due[p] = risen + (c - highest)
            continue
        mean, which = dearest(rows, begin, end, u, counts, c, pr, pad)
        excess = mean - c
        due[p] = risen - excess
        if excess <= 1e-12 * max(1.0, c):
            continue
        problem[p] = which
        note_excess(rows, begin, end, excess, p, cut, cutter)


@lean_kernel
def supergradient(
    u: Any,
    offset: Any,
    rows: Any,
    cost: Any,
    counts: Any,
    pr: Any,
    pad: Any,
    cut: Any,
    cutter: Any,
    problem: Any,
    load: Any,
    gradient: Any,
    place: Any,
    share: Any,
) -> float:
    """Return F(u) and fill its supergradient; ``load`` (per pattern) must come and goes zeroed.

    Unless ``share`` (per pair) is empty, add to it what each pair carries; ``place`` (per distinct
    row) is scratch for that.
    """
    bound = load_cutters(u, counts, cut, cutter, load, gradient)
    for r in range(u.size):
        p = cutter[r]
        if p < 0 or load[p] == 0.0:
            continue
        begin = offset[p]
        end = offset[p + 1]
        amount = load[p]
        load[p] = 0.0
        enough = float(cost[p])  # as in ``reductions``, which found the answer to be above it
        _, out = answer(problem[p], rows, begin, end, u, counts, enough, pr, pad)
        members = pad.out_row, pad.out_weight, out
        take_part(rows, begin, end, *members, amount, gradient, place, share)
    return bound


@dataclass
class LawfulAscent(Ascent):
    """Patterns to respect, and the ascent within one box around a centre.

    Attributes
    ----------
    tree: what pricing needs, and how far prices go.
    work: copies that pricing may look at, in as many steps as there is work for if all that follow
        look at as many as the last; by the count, not by the clock, so that a run can be repeated.
    """

    tree: LawfulTree
    work: int = WORK

    def __post_init__(self) -> None:
        self._problem = np.zeros(self.patterns + 1, np.int64)
        self._looked = int(self.tree.pad.state[LOOKS])

    def strides(self) -> Strides:
        """How far each row's price goes in a step."""
        return self.tree.strides

    def planned(self, done: int, most: int) -> int:
        """Return how many steps there will be in all.

        The first step asks all patterns, later ones only those that are due: plan after each.
        """
        looked = int(self.tree.pad.state[LOOKS])
        step, self._looked = looked - self._looked, looked
        self.work = max(0, self.work - step)
        return min(most, max(FEWEST_STEPS, done + self.work // max(1, step)))

    def evaluate(self, steps: Steps) -> float:
        """Return F at ``steps.u``; leave its reductions and its supergradient behind."""
        lists = steps.u, self.offset, self.rows, self.cost
        rules = self.counts, self.tree.pricing, self.tree.pad
        found = steps.cut, steps.cutter, self._problem
        reductions(*lists, self.patterns, *rules, *found, steps.due, steps.risen)
        carried = steps.load, steps.gradient, steps.place, steps.share
        return float(supergradient(*lists, *rules, *found, *carried))
