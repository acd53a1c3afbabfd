"""A release for columns that cost far more than others: parts by the dearest column first.

Annealing counts in cells of the middle column (``Instance.cell``).  Where another column costs far
more it has two faults: rows that no listed class suits end together in the class of everything,
each for a cell of the dear column; and no heat that suits cheap cells brings them out of it again.
So the search begins with a release that has the dear columns right, and goes on with the others.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.range_family import RangeFamily
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.baseline.mondrian import Lawful

FAR = 10.0  # cells of the middle column that a dear one costs at least

Rows = NDArray[np.int64]


def has_dear_columns(instance: Instance) -> bool:
    """Whether hiding a cell of some column costs far more than in the middle column."""
    return max((tree.dearest for tree in instance.trees), default=0) > FAR * instance.cell


def dearest_first(problem: Problem, over: Callable[[], bool]) -> Solution:
    """Return a lawful release of parts by the dearest column, these by the next one, and so on.

    A part falls into the groups of one node of the column, level by level; of one with ranges, in
    two at its median.  Groups that are unlawful stay together, with the smallest of the others
    as long as that is unlawful too.  The whole table has to be lawful, under a model that is closed
    under union.

    Parameters
    ----------
    over: whether to leave the parts as they are.
    """
    instance, lawful = problem.instance, Lawful.of(problem)
    parts = [np.arange(instance.distinct)]
    dearest = [-tree.dearest for tree in instance.trees]
    values = [len(np.unique(column)) for column in instance.codes.T]
    for j in np.lexsort([values, dearest]).tolist():
        tree = instance.trees[j]
        if isinstance(tree, RangeFamily):
            parts = [half for part in parts for half in halved(part, j, lawful, over)]
            continue
        for nodes in tree.node[-2::-1]:
            keys = nodes[instance.codes[:, j]]
            parts = [group for part in parts for group in grouped(part, keys, lawful, over)]
    class_of = np.zeros(instance.distinct, np.int64)
    for number, part in enumerate(parts):
        class_of[part] = number
    return Solution.of(instance, class_of[instance.copies])


def grouped(
    part: Rows, keys: NDArray[np.int32], lawful: Lawful, over: Callable[[], bool]
) -> Iterator[Rows]:
    """Yield the groups of a lawful part that have one key, those that are unlawful as one."""
    counts = lawful.problem.instance.counts
    key = keys[part]
    if over() or (key == key[0]).all():
        yield part
        return
    order = np.argsort(key, kind="stable")
    groups = np.split(part[order], 1 + np.flatnonzero(np.diff(key[order])))
    able = [lawful(group) for group in groups]
    alone = [group for group, yes in zip(groups, able, strict=True) if yes]
    rest = [group for group, yes in zip(groups, able, strict=True) if not yes]
    alone.sort(key=lambda group: -int(counts[group].sum()))
    while rest and alone and not lawful(np.concatenate(rest)):
        rest.append(alone.pop())
    yield from alone
    if rest:
        yield np.concatenate(rest)


def halved(part: Rows, j: int, lawful: Lawful, over: Callable[[], bool]) -> Iterator[Rows]:
    """Yield what a lawful part becomes by cuts at the medians of column j."""
    todo, instance = [part], lawful.problem.instance
    while todo:
        rows = todo.pop()
        codes = instance.codes[rows, j]
        held = np.bincount(codes, weights=instance.counts[rows])
        present = np.flatnonzero(held)[:-1]
        halves = []
        if len(present) and not over() and lawful.may_split(int(held.sum())):
            upto = np.cumsum(held)
            low = codes <= present[np.argmin(np.abs(upto[present] - upto[-1] / 2))]
            halves = [rows[low], rows[~low]]
        if halves and all(map(lawful, halves)):
            todo += halves
        else:
            yield rows
