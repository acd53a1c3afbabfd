"""Optimal, and locally optimal, releases of hard tables: written for the tests alone."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from incrowd.instances.table import HardTable, ModelSpec, Partition
from incrowd.privacy.base import Group
from incrowd.privacy.model import Model
from oracle import optimum

STAR = -1


def distance(spec: ModelSpec, group: Counter, table: Counter) -> Fraction:
    """Earth Mover's Distance between the values of a class and of the table, exactly."""
    share = {
        v: Fraction(group[v], group.total()) - Fraction(table[v], table.total()) for v in table
    }
    if spec.distance is None:
        return sum((abs(x) for x in share.values()), Fraction(0)) / 2
    # The one other metric: three values around a fourth, each half a unit away, which is a tree;
    # on a tree the distance is what must cross each branch.
    half = Fraction(1, 2)
    assert [spec.distance[i][3] for i in range(3)] == [half] * 3
    assert all(spec.distance[i][j] == 1 for i in range(3) for j in range(3) if i != j)
    return sum((abs(share.get(v, Fraction(0))) for v in range(3)), Fraction(0)) * half


def lawful_values(spec: ModelSpec, values: np.ndarray, table: np.ndarray) -> bool:
    """Whether a class with these sensitive values obeys the model."""
    if spec.kind == "k-anonymity":
        return len(values) >= spec.k
    columns = range(values.shape[1])
    counts = [Counter(values[:, a].tolist()) for a in columns]
    if spec.kind == "t-closeness":
        whole = [Counter(table[:, a].tolist()) for a in columns]
        return all(distance(spec, counts[a], whole[a]) <= spec.t for a in columns)
    if spec.l_kind == "distinct":
        return all(len(c) >= spec.l for c in counts)
    if spec.l_kind == "frequency":
        return all(max(c.values()) * spec.l <= len(values) for c in counts)
    assert spec.l_kind == "disjoint"
    # Definition 1 of Blocki and Williams, for l = 2: a classmate that differs everywhere.
    assert spec.l == 2
    return all((values != row).all(axis=1).any() for row in values)


def lawful(table: HardTable, rows) -> bool:
    """Whether some rows are a lawful class."""
    rows = list(rows)
    values = table.sensitive[rows] if table.sensitive_columns else np.zeros((len(rows), 0), int)
    return lawful_values(table.model, values, table.sensitive)


@dataclass(frozen=True)
class Spec(Model):
    """A model spec in the form that the oracle takes."""

    spec: ModelSpec
    name = "spec"
    closed_under_union = True

    def smallest_class(self, table: Group) -> int:
        return 1

    def lawful(self, group: Group, table: Group) -> bool:
        return lawful_values(self.spec, group.values, table.values)


def brute(table: HardTable) -> int | float:
    """The optimum by the oracle; infinity when there is no lawful release."""
    found = optimum(table.to_instance()[0], Spec(table.model))
    return inf if found is None else found


def patterns(rows: np.ndarray, most: int = 4000) -> list[tuple[int, ...]]:
    """All joins of sets of rows."""
    found = {tuple(int(v) for v in row) for row in rows}
    fresh = set(found)
    while fresh:
        new = set()
        for p in fresh:
            joined = np.where(rows == np.array(p), rows, STAR)
            new |= {tuple(int(v) for v in row) for row in joined}
        fresh = new - found
        found |= fresh
        assert len(found) <= most, "too many patterns for a test"
    return sorted(found)


def by_milp(table: HardTable) -> int:
    """The optimum of k-anonymity or t-closeness."""
    return best_release(table)[0]


def best_release(table: HardTable) -> tuple[int, Partition]:
    """The optimum of k-anonymity or t-closeness as a MILP over patterns, and its release.

    x[d, p] rows of kind d are released as p.  k-anonymity: p is used by none or at least k rows.
    t-closeness: what moves between the values of p's rows and the table's (Liang and Yuan 2012,
    Theorem 9).  Both models are closed under union, so one class for each pattern is enough.
    """
    spec = table.model
    values = table.sensitive if table.sensitive_columns else np.zeros((table.rows, 0), np.int32)
    kinds, kind, counts = np.unique(
        np.hstack([table.codes, values]), axis=0, return_inverse=True, return_counts=True
    )
    qi = kinds[:, : table.codes.shape[1]]
    found = patterns(np.unique(qi, axis=0))
    pairs = [
        (d, p)
        for p, pattern in enumerate(found)
        for d in np.flatnonzero(((qi == pattern) | (np.array(pattern) == STAR)).all(axis=1))
    ]
    model = _Linear()
    x = [model.add(sum(v == STAR for v in found[p]), int(counts[d])) for d, p in pairs]
    for d in range(len(kinds)):
        members = [(x[i], 1) for i, pair in enumerate(pairs) if pair[0] == d]
        model.row(members, int(counts[d]), int(counts[d]))
    at = [[] for _ in found]
    for i, (d, p) in enumerate(pairs):
        at[p].append((x[i], d))
    for members in at:
        if spec.kind == "k-anonymity":
            y = model.add(0, 1)
            model.row([(v, 1) for v, _ in members] + [(y, -spec.k)], 0, inf)
            for v, d in members:
                model.row([(v, 1), (y, -int(counts[d]))], -inf, 0)
        else:
            _transport(model, table, [(v, int(kinds[d, -1])) for v, d in members])
    cost, value = model.solve()
    waiting = [np.flatnonzero(kind.ravel() == d).tolist() for d in range(len(kinds))]
    groups = [[] for _ in found]
    for i, (d, p) in enumerate(pairs):
        groups[p] += [waiting[d].pop() for _ in range(round(value[x[i]]))]
    return cost, tuple(tuple(sorted(group)) for group in groups if group)


