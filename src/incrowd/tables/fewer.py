"""A table without some of its rows, in the form of the table it came from."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.tables.base import Column, Edit, Replacement, Source, Table


class FewerRows:
    """The rows ``kept`` (int64, rising) of a table; its release has no others."""

    def __init__(self, source: Source, kept: NDArray[np.int64]) -> None:
        self.source, self.kept = source, kept
        self.columns = source.columns
        self.rows = len(kept)

    def encode(self, column: str) -> Column:
        """Values of one column; those that only dropped rows have are gone."""
        whole = self.source.encode(column)
        return Column(whole.values, whole.codes[self.kept]).compact()

    def native(self) -> Any:
        """Return a data frame of the rows that are kept."""
        return self.edited(Edit.of_nothing(self.columns)).native()

    def edited(self, edit: Edit) -> Table:
        """Return the release, in the form of the whole table."""
        replacements = {}
        for name, new in edit.replacements.items():
            ids = np.full(self.source.rows, -1, np.int32)
            ids[self.kept] = new.ids
            replacements[name] = Replacement(new.labels, ids)
        order = self.kept if edit.order is None else self.kept[edit.order]
        fewer = edit.order is None
        whole = replace(edit, replacements=replacements, order=order, fewer=fewer)
        return self.source.edited(whole)
