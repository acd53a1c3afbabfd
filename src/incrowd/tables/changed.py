"""Columns of data frames with new cells: text, or numbers where these can be (``numbers.py``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from incrowd.tables.base import Edit, Replacement, Table, replaced
from incrowd.tables.numbers import kind_of, numbers_of


@dataclass(frozen=True)
class Texts:
    """A changed column: all texts, and each row's index into them."""

    words: Sequence[str | None]
    index: NDArray[np.signedinteger[Any]]

    def listed(self) -> list[str | None]:
        """Return the cells."""
        return np.array([*self.words, None], dtype=object)[self.index].tolist()

    def series(self, backend: Any) -> "nw.Series[Any]":
        """Return the column; for polars without a Python object for each cell."""
        if backend.is_polars():
            import polars as pl

            words = pl.Series("column", self.words, dtype=pl.String)
            return nw.from_native(words.gather(self.index), series_only=True)
        return nw.new_series("column", self.listed(), nw.String, backend=backend)

    def pandas(self, series: Any, old: Any) -> Any:
        """Return the column in place of ``old`` of pandas or its kin; ``series``: their class."""
        return series(self.listed(), index=old.index)


@dataclass(frozen=True)
class Numbers:
    """A changed column that holds numbers: a polars series, each row's index, and the old type."""

    words: Any
    index: NDArray[np.signedinteger[Any]]
    kind: Any

    def series(self, backend: Any) -> "nw.Series[Any]":
        """Return the column."""
        cells = self.words.gather(self.index)
        if backend.is_polars():
            return nw.from_native(cells, series_only=True)
        import pyarrow as pa

        return nw.from_native(pa.chunked_array([cells.to_arrow()]), series_only=True)

    def pandas(self, series: Any, old: Any) -> Any:
        """Return the column in place of ``old``, of its type where that holds the numbers."""
        kind, new = old.dtype, self.words.dtype
        if new.is_decimal():
            kind = object
        elif new != self.kind:
            kind = "float64" if new.is_float() else "int64"
            if str(old.dtype).endswith("[pyarrow]"):
                kind += "[pyarrow]"
            elif not isinstance(old.dtype, np.dtype):
                kind = kind.capitalize()
        cells = np.array([*self.words.to_list(), None], dtype=object)[self.index].tolist()
        return series(cells, index=old.index, dtype=kind)


Changed = Mapping[str, Texts | Numbers]


def changed(table: Table, name: str, replacement: Replacement, edit: Edit) -> Texts | Numbers:
    """Return the cells of a changed column."""
    words, index = replaced(table.encode(name), replacement)
    numbers = numbers_of(table, edit, name, words, index)
    if numbers is None:
        return Texts(words, index)
    return Numbers(numbers, index, kind_of(table, name))
