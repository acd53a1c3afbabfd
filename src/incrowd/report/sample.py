"""Weighted figures of a sample, and their standard errors.

A standard error says how far a figure would move if another sample of the same size were drawn: by
linearization, as survey software has it.  Each row has an influence on the figure (Binder 1983),
and these sum to 0; a person's is that of all rows of this person.  Where a sample was drawn by
strata, influences are told from the mean of their stratum, that of a stratum's only person from the
mean of all, which is 0 (Lumley's R package ``survey``, ``lonely.psu="adjust"``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.errors import InputError, no_column
from incrowd.hierarchy.ladder import apart
from incrowd.kernels.types import Floats, Ints
from incrowd.policy import Policy
from incrowd.report.distribution import as_numbers, unmarked
from incrowd.tables.base import Table
from incrowd.text.missing import marks_for


@dataclass(frozen=True, eq=False)
class Sample:
    """What rows count for, and whose they are.

    Attributes
    ----------
    weights: float64, shape (rows,), none below 0: what each row counts for.
    people: int64, shape (rows,), from 0: whose each row is; None where each is a person of its own.
    strata: int64, shape (rows,), from 0: in which stratum each row was drawn; None: there are none.
        Rows of one person in two strata are two draws.
    """

    weights: Floats
    people: Ints | None = None
    strata: Ints | None = None

    def of(self, rows: Ints) -> "Sample":
        """Return the same of some rows."""
        people, strata = (None if x is None else x[rows] for x in (self.people, self.strata))
        return Sample(self.weights[rows], people, strata)

    def mean(self, numbers: Floats) -> float:
        """Return the mean of numbers, float64, shape (rows,)."""
        with np.errstate(invalid="ignore"):  # a published weight may be rounded to 0
            return float(self.weights @ numbers / self.weights.sum())

    def variance(self, numbers: Floats) -> float:
        """Return the sum of squares about the mean over n − 1, as offices expect; NaN of one row.

        With weights, their mean square times n/(n − 1), n the rows that count (``svyvar`` of R).
        """
        return self.mean(self.squares(numbers))

    def squares(self, numbers: Floats) -> Floats:
        """float64, shape (rows,): squares about the mean, times n/(n − 1)."""
        return (numbers - self.mean(numbers)) ** 2 * less_one(int((self.weights > 0).sum()))

    def mean_error(self, numbers: Floats) -> float:
        """Return the standard error of the mean; NaN where there is but one row or person."""
        there = self.weights > 0
        found = ((numbers - self.mean(numbers)) * self.weights)[there] / self.weights.sum()
        whose = np.arange(len(found)) if self.people is None else self.people[there]
        strata = np.zeros(len(found), np.int64) if self.strata is None else self.strata[there]
        key = strata * (whose.max(initial=0) + 1) + whose
        _, first, draw = np.unique(key, return_index=True, return_inverse=True)
        if len(first) < 2:
            return float("nan")
        found, of = np.bincount(draw, found), strata[first]
        many = np.bincount(of)
        means = np.where(many > 1, np.bincount(of, found) / np.maximum(many, 1), 0)
        scale = many / np.maximum(many - 1, 1)
        return float(np.sqrt(scale[of] @ (found - means[of]) ** 2))

    def variance_error(self, numbers: Floats) -> float:
        """Return the standard error of the variance, likewise."""
        return self.mean_error(self.squares(numbers))

    def shares(self, places: Ints, many: int) -> tuple[Floats, Floats]:
        """float64, shape (many,), twice: each place's share of the weights, and standard errors.

        places: int64, shape (rows,), from 0.
        """
        there = [(places == place).astype(float) for place in range(many)]
        shares, errors = (np.array([f(x) for x in there]) for f in (self.mean, self.mean_error))
        return shares, errors


def less_one(n: int) -> float:
    """Return n/(n − 1), which makes a mean of squares a variance; NaN for one row."""
    return n / (n - 1) if n > 1 else float("nan")


def require_survey(
    policy: Policy, columns: Sequence[str], table_of: Callable[[str], Table]
) -> None:
    """Raise InputError for what a report would refuse only after the search.

    columns: all of the table; table_of: gives a table that has one of them.
    """
    if policy.survey_weight is None:
        return
    asked = {"survey weight": policy.survey_weight, "survey stratum": policy.survey_stratum}
    for role, name in asked.items():
        if name is not None and name not in columns:
            raise no_column(role, name, columns)
    require_weights(table_of(policy.survey_weight), policy, policy.survey_weight)


def require_weights(source: Table, policy: Policy, name: str) -> Floats:
    """float64, shape (rows,): the original's survey weights, 0 where a row has none.

    Raises
    ------
    InputError: there is no such column, or it holds something else than such weights.
    """
    if name not in source.columns:
        raise no_column("survey weight", name, source.columns)
    column = source.encode(name).compact()
    _, declared = apart([value for value in column.values if value is not None])
    none = (*marks_for(policy.na, name), *declared)
    own = as_numbers(unmarked(column.values, none), policy.decimal)
    if own is None:
        raise InputError(f"survey weight {name!r}: the column holds no numbers, or other texts too")
    own = np.nan_to_num(own)
    if (own < 0).any() or not (own > 0).any():
        below = "a number below 0" if (own < 0).any() else "no number above 0"
        raise InputError(f"survey weight {name!r}: the column holds {below}")
    return own[column.codes]
