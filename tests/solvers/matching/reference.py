"""Simplex matching for any costs: the reference that the fast pipeline is tested against.

A hypergraph has pairs and triples of nodes; each triple's pairs are there too, and the *simplex
condition* c(uv) + c(vw) + c(uw) ≤ 2·c(uvw) holds.  Wanted: a partition of the nodes into pairs
and triples of least cost (Anshelevich and Karagiozova 2011).

Once the set T of triples is fixed, the rest is minimum-cost perfect matching.  Local search over T
is exact: an optimal T' is reached by steps that add or remove at most two triples and improve each
time (Theorem 7 of docs/explanation/polynomial.md), so the search ends at the optimum after at most
(first cost − optimum) steps, each over O(n⁶) neighbours.  Costs that are polynomial in n, as
numbers of stars are, make it polynomial.  For small n.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

from blossom import perfect_matching

Group = tuple[int, ...]


def is_simplex(cost: Mapping[Group, int]) -> bool:
    """Whether the costs of pairs and triples (ascending tuples) meet the simplex condition."""
    for group, price in cost.items():
        if len(group) == 3:
            pairs = list(combinations(group, 2))
            if any(pair not in cost for pair in pairs):
                return False
            if sum(cost[pair] for pair in pairs) > 2 * price:
                return False
    return True


def simplex_matching(nodes: int, cost: Mapping[Group, int]) -> tuple[int, list[Group]] | None:
    """Return the least cost of a partition into the given pairs and triples, and the partition.

    None when there is no such partition.

    Parameters
    ----------
    cost: ascending tuples of two or three nodes → nonnegative cost; simplex condition.

    Raises
    ------
    ValueError: the costs break the simplex condition.
    """
    if not is_simplex(cost):
        raise ValueError("the costs break the simplex condition")
    search = Search(nodes, cost)
    triples = [group for group in cost if len(group) == 3]
    if nodes % 2 and not triples:
        return None
    current: frozenset[Group] = frozenset()
    if nodes % 2:
        current = min((frozenset([t]) for t in triples), key=search.value)
    best = search.value(current)
    improved = True
    while improved:
        improved = False
        for near in neighbours(current, triples):
            value = search.value(near)
            if value < best:
                current, best, improved = near, value, True
                break
    if best >= search.missing:
        return None
    return best, [*current, *search.pairs(current)]


def neighbours(current: frozenset[Group], triples: list[Group]) -> Iterator[frozenset[Group]]:
    """All sets of disjoint triples that differ from ``current`` in exactly two triples."""
    for first, second in combinations(triples, 2):
        near = current ^ {first, second}
        taken = [v for triple in near for v in triple]
        if len(taken) == len(set(taken)):
            yield near


class Search:
    """Least costs for given triples; missing pairs cost more than any partition."""

    def __init__(self, nodes: int, cost: Mapping[Group, int]) -> None:
        self._nodes = nodes
        self._cost = cost
        self._known: dict[Group, tuple[int, list[Group]]] = {}
        self.missing = 1 + sum(cost.values())

    def value(self, triples: frozenset[Group]) -> int:
        """The least cost of a partition with exactly these triples."""
        return sum(self._cost[t] for t in triples) + self._matched(triples)[0]

    def pairs(self, triples: frozenset[Group]) -> list[Group]:
        """The pairs of such a partition."""
        return self._matched(triples)[1]

    def _matched(self, triples: frozenset[Group]) -> tuple[int, list[Group]]:
        taken = {v for triple in triples for v in triple}
        rest = tuple(v for v in range(self._nodes) if v not in taken)
        if rest not in self._known:
            table = [[self._pair(u, v) for v in rest] for u in rest]
            mate = perfect_matching(table)
            pairs = [(rest[i], rest[j]) for i, j in enumerate(mate) if i < j]
            self._known[rest] = sum(self._pair(u, v) for u, v in pairs), pairs
        return self._known[rest]

    def _pair(self, u: int, v: int) -> int:
        return self._cost.get((min(u, v), max(u, v)), self.missing)
