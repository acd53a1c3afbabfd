"""Whole solutions out of fractional ones: round first, cut only what cannot be rounded.

Around each fractional component a region of nodes is grown over columns of reduced cost below a
threshold; whole groups of the current solution come in whole.  A small integer program over the
columns inside the region replaces the solution there when that costs no more than allowed.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.linear.highs import branched, model_of
from incrowd.run.stop import Stop
from incrowd.solvers.matching.pool import Pool, rows_of
from incrowd.solvers.matching.separation import WHOLE, components, fractional_columns

TIGHT = 1e-6
MOST_NODES = 1_000  # of one such program: a limit that does not depend on the clock


@dataclass(eq=False)
class Rounder:
    """One pool at fixed prices.

    Attributes
    ----------
    slack: float64, shape (columns,): reduced costs.
    """

    pool: Pool
    incidence: "scipy.sparse.csr_array"
    slack: NDArray[np.float64]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.incidence.shape[0]

    def open_components(
        self, x: NDArray[np.float64]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The components of the fractional columns, small ones first."""
        found = components(self.pool.groups, fractional_columns(x), self.nodes)
        return sorted(found, key=lambda item: len(item[0]))

    def round(
        self, x: NDArray[np.float64], size: int, threshold: float, allowance: float, stop: Stop
    ) -> int:
        """Try to make every component of ``x`` whole, in place; return how many stay fractional.

        A region grows to ``size`` nodes beyond its component over columns of slack below
        ``threshold``; its integer solution is taken when it costs at most ``allowance`` more.
        """
        failed = 0
        for nodes, columns in self.open_components(x):
            if not len(fractional_columns(x[columns])):
                continue  # an earlier region took it in
            if stop.now():
                return failed + 1
            region = self.grow(nodes, x, size, threshold)
            if not self._replace(region, x, threshold, allowance, stop):
                failed += 1
        return failed

    def merge(self, before: NDArray[np.float64], now: NDArray[np.float64]) -> NDArray[np.float64]:
        """Keep the last rounded solution where the new prices do not disturb it.

        Where the two solutions differ, their groups form connected pieces; each piece can take
        either side.  It takes ``now`` if ``before`` is fractional there or has a group of
        positive reduced cost.
        """
        differ = np.flatnonzero(np.abs(before - now) > WHOLE)
        disturbed = (before > WHOLE) & ((before < 1 - WHOLE) | (self.slack > TIGHT))
        merged = before.copy()
        for _, columns in components(self.pool.groups, differ, self.nodes):
            if disturbed[columns].any():
                merged[columns] = now[columns]
        return merged

    def grow(
        self, seeds: NDArray[np.int64], x: NDArray[np.float64], size: int, threshold: float
    ) -> NDArray[np.int64]:
        """Nodes around the seeds, breadth first; the solution's groups are never torn."""
        groups, incidence = self.pool.groups, self.incidence
        region: set[int] = set()
        queue: deque[int] = deque()

        def take(u: int) -> None:
            stack = [u]
            while stack:
                v = stack.pop()
                if v in region:
                    continue
                region.add(v)
                queue.append(v)
                mine = incidence.indices[incidence.indptr[v] : incidence.indptr[v + 1]]
                for w in groups[mine[x[mine] > WHOLE]].ravel().tolist():
                    if w >= 0 and w not in region:
                        stack.append(w)

        for u in seeds.tolist():
            take(u)
        limit = len(region) + size
        while queue and len(region) < limit:
            v = queue.popleft()
            mine = incidence.indices[incidence.indptr[v] : incidence.indptr[v + 1]]
            for w in groups[mine[self.slack[mine] < threshold]].ravel().tolist():
                if w >= 0 and w not in region:
                    take(w)
                    if len(region) >= limit:
                        break
        return np.array(sorted(region), np.int64)

    def _replace(
        self,
        region: NDArray[np.int64],
        x: NDArray[np.float64],
        threshold: float,
        allowance: float,
        stop: Stop,
    ) -> bool:
        """Solve the region in whole numbers; write it to ``x`` and return True when allowed."""
        incidence, groups, cost = self.incidence, self.pool.groups, self.pool.cost
        near = np.unique(incidence[region].indices)
        inside = np.zeros(self.nodes + 1, bool)
        inside[region] = True
        inside[-1] = True  # the padding
        old = near[x[near] > WHOLE]
        usable = near[(self.slack[near] < threshold) & inside[groups[near]].all(axis=1)]
        paid = float(cost[old] @ x[old])
        chosen = whole_program(
            groups[usable], cost[usable], region, np.ceil(paid - 1e-6) + allowance, stop
        )
        if chosen is None:
            return False
        x[old] = 0.0
        x[usable[chosen]] = 1.0
        return True


def whole_program(
    groups: NDArray[np.int32],
    cost: NDArray[np.int64],
    region: NDArray[np.int64],
    at_most: float,
    stop: Stop,
) -> NDArray[np.int64] | None:
    """Indices of groups that partition the region at a cost of at most ``at_most``, or None."""
    if not len(groups):
        return None
    matrix = rows_of(groups, int(region[-1]) + 1, [])[region]
    once = np.ones(len(region))
    model = model_of(matrix, cost, np.ones(len(groups)), once, once, whole=True)
    model.setOptionValue("mip_max_nodes", MOST_NODES)
    model.setOptionValue("mip_abs_gap", 0.99)
    model.setOptionValue("mip_rel_gap", 0.0)
    if np.isfinite(at_most):
        model.setOptionValue("objective_target", at_most + 0.5)
    solution = branched(model, stop).x
    if solution is None:
        return None
    whole = np.round(solution)
    covered = matrix @ whole
    if np.any(covered != 1) or cost @ whole > at_most + 0.5:
        return None
    return np.flatnonzero(whole > 0.5)
