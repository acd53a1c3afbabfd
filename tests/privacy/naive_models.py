"""The privacy models, written straight from their papers over lists of values; slow and plain."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import lcm

import networkx as nx

Values = list[int]


def distinct(values: Values, l: int) -> bool:  # noqa: E741
    return len(set(values)) >= l


def frequency(values: Values, l: int) -> bool:  # noqa: E741
    return all(Fraction(values.count(v), len(values)) <= Fraction(1, l) for v in values)


def entropy(values: Values, l: Fraction) -> bool:  # noqa: E741
    """n^n ≥ l^n Π x^x, in whole numbers."""
    n = len(values)
    right = l.numerator**n
    for x in Counter(values).values():
        right *= x**x
    return l.denominator**n * n**n >= right


def recursive(values: Values, c: Fraction, l: int) -> bool:  # noqa: E741
    r = sorted(Counter(values).values(), reverse=True)
    return r[0] < c * sum(r[l - 1 :])


def alpha(values: Values, a: Fraction, k: int) -> bool:
    return len(values) >= k and all(Fraction(values.count(v), len(values)) <= a for v in values)


def share(v: int, values: Values) -> Fraction:
    return Fraction(values.count(v), len(values))


def basic_beta(values: Values, table: Values, beta: Fraction) -> bool:
    return all(
        (share(v, values) - share(v, table)) / share(v, table) <= beta
        for v in set(table)
        if share(v, table) < share(v, values)
    )


def enhanced_beta(values: Values, table: Values, beta: Fraction) -> bool:
    for v in set(table):
        p, q = share(v, table), share(v, values)
        if p < q and ((q - p) / p > beta or to_decimal((q - p) / p) > -to_decimal(p).ln()):
            return False
    return True


def delta(values: Values, table: Values, d: Fraction) -> bool:
    with localcontext() as context:
        context.prec = 60
        for v in set(table):
            p, q = share(v, table), share(v, values)
            if q == 0 or abs((to_decimal(q) / to_decimal(p)).ln()) >= to_decimal(d) - Decimal(
                "1e-50"
            ):
                return False
    return True


def to_decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def disjoint(rows: list[tuple[int, ...]], l: int) -> bool:  # noqa: E741
    def differ(some: tuple[tuple[int, ...], ...]) -> bool:
        return all(a != b for r, s in combinations(some, 2) for a, b in zip(r, s, strict=True))

    return all(
        any(differ((rows[i], *rest)) for rest in combinations(rows[:i] + rows[i + 1 :], l - 1))
        for i in range(len(rows))
    )


def mover(values: Values, table: Values, matrix: list[list[Fraction]]) -> Fraction:
    """Earth Mover's Distance as a minimum-cost flow, whole numbers throughout."""
    n, rows, size = len(values), len(table), len(matrix)
    unit = 1
    for row in matrix:
        for x in row:
            unit = lcm(unit, x.denominator)
    graph = nx.DiGraph()
    for v in range(size):
        graph.add_node(("from", v), demand=-values.count(v) * rows)
        graph.add_node(("to", v), demand=table.count(v) * n)
    for v in range(size):
        for w in range(size):
            graph.add_edge(("from", v), ("to", w), weight=int(matrix[v][w] * unit))
    return Fraction(nx.min_cost_flow_cost(graph), n * rows * unit)


def equal(size: int) -> list[list[Fraction]]:
    return [[Fraction(v != w) for w in range(size)] for v in range(size)]


def ordered(size: int, order: list[int] | None = None) -> list[list[Fraction]]:
    places = order or list(range(size))
    rank = {v: i for i, v in enumerate(places)}
    return [
        [Fraction(abs(rank[v] - rank[w]), max(size - 1, 1)) for w in range(size)]
        for v in range(size)
    ]


def hierarchical(levels: list[list[int]]) -> list[list[Fraction]]:
    """Level at which two values meet, over the level at which all do."""
    size = len(levels[0])

    def meet(v: int, w: int) -> int:
        return next(i for i, level in enumerate(levels) if level[v] == level[w])

    top = max(meet(v, w) for v in range(size) for w in range(size))
    return [[Fraction(meet(v, w), max(top, 1)) for w in range(size)] for v in range(size)]
