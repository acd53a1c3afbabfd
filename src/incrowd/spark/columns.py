"""Each column's values as codes, found on the driver from the distinct rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from incrowd.encoding.encoded import require_no_star
from incrowd.errors import InputError
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.family import FamilySource
from incrowd.hierarchy.labels import with_star
from incrowd.policy.base import Policy
from incrowd.policy.models import model_of
from incrowd.policy.roles import Roles
from incrowd.spark.task import Codec, Numbers, Task
from incrowd.tables.base import Column
from incrowd.tables.numbers import require_no_point
from incrowd.tables.scalars import as_texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def task_of(
    distinct: "DataFrame",
    inner: Mapping[str, str],
    roles: Roles,
    policy: Policy,
    secret: bool,
    people: int | None = None,
    earlier: Mapping[str, pa.Array] | None = None,
) -> Task:
    """Look at the values of each column; return what every task has to know.

    Parameters
    ----------
    distinct: the distinct rows of the quasi-identifiers and, with ``secret``, the sensitive ones.
    inner: the name that each column has in ``distinct``.
    people: how many there are, where they are counted.
    earlier: the distinct cells of the same columns in an earlier release that new rows may join.

    Raises
    ------
    InputError: a column has no text form, a cell equals the star, a hierarchy does not fit …
    """
    asked = (*roles.qi, *(roles.sensitive if secret else ()))
    found = values_of(distinct, [inner[name] for name in asked])
    every = dict(zip(asked, found, strict=True))
    values = {name: every[name] for name in roles.qi}
    texts = {name: texts_of(array, name) for name, array in values.items()}
    for name, words in texts.items():
        require_no_star(name, tuple(words), policy.star)
        numbers = pa.types.is_floating(kind := values[name].type) or pa.types.is_decimal(kind)
        require_no_point(name, words if numbers else (), policy.decimal)
    sources = policy.sources()
    families, scale = build_trees(
        texts if earlier is None else reaching(texts, earlier, sources),
        {name: origin for name, origin in sources.items() if name not in roles.sensitive},
        policy.cost,
        policy.weights,
    )
    trees = tuple(with_star(tree, policy.star) for tree in families)
    qi = tuple(codec(values[t.column], texts[t.column], t.leaves) for t in trees)
    columns: dict[str, Column] = {}
    hidden: list[Codec | Numbers] = []
    for name in roles.sensitive if secret else ():
        array = every[name] if earlier is None else together(every[name], earlier[name])
        words = texts_of(array, name)
        columns[name] = Column.of(words, np.arange(len(words)))
        hidden.append(codec(array, words, columns[name].values))
    if people is not None:
        hidden.append(Numbers(range(people)))
    return Task(
        qi=qi,
        sensitive=tuple(hidden),
        trees=trees,
        scale=scale,
        model=model_of(policy, columns, sources),
        names=roles.attributes,
        method=policy.method,
        reductions=policy.reductions,
        time_limit=policy.time_limit,
        gap=policy.gap,
        spend=policy.spend,
        seed=policy.search_seed,
    )


def reaching(
    texts: Mapping[str, list[str | None]],
    earlier: Mapping[str, pa.Array],
    sources: Mapping[str, Any],
) -> dict[str, list[str | None]]:
    """Return the texts of columns with the ends of earlier ranges, which new rows may join."""
    found = dict(texts)
    for name, words in texts.items():
        rule = sources.get(name)
        if isinstance(rule, FamilySource):
            found[name] = [*words, *rule.ends_in(name, words, texts_of(earlier[name], name))]
    return found


def together(values: pa.Array, others: pa.Array) -> pa.Array:
    """Return the distinct values of two columns of one type."""
    return pa.concat_arrays([values, others.cast(values.type)]).unique()


def values_of(distinct: "DataFrame", columns: Sequence[str]) -> list[pa.Array]:
    """Return the distinct values of some columns, null among them where it occurs."""
    from pyspark.sql import functions as sf

    sets = [sf.collect_set(sf.col(name)).alias(f"v_{name}") for name in columns]
    holes = [sf.max(sf.col(name).isNull()).alias(f"h_{name}") for name in columns]
    found = distinct.agg(*sets, *holes).toArrow()
    values = []
    for j in range(len(columns)):
        known = found.column(j).combine_chunks().flatten()
        if found.column(len(columns) + j)[0].as_py():
            known = pa.concat_arrays([known, pa.nulls(1, known.type)])
        values.append(known)
    return values


def texts_of(values: pa.Array, name: str) -> list[str | None]:
    """Return values as text: times as their wall clock in the session's time zone."""
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        known: Any = compute  # its functions are made when it is imported
        values = known.local_timestamp(values)
    plain = values.to_pylist()
    known = iter(as_texts([value for value in plain if value is not None], name))
    texts = [None if value is None else next(known) for value in plain]
    if len(set(texts)) < len(texts):
        raise InputError(f"column {name!r} has two values that look alike as text; make it text")
    return texts


def codec(values: pa.Array, texts: Sequence[str | None], ordered: Sequence[str | None]) -> Codec:
    """Number values by the place of their text in ``ordered``."""
    place = {text: code for code, text in enumerate(ordered)}
    return Codec(values, np.array([place[text] for text in texts], np.int32), tuple(texts))
