"""People and not rows on Spark: whose each row is, as a number that never leaves the cluster.

The number is the person's place among all people, in the order of the columns that name them: it
depends neither on the partitions nor on the order of the rows.  Numbers of people are columns of
the tasks like those of sensitive values; the re-check counts the columns themselves.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as sf

from incrowd.errors import InputError, NoLawfulReleaseError
from incrowd.policy.base import Policy
from incrowd.text.missing import marks_for

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHO = "who"


def ownerless(rows: "DataFrame", columns: Sequence[str]) -> "Column":
    """Whether a row lacks a value in one of the columns; empty text is none."""
    found = sf.lit(False)
    types = dict(rows.dtypes)
    for name in columns:
        absent = sf.col(name).isNull()
        if types[name] == "string":
            absent = absent | (sf.col(name) == "")
        found = found | absent
    return found


def owned(rows: "DataFrame", columns: Sequence[str], policy: Policy) -> tuple["DataFrame", int]:
    """Return the rows that say whose they are, and how many were dropped.

    Parameters
    ----------
    columns: those that together name a person, as they are called in ``rows``.

    Raises
    ------
    InputError: some rows do not say whose they are, and nothing says what becomes of them.
    """
    require_unmarked(rows, columns, policy)
    lacking = ownerless(rows, columns)
    number = rows.where(lacking).count()
    if number and policy.missing_person == "error":
        names = " or ".join(map(repr, policy.person))
        raise InputError(
            f"{names} names people, but {number:,} rows have no value in it: fill it in, or leave "
            "these rows out (--missing-person drop)"
        )
    return (rows.where(~lacking) if number else rows), number


def require_unmarked(rows: "DataFrame", columns: Sequence[str], policy: Policy) -> None:
    """Raise InputError for persons who are called like a missing value, as one machine does."""
    for name, outside in zip(columns, policy.person, strict=True):
        marks = [mark for mark in marks_for(policy.na, outside) if mark]
        number = rows.where(sf.col(name).cast("string").isin(marks)).count() if marks else 0
        if number:
            raise InputError(
                f"column {outside!r} names people, but {number:,} rows have no value in it (--na): "
                "empty these cells, and say what becomes of the rows (--missing-person)"
            )


def numbered(rows: "DataFrame", columns: Sequence[str]) -> "DataFrame":
    """Return the people with their numbers: ``z_COLUMN`` of each column, and ``WHO``.

    ``rows``: without those that do not say whose they are.
    """
    people = rows.select(*columns).distinct()
    place = sf.row_number().over(Window.partitionBy(sf.lit(0)).orderBy(*columns)) - sf.lit(1)
    named = [sf.col(name).alias(f"z_{name}") for name in columns]
    return people.select(*named, place.cast("int").alias(WHO))


def with_numbers(rows: "DataFrame", numbers: "DataFrame", columns: Sequence[str]) -> "DataFrame":
    """Append to each row the number of its person; a row that came later is not lost."""
    alike = sf.lit(True)
    for name in columns:
        alike = alike & (sf.col(name) == sf.col(f"z_{name}"))
    met = rows.join(numbers, alike, "left")
    return met.select(*rows.columns, sf.coalesce(sf.col(WHO), sf.lit(-1)).alias(WHO))


def require_people(people: int, k: int) -> None:
    """Raise NoLawfulReleaseError for a table of fewer than k people."""
    if people < k:
        raise NoLawfulReleaseError(
            f"k = {k} is larger than the number of people in the table, {people}: nobody in it can "
            f"hide among {k}; use k ≤ {people}"
        )


def fewest(released: "DataFrame", after: Sequence[str], columns: Sequence[str]) -> tuple[int, int]:
    """Return how many people there are, and in the class with the fewest: counted by their columns.

    Parameters
    ----------
    after: the released quasi-identifiers.  columns: those that together name a person.
    """
    pairs = released.select(*after, *columns).distinct()
    classes = pairs.groupBy(*after).agg(sf.count(sf.lit(1)).alias("n"))
    least = classes.agg(sf.min("n")).collect()[0][0]
    return released.select(*columns).distinct().count(), int(least or 0)
