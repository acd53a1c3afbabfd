"""Rows and classes of a release that it pays to delete."""

import numpy as np
from numpy.typing import NDArray

from incrowd.deletion.found import DELETED, Ints, kept_solution
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution

LARGEST = 40  # rows of classes of which single rows are tried: of n rows n·(n − 1) are looked at


def without_dear(problem: Problem, classes: Ints, deletion: Deletion) -> Ints:
    """Delete whole classes that pay more than the price of deletion, the dearest first."""
    kept = np.flatnonzero(classes != DELETED)
    if not len(kept):
        return classes
    solution, place = kept_solution(problem, classes)
    room = deletion.limit(len(classes)) - (len(classes) - len(kept))
    found = classes.copy()
    for one in np.argsort(-solution.class_costs, kind="stable"):
        if solution.class_costs[one] <= deletion.price:
            break
        if solution.sizes[one] <= room:
            found[kept[solution.classes[place] == one]] = DELETED
            room -= int(solution.sizes[one])
    return found


def without_single(problem: Problem, classes: Ints, deletion: Deletion) -> Ints:
    """Delete single rows that a class is cheaper and still lawful without, the dearest first."""
    found = classes.copy()
    room = deletion.limit(len(found)) - int((found == DELETED).sum())
    touched = np.unique(found[found != DELETED])
    while room > 0 and len(touched):
        copies, gains = savings(problem, found, touched, deletion.price)
        chosen = np.argsort(-gains, kind="stable")[:room]
        touched = np.unique(found[copies[chosen]])
        found[copies[chosen]] = DELETED
        room -= len(chosen)
    return found


def savings(problem: Problem, classes: Ints, among: Ints, price: int) -> tuple[Ints, Ints]:
    """Return copies of some classes that it pays to delete, one of a class at most, and the gains.

    int64, shape (copies,) each; gains are in units of 1/scale.
    """
    inside = np.flatnonzero(np.isin(classes, among))
    order = inside[np.argsort(classes[inside], kind="stable")]
    _, start, size = np.unique(classes[order], return_index=True, return_counts=True)
    copies, gains = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for n in np.unique(size[(size > problem.smallest_class) & (size <= LARGEST)]).tolist():
        member = order[start[size == n][:, None] + np.arange(n)]
        others = np.flatnonzero(~np.eye(n, dtype=bool)).reshape(n, n - 1) % n
        rest = member[:, others].reshape(-1, n - 1)
        gain = n * costs(problem, member).repeat(n) - (n - 1) * costs(problem, rest) - price
        gain = np.where(lawful(problem, rest), gain, 0).reshape(-1, n)
        best = gain.argmax(axis=1)
        each = np.arange(len(member))
        pays = gain[each, best] > 0
        copies.append(member[each, best][pays])
        gains.append(gain[each, best][pays])
    return np.concatenate(copies), np.concatenate(gains)


def costs(problem: Problem, groups: Ints) -> Ints:
    """int64, shape (groups,): what a row costs in each group of copies (int64, groups × size)."""
    instance = problem.instance
    codes = instance.codes[instance.copies[groups.ravel()]]
    rows = Instance(codes, np.ones(len(codes), np.int64), instance.trees, instance.scale)
    return Solution(rows, np.repeat(np.arange(len(groups)), groups.shape[1])).class_costs


def lawful(problem: Problem, groups: Ints) -> NDArray[np.bool_]:
    """bool, shape (groups,): whether each group of copies (int64, groups × size) is a class."""
    member = np.repeat(np.arange(len(groups)), groups.shape[1])
    return problem.lawful_classes(member, groups.ravel())
