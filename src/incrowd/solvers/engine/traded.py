"""Classes as their members, and what their rows pay for spans of codes.

The join of a class is that of its least and greatest code in each column, for the leaves below a
node are a run of codes: its *span*.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel
from incrowd.kernels.random import least_gain
from incrowd.problem.instance import Instance
from incrowd.problem.join import span_cost
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.near import Near

FAR = 1 << 62
NOBODY = -1
REFUSED = -2


class TradedClasses(NamedTuple):
    """The classes.

    class_of, place: int64, (copies,): class of each copy, and where it stands there.
    member: int64, (classes, 2k − 1).  size, cost: int64, (classes,): copies, and what each pays.
    spare, spares: int64: classes without members, and how many there are.
    span: int32, (classes, 2, columns): least and greatest code of each class.
    relief: int64, (copies,): what each row of its class would pay less without a copy, or more than
        that; ease: int64, (classes,): the most of these.
    row_of, first_copy, codes: of the instance.  near: as ``near_rows`` tells.
    even: what each column costs a row that hides it, if all cost the same; else 0.
    """

    class_of: NDArray[np.int64]
    place: NDArray[np.int64]
    member: NDArray[np.int64]
    size: NDArray[np.int64]
    cost: NDArray[np.int64]
    spare: NDArray[np.int64]
    spares: NDArray[np.int64]
    span: NDArray[np.int32]
    relief: NDArray[np.int64]
    ease: NDArray[np.int64]
    row_of: NDArray[np.int64]
    first_copy: NDArray[np.int64]
    codes: NDArray[np.int32]
    near: NDArray[np.int64]
    even: int


class Pad(NamedTuple):
    """Room to work in.

    span: int32, (spans, 2, columns): least and greatest code of some copies, by column.  The first
        is empty, the second that of a class but for one copy; then those of the other class's
        members from the first on and from the last on, or of classes that are grown.
    pool, into: int64: the copies of a regrouping, and the class each goes to.
    held, pays: int64: copies of each class that is grown, and what each pays.
    """

    span: NDArray[np.int32]
    pool: NDArray[np.int64]
    into: NDArray[np.int64]
    held: NDArray[np.int64]
    pays: NDArray[np.int64]


EMPTY, LEFT, AHEAD = 0, 1, 2


@inner_kernel
def clear(span: Any) -> None:
    """Make a span empty."""
    for j in range(span.shape[1]):
        span[0, j] = 2147483647
        span[1, j] = -1


@inner_kernel
def widen(span: Any, by: Any, row: int, codes: Any) -> None:
    """Let ``span`` be that of ``by`` and a row."""
    for j in range(span.shape[1]):
        span[0, j] = min(by[0, j], codes[row, j])
        span[1, j] = max(by[1, j], codes[row, j])


@inner_kernel
def paid(one: Any, other: Any, row: Any, most: Any, codes: Any, tables: Any) -> Any:
    """Return what each row of two spans, and of one row besides, would pay; more than ``most``."""
    total = np.int64(0)
    for j in range(one.shape[1]):
        low = min(one[0, j], other[0, j])
        high = max(one[1, j], other[1, j])
        if row >= 0:
            low = min(low, codes[row, j])
            high = max(high, codes[row, j])
        if low != high:
            total += span_cost(j, low, high, tables)
            if total > most:
                break
    return total


@inner_kernel
def pays_in(one: Any, other: Any, row: Any, most: Any, m: Any, tables: Any) -> Any:
    """As ``paid``; where all columns cost alike to hide, hidden ones are counted, many at once."""
    if m.even == 0:
        return paid(one, other, row, most, m.codes, tables)
    hidden = np.int32(0)
    if row < 0:
        for j in range(one.shape[1]):
            low, high = min(one[0, j], other[0, j]), max(one[1, j], other[1, j])
            hidden += np.int32(low != high)
    else:
        for j in range(one.shape[1]):
            low = min(min(one[0, j], other[0, j]), m.codes[row, j])
            high = max(max(one[1, j], other[1, j]), m.codes[row, j])
            hidden += np.int32(low != high)
    return m.even * np.int64(hidden)


@inner_kernel
def put(i: Any, into: Any, at: Any, m: Any) -> None:
    """Note that copy i stands at a place of a class."""
    m.member[into, at] = i
    m.class_of[i] = into
    m.place[i] = at


@inner_kernel
def leave(i: Any, m: Any) -> None:
    """Take copy i out of its class."""
    a = m.class_of[i]
    m.size[a] -= 1
    last = m.member[a, m.size[a]]
    put(last, a, m.place[i], m)


@inner_kernel
def join(i: Any, b: Any, m: Any) -> None:
    """Put copy i into a class."""
    put(i, b, m.size[b], m)
    m.size[b] += 1


@inner_kernel
def allowed(a: Any, b: Any, heat: float, m: Any, rng: Any) -> Any:
    """Return what the copies of two classes pay now, and the most that they may pay anew."""
    before = m.size[a] * m.cost[a] + m.size[b] * m.cost[b]
    return before, before - np.int64(np.ceil(least_gain(heat, rng)))


def even_cost(instance: Instance) -> int:
    """Return what hiding a cell costs if cells are only hidden and all cost the same; else 0."""
    if not instance.plain:
        return 0
    costs = {int(cost) for tree in instance.trees for cost in tree.roots}
    return costs.pop() if len(costs) == 1 else 0


def opened(solution: Solution, near: Near, k: int) -> TradedClasses:
    """Return the classes of a solution; spans and reliefs are not filled in."""
    instance, sizes = solution.instance, solution.sizes
    classes = max(len(sizes), instance.rows // k)
    order, starts = solution.order
    member = np.full((classes, 2 * k - 1), NOBODY, np.int64)
    place = np.empty(instance.rows, np.int64)
    place[order] = np.arange(instance.rows) - np.repeat(starts, sizes)
    member[solution.classes, place] = np.arange(instance.rows)
    size, cost = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    size[: len(sizes)], cost[: len(sizes)] = sizes, solution.class_costs
    spare = np.zeros(classes, np.int64)  # room for all: classes may merge
    spare[: classes - len(sizes)] = np.arange(len(sizes), classes)
    return TradedClasses(
        solution.classes.copy(), place, member, size, cost,
        spare, np.array([classes - len(sizes)], np.int64),
        np.empty((classes, 2, instance.columns), np.int32), np.zeros(instance.rows, np.int64),
        np.zeros(classes, np.int64),
        instance.copies, instance.first_copy, instance.codes, near.rows, even_cost(instance),
    )  # fmt: skip


def empty_spans(number: int, columns: int) -> NDArray[np.int32]:
    """Return spans of nothing, as ``clear`` leaves them: int32, shape (number, 2, columns)."""
    span = np.empty((number, 2, columns), np.int32)
    span[:, 0], span[:, 1] = np.iinfo(np.int32).max, -1
    return span


def new_pad(instance: Instance, k: int) -> Pad:
    """Allocate room for classes of up to 2k − 1 copies."""
    span = empty_spans(AHEAD + 4 * k, instance.columns)
    room = [np.empty(4 * k, np.int64) for _ in range(4)]
    return Pad(span, *room)
