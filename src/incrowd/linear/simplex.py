"""Linear programs that grow and change, kept warm between solves: HiGHS's simplex method.

minimize cost·x subject to lower ≤ K·x ≤ upper, x ≥ 0.  Columns join, columns are closed and bounds
of rows change; each solve goes on from the basis of the one before.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.linear.highs import Point, append_columns, limit_time, model_of, optimum

DUAL, CHOOSE = 1, 0  # HiGHS's numbers of its simplex methods
DEVEX, CHOSEN = 1, -1  # and of its edge weights
UNLIMITED = 2**31 - 1  # iterations


class Simplex:
    """One program; its rows are there from the start, columns are appended.

    Parameters
    ----------
    lower, upper: float64, shape (rows,); ±inf for none.
    dear: float64, shape (stand-ins,): each of the first rows has a column of its own, that fills it
        at this price per unit, so that there always is a solution.
    """

    def __init__(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64], dear: NDArray[np.float64]
    ) -> None:
        self.columns = 0
        stand_ins = self.stand_ins = len(dear)
        matrix = scipy.sparse.csc_array(scipy.sparse.eye_array(len(lower), stand_ins))
        self.model = model_of(matrix, dear, np.full(stand_ins, np.inf), lower, upper)
        self.model.setOptionValue("presolve", "off")

    def add_columns(self, cost: NDArray[np.float64], matrix: "scipy.sparse.csc_array") -> None:
        """Append columns, shape (rows, new)."""
        append_columns(self.model, cost, matrix)
        self.columns += len(cost)

    def limit_columns(self, columns: NDArray[np.int64], usable: NDArray[np.bool_]) -> None:
        """Let columns be used, or not."""
        n, at = len(columns), (columns + self.stand_ins).astype(np.int32)
        if n:
            upper = np.where(usable, np.inf, 0.0)
            self.model.changeColsBounds(n, at, np.zeros(n), upper)

    def limit_row(self, row: int, lower: float, upper: float) -> None:
        """Change the bounds of a row."""
        self.model.changeRowBounds(row, lower, upper)

    def solve(self, seconds: Callable[[], float], grown: bool = False) -> Point | None:
        """Go on to the optimum; None when time runs out or the solver is at a loss.

        ``seconds`` tells how many are left, and is asked meanwhile: an interrupt leaves none.
        ``x`` leaves out the stand-ins.  ``grown``: whether columns have joined since the last time:
        then the solver chooses the method, as its basis may serve the primal one better.
        """
        self.model.setOptionValue("simplex_strategy", CHOOSE if grown else DUAL)
        limit_time(self.model, seconds())

        def ask(event: Any) -> None:
            if seconds() <= 0:
                event.interrupt()

        question = self.model.cbSimplexInterrupt
        question.subscribe(ask)
        try:
            self.model.run()
        finally:
            question.unsubscribe(ask)
        point = optimum(self.model)
        return None if point is None else point._replace(x=point.x[self.stand_ins :])

    def basis(self) -> Any:
        """Return the basis at hand, for ``restore``."""
        return self.model.getBasis()

    def restore(self, basis: Any) -> None:
        """Go back to a basis; columns that have joined since are not in it."""
        import highspy

        joined = self.stand_ins + self.columns - len(basis.col_status)
        if joined:
            basis.col_status = [*basis.col_status, *[highspy.HighsBasisStatus.kLower] * joined]
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
