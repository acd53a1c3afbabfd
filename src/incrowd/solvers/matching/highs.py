"""The form in which models are passed to HiGHS."""

from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def model_of(
    matrix: sparse.csc_matrix,
    cost: NDArray[np.number],
    upper: NDArray[np.float64],
    row_upper: NDArray[np.float64],
    whole: bool = False,
) -> Any:
    """Return a silent one-thread model: min cost·x, 1 ≤ matrix·x ≤ row_upper, 0 ≤ x ≤ upper."""
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = len(row_upper), len(cost)
    lp.col_cost_ = np.asarray(cost, float)
    lp.col_lower_, lp.col_upper_ = np.zeros(len(cost)), upper
    lp.row_lower_, lp.row_upper_ = np.ones(len(row_upper)), row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(np.float64)
    if whole:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * len(cost)
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.passModel(lp)
    return model
