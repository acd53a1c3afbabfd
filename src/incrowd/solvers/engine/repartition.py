"""Few near classes put together anew, exactly: set partitioning guided by prices.

Prices say what each row pays in every release, and no class costs less than its rows are worth.  So
classes that replace those of a block must together cost less above prices than these do, which
leaves few: they are listed, and the best partition of the block's copies into them is found.

While there is heat, each listed class is dearer by a random amount, and the best under these costs
is taken: a draw from partitions that are nearly the best, as of Papandreou and Yuille (2011,
"Perturb-and-MAP random fields").
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.rounds import fade
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.anneal import Clock
from incrowd.solvers.engine.block_partition import (
    WIDEST,
    list_classes,
    new_room,
    order_lists,
    partition,
    share_out,
)
from incrowd.solvers.engine.near import Near
from incrowd.solvers.engine.traded import join, opened

LOOKS = 200  # for classes near a block
SLICE = 400  # blocks between two looks at the clock


@inner_kernel
def gather_block(c: int, size: int, m: Any, room: Any, rng: Any) -> Any:
    """Choose classes near class c until they have ``size`` copies; return how many classes."""
    room.block[0] = c
    classes, copies = np.int64(1), m.size[c]
    for _ in range(LOOKS):
        if copies >= size:
            break
        one = room.block[below(rng, classes)]
        i = m.member[one, below(rng, m.size[one])]
        s = m.near[m.row_of[i], below(rng, m.near.shape[1])]
        if s < 0:
            continue
        b = m.class_of[m.first_copy[s] + below(rng, m.first_copy[s + 1] - m.first_copy[s])]
        known = m.cost[b] == 0 or copies + m.size[b] > WIDEST
        for z in range(classes):
            known = known or room.block[z] == b
        if not known:
            room.block[classes] = b
            classes += 1
            copies += m.size[b]
    return classes


@inner_kernel
def enter(classes: Any, price: Any, m: Any, room: Any) -> Any:
    """List the copies of a block, the dearest first; return what its classes cost above prices.

    That of all together, and that of the one that costs most.
    """
    n = 0
    total, most = 0.0, 0.0
    for z in range(classes):
        b = room.block[z]
        above = float(m.size[b] * m.cost[b])
        for y in range(m.size[b]):
            i = m.member[b, y]
            worth = price[m.row_of[i]]
            above -= worth
            at = n
            while at > 0 and room.worth[at - 1] < worth:
                room.worth[at] = room.worth[at - 1]
                room.copy[at] = room.copy[at - 1]
                room.row[at] = room.row[at - 1]
                at -= 1
            room.worth[at] = worth
            room.copy[at] = i
            room.row[at] = m.row_of[i]
            n += 1
        total += above
        most = max(most, above)
    return n, total, most


@inner_kernel
def disturb(heat: float, n: int, found: Any, classes: Any, m: Any, room: Any, rng: Any) -> float:
    """Make listed classes dearer by random amounts; return what the block costs then, or less."""
    for c in range(found):
        room.above[c] -= heat * np.log(draw(rng) + 1e-300)
    total = 0.0
    for z in range(classes):
        mask = np.int64(0)
        for x in range(n):
            if m.class_of[room.copy[x]] == room.block[z]:
                mask |= np.int64(1) << x
        for c in range(found):
            if room.mask[c] == mask:
                total += room.above[c]
                break
    return total


@inner_kernel
def replace(classes: Any, count: Any, n: int, m: Any, room: Any) -> Any:
    """Put the classes found in the place of the block's; return the change of cost."""
    change = np.int64(0)
    for z in range(classes):
        b = room.block[z]
        change -= m.size[b] * m.cost[b]
        m.size[b] = 0
        m.cost[b] = 0
        m.spare[m.spares[0]] = b
        m.spares[0] += 1
    for z in range(count):
        c = room.best[z]
        m.spares[0] -= 1
        b = m.spare[m.spares[0]]
        for x in range(n):
            if room.mask[c] >> x & 1:
                join(room.copy[x], b, m)
        m.cost[b] = room.pays[c]
        change += room.size[c] * room.pays[c]
    return change


