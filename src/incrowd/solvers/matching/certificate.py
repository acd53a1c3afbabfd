"""Integer prices and odd sets out of the linear program's floating duals, made safe and checked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.solvers.matching.dual import Dual, with_odd_sets
from incrowd.solvers.matching.master import Master
from incrowd.solvers.matching.nodes import FAR, Nodes
from incrowd.solvers.matching.walk import Walker

FINEST = 1 << 20


@dataclass(frozen=True, eq=False)
class Certificate:
    """Prices and odd sets on nodes that every group obeys, in units of 1/(scale·unit).

    Attributes
    ----------
    price: int64, shape (nodes,).
    odd_sets: the sets, int64 arrays of nodes.  weight: int64, shape (sets,), nonnegative.
    unit: price units in one cost unit.
    """

    price: NDArray[np.int64]
    odd_sets: tuple[NDArray[np.int64], ...]
    weight: NDArray[np.int64]
    unit: int

    @property
    def total(self) -> int:
        """Σ prices + Σ weights, in price units."""
        return int(self.price.sum()) + int(self.weight.sum())

    @property
    def bound(self) -> int:
        """No lawful solution costs less, in units of 1/scale."""
        return -(-self.total // self.unit)

    @property
    def dual(self) -> Dual:
        """The form that the walk takes."""
        return with_odd_sets(self.price, list(self.odd_sets), self.weight, self.unit)


def nothing(nodes: int) -> Certificate:
    """Return prices that prove nothing."""
    return Certificate(np.zeros(nodes, np.int64), (), np.zeros(0, np.int64), 1)


def unit_for(nodes: Nodes) -> int:
    """The finest unit whose sums stay far inside 64 bits."""
    dearest = sum(
        int(nodes.grid.tables.cost[start : start + width * levels].max(initial=1))
        for start, width, levels in zip(
            nodes.grid.tables.start, nodes.grid.tables.width, nodes.grid.tables.levels, strict=True
        )
    )
    dearest += int(nodes.grid.extra.max(initial=0)) * len(nodes.grid.extra)
    return max(1, min(FINEST, (1 << 60) // max(1, 4 * dearest * max(1, nodes.size))))


def rounded(master: Master, unit: int) -> Certificate:
    """The master's duals in integers; nearly feasible."""
    price = np.round(master.price * unit).astype(np.int64)
    weight = np.round(master.weight * unit).astype(np.int64)
    return Certificate(price, tuple(master.cuts), weight, unit)


def best_certified(master: Master, walker: Walker, unit: int) -> Certificate:
    """The best certificate that the master's duals give.

    Exact duals of integer costs are nearly always multiples of ½ or of ⅓, so coarse units come
    first: rounding to them takes the floating error away instead of carrying it on.
    """
    found: list[Certificate] = []
    for coarse in sorted({1, 2, 12, unit}):
        certificate = certified(rounded(master, coarse), walker)
        found.append(certificate)
        if certificate.total >= coarse * (master.value - 1e-6 * max(1.0, abs(master.value) * 1e-6)):
            break
    return max(found, key=lambda c: c.total / c.unit)


def certified(certificate: Certificate, walker: Walker) -> Certificate:
    """Lower the prices until no group violates them: the search behind ``least_slack`` says so.

    Prices of 0, which prove nothing, where time ends before it is through.
    """
    certificate = _within_home(certificate, walker.grid.home)
    least = walker.least_slack(certificate.dual)
    if walker.cut_short:
        return nothing(len(certificate.price))
    if least == 0:
        return certificate
    lower = -(least // 2)  # the smallest groups in question have two nodes
    return Certificate(
        certificate.price - lower, certificate.odd_sets, certificate.weight, certificate.unit
    )


def _within_home(certificate: Certificate, home: NDArray[np.int64]) -> Certificate:
    """Lower the prices that exceed what a host asks."""
    excess = np.where(home < FAR, certificate.dual.hat - home * certificate.unit, 0)
    price = certificate.price - np.maximum(excess, 0)
    return Certificate(price, certificate.odd_sets, certificate.weight, certificate.unit)
