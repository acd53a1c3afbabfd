"""The laws that the search obeys: the model's own, or stricter ones where it has none that fit.

A stricter law stands in, so that every release is lawful, at a price in cost: see ``stand_in`` of
the models.  Where there is none either, the predicate is called back.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.law import CALLED, DISTINCT, ROWS, Laws
from incrowd.privacy.laws import laws_of
from incrowd.privacy.model import Model, all_of
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
    model, folds = folded(problem.model.stand_in(table), table)
    codes = folds.of(instance.sensitive_codes)
    table = folds.group(table)  # that classes are compared with, which may hold more
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


class Folds(NamedTuple):
    """Fewer values of each attribute: which value counts as which; None: as they stand."""

    values: tuple[NDArray[np.int64] | None, ...]

    def of(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return codes, shape (rows, attributes), of the fewer values."""
        if not any(fold is not None for fold in self.values):
            return codes
        columns = zip(codes.T, self.values, strict=True)
        kept = [own if fold is None else fold[own] for own, fold in columns]
        return np.column_stack(kept).astype(codes.dtype)

    def group(self, table: Group) -> Group:
        """Return a group of rows with the fewer values."""
        if not any(fold is not None for fold in self.values):
            return table
        sizes = zip(table.sizes, self.values, strict=True)
        fewer = (size if fold is None else int(fold.max()) + 1 for size, fold in sizes)
        return Group(self.of(table.values), tuple(fewer))


def folded(model: Model, table: Group) -> tuple[Model, Folds]:
    """Return a model that implies another, and the fewer values that it looks at.

    Of an attribute of which only different values are counted, such as persons, several values may
    be taken for one, those alike modulo some number: a class with l different ones has l different
    values, so releases stay lawful, and a histogram fits into memory.  Few lawful classes are lost:
    l values drawn from ``FOLDS``·l² differ but for one case in 2·``FOLDS``.  Of others a model may
    know groups (``Model.in_groups``), where no other model looks at the attribute.
    """
    asked = [part.law(table) for part in model.parts]
    folds: list[NDArray[np.int64] | None] = [None] * len(table.sizes)
    if any(laws is None for laws in asked):
        return model, Folds((*folds,))
    seen = [{law.attribute for law in laws or () if law.kind != ROWS} for laws in asked]
    every = [law for laws in asked for law in laws or () if law.kind != ROWS]
    for a, size in enumerate(table.sizes):
        own = [law for law in every if law.attribute == a]
        if own and all(law.kind == DISTINCT for law in own):
            l = max(int(law.data[0]) for law in own)  # noqa: E741
            most = max(FEWEST, FOLDS * l * l)
            folds[a] = np.arange(size) % most if size > most else None
    parts = [*model.parts]
    for i, part in enumerate(model.parts):
        found = part.in_groups(table)
        if found is not None and sum(found[1] in other for other in seen) == 1:
            parts[i], a, folds[a] = found
    return all_of(parts), Folds((*folds,))
