"""The linear program over the pool's columns with odd-set cuts, kept warm between rounds.

    minimise  Σ cost(e)·x(e)
    subject to  Σ {x(e) : e holds u} = 1     for each node u
                Σ {x(e) : |e ∩ U| odd} ≥ 1   for each odd set U in use
                x ≥ 0

It starts at the assignment's optimum without a single iteration: beside the permutation's pairs
the basis holds, for each whole pair, one artificial column fixed at 0 whose cost is its node's
price; that makes the assignment's prices the basis's duals, and they are feasible.
"""

from typing import Any

import highspy
import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.linear.highs import append_columns, model_of, optimum, run_until
from incrowd.run.stop import Stop
from incrowd.solvers.matching.assignment import Fractional, cycles
from incrowd.solvers.matching.pool import Pool, rows_of


def support(fractional: Fractional) -> tuple[NDArray[np.int32], NDArray[np.float64], list[int]]:
    """The groups of the permutation, their values ½ or 1, and one node for each whole pair."""
    groups: list[tuple[int, int, int]] = []
    value: list[float] = []
    even: list[int] = []
    for cycle in cycles(fractional.mate):
        k = len(cycle)
        if k == 1:
            groups.append((int(cycle[0]), -1, -1))
            value.append(1.0)
            continue
        ahead = np.roll(cycle, -1)
        step = 2 if k % 2 == 0 else 1
        for u, v in zip(cycle[::step].tolist(), ahead[::step].tolist(), strict=True):
            groups.append((min(u, v), max(u, v), -1))
            value.append(1.0 if step == 2 else 0.5)
        if step == 2:
            even.extend(cycle[::2].tolist())
    return np.array(groups, np.int32).reshape(-1, 3), np.array(value), even


class Master:
    """The linear program; ``x``, ``price``, ``weight`` and ``value`` are those of the last solve.

    Attributes
    ----------
    cuts: the odd sets in use, int64 arrays of nodes, ascending.
    x: float64, shape (columns,).  price: float64, shape (nodes,).  weight: float64, shape (cuts,).
    """

    def __init__(self, pool: Pool, fractional: Fractional) -> None:
        self._pool = pool
        self._nodes = len(fractional.price)
        self.cuts: list[NDArray[np.int64]] = []
        # what the model leaves out of costs, as extras are too small beside them
        self._known = fractional.price.astype(float) * bool(pool.has_extras)
        mean = float((fractional.price - self._known).mean())
        self._unit = 2.0 ** max(0, round(np.log2(max(1.0, mean))))
        groups, value, even = support(fractional)
        pool.add(groups)
        self._columns = len(pool)
        self._artificial = np.array(even, np.int64)
        self._model = self._load(fractional.price.astype(float) - self._known)
        self.x = np.zeros(self._columns)
        places = pool.places(groups)
        np.add.at(self.x, places, value)
        self._start(places)
        self.price = fractional.price.astype(float)
        self.weight = np.zeros(0)
        self.value = float(fractional.price.sum())

    def _load(self, price: NDArray[np.float64]) -> Any:
        """Build the model: artificial columns first, then the pool's."""
        n, k = self._nodes, len(self._artificial)
        fixed = scipy.sparse.csc_array((np.ones(k), (self._artificial, np.arange(k))), shape=(n, k))
        matrix = scipy.sparse.hstack([fixed, rows_of(self._pool.groups, n, [])], format="csc")
        cost = np.concatenate([price[self._artificial], self._costs(0)]) / self._unit
        upper = np.full(len(cost), np.inf)
        upper[:k] = 0
        return model_of(matrix, cost, upper, np.ones(n), np.ones(n))

    def _costs(self, begin: int) -> NDArray[np.float64]:
        """What the model says that the pool's columns cost, from one on."""
        known = np.append(self._known, 0.0)  # the last for the padding
        return self._pool.cost[begin:] - known[self._pool.groups[begin:]].sum(axis=1)

    def _start(self, places: NDArray[np.int64]) -> None:
        """Set the basis of the assignment."""
        status = highspy.HighsBasisStatus
        basis = highspy.HighsBasis()
        offset = len(self._artificial)
        columns = [status.kBasic] * offset + [status.kLower] * self._columns
        for j in places.tolist():
            columns[offset + j] = status.kBasic
        basis.col_status, basis.row_status = columns, [status.kLower] * self._nodes
        basis.valid = True
        self._model.setBasis(basis)

    def solve(self, stop: Stop) -> bool:
        """Solve to optimality; False when it is time to stop: then it must not be used any more."""
        # Few nodes change between rounds.  Perturbed costs make the solver walk through the ties
        # of all the others (10,000 iterations instead of 75), so they are the second resort.
        for perturbation, iterations in ((0.0, 20_000), (1.0, 2**31 - 1)):
            self._model.setOptionValue("dual_simplex_cost_perturbation_multiplier", perturbation)
            self._model.setOptionValue("simplex_iteration_limit", iterations)
            if not run_until(self._model, stop):
                return False
            if self._model.getModelStatus() != highspy.HighsModelStatus.kIterationLimit:
                break
        point = optimum(self._model)
        if point is None:
            return False
        n, dual = self._nodes, point.y * self._unit
        self.x = point.x[len(self._artificial) :]
        self.price, self.weight = dual[:n] + self._known, np.maximum(dual[n:], 0.0)
        self.value = point.value * self._unit + float(self._known.sum())
        return True

    def extend(self) -> None:
        """Take the pool's new columns into the model."""
        groups = self._pool.groups[self._columns :]
        matrix = rows_of(groups, self._nodes, self.cuts)
        append_columns(self._model, self._costs(self._columns) / self._unit, matrix)
        self._columns = len(self._pool)
        self.x = np.concatenate([self.x, np.zeros(len(groups))])

    def cut(self, odd_sets: list[NDArray[np.int64]]) -> int:
        """Add the cuts of the odd sets that are not in use yet; return how many."""
        known = {tuple(s.tolist()) for s in self.cuts}
        new = []
        for s in odd_sets:
            s = np.sort(s)
            if tuple(s.tolist()) not in known:
                known.add(tuple(s.tolist()))
                new.append(s)
        if not new:
            return 0
        odd = scipy.sparse.csr_array(rows_of(self._pool.groups, self._nodes, new)[self._nodes :])
        odd.sort_indices()
        self._model.addRows(
            len(new), np.ones(len(new)), np.full(len(new), np.inf), odd.nnz, odd.indptr[:-1],
            odd.indices + np.int32(len(self._artificial)), odd.data,
        )  # fmt: skip
        self.cuts.extend(new)
        self.weight = np.concatenate([self.weight, np.zeros(len(new))])
        return len(new)