def _transport(model: "_Linear", table: HardTable, members: list[tuple[int, int]]) -> None:
    spec, size = table.model, len(table.sensitive_alphabet)
    total = np.bincount(table.sensitive[:, 0], minlength=size)
    far = [
        [float(spec.distance[i][j]) if spec.distance else float(i != j) for j in range(size)]
        for i in range(size)
    ]
    flow = [[model.add(0, inf, whole=False) for _ in range(size)] for _ in range(size)]
    for i in range(size):
        own = [(v, -1) for v, s in members if s == i]
        model.row([(flow[i][j], 1) for j in range(size)] + own, 0, 0)
        fill = [(v, -total[i] / table.rows) for v, _ in members]
        model.row([(flow[j][i], 1) for j in range(size)] + fill, 0, 0)
    work = [(flow[i][j], far[i][j]) for i in range(size) for j in range(size)]
    model.row(work + [(v, -float(spec.t)) for v, _ in members], -inf, 1e-7)


class _Linear:
    """A MILP written down row by row."""

    def __init__(self) -> None:
        self.cost, self.upper, self.whole = [], [], []
        self.entries, self.low, self.high = [], [], []

    def add(self, cost: float, upper: float, whole: bool = True) -> int:
        self.cost.append(cost)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.cost) - 1

    def row(self, terms, low: float, high: float) -> None:
        self.entries += [(len(self.low), v, c) for v, c in terms]
        self.low.append(low)
        self.high.append(high)

    def solve(self) -> tuple[int, np.ndarray]:
        r, c, v = zip(*self.entries, strict=True)
        matrix = coo_array((v, (r, c)), shape=(len(self.low), len(self.cost))).tocsr()
        found = milp(
            self.cost,
            integrality=np.array(self.whole, int),
            bounds=Bounds(0, np.array(self.upper)),
            constraints=LinearConstraint(matrix, self.low, self.high),
            options={"mip_rel_gap": 0},
        )
        assert found.success, found.message
        return round(found.fun), found.x


def shaken(table: HardTable, partition: Partition, rng: np.random.Generator, moves: int):
    """A lawful release some random moves away from another."""
    groups = [set(group) for group in partition]
    for _ in range(moves):
        a, b = (int(i) for i in rng.integers(len(groups), size=2))
        if a == b:
            continue
        row = int(rng.choice(sorted(groups[a])))
        if rng.random() < 0.5:
            back = int(rng.choice(sorted(groups[b])))
            new_a, new_b = groups[a] - {row} | {back}, groups[b] - {back} | {row}
        else:
            new_a, new_b = groups[a] - {row}, groups[b] | {row}
        if (not new_a or lawful(table, new_a)) and lawful(table, new_b):
            groups[a], groups[b] = new_a, new_b
            groups = [group for group in groups if group]
    return tuple(tuple(sorted(group)) for group in groups)


def grown(table: HardTable, rng: np.random.Generator) -> Partition:
    """A random lawful release: rows in random order fill a class until it is lawful."""
    groups: list[list[int]] = []
    now: list[int] = []
    for row in rng.permutation(table.rows):
        now.append(int(row))
        if lawful(table, now):
            groups.append(now)
            now = []
    if now and groups:
        # Any model here is closed under union, so the leftovers' class can swallow lawful ones.
        now += groups.pop()
        while not lawful(table, now):
            now += groups.pop()
    return tuple(tuple(sorted(group)) for group in [*groups, *([now] if now else [])])


def descended(
    table: HardTable, partition: Partition, rng: np.random.Generator, tries: int = 300
) -> Partition:
    """A release no dearer, by moving and swapping random rows while that pays."""
    price = cache(table.class_cost)  # most classes stay as they are
    best, least = partition, table.cost(partition)
    for _ in range(tries):
        other = shaken(table, best, rng, int(rng.integers(1, 3)))
        cost = sum(map(price, other))
        if cost <= least:
            best, least = other, cost
    return best
