"""A release out of a fractional one: draw each copy's pattern, trim every class until lawful."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.solvers.engine.candidates import Candidates
from incrowd.solvers.sensitive.assignment import Rules
from incrowd.solvers.sensitive.prune import owners
from incrowd.solvers.sensitive.start import count_copy, trim


@kernel
def draw_patterns(
    offset: Any, rows: Any, share: Any, counts: Any, first_copy: Any, dice: Any, pattern: Any
) -> None:
    """Give each copy a pattern with odds by ``share``: evenly spaced draws for equal copies.

    ``dice`` (per distinct row) is where the first draw falls, in 0..1; ``pattern`` comes all −1.
    """
    total = np.zeros(counts.size)
    for i in range(rows.size):
        total[rows[i]] += share[i]
    passed = np.zeros(counts.size)
    taken = np.zeros(counts.size, np.int64)
    for p in range(offset.size - 1):
        for i in range(offset[p], offset[p + 1]):
            r = rows[i]
            passed[r] += share[i]
            while (
                share[i] > 0
                and taken[r] < counts[r]
                and (dice[r] + taken[r]) * total[r] < passed[r] * counts[r]
            ):
                pattern[first_copy[r] + taken[r]] = p
                taken[r] += 1


@kernel
def trim_all(
    order: Any, begin: Any, row_of: Any, rules: Any, hist: Any, held: Any, met: Any, pattern: Any
) -> None:
    """Trim every class; copies left over get −1.  Class p has copies ``order[begin[p]…]``."""
    least = rules.least[0]
    for p in range(begin.size - 1):
        hist[:] = 0
        profiles = 0
        for z in range(begin[p], begin[p + 1]):
            profiles = count_copy(row_of[order[z]], profiles, rules, hist, held, met)
        total = begin[p + 1] - begin[p]
        total = trim(total, profiles, least, rules, hist, held, met) if total >= least else 0
        for z in range(begin[p], begin[p + 1]):
            f = rules.profile[row_of[order[z]]]
            if total >= least and held[f] > 0:
                held[f] -= 1
            else:
                pattern[order[z]] = -1
        for x in range(profiles):
            held[met[x]] = 0


def trim_classes(
    pattern: NDArray[np.int64],
    patterns: int,
    row_of: NDArray[np.int64],
    rules: Rules,
    rng: np.random.Generator,
) -> None:
    """Trim the classes of the first ``patterns`` patterns until they are lawful, in place.

    Chance decides which copies are left over; they get −1.
    """
    order = rng.permutation(len(pattern))
    order = order[np.argsort(pattern[order], kind="stable")]
    begin = np.searchsorted(pattern[order], np.arange(patterns + 1))
    profiles = len(rules.sample)
    trim_all(
        order, begin, row_of, rules, np.zeros_like(rules.laws.once),
        np.zeros(profiles, np.int64), np.zeros(profiles, np.int64), pattern,
    )  # fmt: skip


def drawn_patterns(
    instance: Instance, emission: Emission, share: NDArray[np.float64], seed: int
) -> NDArray[np.int64]:
    """Return a pattern of the emission for each copy by chance (int64, copies), −1 for none."""
    rng = np.random.default_rng([seed, 41])
    pattern = np.full(instance.rows, -1, np.int64)
    draw_patterns(
        emission.offset, emission.rows, share, instance.counts, instance.first_copy,
        rng.random(instance.distinct), pattern,
    )  # fmt: skip
    return pattern


def rounded(
    instance: Instance,
    emission: Emission,
    share: NDArray[np.float64],
    rules: Rules,
    seed: int,
    formed: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return a pattern of the emission for each copy (int64, copies), −1 for none.

    The classes are lawful; chance decides which copies are left over.  ``formed``: patterns of
    copies that have one already, −1 for the others, which do not go to such patterns.
    """
    formed = np.full(instance.rows, -1, np.int64) if formed is None else formed
    taken = np.zeros(len(emission.cost), np.bool_)
    taken[formed[formed >= 0]] = True
    free = ~taken[owners(emission)]
    pattern = drawn_patterns(instance, emission, share * free, seed)
    pattern[formed >= 0] = -1
    rng = np.random.default_rng([seed, 43])
    trim_classes(pattern, len(emission.cost), instance.copies, rules, rng)
    return np.where(formed >= 0, formed, pattern)


def trimmed(
    c: Candidates, rules: Rules, pattern: NDArray[np.int64], seed: int
) -> NDArray[np.int64]:
    """Trim every unlawful class until it is lawful; what that drops waits at the root."""
    pattern, root = pattern.copy(), len(c.cost) - 1
    trim_classes(pattern, root, c.row_of, rules, np.random.default_rng([seed, 59]))
    pattern[pattern < 0] = root
    return pattern
