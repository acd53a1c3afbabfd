"""The privacy models beyond class size, each in its plainest form, in exact arithmetic."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.rejection import RejectedError


def require_lawful(
    classes: NDArray[np.int64], sensitive: pl.DataFrame, models: Sequence[Mapping[str, Any]]
) -> None:
    """Reject the first row whose class breaks one of the models."""
    for model in models:
        raise RejectedError(f"this checker does not know the model {model.get('model')!r}")
