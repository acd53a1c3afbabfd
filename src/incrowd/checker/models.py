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
        if model.get("model") == "k-anonymity":
            sizes = np.bincount(classes)[classes] if len(classes) else classes
            small = np.flatnonzero(sizes < model["k"])
            if len(small):
                reason = f"its class has {sizes[small[0]]} rows, fewer than k = {model['k']}"
                raise RejectedError(reason, int(small[0]) + 1)
            continue
        raise RejectedError(f"this checker does not know the model {model.get('model')!r}")


def least_class(models: Sequence[Mapping[str, Any]], released: pl.DataFrame) -> int:
    """Return a number of rows that no lawful class falls below."""
    return max(int(model["k"]) for model in models)
