"""Earlier and new rows as a model looks at them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.existing.served import require_joinable
from incrowd.existing.union import below
from incrowd.policy import Policy
from incrowd.policy.models import asks_of_sensitive, model_of
from incrowd.privacy.model import Model
from incrowd.tables.base import Column, Source

EARLIER = "\0"  # in front of the names of people whom nobody knows


@dataclass(frozen=True, eq=False)
class Both:
    """Earlier and new rows as a model looks at them.

    Attributes
    ----------
    attributes: the sensitive columns of the union, its earlier rows first.
    earlier: number of these.
    """

    model: Model
    attributes: Mapping[str, Column]
    earlier: int
    rows: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(column.values) for column in self.attributes.values())

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """int32, shape (rows, attributes): the values of each row."""
        empty = np.zeros((self.rows, 0), np.int32)
        codes = (column.codes for column in self.attributes.values())
        return np.column_stack([empty, *codes]).astype(np.int32)


def both_of(existing: Source, table: Coded, policy: Policy) -> Both:
    """Return the model of the union, and its sensitive values."""
    rows = existing.rows + table.source.rows
    if not asks_of_sensitive(policy):
        return Both(table.model, {}, existing.rows, rows)
    columns = {}
    for name, new in table.attributes.items():
        old = existing.encode(name) if name in existing.columns else strangers(existing.rows)
        columns[name] = below(old, new)
    model = model_of(policy, columns, policy.sources())
    require_joinable(model, model.names(tuple(columns)), policy)
    return Both(model, columns, existing.rows, rows)


def strangers(rows: int) -> Column:
    """Return persons for earlier rows, whose they are nobody says: each is taken for another.

    Nothing rests on it but that the earlier release is lawful, as it was made.
    """
    return Column(tuple(f"{EARLIER}{i:012}" for i in range(rows)), np.arange(rows, dtype=np.int32))
