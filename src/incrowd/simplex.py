"""Linear programs that grow and change, kept warm between solves: HiGHS's simplex method.

minimize cost·x subject to lower ≤ K·x ≤ upper, x ≥ 0.  Columns join, columns are closed and bounds
of rows change; each solve goes on from the basis of the one before.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

DUAL, CHOOSE = 1, 0  # HiGHS's numbers of its simplex methods
DEVEX, CHOSEN = 1, -1  # and of its edge weights
LONGEST = 1e7  # seconds; HiGHS takes no infinite limit
UNLIMITED = 2**31 - 1  # iterations


class Point(NamedTuple):
    """An optimum: its value, x of the columns (without stand-ins), duals of the rows; float64."""

    value: float
    x: NDArray[np.float64]
    y: NDArray[np.float64]


class Simplex:
    """One program; its rows are there from the start, columns are appended.

    Parameters
    ----------
    lower, upper: float64, shape (rows,); ±inf for none.
    dear: float64, shape (stand-ins,): each of the first rows has a column of its own, that fills it
        at this price per unit, so that there always is a solution.
    """

    def __init__(
        self,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        dear: NDArray[np.float64],
    ) -> None:
        import highspy

        self.optimal = highspy.HighsModelStatus.kOptimal
        self.infinity = highspy.kHighsInf
        self.columns = 0
        stand_ins = self.stand_ins = len(dear)
        model = self.model = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1, "presolve": "off"}.items():
            model.setOptionValue(option, value)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = stand_ins, len(lower)
        lp.col_cost_ = dear.astype(float)
        lp.col_lower_, lp.col_upper_ = np.zeros(stand_ins), np.full(stand_ins, self.infinity)
        lp.row_lower_, lp.row_upper_ = lower.astype(float), upper.astype(float)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.arange(stand_ins + 1, dtype=np.int32)
        lp.a_matrix_.index_ = np.arange(stand_ins, dtype=np.int32)
        lp.a_matrix_.value_ = np.ones(stand_ins)
        model.passModel(lp)

    def add_columns(self, cost: NDArray[np.float64], matrix: csc_array) -> None:
        """Append columns, shape (rows, new)."""
        n = len(cost)
        if n:
            self.model.addCols(
                n, cost.astype(float), np.zeros(n), np.full(n, self.infinity), matrix.nnz,
                matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32),
                matrix.data.astype(float),
            )  # fmt: skip
        self.columns += n

    def limit_columns(self, columns: NDArray[np.int64], usable: NDArray[np.bool_]) -> None:
        """Let columns be used, or not."""
        n, at = len(columns), (columns + self.stand_ins).astype(np.int32)
        if n:
            upper = np.where(usable, self.infinity, 0.0)
            self.model.changeColsBounds(n, at, np.zeros(n), upper)

    def limit_row(self, row: int, lower: float, upper: float) -> None:
        """Change the bounds of a row."""
        self.model.changeRowBounds(row, lower, upper)

    def solve(self, seconds: float, grown: bool = False) -> Point | None:
        """Go on to the optimum; None when time runs out or the solver is at a loss.

        ``grown``: whether columns have joined since the last time: then the solver chooses the
        method, as its basis may serve the primal one better.
        """
        self.model.setOptionValue("simplex_strategy", CHOOSE if grown else DUAL)
        limit = self.model.getRunTime() + min(max(seconds, 0.0), LONGEST)
        self.model.setOptionValue("time_limit", limit)
        self.model.run()
        if self.model.getModelStatus() != self.optimal:
            return None
        solution = self.model.getSolution()
        x = np.array(solution.col_value)[self.stand_ins :]
        return Point(self.model.getInfo().objective_function_value, x, np.array(solution.row_dual))

    def basis(self) -> Any:
        """Return the basis at hand, for ``restore``."""
        return self.model.getBasis()

    def restore(self, basis: Any) -> None:
        """Go back to a basis; the same rows and columns must be there."""
        self.model.setBasis(basis)

    def glance(self, iterations: int) -> float:
        """Return the value after so many iterations of the dual method, a guess at the optimum."""
        self.model.setOptionValue("simplex_strategy", DUAL)
        # steepest edges would take longer to set up than so few iterations do
        self.model.setOptionValue("simplex_dual_edge_weight_strategy", DEVEX)
        self.model.setOptionValue("simplex_iteration_limit", iterations)
        self.model.run()
        self.model.setOptionValue("simplex_iteration_limit", UNLIMITED)
        self.model.setOptionValue("simplex_dual_edge_weight_strategy", CHOSEN)
        return self.model.getInfo().objective_function_value
