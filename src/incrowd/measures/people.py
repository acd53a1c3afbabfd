"""People and households behind the rows of a table: who hides among how many, and at what risk.

A person's risk is that of the riskiest of its rows, a household's that of its riskiest member.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import listed
from incrowd.kernels.types import Ints
from incrowd.measures.figures import GroupFigures, RiskFigures
from incrowd.privacy.base import Group
from incrowd.privacy.cautions import together
from incrowd.privacy.classes import Classes, values_by_class
from incrowd.tables.base import Column, Table
from incrowd.tables.whose import ownerless, owners

LARGEST = 2**62
Codes = tuple[NDArray[np.int32], int]
"""A column's codes, and how many values they number."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Which rows agree on all of some columns.

    Attributes
    ----------
    member: int64, shape (rows,): dense class id of each row, in no meaningful order.
    sizes: int64, shape (classes,): rows of each class.
    """

    member: NDArray[np.int64]
    sizes: NDArray[np.int64]


def agreement(columns: Sequence[Codes], rows: int) -> Agreement:
    """Number the classes of rows that agree on all ``columns`` (none: one class)."""
    key, width = np.zeros(rows, np.int64), 1
    for codes, values in columns:
        if width * max(values, 1) >= LARGEST:
            key, width = dense(key, width)
        key = key * values + codes
        width *= max(values, 1)
    member, classes = dense(key, width)
    return Agreement(member, np.bincount(member, minlength=classes).astype(np.int64))


def found_together(columns: Mapping[str, Column], rows: int, k: int) -> Iterator[str]:
    """Yield the caution that columns, taken together, are those of fewer than k rows mostly."""
    if len(columns) < 2:
        return
    sizes = agreement([(one.codes, len(one.values)) for one in columns.values()], rows).sizes
    few = int(sizes[sizes < k].sum())
    if 2 * few > rows:
        yield together(list(columns), rows, few, int((sizes == 1).sum()), k)


def dense(key: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], int]:
    """Renumber keys 0..width-1 without gaps; by a table where that is small, else by sorting."""
    if width <= 4 * len(key) + 4096:
        used = np.zeros(width, bool)
        used[key] = True
        return (np.cumsum(used, dtype=np.int64) - 1)[key], int(used.sum())
    order = np.argsort(key)
    ordered = key[order]
    new = np.empty(len(key), bool)
    new[:1] = False
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    number = np.empty(len(key), np.int64)
    number[order] = np.cumsum(new, dtype=np.int64)
    return number, int(new.sum()) + (len(key) > 0)


def representatives(agreed: Agreement) -> NDArray[np.int64]:
    """int64, shape (classes,): one row of each class."""
    row = np.empty(len(agreed.sizes), np.int64)
    row[agreed.member] = np.arange(len(agreed.member), dtype=np.int64)
    return row


def owners_of(table: Table, names: list[str]) -> Ints | None:
    """int64, shape (rows,): whose each row is; None without names."""
    return owners(table, names).codes.astype(np.int64) if names else None


def unowned(table: Table, person: Sequence[str], group: Sequence[str]) -> Iterator[str]:
    """Yield how many rows do not say whose they are, or in which household: each has its own."""
    for names, what in ((person, "person"), (group, "household")):
        rows = int(ownerless(table, names).sum()) if names else 0
        if rows:
            named = " or ".join(map(repr, names))
            yield (
                f"{rows:,} of {table.rows:,} rows have no value in {named}: each counts as a "
                f"{what} of its own"
            )


def uncounted(population: Table, person: Sequence[str]) -> Iterator[str]:
    """Yield why rows of the population count as people, though people are counted."""
    lacking = [name for name in person if name not in population.columns]
    if lacking:
        yield (
            f"the population has no column {listed(lacking)}, so each of its rows counts as a "
            "person; where people have several rows there, journalist and marketer risk are higher"
        )
    else:
        yield from (f"population: {told}" for told in unowned(population, person, ()))


def counting(agreed: Agreement, whose: Ints | None) -> Agreement:
    """Return the classes with people for their sizes, where rows have owners."""
    return agreed if whose is None else replace(agreed, sizes=values_by_class(agreed.member, whose))


def pairs_counted(classes: Classes, a: int, whose: Ints) -> Classes:
    """Return classes in which each value of a person counts once, and the table likewise.

    ``a``: the sensitive attribute that is looked at.
    """
    values, sizes = classes.table.values[:, [a]], (classes.table.sizes[a],)
    key = values[:, 0] * (int(whose.max(initial=-1)) + 1) + whose
    _, whole = np.unique(key, return_index=True)
    _, first = np.unique(np.column_stack([classes.member, key]), axis=0, return_index=True)
    return Classes(classes.member[first], Group(values[first], sizes), Group(values[whole], sizes))


def risk_of_people(agreed: Agreement, whose: Ints, rows: RiskFigures) -> RiskFigures:
    """Return risks with people for rows; ``agreed``: with people for sizes."""
    crowds = agreed.sizes[agreed.member]
    return replace(
        rows,
        prosecutor_average=float((1 / fewest_of(crowds, whose)).mean()),
        rows_at_highest=int((crowds == crowds.min()).sum()),
    )


def fewest_of(sizes: Ints, whose: Ints) -> Ints:
    """int64, shape (owners,): the size of the smallest class that each owner has a row in.

    An owner without a row, all of whose rows were deleted, has no place here.
    """
    nowhere = np.iinfo(np.int64).max
    least = np.full(int(whose.max(initial=-1)) + 1, nowhere)
    np.minimum.at(least, whose, sizes)
    return least[least < nowhere]


def group_figures(agreed: Agreement, group: Ints) -> GroupFigures:
    """Return the risks of households.

    Parameters
    ----------
    agreed: the classes, with members (people, or rows) for sizes.
    group: int64, shape (rows,): the household of each row.
    """
    least = fewest_of(agreed.sizes[agreed.member], group)
    return GroupFigures(
        groups=len(least),
        highest=Fraction(1, int(least.min())),
        average=float((1 / least).mean()),
        groups_at_highest=int((least == least.min()).sum()),
        fewest=int(values_by_class(agreed.member, group).min()),
    )
