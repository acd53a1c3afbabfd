"""Some rows of a data frame."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import narwhals as nw


def picked(frame: "nw.DataFrame[Any]", rows: NDArray[np.int64]) -> "nw.DataFrame[Any]":
    """Return some rows; pyarrow picks none of views, which would share hidden text anyway."""
    if not frame.implementation.is_pyarrow():
        return frame[rows.tolist(), :]
    import narwhals as nw
    import pyarrow as pa

    table = frame.to_native()
    whole = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    plain = pa.schema([(each.name, whole.get(each.type, each.type)) for each in table.schema])
    return nw.from_native(table.cast(plain).take(pa.array(rows)).cast(table.schema))
