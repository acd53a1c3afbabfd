"""Candidates that contain a given solution, so that the search can go on from it."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from incrowd.lattice.emission import Emission
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.candidates import Candidates, build_candidates, find_join


def with_solution(emission: Emission, solution: Solution) -> tuple[Candidates, NDArray[np.int64]]:
    """Return candidates for ``emission`` plus the classes of ``solution``, and its assignment.

    A class whose join was not emitted becomes a pattern that only its own rows match.
    """
    instance = solution.instance
    order, starts = solution.order
    rows = instance.copies[order]
    member = np.ones(len(rows), bool)
    member[1:] = rows[1:] != rows[:-1]
    member[starts] = True
    ends = emission.offset[-1] + np.cumsum(np.add.reduceat(member, starts))
    extended = Emission(
        np.concatenate([emission.cost, solution.class_costs]),
        np.concatenate([emission.offset, ends]).astype(np.int64),
        np.concatenate([emission.rows, rows[member].astype(np.int32)]),
    )
    candidates = build_candidates(instance, extended)
    pattern = np.empty(instance.rows, np.int64)
    for begin, end in pairwise([*starts.tolist(), len(rows)]):
        members = np.unique(rows[begin:end])
        found = find_join(
            members,
            len(members),
            candidates.codes,
            candidates.tables,
            candidates.table_key,
            candidates.table_pattern,
        )
        pattern[order[begin:end]] = found if found >= 0 else len(candidates.cost) - 1
    return candidates, pattern
