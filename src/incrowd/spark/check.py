"""The re-check, in Spark, of what was released: counted on the released rows themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from incrowd.checker.ladder import rungs
from incrowd.errors import VerificationError
from incrowd.hierarchy.labels import hides_an_end
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Ints
from incrowd.privacy.people import counts_people_alone
from incrowd.published.ladders import ladders_of, ranges_of
from incrowd.spark.keeping import Keeper
from incrowd.spark.persons import fewest
from incrowd.spark.plan import on_batches, on_table
from incrowd.spark.task import PAIRS, Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Facts:
    """What was counted.

    Attributes
    ----------
    rows, classes, smallest: of the release.
    cost: in units of 1/scale.
    changed: cells that changed, by quasi-identifier.
    worst: cost of the release in which every cell is a star.
    hidden: columns whose least or greatest value is hidden, while the cost tells of it.
    people, fewest_people: in the release and in the class with the fewest, where they are counted.
    """

    rows: int
    classes: int
    smallest: int
    cost: int
    changed: tuple[int, ...]
    worst: int
    hidden: tuple[str, ...] = ()
    people: int | None = None
    fewest_people: int | None = None


def checked(
    released: "DataFrame",
    task: Task,
    names: Sequence[str],
    secret: Sequence[str],
    rows: int,
    k: int,
    keeper: Keeper,
    persons: Sequence[str] = (),
) -> Facts:
    """Count classes and cost; check every cell, every class and the number of rows.

    Parameters
    ----------
    released: original quasi-identifiers c0 …, released ones r0 …, what models look at (``secret``).
    persons: the columns of ``released`` that together name a person, where people are counted.
    names: of the quasi-identifiers, for messages.
    rows: of the original table.

    Raises
    ------
    VerificationError: something is not as it must be; nothing should be published.
    """
    width = len(names)
    before, after = [f"c{j}" for j in range(width)], [f"r{j}" for j in range(width)]
    kinds = released.groupBy(*before, *after, *secret).agg(sf.count(sf.lit(1)).alias("n"))
    kinds = keeper.keep(kinds, "kinds")
    classes = kinds.groupBy(*after).agg(sf.sum("n").alias("n"))
    found = classes.agg(sf.sum("n"), sf.count(sf.lit(1)), sf.min("n")).collect()[0]
    total, count, smallest = (int(value or 0) for value in found)
    facts = facts_of(total, count, smallest, rows, k)
    costs, hidden = cells(kinds, task, names)
    if count and not (task.model.size_decides or counts_people_alone(task.model)):
        models_hold(kinds, task, after, secret)
    cost, changed, most = (tuple(part) for part in zip(*costs, strict=True))
    facts = replace(facts, cost=sum(cost), changed=changed, worst=sum(most), hidden=hidden)
    return facts if not persons else people_hold(facts, released, after, persons, k)


def facts_of(total: int, classes: int, smallest: int, rows: int, k: int) -> Facts:
    """Return what was counted of rows and classes, no cost yet.

    Raises
    ------
    VerificationError: rows were lost or invented, or a class is too small.
    """
    if total != rows:
        raise VerificationError(f"the release has {total:,} rows, the original {rows:,}")
    if classes and smallest < k:
        raise VerificationError(f"the smallest class has {smallest} rows, fewer than k = {k}")
    return Facts(total, classes, smallest, 0, (), 0)


def people_hold(
    facts: Facts, released: "DataFrame", after: Sequence[str], persons: Sequence[str], k: int
) -> Facts:
    """Return the facts with the people, who are counted by the columns that name them."""
    people, least = fewest(released, after, persons)
    if least < k:
        raise VerificationError(f"a class holds {least} people, fewer than k = {k}")
    return replace(facts, people=people, fewest_people=least)


def cells(
    kinds: "DataFrame", task: Task, names: Sequence[str], beside: Sequence[Ints] = ()
) -> tuple[list[tuple[int, int, int]], tuple[str, ...]]:
    """Return what each column pays, its changed cells, and its cost as stars; refuse false cells.

    By a ladder of its own, not by what the search made of it.  And the columns of which the cost
    tells a hidden end; ``beside``: leaf codes that an earlier release shows, by column.
    """
    width = len(names)
    both = kinds.select(*(f"c{j}" for j in range(width)), *(f"r{j}" for j in range(width)), "n")
    pairs = both.mapInArrow(on_batches("tasks.pairs", task), PAIRS)
    pairs = pairs.groupBy("j", "code", "text").agg(sf.sum("n").alias("n")).toArrow()
    ladders = ladders_of(task.trees).values()
    prices = [{(leaf, label): cost for leaf, label, cost in rungs(x).rows()} for x in ladders]
    intervals = ranges_of(task.trees)
    found = np.zeros((width, 3), object)
    for j, code, text, n in zip(*(column.to_pylist() for column in pairs.columns), strict=True):
        leaf = task.trees[j].leaves[code]
        pays = prices[j].get((leaf, text))
        if pays is None and task.trees[j].column in intervals:
            pays = intervals[task.trees[j].column].pays(leaf, text)
        if pays is None:
            raise VerificationError(
                f"column {names[j]!r}: a released cell is neither the original value nor one of "
                "its ancestors"
            )
        found[j] += (pays * n, n * (leaf != text), int(task.trees[j].roots[code]) * n)
    costs = [(int(pays), int(moved), int(most)) for pays, moved, most in found]
    return costs, tuple(ends_hidden(pairs, task, names, beside))


def ends_hidden(
    pairs: pa.Table, task: Task, names: Sequence[str], beside: Sequence[Ints]
) -> Iterator[str]:
    """Yield the columns of which the cost tells a hidden least or greatest value."""
    places, codes, texts = (pairs.column(name).to_pylist() for name in ("j", "code", "text"))
    for j, tree in enumerate(task.trees):
        if isinstance(tree, RangeFamily):
            shown = zip(places, codes, texts, strict=True)
            mine = [(code, text) for at, code, text in shown if at == j and text != tree.star]
            ranges = any(text != tree.leaves[code] for code, text in mine)
            seen = np.array([code for code, _ in mine], np.int64)
            if hides_an_end(tree, ranges, np.append(seen, beside[j]) if beside else seen):
                yield names[j]


def models_hold(
    kinds: "DataFrame", task: Task, after: Sequence[str], secret: Sequence[str]
) -> None:
    """Refuse a release in which some class breaks the models."""
    name = sf.to_json(sf.struct(*after)).alias("g")
    rows = kinds.groupBy(name, *secret).agg(sf.sum("n").alias("n"))
    rows = rows.withColumn("block", sf.lit(0)).groupBy("block")
    broken = rows.applyInArrow(on_table("tasks.lawful", task), "broken bigint").collect()[0][0]
    if broken:
        models = task.model.in_words(task.names)
        raise VerificationError(f"{broken} classes break {models}")


def recounted(written: "DataFrame", names: Sequence[str]) -> tuple[int, int]:
    """Return the rows and the smallest class of a release, as it was written."""
    plain = written.toDF(*(f"a{i}" for i in range(len(written.columns))))
    keys = [f"a{i}" for i, name in enumerate(written.columns) if name in set(names)]
    classes = plain.groupBy(*keys).agg(sf.count(sf.lit(1)).alias("n"))
    total, smallest = classes.agg(sf.sum("n"), sf.min("n")).collect()[0]
    return int(total or 0), int(smallest or 0)
