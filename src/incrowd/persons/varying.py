"""Classes within groups of people, by the columns that vary.

All groups are one table: the group is a column whose star costs more than all others together, so
that no class of a cheapest release holds two groups.  A search need not find that; what it leaves
is parted by groups, and parts with fewer than k people are joined.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.driver.solve import solve
from incrowd.encoding.encoded import Coded
from incrowd.errors import StoppedError
from incrowd.hierarchy.tree import Tree
from incrowd.persons.groups import dense
from incrowd.privacy.classes import values_by_class
from incrowd.privacy.people import People
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context

Ints = NDArray[np.int64]


def classes_within(
    table: Coded, group: Ints, columns: tuple[int, ...], k: int, context: Context
) -> Ints:
    """int64, shape (rows,): classes of at least k people, each within its group."""
    whose = table.owners
    trees = [table.instance.trees[j] for j in columns]
    star = sum(tree.dearest for tree in trees) + 1
    names = tuple(f"{g:09}" for g in range(int(group.max()) + 1))
    codes = np.column_stack([table.leaves[:, list(columns)], group]).astype(np.int32)
    side = Tree.suppression("group", names, star)
    instance, copy = from_codes(codes, (*trees, side), whose, table.instance.scale)
    try:
        solved = solve(Problem(instance, People(k, 0)), "auto", context)
    except StoppedError:  # each group as one class is lawful, if dear
        return group
    return parted(solved.solution.classes[copy], group, whose, k)


def parted(classes: Ints, group: Ints, whose: Ints, k: int) -> Ints:
    """Part classes by group; join the parts of a group with fewer than k people, or all of them."""
    width = int(group.max()) + 1
    part = dense(classes * width + group)
    few = values_by_class(part, whose) < k
    left = few[part]
    part[left] = len(few) + group[left]  # what is too small within a group, together
    part = dense(part)
    broken = np.zeros(width, bool)
    broken[group[(values_by_class(part, whose) < k)[part]]] = True
    whole = broken[group]
    part[whole] = len(part) + group[whole]
    return dense(part)
