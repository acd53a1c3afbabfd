"""The columns of a table as the first screen shows them: guess, reason, a small histogram."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from incrowd.errors import InputError
from incrowd.policy.guess import Guess
from incrowd.report.distribution import as_numbers
from incrowd.tables.base import Column, Source

BARS = 24


def columns_of(source: Source, guesses: Sequence[Guess], decimal: str) -> list[dict[str, Any]]:
    """Return what is shown of each column; no cell of it."""
    return [described(source, guess, decimal) for guess in guesses]


def described(source: Source, guess: Guess, decimal: str) -> dict[str, Any]:
    """Return what is shown of one column."""
    found = {
        "name": guess.column, "guess": guess.role, "why": guess.why,
        "rule": guess.hierarchy, "distinct": 0, "missing": 0, "bars": [],
    }  # fmt: skip
    try:
        column = source.encode(guess.column)
    except InputError:  # lists and the like have no text form
        return found
    counts = column.counts
    gone = int(counts[0]) if column.values[:1] == (None,) else 0
    return found | {
        "distinct": len(column.values) - (column.values[:1] == (None,)),
        "missing": gone,
        "bars": histogram(column, counts, decimal),
    }  # fmt: skip


def histogram(column: Column, counts: Any, decimal: str) -> list[int]:
    """Return the rows in each bar: of numbers in bins of one width, else the most frequent."""
    values = [value for value in column.values if value is not None]
    present = counts[len(column.values) - len(values) :]
    numbers = as_numbers(values, decimal) if values else None
    if numbers is not None:
        places = np.array([number for number in numbers if number is not None], float)
        if len(places) == len(values) > BARS and np.isfinite(places).all():
            bars, _ = np.histogram(places, BARS, weights=present)
            return [int(bar) for bar in bars]
        if len(places) == len(values):
            return present[np.argsort(places)].tolist()
    if len(values) <= BARS:
        return present.tolist()
    top = np.sort(np.partition(present, -BARS)[-BARS:])[::-1]
    return top.tolist()
