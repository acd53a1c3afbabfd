"""Tests numbers of few characters and thousand millions of digits: refused, not written out.

Each of these once took all memory, or ended in an error of another kind.
"""

from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import HierarchyError, IncrowdError, InputError
from incrowd.hierarchy.spec import parse
from incrowd.text.exact import fraction_of

HUGE, TINY = "1e999999999", "1E-999999999"
TABLE = pl.DataFrame({"a": ["1", "2", "2", "3"], "s": ["x", "y", "x", "y"]})
GIVEN: list[dict[str, Any]] = [
    {"weights": {"a": HUGE}},
    {"weights": {"a": TINY}},
    {"t": TINY},
    {"l": HUGE, "l_kind": "entropy"},
    {"l": 2, "l_kind": "recursive", "c": HUGE},
    {"models": f"beta={HUGE},kind=basic"},
    {"delete_rows": f"price={HUGE}"},
    {"delete_rows": f"price={TINY}"},
    {"delete_rows": f"most={TINY}%"},
    {"caps": {"a": TINY}},
    {"veil": TINY},
]


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_options(given: dict[str, Any]) -> None:
    """Tests each option that takes an exact number."""
    with pytest.raises(InputError):
        ic.anonymize(TABLE, k=2, sensitive="s", **given)


@pytest.mark.parametrize("number", [HUGE, TINY])
@pytest.mark.parametrize("rule", ["interval:{}", "round:{}", "range:round={}", "range:most={}"])
def test_rules(rule: str, number: str) -> None:
    """Tests each rule that takes a number."""
    with pytest.raises(HierarchyError, match="more than 60 digits"):
        parse(rule.format(number))


@pytest.mark.parametrize("cell", [HUGE, TINY, "9" * 5000])
@pytest.mark.parametrize("rule", ["interval:5", "round:5", "range", "mean", "bands:0,18"])
def test_cells(rule: str, cell: str) -> None:
    """Tests a cell of the table, which the message does not quote."""
    frame = TABLE.with_columns(a=pl.Series([cell, "2", "2", "3"]))
    try:
        release = ic.anonymize(frame, k=2, sensitive="s", hierarchies={"a": rule})
    except IncrowdError as error:
        assert cell not in str(error) and "column 'a'" in str(error)
    else:
        assert cell not in release.data["a"].to_list()


@pytest.mark.parametrize(("text", "value"), [("2e-1", "1/5"), ("1/5", "1/5"), (0.25, "1/4")])
def test_numbers_of_use_are_taken(text: Any, value: str) -> None:
    assert str(fraction_of(text)) == value
