"""Which triples may be put in or taken out, and which two together, by what they gain at most.

Prices and odd sets of the matching, with prices for the nodes in triples that no pair violates,
bound the cost of matching any other set of nodes: Σ prices of its nodes + Σ weights of the sets
that it meets in an odd number of nodes.  So putting a triple t in gains at most

    Σ hat(t) − c(t) − Σ {weight(B)·(|B ∩ t| − 1) : |B ∩ t| even and positive, or 3}

that is Σ hat − c − 2·(shared weights of its pairs) + 4·(weight shared by all three), and taking one
out at most c − Σ hat.  Two triples that both meet a set in an odd number leave it odd: their gains
add up to less by twice its weight.
"""

from typing import Any

import numpy as np

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel
from incrowd.solvers.matching.nodes import FAR, pair_cost, pair_extra, triple_cost, triple_extra


@kernel
def pair_costs(grid: Any, out: Any) -> None:
    """Write the cost of each pair to ``out``, FAR for nodes of one color."""
    for u in range(out.shape[0]):
        out[u, u] = FAR
        for v in range(u):
            cost = FAR
            if grid.color[u] != grid.color[v]:
                cost = 2 * pair_cost(grid, u, v) + pair_extra(grid, u, v)
            out[u, v] = cost
            out[v, u] = cost


@kernel
def shared_weights(inside: Any, weight: Any, out: Any) -> None:
    """Add the weight of each set to each two of its nodes."""
    for b in range(weight.size):
        members = np.flatnonzero(inside[b])
        for u in members:
            for v in members:
                if u != v:
                    out[u, v] += weight[b]


@kernel
def common_owner(a: int, b: int, c: int) -> int:
    """The one old triple among the owners of three nodes; −1 for none, −2 for several."""
    owner = max(a, b, c)
    for one in (a, b, c):
        if one >= 0 and one != owner:
            return -2
    return owner


@kernel
def addable(
    grid: Any,
    pair: Any,
    missing: int,
    hat: Any,
    share: Any,
    owner: Any,
    removal: Any,
    wanted: int,
    alone: int,
    word: Any,
    out: Any,
    state: Any,
) -> None:
    """Write triples that may be put in, and the most each gains, to ``out`` while there is room.

    Those that take nodes from one old triple and gain ``wanted`` with its removal; those that take
    none and gain ``alone``.  ``state``: how many (more than there is room for: call again), the
    most that one of the latter gains, and the most that one of the former does.
    """
    n = hat.size
    for u in range(n):
        if halted(word):
            return
        for v in range(u):
            if pair[u, v] == missing:
                continue
            for w in range(v):
                mine = common_owner(owner[u], owner[v], owner[w])
                if mine == -2 or pair[u, w] == missing or pair[v, w] == missing:
                    continue
                back = removal[mine] if mine >= 0 else 0
                known = state[2] if mine >= 0 else state[1]
                least = min(wanted - back if mine >= 0 else alone, known + 1 - back)
                pairs = share[u, v] + share[u, w] + share[v, w]
                all_three = min(share[u, v], share[u, w], share[v, w])
                most = hat[u] + hat[v] + hat[w] - 2 * pairs + 4 * all_three
                if most - 2 * (pair[u, v] + pair[u, w] + pair[v, w]) < least:
                    continue  # a triple costs at least half of its pairs
                gain = most - 4 * (3 * triple_cost(grid, u, v, w) + triple_extra(grid, u, v, w))
                if gain < least or (mine >= 0 and whole(owner, u, v, w)):
                    continue
                record(gain, back, mine, wanted, alone, u, v, w, out, state)


@kernel
def whole(owner: Any, u: int, v: int, w: int) -> bool:
    """Whether three nodes are an old triple."""
    return owner[u] == owner[v] == owner[w]


@kernel
def record(
    gain: int, back: int, mine: int, wanted: int, alone: int, u: int, v: int, w: int,
    out: Any, state: Any,
) -> None:  # fmt: skip
    """Take note of a triple."""
    place = 2 if mine >= 0 else 1
    state[place] = max(state[place], gain + back)
    if gain >= (wanted - back if mine >= 0 else alone):
        if state[0] < out.shape[0]:
            at = out[state[0]]
            at[0], at[1], at[2], at[3] = w, v, u, gain
        state[0] += 1


@kernel
def apart(adds: Any, i: int, j: int) -> bool:
    """Whether two triples have no node in common."""
    for p in range(3):
        for q in range(3):
            if adds[i, p] == adds[j, q]:
                return False
    return True


@kernel
def both_odd(odd: Any, weight: Any, i: int, j: int) -> int:
    """Weight of the sets that both triples meet in an odd number of nodes."""
    total = 0
    for b in range(weight.size):
        if odd[i, b] and odd[j, b]:
            total += weight[b]
    return total


@kernel
def exchanges(
    adds: Any, odd: Any, weight: Any, owner: Any, removal: Any, wanted: int, word: Any, out: Any
) -> int:
    """Write the exchanges that may gain ``wanted`` to ``out`` while there is room; count them.

    ``adds``: triples and what each gains at most, falling.  An exchange is two numbers of them, or
    len(adds) + the number of an old triple, and what it gains at most.
    """
    count = 0
    size = adds.shape[0]
    for i in range(size):
        if halted(word):
            return count
        mine = common_owner(owner[adds[i, 0]], owner[adds[i, 1]], owner[adds[i, 2]])
        for r in range(removal.size):
            if mine in (-1, r) and adds[i, 3] + removal[r] >= wanted:
                count = write(i, size + r, adds[i, 3] + removal[r], out, count)
        j = i + 1
        while mine == -1 and j < size and adds[i, 3] + adds[j, 3] >= wanted:
            other = common_owner(owner[adds[j, 0]], owner[adds[j, 1]], owner[adds[j, 2]])
            if other == -1 and apart(adds, i, j):
                gain = adds[i, 3] + adds[j, 3] - 2 * both_odd(odd, weight, i, j)
                if gain >= wanted:
                    count = write(i, j, gain, out, count)
            j += 1
    for r in range(removal.size):
        for s in range(r):
            if removal[r] + removal[s] >= wanted:
                count = write(size + s, size + r, removal[r] + removal[s], out, count)
    return count


@kernel
def write(i: int, j: int, gain: int, out: Any, count: int) -> int:
    """Append an exchange if there is room; return the new count."""
    if count < out.shape[0]:
        out[count, 0], out[count, 1], out[count, 2] = i, j, gain
    return count + 1
