"""All sub-multisets of a small table: their sizes, their prices as classes, whether lawful.

A sub-multiset says how many copies it takes of each distinct row.  It is numbered in mixed radix:
row r has place value ∏ over earlier rows of (copies + 1).  There are ∏ (copies + 1) of them, 2^n
when all rows differ, and a part always has a smaller number than the whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.exact.submultiset_kernels import price_all, weigh_all

MOST_STATES = 1 << 22
MOST_ASKED = 20_000  # rows of all classes that a model is asked about together
MOST_WORK = 2_000_000_000
MOST_DISTINCT = 19  # with one more, all different, there would be 3^20 pairs, more than MOST_WORK
SIZE = "about 19 rows, as 3^rows steps are taken; more where rows are alike"


@dataclass(frozen=True, eq=False)
class SubMultisets:
    """The table's sub-multisets.

    Attributes
    ----------
    counts, place: int64, shape (distinct,): copies and place value of each row.
    size: int32, shape (states,): rows of each sub-multiset.
    price: int64, shape (states,): size × cost of its join, or −1 where it is no lawful class (or
        one that is never needed, because it splits into lawful classes).
    """

    counts: NDArray[np.int64]
    place: NDArray[np.int64]
    size: NDArray[np.int32]
    price: NDArray[np.int64]


def states(instance: Instance) -> int:
    """Return the number of sub-multisets."""
    return prod(int(c) + 1 for c in instance.counts)


def work(instance: Instance) -> int:
    """Return the number of (part, whole) pairs of sub-multisets: 3^n when all rows differ."""
    return work_of(instance.counts.tolist())


def work_of(counts: Iterable[int]) -> int:
    """Return that number for rows of which there are so many copies each."""
    return prod((c + 1) * (c + 2) // 2 for c in counts)


def too_big(instance: Instance) -> bool:
    """Whether the table is beyond the methods that go through all sub-multisets."""
    if instance.distinct > MOST_DISTINCT:
        return True
    return states(instance) > MOST_STATES or work(instance) > MOST_WORK


def enumerate_submultisets(problem: Problem, stop: Stop) -> SubMultisets | None:
    """Price all sub-multisets of the problem's table; None when stopped."""
    instance = problem.instance
    place = np.concatenate([[1], np.cumprod(instance.counts + 1)]).astype(np.int64)
    number, place = int(place[-1]), np.ascontiguousarray(place[:-1])
    size = np.zeros(number, np.int32)
    price = np.zeros(number, np.int64)
    ends = np.zeros((2, number, instance.columns), np.uint8)
    price_all(instance.codes, instance.counts, place, instance.tables, size, ends, price)
    model = problem.model
    if model.size_decides:
        # 2k rows or more split into lawful classes that cost no more.
        k = problem.smallest_class
        price[(size < k) | (size >= 2 * k)] = -1
    else:
        weight, groups = histogram_keys(instance)
        key = np.zeros(number, np.int64)
        weigh_all(instance.counts, place, weight, key)
        found, where = np.unique(key, return_inverse=True)
        law = lawful_keys(model, problem.table, groups, found, stop)
        if law is None:
            return None
        price[~law[where.ravel()]] = -1
    price[0] = -1
    return SubMultisets(instance.counts, place, size, price)


def histogram_keys(
    instance: Instance,
) -> tuple[NDArray[np.int64], list[tuple[NDArray[np.int32], int, int]]]:
    """Number the histograms over combinations of sensitive values, in mixed radix.

    Returns
    -------
    the weight of each row's copies in the number, and for each combination of values
    (values, place, largest count + 1): a model sees nothing of a class but this histogram.
    """
    values, where = np.unique(instance.sensitive_codes, axis=0, return_inverse=True)
    where = where.ravel()
    totals = np.bincount(where, weights=instance.counts, minlength=len(values)).astype(np.int64)
    place = np.concatenate([[1], np.cumprod(totals + 1)]).astype(np.int64)
    groups = [
        (values[v].astype(np.int32), int(place[v]), int(totals[v]) + 1) for v in range(len(values))
    ]
    return place[:-1][where], groups


def lawful_keys(
    model: Model,
    table: Group,
    groups: list[tuple[NDArray[np.int32], int, int]],
    keys: NDArray[np.int64],
    stop: Stop,
) -> NDArray[np.bool_] | None:
    """Ask the model about each histogram, once; None when stopped."""
    values = np.array([group[0] for group in groups], np.int32).reshape(len(groups), -1)
    place, radix = (np.array([group[z] for group in groups], np.int64) for z in (1, 2))
    law = np.zeros(len(keys), bool)
    smallest, block = max(model.smallest_class(table), 1), max(1, MOST_ASKED // table.rows)
    for first in range(0, len(keys), block):
        if stop.now():
            return None
        counts = keys[first : first + block, None] // place % radix
        asked = np.flatnonzero(counts.sum(axis=1) >= smallest)
        if not len(asked):
            continue
        of_value = counts[asked].ravel()
        member = np.repeat(np.arange(len(asked)), len(groups))
        value = np.tile(np.arange(len(groups)), len(asked))
        rows = Group(values[np.repeat(value, of_value)], table.sizes)
        classes = Classes(np.repeat(member, of_value), rows, table)
        law[first + asked] = model.lawful_classes(classes)
    return law


def assign(problem: Problem, parts: SubMultisets, chosen: list[int]) -> Solution:
    """Turn chosen sub-multisets, which add up to the table, into a solution."""
    return Solution.of(problem.instance, classes_of(problem, parts, chosen))


def classes_of(problem: Problem, parts: SubMultisets, chosen: list[int]) -> NDArray[np.int64]:
    """int64, shape (rows,): the chosen sub-multiset that each copy is in; −1 for none."""
    instance = problem.instance
    classes = np.full(instance.rows, -1, np.int64)
    used = instance.first_copy[:-1].copy()
    for number, part in enumerate(chosen):
        taken = part // parts.place % (instance.counts + 1)
        for row in np.flatnonzero(taken):
            classes[used[row] : used[row] + taken[row]] = number
            used[row] += taken[row]
    return classes
