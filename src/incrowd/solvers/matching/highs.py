"""The one place that loads HiGHS, and the form in which models are passed to it."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from incrowd.errors import MissingExtraError


def highs() -> Any:
    """Return the highspy module.

    Raises
    ------
    MissingExtraError: highspy is not installed.
    """
    try:
        return import_module("highspy")
    except ImportError as error:
        raise MissingExtraError("highspy", "solvers", "simplex matching") from error


def model_of(
    matrix: sparse.csc_matrix,
    cost: NDArray[np.number],
    upper: NDArray[np.float64],
    row_upper: NDArray[np.float64],
    whole: bool = False,
) -> Any:
    """Return a silent one-thread model: min cost·x, 1 ≤ matrix·x ≤ row_upper, 0 ≤ x ≤ upper."""
    module = highs()
    lp = module.HighsLp()
    lp.num_row_, lp.num_col_ = len(row_upper), len(cost)
    lp.col_cost_ = np.asarray(cost, float)
    lp.col_lower_, lp.col_upper_ = np.zeros(len(cost)), upper
    lp.row_lower_, lp.row_upper_ = np.ones(len(row_upper)), row_upper
    lp.a_matrix_.format_ = module.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    if whole:
        lp.integrality_ = [module.HighsVarType.kInteger] * len(cost)
    model = module.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.passModel(lp)
    return model
