"""Constraints, where a proof's bound is one of releases that leave columns alone.

A proof may state ``constraints``: columns that are *fixed*, no cell of which changes; lists of
columns that are *linked*, whose cells stand at one level in each row, counted down from the star, a
column with fewer levels than others of its list as it is below its own; and *caps* on how many
cells of a column change.  The release is held against that.  The price inequality is then asked of
the classes of such releases alone:

    fixed    a pattern that changes a cell costs more than any rows pay
    linked   the columns are one; its values are their tuples, and what a tuple shows at a level
             costs as much as all of its cells
    caps     each changed cell costs the more that the proof says, and what all cells that may
             change pay for that is taken off the prices

Rows with one value in each fixed column are a part, of which no row is in a class with others.  In
one of fewer rows than two classes need, all are one class: their prices are held against its cost.

A class of such a release obeys it.  Its rows show one cell in each linked column, perhaps each row
at a level of its own.  A label stands for one set of values, at whatever levels it stands, so at
the highest of these levels all rows show the same; a label has one cost; and one that reads like a
value stands for that value alone, so the cells of a class in a column change all, or none does.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from incrowd.checker.files import MARK, Proof
from incrowd.checker.inequality import Ints, Tables
from incrowd.checker.ladder import every_level, tables
from incrowd.checker.lean import codes_of
from incrowd.checker.limits import require_within
from incrowd.checker.ranges import Windows
from incrowd.checker.rejection import require, require_none

MOST = 1 << 26  # levels of linked columns times their tuples


class Held(NamedTuple):
    """Columns that are fixed, lists of linked ones, and columns of which few cells change.

    most: how many, by column.  more: what each costs on top, in units of the prices.
    """

    fixed: Sequence[str] = ()
    linked: Sequence[Sequence[str]] = ()
    most: Mapping[str, int] = MappingProxyType({})
    more: Mapping[str, int] = MappingProxyType({})

    def told(self) -> dict[str, Any]:
        """Return what a verdict says of them; nothing where there are none."""
        fixed = [name.removeprefix(MARK) for name in self.fixed]
        linked = [[name.removeprefix(MARK) for name in link] for link in self.linked]
        caps = {name.removeprefix(MARK): most for name, most in self.most.items()}
        found = {"fixed": fixed, "linked": linked} | ({"caps": caps} if caps else {})
        return {"constraints": found} if any(found.values()) else {}

    def paid(self) -> int:
        """Return what all cells that may change pay on top."""
        return sum(self.most[name] * self.more[name] for name in self.most)


def held_by(proof: Proof, qi: Sequence[str], ranges: Mapping[str, Any]) -> Held:
    """Return the constraints that the proof states, or reject what is none."""
    said: Any = proof.facts.get("constraints")
    if said is None:
        return Held()
    caps, more = said.get("caps", {}), proof.facts.get("cap_prices", {})
    known = set(said) == {"fixed", "linked"} | ({"caps"} if caps else set())
    require(known, "the proof does not say what is fixed and linked")
    held = Held(said["fixed"], said["linked"], caps, more)
    named = [*held.fixed, *(name for link in held.linked for name in link)]
    fine = bool(named or caps) and len({*named} & {*qi}) == len(named)
    require(fine, "fixed and linked columns are not quasi-identifiers, each once")
    fine = caps.keys() == more.keys() and caps.keys() <= {*qi} - {*held.fixed}
    require(fine, "caps are not on quasi-identifiers, or lack a price")
    whole = all(type(x) is int and x >= 0 for x in (*caps.values(), *more.values()))
    require(whole, "a cap or its price is no whole number, or below 0")
    twice = any(len({*ranges[n].numbers}) < len(ranges[n].numbers) for n in caps if n in ranges)
    require(not twice, "a capped column writes a number in several ways")
    levels = all(len(link) > 1 and not ranges.keys() & {*link} for link in held.linked)
    require(levels, "linked columns are fewer than two, or one of them has a range")
    kinds = {str(model.get("model")) for model in proof.facts["models"]}
    alone = "combination" not in kinds and not {"delete_rows", "averaged"} & proof.facts.keys()
    require(alone, "constraints go with no combinations, deleted rows or averages")
    return held


def require_obeyed(
    held: Held, before: pl.DataFrame, after: pl.DataFrame, ladders: Mapping[str, pl.DataFrame]
) -> None:
    """Reject the first changed cell that is not to be, and the first row that tears a link.

    ``before``, ``after``: cells as text, row by row.
    """
    for name, most in (dict.fromkeys(held.fixed, 0) | {**held.most}).items():
        wrong = before[name].cast(pl.String).ne_missing(after[name].cast(pl.String)).arg_true()
        what = "a cell of a fixed column" if name in held.fixed else "too many cells of a column"
        require_none(wrong[most:], f"{what} changed", name)
    for link in held.linked:
        bits = [levels_of(ladders[name], highest(link, ladders)) for name in link]
        cells = [frame[name].cast(pl.String) for frame in (before, after) for name in link]
        names = [str(j) for j in range(len(cells))]
        kinds = pl.DataFrame(cells, schema=names).with_row_index("row")
        for row, *texts in kinds.unique(names, keep="first").sort("row").iter_rows():
            pairs = zip(texts[: len(link)], texts[len(link) :], strict=True)
            each = (known.get(pair, 0) for known, pair in zip(bits, pairs, strict=True))
            common = bool(reduce(and_, each))
            require(common, "linked columns stand at different levels", row + 1)


def highest(link: Sequence[str], ladders: Mapping[str, pl.DataFrame]) -> int:
    """Return how many levels linked columns have together."""
    return max((int(ladders[n]["level"].n_unique()) for n in link), default=0)


def levels_of(ladder: pl.DataFrame, levels: int) -> dict[tuple[Any, Any], int]:
    """Return (value, label) → a bit for each level of a link at which the value shows the label."""
    found: dict[tuple[Any, Any], int] = {}
    own = ladder["level"].n_unique()
    for level, leaf, label in ladder.select("level", "leaf", "label").iter_rows():
        some = level + levels - own
        bits = (2 << some) - 1 if level == 0 else 1 << some
        found[leaf, label] = found.get((leaf, label), 0) | bits
    return found


def priced(
    held: Held,
    group: Sequence[str],
    cells: pl.DataFrame,
    hierarchies: tuple[Mapping[str, pl.DataFrame], Mapping[str, Any], int],
    beyond: int,
) -> Iterator[tuple[Ints, Tables]]:
    """Yield the columns of a group as the price inequality asks for them.

    Of each the rows' leaves, and what leaves may become; linked ones are one column.

    Parameters
    ----------
    cells: of the original.
    hierarchies: ladders, ranges, and by what their costs are multiplied: the prices' unit.
    beyond: what no row pays, in that unit.
    """
    plain, ranges, quantum = hierarchies
    ladders = {name: dearer(plain[name], quantum, held.more.get(name, 0)) for name in group}
    links = [link for link in held.linked if {*link} & {*group}]
    whole = all({*link} <= {*group} for link in links)
    require(whole, "linked columns are not priced together")
    for link in links:
        yield together(link, cells, ladders)
    linked = {name for link in links for name in link}
    alone = [column for column in group if column not in linked]
    for column in sorted(alone, key=ranges.__contains__):  # most of the patterns last
        leaf, *table = tables(ladders[column])
        if column in ranges:
            leaf = pl.Series(ranges[column].leaves)
        codes = codes_of(cells[column], leaf).astype(np.int64)
        if column in held.fixed:
            one = np.arange(len(leaf))
            yield codes, (np.stack([one, one * 0]), np.stack([one * 0, one * 0 + beyond]))
        else:
            own, more = (table[0], table[1]), held.more.get(column, 0)
            if column in ranges:
                some = ranges[column].windows().times(quantum)
                own = some._replace(up=some.up + more, star=some.star + more)
            yield codes, own


def dearer(ladder: pl.DataFrame, quantum: int, more: int) -> pl.DataFrame:
    """Return a ladder with costs in units of the prices, and this on top of a changed cell's.

    A label counts as changed where those above it are, too: costs do not fall on the way up.
    """
    there = ladder["label"].ne_missing(ladder["leaf"]).to_numpy()
    changed = there.reshape(max(1, ladder["level"].n_unique()), -1)[::-1]
    still = np.minimum.accumulate(changed, axis=0)[::-1].ravel().astype(np.int64)
    return ladder.with_columns(
        pl.Series("cost", ladder["cost"].to_numpy() * quantum + still * more)
    )


def together(
    link: Sequence[str], cells: pl.DataFrame, ladders: Mapping[str, pl.DataFrame]
) -> tuple[Ints, Tables]:
    """Return linked columns as one: the tuple of each row, and nodes and costs of the tuples."""
    levels, codes, known = highest(link, ladders), [], []
    for name in link:
        leaf, *table = every_level(ladders[name])
        known.append(table)
        codes.append(codes_of(cells[name], leaf))
    tuples, of_row = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    size = len(tuples)
    require_within(levels * size <= MOST, "linked columns have too many values together")
    node, cost = np.zeros((levels, size), np.int64), np.zeros((levels, size), np.int64)
    for t in range(levels):
        at = [max(0, t - levels + len(labels)) for labels, _ in known]
        shown = []
        for (labels, costs), level, own in zip(known, at, tuples.T, strict=True):
            shown.append(labels[level, own])
            cost[t] += costs[level, own]
        node[t] = np.unique(np.column_stack(shown), axis=0, return_inverse=True)[1].ravel()
    return of_row.ravel().astype(np.int64), (node, cost)


def beside_small(
    held: Held, cells: pl.DataFrame, columns: Sequence[tuple[Ints, Tables]], price: Ints, k: int
) -> Ints:
    """Return the prices, 0 in parts that are one class; reject such a part that is priced above it.

    ``columns``: as ``priced`` yields them.  ``k``: what a lawful class has at least.
    """
    part = np.zeros(cells.height, np.int64)
    for name in held.fixed:
        code = cells[name].cast(pl.String).rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
        part = np.unique(part * (cells.height + 1) + code, return_inverse=True)[1].ravel()
    order = np.argsort(part, kind="stable")
    rows = order[np.bincount(part)[part[order]] < 2 * k] if held.fixed else order[:0]
    starts = np.flatnonzero(np.diff(part[rows], prepend=-1))
    if not len(starts):
        return price
    each = np.sum([joined(codes[rows], starts, tree) for codes, tree in columns], axis=0)
    cost = np.diff(np.append(starts, len(rows))).astype(object) * each
    broken = np.add.reduceat(price[rows].astype(object), starts) > cost
    first = np.zeros(len(price), bool)
    first[rows[starts[broken.astype(bool)]]] = True
    require_none(np.flatnonzero(first), "the prices of this row and all like it are too high")
    rest = price.copy()
    rest[rows] = 0
    return rest


def joined(code: Ints, starts: Ints, tree: Tables) -> Ints:
    """Return what a cell costs in each run of rows, where they show the least that all may."""
    low, high = (least.reduceat(code, starts) for least in (np.minimum, np.maximum))
    if isinstance(tree, Windows):
        wide = (high > tree.reach[low]) | (high >= tree.known)
        return np.where(low == high, 0, np.where(wide, tree.star, tree.up[high] - tree.down[low]))
    found = np.zeros(len(starts), np.int64)
    for node, cost in reversed(list(zip(*tree, strict=True))):
        ends = (least.reduceat(node[code], starts) for least in (np.minimum, np.maximum))
        found = np.where(np.equal(*ends), cost[code[starts]], found)
    return found
