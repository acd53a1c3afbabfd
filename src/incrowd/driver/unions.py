"""Classes that are one in the release, under models that are not closed under union.

Classes with the same released cells are one class to whoever looks.  Where each is lawful, their
union need not be.  Then classes are merged, each with one that it costs least to merge it with,
until all are lawful.  Bounds are not touched: they hold for every lawful release.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Ints
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution

TRIED = 8


def mended(problem: Problem, solution: Solution) -> Solution | None:
    """Return a release whose classes, as they are published, are lawful; None: found none.

    Parameters
    ----------
    solution: of ``problem``; comes back as it is where nothing is to be done.
    """
    instance = problem.instance
    while True:
        solution = united(solution)
        fits = problem.lawful_classes(solution.classes)
        if fits.all():
            return solution
        if len(fits) == 1:
            return None
        into = np.arange(len(fits))
        free = np.ones(len(fits), bool)
        for c in np.flatnonzero(~fits).tolist():
            if free[c] and free.sum() > 1:
                other = partner(problem, solution, c, free)
                into[c] = other
                free[[c, other]] = False
        solution = Solution.of(instance, into[solution.classes])


def united(solution: Solution) -> Solution:
    """Return the classes by what is published of them."""
    low, high = solution.spans
    one = published(solution.instance, low, high)
    same = len(one) == int(one.max(initial=-1)) + 1
    return solution if same else Solution.of(solution.instance, one[solution.classes])


def published(instance: Instance, low: NDArray[np.int32], high: NDArray[np.int32]) -> Ints:
    """int64, shape (classes,): the same number where the same cells are published.

    Parameters
    ----------
    low, high: int32, shape (classes, columns): the least and the greatest code of each class.
    """
    nodes = []
    for j, tree in enumerate(instance.trees):
        if isinstance(tree, RangeFamily):  # of different values intervals may read alike
            spans = np.column_stack([low[:, j], high[:, j]])
            each, of_class = np.unique(spans, axis=0, return_inverse=True)
            texts: dict[str | None, int] = {}
            shown = [texts.setdefault(tree.label(a, b), len(texts)) for a, b in each.tolist()]
            nodes.append(np.array(shown, np.int64)[of_class.ravel()])
        else:
            level = tree.join_levels(low[:, j], high[:, j])
            nodes += [level, tree.node[level, low[:, j]]]
    if not nodes:
        return np.zeros(len(low), np.int64)
    return np.unique(np.column_stack(nodes), axis=0, return_inverse=True)[1].ravel()


def partner(problem: Problem, solution: Solution, c: int, free: NDArray[np.bool_]) -> int:
    """Return the free class that c is best merged with: cheaply, and lawfully where that can be."""
    added = cost_of_unions(solution, c)
    added[~free] = np.iinfo(np.int64).max
    added[c] = np.iinfo(np.int64).max
    near = np.argsort(added, kind="stable")[: min(TRIED, int(free.sum()) - 1)]
    for other in near.tolist():
        copies = np.flatnonzero((solution.classes == c) | (solution.classes == other))
        if problem.model.lawful(problem.group(copies), problem.table):
            return other
    return int(near[0])


def cost_of_unions(solution: Solution, c: int) -> Ints:
    """int64, shape (classes,): what it costs more to have c and each class as one."""
    low, high = solution.spans
    each = solution.instance.join_costs(np.minimum(low, low[c]), np.maximum(high, high[c]))
    sizes, costs = solution.sizes, solution.class_costs
    return (sizes + sizes[c]) * each - sizes * costs - sizes[c] * costs[c]
