"""Figures of the closing summary that are not those of a plain release."""

import re

import polars as pl
import pytest

import incrowd as ic
from incrowd.cli.summary import summary

TABLE = pl.DataFrame(
    {"who": ["a", "b", "c", "d", None], "age": [1, 1, 2, 2, 9], "sex": ["f", "f", "m", "m", "f"]}
)


@pytest.mark.parametrize(("price", "told"), [("2", "2"), ("0.001", "0.001"), ("1.5", "1.50")])
def test_the_price_of_a_deleted_row(price: str, told: str) -> None:
    """Tests the price as it was given, in the summary, the JSON's source and the report."""
    asked = f"price={price},most=1"
    release = ic.anonymize(TABLE.drop("who"), k=2, delete_rows=asked)
    assert release.deleted is not None
    assert release.deleted.price == float(price)
    assert f"rows at {told} each" in summary(release) or f"row at {told} each" in summary(release)


def test_the_factor_of_a_veil_is_no_less_than_it_is() -> None:
    """Tests 1/q where it has no end as a decimal."""
    release = ic.anonymize(TABLE.drop("who"), k=2, veil={"sex": 0.03})
    found = re.search(r"factor of at most ([0-9.]+) \(sex\)", summary(release))
    assert found is not None
    assert 1 / 0.03 <= float(found[1]) < 33.34


def test_one_row_of_nobody_is_one() -> None:
    """Tests one row that does not say whose it is."""
    release = ic.anonymize(TABLE, k=2, person="who", missing_person="drop")
    assert "1 row that does not say whose it is" in summary(release)
