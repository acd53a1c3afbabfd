"""Models of HiGHS, as all that speak to it directly use them: silent, on one thread."""

from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.run.silence import standard_output_kept_clean
from incrowd.run.stop import Stop

LONGEST = 1e7  # seconds; HiGHS takes no infinite limit
TICK, PATIENCE = 0.1, 1.0  # seconds
THREAD = "HiGHS"  # a program that ends while one is left must not wait for it, see cli/group.py


class Point(NamedTuple):
    """An optimum: its value, x of the columns, duals of the rows; float64."""

    value: float
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def model_of(
    matrix: "scipy.sparse.csc_matrix | scipy.sparse.csc_array",
    cost: NDArray[np.number],
    upper: NDArray[np.float64],
    row_lower: NDArray[np.float64],
    row_upper: NDArray[np.float64],
    whole: bool | NDArray[np.bool_] = False,
) -> Any:
    """Return the model: min cost·x, row_lower ≤ matrix·x ≤ row_upper, 0 ≤ x ≤ upper; ±inf for none.

    ``whole``: whether x, or which of x, are to be integral.
    """
    import highspy  # not before it is needed

    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = len(row_upper), len(cost)
    lp.col_cost_ = np.asarray(cost, float)
    lp.col_lower_, lp.col_upper_ = np.zeros(len(cost)), upper
    lp.row_lower_, lp.row_upper_ = np.asarray(row_lower, float), np.asarray(row_upper, float)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(np.float64)
    if np.any(whole):
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        lp.integrality_ = [kinds[int(each)] for each in np.broadcast_to(whole, len(cost))]
    with standard_output_kept_clean():  # making the first one prints a banner, whatever is set
        model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.passModel(lp)
    return model


def append_columns(
    model: Any, cost: NDArray[np.number], matrix: "scipy.sparse.csc_matrix | scipy.sparse.csc_array"
) -> None:
    """Append columns x ≥ 0; ``matrix``: rows × new."""
    n = len(cost)
    if n:
        model.addCols(
            n, np.asarray(cost, float), np.zeros(n), np.full(n, np.inf), matrix.nnz,
            matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32),
            matrix.data.astype(np.float64),
        )  # fmt: skip


def limit_time(model: Any, seconds: float) -> None:
    """Give the next run so much time."""
    model.setOptionValue("time_limit", model.getRunTime() + min(max(seconds, 0.0), LONGEST))


def run_until(model: Any, stop: Stop, most: float = np.inf) -> bool:
    """Run a model to its end or until it is time to stop; return whether it came to rest.

    ``most``: how often HiGHS may ask whether to go on, which it does after so much work, whatever
    the clock says.

    In a thread, so that signals are handled meanwhile: no handler in Python runs while the main
    thread is in HiGHS.  HiGHS asks whether to go on while it branches, not while it solves the
    linear program at the root; if it has not come to rest ``PATIENCE`` seconds after the end, it
    is left to itself, and the model must not be touched again.
    """
    limit_time(model, stop.left())
    ended, asked = False, 0

    def ask(event: Any) -> None:
        nonlocal asked
        asked += 1
        if ended or asked > most or stop.now():
            event.interrupt()

    questions = model.cbMipInterrupt, model.cbSimplexInterrupt, model.cbIpmInterrupt
    for question in questions:
        question.subscribe(ask)
    thread = Thread(target=model.run, name=THREAD, daemon=True)
    thread.start()
    late = 0.0
    try:
        while thread.is_alive():
            thread.join(TICK)
            late += TICK if stop.now() else 0.0
            if late > PATIENCE:
                return False
        for question in questions:
            question.unsubscribe(ask)
    finally:
        ended = True
    return True


class Branched(NamedTuple):
    """Where branch and bound ended: the best x, or None; a bound on the value, which may be −∞."""

    x: NDArray[np.float64] | None
    bound: float
    finished: bool


def branched(model: Any, stop: Stop) -> Branched:
    """Run a model with whole x; ``finished`` says that there is none better, or none at all."""
    import highspy

    if not run_until(model, stop):
        return Branched(None, -np.inf, False)
    kinds, info = highspy.HighsModelStatus, model.getInfo()
    finished = model.getModelStatus() in (kinds.kOptimal, kinds.kInfeasible)
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return Branched(None, info.mip_dual_bound, finished)
    return Branched(np.array(model.getSolution().col_value), info.mip_dual_bound, finished)


def optimum(model: Any) -> Point | None:
    """Return the optimum where the last run ended at one."""
    import highspy

    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution, value = model.getSolution(), model.getInfo().objective_function_value
    return Point(value, np.array(solution.col_value), np.array(solution.row_dual))


def why_ended(finished: bool, stop: Stop) -> str:
    """Say why HiGHS ended; without a limit it can only have given up on its own."""
    if finished:
        return "finished"
    if stop.time_limit is None and not stop.interrupted:
        return "stopped paying"
    return stop.why()
