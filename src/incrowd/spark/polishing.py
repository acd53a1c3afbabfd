"""Regrouping classes that are there already: the engine's polishing, from a given start."""

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.engine.search import Search
from incrowd.solvers.progress import Progress
from incrowd.spark.task import Task


def polished(start: Solution, price: NDArray[np.float64], task: Task) -> Solution:
    """Return a lawful solution of the same copies that costs no more than ``start``."""
    instance = start.instance
    k = Problem(instance, task.model).smallest_class
    surplus = idle_copies(start, k)
    keep = np.flatnonzero(~surplus)
    small = Instance(
        instance.codes,
        np.bincount(instance.copies[keep], minlength=instance.distinct).astype(np.int64),
        instance.trees,
        instance.scale,
    )
    context = Context(task.seed, Stop(task.time_limit, None))
    progress = Progress(context, Solution.of(small, start.classes[keep]))
    before = progress.best.cost
    progress.bound = min(int(price @ small.counts), before)
    search = Search(Engine(), small, k, progress)
    search.price = price
    search.polish()
    if progress.best.cost >= before:
        return start
    classes = np.empty(instance.rows, np.int64)
    classes[keep] = progress.best.classes
    # those set aside are whole classes by themselves, one for each distinct row
    classes[surplus] = len(progress.best.sizes) + instance.copies[surplus]
    found = Solution.of(instance, classes)
    return found if found.cost < start.cost and found.sizes.min() >= k else start


def idle_copies(solution: Solution, k: int) -> NDArray[np.bool_]:
    """bool, shape (copies,): copies in classes of nothing but themselves, beyond 2k of them.

    At least k of a row are set aside, or none: they are a class that costs nothing.
    """
    instance = solution.instance
    low = np.full(len(solution.sizes), instance.distinct)
    high = np.zeros(len(solution.sizes), np.int64)
    np.minimum.at(low, solution.classes, instance.copies)
    np.maximum.at(high, solution.classes, instance.copies)
    pure = (low == high)[solution.classes]
    idle = np.zeros(instance.rows, bool)
    at = np.flatnonzero(pure)
    rows = instance.copies[at]  # ascending
    first = np.searchsorted(rows, rows)
    rank = np.arange(len(at)) - first
    held = np.bincount(rows, minlength=instance.distinct)[rows]
    idle[at[(rank >= 2 * k) & (held >= 3 * k)]] = True
    return idle