@inner_kernel
def resolve(
    c: int, size: int, k: int, heat: float, dear: float, price: Any, m: Any, room: Any, tables: Any,
    rng: Any,
) -> Any:  # fmt: skip
    """Put a block about class c together anew; return the change of cost."""
    classes = gather_block(c, size, m, room, rng)
    n, total, most = enter(classes, price, m, room)
    if classes < 2 or total < 1.0:
        return np.int64(0)
    each = min(total, dear * total / classes)
    if heat > 0:  # the block's own classes are listed too
        each = max(each, most + 1.0)
    found = list_classes(n, k, each, room, m.codes, tables)
    if found <= 0:
        return np.int64(0)
    if heat > 0:
        total = disturb(heat, n, found, classes, m, room, rng)
    left = total - 0.5 - share_out(n, found, room)  # costs are whole numbers
    if left <= 0:
        return np.int64(0)
    order_lists(n, room)
    count = partition(n, left, room)
    return replace(classes, count, n, m, room) if count else np.int64(0)


@lean_kernel
def resolve_all(
    todo: Any, size: int, k: int, heat: float, dear: float, price: Any, m: Any, room: Any,
    tables: Any, rng: Any,
) -> Any:  # fmt: skip
    """Put blocks about some classes together anew; return the change of cost."""
    change = np.int64(0)
    for c in todo:
        if m.cost[c] > 0:
            change += resolve(c, size, k, heat, dear, price, m, room, tables, rng)
    return change


@dataclass(frozen=True, kw_only=True)
class Repartition:
    """How blocks are put together anew.

    Attributes
    ----------
    sweeps: blocks about every class; ``most`` in all.
    size, classes: copies of a block, and how many classes of k it has at least.
    heat: first and last temperature, in what a class costs above prices on average.
    cold: share of the sweeps at the end that have none.
    dear: times what a class of the block costs above prices that one in its place may cost.
    """

    sweeps: float = 24
    most: int = 150_000
    size: int = 24
    classes: int = 4
    heat: tuple[float, float] = (0.4, 0.02)
    cold: float = 0.1
    dear: float = 3.0

    def suits(self, k: int) -> bool:
        """Whether blocks hold enough classes: larger ones have too many sets of rows to list."""
        return self.classes * k <= self.size

    def run(
        self,
        solution: Solution,
        near: Near,
        price: NDArray[np.float64],
        k: int,
        seed: int,
        seconds: tuple[float, float] | None = None,
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[int, float], None] = lambda cost, share: None,
    ) -> Solution:
        """Improve a solution whose classes all have k to 2k − 1 copies.

        near: as ``near_rows`` tells.  price: float64, shape (distinct,): prices that bound every
        release.  seconds: as in ``Clock``.  Where one sweep is too much there is no heat.
        """
        instance, cost = solution.instance, solution.cost
        m, room = opened(solution, near, k), new_room(instance.columns, k)
        rng = np.array([(seed * 0x9E3779B9 + 77) & 0xFFFFFFFFFFFF], np.uint64)
        order = np.random.default_rng([seed, 17])
        every = int(np.count_nonzero(m.cost))
        length = max(1, min(SLICE, every))
        clock = Clock(min(int(self.sweeps * every), self.most), length, seconds)
        above = max(0.0, cost - float(price @ instance.counts)) / max(1, every)
        cold = 1.0 - self.cold if every < self.most else 0.0
        todo = np.empty(0, np.int64)
        while clock.share < 1 and not stop():
            if len(todo) == 0:
                todo = order.permutation(np.flatnonzero(m.cost > 0))
            if len(todo) == 0:
                break
            heat = fade(self.heat, clock.share / cold) * above if clock.share < cold else 0.0
            now, todo = todo[:length], todo[length:]
            cost += resolve_all(
                now, self.size, k, heat, self.dear, price, m, room, instance.tables, rng
            )
            clock.tick()
            report(cost, clock.share)
        return Solution.of(instance, m.class_of)
