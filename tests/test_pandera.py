"""The pandera check: pandas and polars, as a value and registered; failures quote no cell."""

import warnings
from typing import Any

import pandas as pd
import polars as pl
import pytest

from incrowd.errors import InputError
from incrowd.pandera import is_k_anonymous

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pandera imports pyspark where there is one: it may warn
    import pandera.pandas
    import pandera.polars
    from pandera.errors import SchemaError

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support")
ROWS = {"age": [34, 34, 51, 51], "zip": ["91", "91", None, None], "illness": ["a", "b", "c", "d"]}
LIBRARIES = [
    pytest.param(pandera.pandas, pd.DataFrame, id="pandas"),
    pytest.param(pandera.polars, pl.DataFrame, id="polars"),
]


@pytest.mark.parametrize(("library", "frame"), LIBRARIES)
@pytest.mark.parametrize("registered", [True, False])
def test_passes_and_fails(library: Any, frame: Any, registered: bool) -> None:
    """Tests a k that holds and one that does not, as a value and by the registered name."""
    make = library.Check.is_k_anonymous if registered else is_k_anonymous
    for k, qi, fine in ((2, ["age", "zip"], True), (3, ["age"], False), (1, "illness", True)):
        schema = library.DataFrameSchema(checks=make(k=k, qi=qi))
        if fine:
            schema.validate(frame(ROWS))
            continue
        with pytest.raises(SchemaError, match="is_k_anonymous") as caught:
            schema.validate(frame(ROWS))
        assert "34" not in str(caught.value)
        assert "51" not in str(caught.value)


@pytest.mark.parametrize("library", [pandera.pandas, pandera.polars])
def test_in_a_model(library: Any) -> None:
    """Tests the registered name in a model's configuration."""

    class People(library.DataFrameModel):
        age: int
        illness: str

        class Config:
            is_k_anonymous = {"k": 2, "qi": ["age"]}  # noqa: RUF012 (pandera's own form)

    frame = pd.DataFrame if library is pandera.pandas else pl.DataFrame
    People.validate(frame({"age": [1, 1], "illness": ["x", "y"]}))
    with pytest.raises(SchemaError):
        People.validate(frame({"age": [1, 2], "illness": ["x", "y"]}))


@pytest.mark.parametrize("k", [0, 2.5, "2"])
def test_k_is_whole(k: Any) -> None:
    """Tests that a k which asks for nothing is no check that passes."""
    with pytest.raises(InputError, match="k must be a whole number of at least 1"):
        is_k_anonymous(k, "age")
    schema = pandera.pandas.DataFrameSchema(
        checks=pandera.pandas.Check.is_k_anonymous(k=k, qi="age")
    )
    with pytest.raises(SchemaError, match="k must be a whole number of at least 1"):
        schema.validate(pd.DataFrame(ROWS))


def test_no_rows() -> None:
    """Tests that an empty frame passes."""
    check = is_k_anonymous(5, "age")
    schema = pandera.polars.DataFrameSchema(checks=check)
    schema.validate(pl.DataFrame({"age": []}, schema={"age": pl.Int64}))
