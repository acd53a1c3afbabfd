"""Models that count people with a value: of rows of one person with one value, one counts.

Such a model has ``"once": true`` beside its own keys.  Whose a row is, the model ``people`` of the
same proof says.  Class and table are counted alike.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

import polars as pl

from incrowd.checker.rejection import require
from incrowd.checker.shares import NAMES, Share

Plain = Mapping[str, Any]
KINDS = ("frequency", "entropy", "recursive", "t-closeness", *NAMES)


def whose(models: Sequence[Plain]) -> list[str]:
    """Return the columns that together name a person, whom models count once for each value."""
    of = [list(model["columns"]) for model in models if model.get("model") == "people"]
    require(bool(of), "a model counts each value of a person once, and none says who they are")
    require(all(one == of[0] for one in of), "two models of people differ in who is who")
    return of[0]


def counted(rows: pl.DataFrame, values: Sequence[str], people: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that count: of a class, a value and a person the first.

    ``rows``: the column ``class`` and those named ``values``; ``people``: of the same rows.
    """
    named = people.rename({name: f"person {j}" for j, name in enumerate(people.columns)})
    kept = ["class", *values, *named.columns]
    found = rows.hstack(named.get_columns()).unique(kept, keep="first", maintain_order=True)
    return found.drop(named.columns)


def table_of(
    model: Plain, sensitive: pl.DataFrame, column: str, models: Sequence[Plain]
) -> Counter[Any]:
    """Count the table's values as the model does."""
    if not model.get("once"):
        return Counter(sensitive[column].to_list())
    people = [sensitive[name].alias(f"person {j}") for j, name in enumerate(whose(models))]
    pairs = pl.DataFrame([sensitive[column].alias("value"), *people]).unique()
    return Counter(pairs["value"].to_list())


def fewest_values(
    model: Plain, table: Mapping[Any, int], shares: Mapping[Any, Share], apart: Fraction
) -> int:
    """Return a number of different values that no lawful class falls below.

    Parameters
    ----------
    shares: the least and largest share of each value, where the model bounds them.
    apart: a distance that no two values fall below, where the model is t-closeness.
    """
    kind = model.get("model")
    if kind in NAMES:
        needed = sum(low > 0 for low, _ in shares.values())
        return max(1, needed, reaching([most for _, most in shares.values()], Fraction(1)))
    if kind == "t-closeness":
        if apart == 0:
            return 1
        rows = sum(table.values())
        return reaching(map(Fraction, table.values()), (1 - Fraction(model["t"]) / apart) * rows)
    return ceil(Fraction(model["l"]))


def reaching(amounts: Any, least: Fraction) -> int:
    """Return how many of the largest amounts sum to ``least``, at least 1; all if they do not."""
    falling, total = sorted(amounts, reverse=True), Fraction(0)
    for number, amount in enumerate(falling, 1):
        total += amount
        if total >= least:
            return number
    return max(1, len(falling))
