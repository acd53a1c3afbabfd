"""What a task is told, and how records look."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from incrowd.errors import InputError
from incrowd.hierarchy.family import Family
from incrowd.privacy.model import Model

CHANGED = "the table changed while it was read; run again once it rests"
CODED = "k array<int>, s array<int>, n bigint"
"""A distinct row: leaf codes, codes of the sensitive values, copies."""

PAIRS = "j int, code int, text string, n bigint"
"""How often a column's leaf code is released as a text."""

RECORDS = (
    "k array<int>, s array<int>, l array<int>, span array<int>, n bigint, cls bigint, "
    "rep array<int>, price double, bound bigint, how string, proof string"
)
"""``n`` copies of a distinct row in class ``cls``, released at levels ``l``.

``span``: of the columns with intervals the least code in the class, then the greatest.
``rep``: leaf codes of the first row of the class; of rows beside an earlier release, their own.
A class of −1 is one of that release.  ``price``: the row's, in units of 1/scale.
``bound``, ``how`` (method and why it ended) and ``proof`` (the certificate, where one is asked for,
see ``incrowd.spark.certificates``) stand in the first record of a block only.
"""


@dataclass(frozen=True, eq=False)
class Codec:
    """One column's distinct values, as Spark holds them, and their codes.

    Attributes
    ----------
    values: distinct, null among them where it occurs.
    codes: int32, shape (values,): different numbers; 0, 1, … unless there are codes of no value,
        as of the ends of earlier ranges.
    texts: the values as text, in the same order.
    """

    values: pa.Array
    codes: NDArray[np.int32]
    texts: tuple[str | None, ...]

    @property
    def ordered(self) -> tuple[str | None, ...]:
        """The texts by code."""
        return tuple(self.texts[at] for at in np.argsort(self.codes))

    def encode(self, column: pa.Array | pa.ChunkedArray) -> NDArray[np.int32]:
        """int32, shape (rows,): codes of a column's cells."""
        known: Any = compute  # its functions are made when it is imported
        place = known.index_in(column.cast(self.values.type), value_set=self.values)
        if place.null_count:
            raise InputError(CHANGED)
        return self.codes[place.to_numpy(zero_copy_only=False)]

    def decode(self, codes: NDArray[np.int32]) -> pa.Array:
        """The values of some codes."""
        place = np.zeros(int(self.codes.max(initial=-1)) + 1, np.int64)
        place[self.codes] = np.arange(len(self.codes))
        return self.values.take(pa.array(place[codes]))


@dataclass(frozen=True)
class Numbers:
    """A column that has codes already: whose each row is.

    Attributes
    ----------
    values: 0, 1, …, one for each person.
    """

    values: range

    @property
    def ordered(self) -> range:
        """The numbers, in place of texts: nothing reads them."""
        return self.values

    def encode(self, column: pa.Array | pa.ChunkedArray) -> NDArray[np.int32]:
        """int32, shape (rows,): the numbers themselves."""
        codes = column.to_numpy().astype(np.int32)
        if codes.min(initial=0) < 0:
            raise InputError(CHANGED)
        return codes

    def decode(self, codes: NDArray[np.int32]) -> pa.Array:
        """The same numbers."""
        return pa.array(codes)


@dataclass(frozen=True, eq=False)
class Task:
    """All that a worker needs to know besides the rows.

    Attributes
    ----------
    qi, sensitive: the columns' codes; ``sensitive`` is empty when no model looks at them, and ends
        with whose each row is where people are counted.
    names: of the sensitive columns, and of the persons where people are counted.
    trees, scale: hierarchies, and the unit of costs.
    model, method, reductions, time_limit, gap, spend, seed: as in ``Policy``.
    proof: whether the certificate is wanted as well.
    """

    qi: tuple[Codec, ...]
    sensitive: tuple[Codec | Numbers, ...]
    trees: tuple[Family, ...]
    scale: int
    model: Model
    names: tuple[str, ...]
    method: Any
    reductions: str | None
    time_limit: float | None
    gap: float | None
    spend: bool
    seed: int
    proof: bool = False

    @property
    def people(self) -> bool:
        """Whether people are counted, and not rows."""
        return bool(self.sensitive) and isinstance(self.sensitive[-1], Numbers)
