"""Tests the ordered distance as the checker adds it up: from the values of a class alone."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from dial import few
from incrowd.checker import models
from incrowd.checker.ordered import Places
from incrowd.checker.rejection import RejectedError


def by_definition(order: list[str], table: dict[Any, int], group: dict[Any, int]) -> Fraction:
    """Return Σ |H(j)/n − C(j)/N| over all values."""
    rows, n = sum(table.values()), sum(group.values())
    found, high, low = Fraction(0), 0, 0
    for value in order:
        high, low = high + group.get((value,), 0), low + table[(value,)]
        found += abs(Fraction(high, n) - Fraction(low, rows))
    return found


def test_by_definition() -> None:
    """Tests tables of one to nine values, and classes of some of them."""
    draw = random.Random(2)
    for _ in range(few(500)):
        order = draw.sample("abcdefghi", draw.randint(1, 9))
        table = {(v,): draw.choice([1, 2, 5, 9]) for v in order}
        some = draw.sample(order, draw.randint(1, len(order)))
        group = {(v,): draw.randint(1, table[(v,)]) for v in some}
        scale = sum(table.values()) * sum(group.values())
        assert Places(order, table).moved(group) == scale * by_definition(order, table, group)


def test_many_values_in_many_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests honest classes of nearly as many values as rows: they were refused, as too many."""
    monkeypatch.setattr(models, "MOST_TRIES", 0)
    monkeypatch.setattr(models, "EACH", 2 * models.STEP)
    values = [f"{v:04}" for v in range(2000)]
    table = pl.DataFrame({"s": values})
    classes = np.arange(2000) % 500  # each from all parts of the order
    close = {"model": "t-closeness", "distance": "ordered", "order": values, "column": "s"}
    models.require_lawful(classes, table, [close | {"t": "1/4"}])
    with pytest.raises(RejectedError, match="breaks the model"):
        models.require_lawful(np.arange(2000) // 4, table, [close | {"t": "1/4"}])


@pytest.mark.parametrize("order", [None, "abc", ["a", "b"], ["a", "b", "b"], ["a", "b", "d"]])
def test_orders_that_are_none(order: Any) -> None:
    """Tests lists of other values than the table's."""
    with pytest.raises(RejectedError, match=r"does not list the values|lists other values"):
        Places(order, {("a",): 1, ("b",): 1, ("c",): 2})
