"""The re-check of a release that follows others: counted on its rows, trusting no plan."""

from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from incrowd.checker.ranges import Intervals
from incrowd.checker.recheck import cells_cost
from incrowd.checker.rejection import RejectedError, require
from incrowd.errors import VerificationError
from incrowd.series.companions import beside
from incrowd.series.history import Person

Class = Mapping[str, str | None]


def require_lawful(
    classes: Sequence[Class],
    people: Mapping[str, Person],
    values: Mapping[str, str],
    m: int,
    k: int,
) -> None:
    """Raise VerificationError unless classes are m-invariant and leave company to everybody.

    Parameters
    ----------
    classes: value → key, None for a counterfeit.  people: as of the releases before.
    values: the sensitive value of each person in the table, by key.
    """
    seen = Counter(key for one in classes for key in one.values() if key is not None)
    try:
        require(max(seen.values(), default=1) == 1, "somebody stands in two classes")
        for one in classes:
            require(len(one) >= m, f"a class has fewer than {m} values")
            for value, key in one.items():
                if key is not None:
                    require(values.get(key) == value, "somebody stands under another value")
                    kept = key not in people or people[key].signature == set(one)
                    require(kept, "somebody's signature changed")
        company = beside(classes, people)
        least = min((len(others) + 1 for others in company.values()), default=k)
        require(least >= k, f"somebody shared all classes with {least - 1} others, not {k - 1}")
    except RejectedError as error:
        raise VerificationError(f"the re-check of the release: {error.reason}") from None


def require_true(
    original: pl.DataFrame,
    released: pl.DataFrame,
    ladders: Mapping[str, pl.DataFrame],
    ranges: Mapping[str, Intervals],
    cost: int,
) -> None:
    """Raise VerificationError unless each cell of a person is true, and all cost what is said."""
    try:
        total = sum(
            cells_cost(original[name], released[name], ladder, name, ranges.get(name))
            for name, ladder in ladders.items()
        )
        require(total == cost, f"the release costs {total}, not {cost} as claimed")
    except RejectedError as error:
        raise VerificationError(f"the re-check of the release: {error.reason}") from None


def require_alike(published: pl.DataFrame, qi: Sequence[str], number: str) -> None:
    """Raise VerificationError unless the rows of each class agree on all quasi-identifiers."""
    keys = [published.get_column(name).alias(str(j)) for j, name in enumerate(qi)]
    rows = pl.DataFrame([*keys, published.get_column(number).alias("class")]).unique()
    if rows["class"].n_unique() != rows.height:
        raise VerificationError("the re-check of the release: rows of a class differ")
