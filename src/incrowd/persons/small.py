"""Groups of people with weights in small tables: exactly, by integer programming over patterns."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.driver.solve import TINY_EFFORT
from incrowd.errors import StoppedError
from incrowd.hierarchy.family import Family
from incrowd.privacy.linear import Linear
from incrowd.problem.instance import from_codes
from incrowd.run.stop import watched
from incrowd.solvers.base import Context
from incrowd.solvers.fpt.patterns import Patterns, closed_patterns, effort
from incrowd.solvers.fpt.program import TOLERANCES, build, solve_program

Ints = NDArray[np.int64]
SMALL = 40  # people


def by_patterns(
    codes: NDArray[np.int32],
    weight: Ints,
    trees: Sequence[Family],
    scale: int,
    k: int,
    context: Context,
) -> tuple[Ints, int] | None:
    """Return the cheapest groups and their cost; None where it takes long or cannot be sure.

    As ``pattern-milp``, but that a person pays a pattern's cost once for each row: people alike who
    have equally many rows are copies.
    """
    instance, copy = from_codes(codes, tuple(trees), weight, scale)
    if effort(instance) > 2 * TINY_EFFORT:
        return None
    rows_of = instance.sensitive_codes[:, 0].astype(np.int64)
    try:
        patterns = closed_patterns(instance, k, context.stop)
    except StoppedError:
        return None
    unit = max(int(np.gcd.reduce(patterns.cost)), 1)
    scaled = Patterns(patterns.cost // unit, patterns.start, patterns.row)
    program, columns = build(instance, scaled, Linear(k=k))
    pays = scaled.cost[columns.pattern] * rows_of[columns.row]
    program.cost[0] = pays.astype(np.float64)
    context.tell("integer program over patterns")
    for tolerance in TOLERANCES:
        try:
            with watched(context.stop):
                values, bound, finished = solve_program(program, columns, context, tolerance)
        except StoppedError:
            return None
        if values is None or not finished:
            return None
        taken = np.rint(values[columns.x]).astype(np.int64)
        used = np.bincount(columns.pattern, weights=taken)
        cost = int(np.dot(taken, pays))
        if (used[used > 0] >= k).all() and cost - bound < 0.5:
            member, begin = np.empty(instance.rows, np.int64), instance.first_copy[:-1].copy()
            for p, r, n in zip(columns.pattern, columns.row, taken, strict=True):
                member[begin[r] : begin[r] + n] = p
                begin[r] += n
            return member[copy], cost * unit
    return None
