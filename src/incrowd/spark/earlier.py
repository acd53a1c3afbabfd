"""An earlier release on Spark: its columns beside those of new rows, and its labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from incrowd.errors import InputError
from incrowd.existing.classes import places_of_labels
from incrowd.existing.served import require_columns
from incrowd.hierarchy.family import Family
from incrowd.kernels.types import Ints
from incrowd.policy.roles import Roles
from incrowd.spark.columns import texts_of
from incrowd.spark.task import Codec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class Labels:
    """What an earlier release shows in its quasi-identifiers.

    Attributes
    ----------
    columns: the distinct cells of each, numbered as they stand, with their texts.
    places: int64, shape (cells, 2), by column: level and node of each cell in the new rows' trees;
        −1 where it is no label.
    """

    columns: tuple[Codec, ...]
    places: tuple[Ints, ...]


def labels_of(values: Sequence[pa.Array], trees: Sequence[Family]) -> Labels:
    """Return the labels of an earlier release; ``values``: the distinct cells of each column."""
    columns, places = [], []
    for array, tree in zip(values, trees, strict=True):
        texts = texts_of(array, tree.column)
        places.append(places_of_labels(tree, texts))
        columns.append(Codec(array, np.arange(len(texts), dtype=np.int32), tuple(texts)))
    return Labels(tuple(columns), tuple(places))


def beside(
    existing: "DataFrame", df: "DataFrame", roles: Roles, inner: dict[str, str]
) -> "DataFrame":
    """Return the earlier release with plain names, its columns in the order of the new rows'.

    Raises
    ------
    InputError: it has other columns, or one is of another type than that of the new rows.
    """
    published = roles.published(df.columns)
    require_columns(existing.columns, published)
    before, new = dict(existing.dtypes), dict(df.dtypes)
    for name in published:
        may = (new[name], "string") if name in roles.qi else (new[name],)
        if before[name] not in may:
            raise InputError(
                f"column {name!r} is of type {before[name]} in the earlier release and of type "
                f"{new[name]} in the new rows; cast one of them"
            )
    plain = existing.toDF(*(inner[name] for name in existing.columns))
    return plain.select(*(inner[name] for name in published))
