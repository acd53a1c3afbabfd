"""From tables to matching nodes: the reduction of multiplicities, and the first lawful groups."""

import heapq

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance
from incrowd.run.stop import Stop
from incrowd.solvers.matching.nodes import FAR, Nodes, costs_of, grid_of
from incrowd.solvers.matching.walk import Walker


def two_anonymous(instance: Instance, seed: int, stop: Stop | None = None) -> Nodes:
    """Return the nodes for 2-anonymity: the copies of rows with at most two copies.

    A row with three copies or more is a *host*: it stays whole except that it may give one copy
    to a guest, so a node has the choice of going to its nearest host for 2·cost(node, host)
    (Lemma 1 of the explanation, "Multiplicities").  That may be too much when time is up before
    all hosts are known.
    """
    counts = instance.counts
    light, hosts = np.flatnonzero(counts <= 2), np.flatnonzero(counts >= 3)
    row = np.repeat(light, counts[light])
    second = np.zeros(len(row), bool)
    second[1:] = row[1:] == row[:-1]
    copy = instance.first_copy[row] + second
    home = np.full(len(row), FAR)
    if len(hosts) and len(light):
        is_host = (counts >= 3).astype(np.int32)
        everyone = grid_of(instance, np.arange(instance.distinct), is_host)
        home = 2 * Walker(everyone, seed, 0, stop=stop).nearest()[row]
    return Nodes(instance, copy, hosts, grid_of(instance, row, home=home))


def two_diverse(instance: Instance, attribute: int) -> Nodes:
    """Return the nodes for frequency 2-diversity in one sensitive attribute: all copies."""
    row = instance.copies
    color = instance.sensitive_codes[row, attribute]
    copy = np.arange(instance.rows)
    return Nodes(instance, copy, np.zeros(0, np.int64), grid_of(instance, row, color))


def any_groups(nodes: Nodes) -> NDArray[np.int32]:
    """Return lawful groups at once: neighbours in row order, colors that differ.

    As long as more than three nodes are left, a node of each of the two most frequent colors
    leave together, which keeps every color within half of the rest (Liang and Yuan 2012,
    Lemma 2).  Assumes that no color fills more than half of the nodes.
    """
    n = nodes.size
    color = nodes.grid.color
    if n == 1:
        return np.array([[0, -1, -1]], np.int32)
    if len(np.unique(color)) == n:
        groups = [[i, i + 1, -1] for i in range(0, n - 1, 2)]
        if n % 2:
            groups[-1] = [n - 3, n - 2, n - 1]
        return np.array(groups, np.int32).reshape(-1, 3)
    return np.array(_spread(np.arange(n), color), np.int32).reshape(-1, 3)


def _spread(nodes: NDArray[np.int64], color: NDArray[np.int32]) -> list[list[int]]:
    """Pairs, and one triple for odd numbers, of different colors (Liang and Yuan, Lemma 2)."""
    mine = color[nodes]
    order = np.argsort(mine, kind="stable")
    waiting = [
        nodes[part].tolist() for part in np.split(order, np.flatnonzero(np.diff(mine[order])) + 1)
    ]
    heap = [(-len(part), i) for i, part in enumerate(waiting)]
    heapq.heapify(heap)
    left = len(nodes)
    groups: list[list[int]] = []
    while left:
        take = 3 if left == 3 else 2
        tops = [heapq.heappop(heap) for _ in range(take)]
        groups.append(sorted(waiting[i].pop() for _, i in tops) + [-1] * (3 - take))
        for size, i in tops:
            if size < -1:
                heapq.heappush(heap, (size + 1, i))
        left -= take
    return groups


def greedy_groups(nodes: Nodes, pairs: NDArray[np.int32]) -> NDArray[np.int32] | None:
    """Take pairs from the cheapest on while both nodes are free; pair up the rest somehow.

    None when the colors of the rest do not allow that.
    """
    color, home = nodes.grid.color, nodes.grid.home
    free = np.ones(nodes.size, bool)
    groups: list[list[int]] = []
    for i in np.argsort(costs_of(nodes.grid, pairs), kind="stable"):
        u, v = int(pairs[i, 0]), int(pairs[i, 1])
        if free[u] and free[v]:
            free[u] = free[v] = False
            groups.append([u, v, -1])
    rest = np.flatnonzero(free)
    hosted = home[rest] < FAR
    groups += [[int(u), -1, -1] for u in rest[hosted]]
    rest = rest[~hosted]
    while 0 < len(rest) <= 3 or (len(rest) and 2 * np.bincount(color[rest]).max() > len(rest)):
        # Too few, or too much of one color: give back a pair of other colors.
        if not groups:
            return None
        rest = np.append(rest, [u for u in groups.pop() if u >= 0])
        if len(rest) > 3 and 2 * np.bincount(color[rest]).max() <= len(rest):
            break
    if len(rest):
        groups += _spread(rest, color)
    return np.array(groups, np.int32).reshape(-1, 3)
