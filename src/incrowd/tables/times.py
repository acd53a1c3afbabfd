"""Times of polars' that Python cannot tell: finer than a microsecond, or outside its calendar."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

BEYOND = (OverflowError, ValueError, NotImplementedError)  # of times outside Python's calendar


def nanoseconds(cells: pl.Series) -> NDArray[np.int64]:
    """Return what each cell has beside whole microseconds, in nanoseconds.

    Parameters
    ----------
    cells: without missing ones; of any type.

    Returns
    -------
    int64, shape (cells,); shape (0,) of a type that holds nothing so fine.
    """
    if cells.dtype == pl.Time or getattr(cells.dtype, "time_unit", None) == "ns":
        return cells.to_physical().to_numpy() % 1000
    return np.zeros(0, np.int64)


def beyond(cells: pl.Series) -> bool:
    """Whether some cells are times outside Python's calendar, such as the year 10000 or 0."""
    if not cells.dtype.is_temporal():
        return False
    try:
        _ = cells.min(), cells.max()
    except (*BEYOND, pl.exceptions.PanicException):
        return True
    return False


def untold(column: str) -> str:
    """Say that a column has times outside Python's calendar."""
    return f"column {column!r} holds times that Python cannot tell; make it text"
