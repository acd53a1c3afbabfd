"""The laws that the search obeys: the model's own, or stricter ones where it has none that fit.

A stricter law stands in, so that every release is lawful, at a price in cost: see ``stand_in`` of
the models.  Where there is none either, the predicate is called back.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.law import CALLED, DISTINCT, ROWS, Laws
from incrowd.privacy.laws import laws_of
from incrowd.privacy.model import Model
from incrowd.problem.problem import Problem
from incrowd.solvers.sensitive.assignment import Rules

FOLDS, FEWEST = 32, 1024  # values that are told apart, of attributes of which they are counted


def rules_of(problem: Problem) -> Rules:
    """Return the search's rules.

    Raises
    ------
    OutOfScopeError: numbers too large for 64 bits.
    """
    instance, table = problem.instance, problem.table
    model = problem.model.stand_in(table)
    codes, sizes = instance.sensitive_codes, folded(model, table)
    if sizes != table.sizes:  # of the table that classes are compared with, which may hold more
        codes, table = codes % np.array(sizes), Group(table.values % np.array(sizes), sizes)
    laws = laws_of(model, table)
    least = np.maximum(laws.least, problem.smallest_class)
    if not model.stays_lawful:  # what a class of too few rows lacks are rows: that guides the moves
        laws = laws._replace(least=least)
    starts = np.concatenate([[0], np.cumsum(table.sizes)]).astype(np.int64)
    places = codes.astype(np.int64) + starts[:-1]
    _, sample, profile = np.unique(places, axis=0, return_index=True, return_inverse=True)
    profile = profile.ravel().astype(np.int64)
    if (laws.kind == CALLED).any():
        places = np.column_stack([places, starts[-1] + profile])
    laws, places = compact(laws, places, instance.counts)
    exempt = np.array([-1], np.int64)
    return Rules(
        laws, np.ascontiguousarray(places), profile, sample.astype(np.int64), least, exempt
    )


def compact(
    laws: Laws, places: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[Laws, NDArray[np.int64]]:
    """Leave out places of a histogram that nothing needs; return the laws and the rows' places.

    What only one copy of the table has counts once in any class: it needs no place but that, and
    most pairs of a person and a value are such.  ``counts``: the copies of each row.
    """
    held = np.zeros(len(laws.once))
    np.add.at(held, places, counts[:, None])
    single = (laws.once >= 0) & (held <= 1)
    places = np.where(single[places], laws.once[places], places)
    needed = np.zeros(len(laws.once), np.bool_)
    needed[places] = True
    for first, width in zip(laws.place, laws.width, strict=True):
        needed[first : first + width] = True
    number = np.cumsum(needed) - 1
    once = laws.once[needed]
    laws = laws._replace(place=number[laws.place], once=np.where(once < 0, -1, number[once]))
    return laws, number[places]


def folded(model: Model, table: Group) -> tuple[int, ...]:
    """Return the numbers of values of attributes, of which those with many have fewer.

    Of an attribute of which only different values are counted, such as persons, several values may
    be taken for one, those alike modulo that number: a class with l different ones has l different
    values, so releases stay lawful, and a histogram fits into memory.  Few lawful classes are lost:
    l values drawn from ``FOLDS``·l² differ but for one case in 2·``FOLDS``.
    """
    needed: dict[int, int] = {}
    others = set()
    for part in model.parts:
        laws = part.law(table)
        if laws is None:
            return table.sizes
        for kind, attribute, data in laws:
            if kind == DISTINCT:
                needed[attribute] = max(needed.get(attribute, 0), int(data[0]))
            elif kind != ROWS:
                others.add(attribute)
    sizes = list(table.sizes)
    for attribute, l in needed.items():  # noqa: E741
        if attribute not in others:
            sizes[attribute] = min(sizes[attribute], max(FEWEST, FOLDS * l * l))
    return tuple(sizes)
