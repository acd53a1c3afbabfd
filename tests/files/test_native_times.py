"""Tests of times that Python or polars do not know."""

from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import InputError
from incrowd.tables.native import from_native

pa = pytest.importorskip("pyarrow")

FIRST_DAY, LAST_DAY = -62_135_596_800_000_000, 253_402_300_799_000_000  # of years 1 and 9999, UTC


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([FIRST_DAY], pa.timestamp("us", "America/New_York")),
        pa.array([LAST_DAY], pa.timestamp("us", "Asia/Tokyo")),
        pa.array([-(2**62)], pa.timestamp("us", "UTC")),
    ],
)
def test_times_beyond_the_calendar(cells: Any) -> None:
    """Tests dates that stand for none (year 1, year 9999) in a zone where they are other years."""
    table = pa.table({"a": cells})
    frames = [
        table,
        pl.DataFrame(pl.from_arrow(table)),
        table.to_pandas(),
        table.to_pandas(types_mapper=pd.ArrowDtype),
    ]
    for frame in frames:
        with pytest.raises(InputError, match="'a' holds times that Python cannot tell"):
            from_native(frame).encode("a")


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1, 2], pa.timestamp("us", "+05:30")),
        pa.array([Decimal("1E2"), Decimal("2E2")], pa.decimal128(12, -2)),
    ],
)
def test_types_that_polars_lacks(cells: Any) -> None:
    """Tests that such columns are refused where they need a text, and else are kept as they are."""
    table = pa.table({"a": ["u", "u"], "b": cells})
    with pytest.raises(InputError, match=r"'b' is of type .*, which cannot be read"):
        from_native(table).encode("b")
    release = ic.anonymize(table, k=2, qi="a", keep="b")
    assert release.data["b"].equals(table["b"])
