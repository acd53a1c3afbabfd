"""Whether a published table is a lawful release of an original, without a proof.

Each original row must have a released row of its own such that every quasi-identifier is the
original value or one of its ancestors and the other columns agree.  The rows may stand in any
order, so this is a perfect matching between original and released rows.  Equal rows are
exchangeable, hence a maximum flow between the distinct ones decides it exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from incrowd.constraints.plan import is_constrained, require_columns
from incrowd.constraints.published import constraints_broken
from incrowd.encoding.encoded import Coded, coded
from incrowd.errors import OutOfScopeError
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import SPAN, ends, places_among
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.policy import Policy
from incrowd.policy.deletion import read
from incrowd.policy.models import asks_of_sensitive
from incrowd.policy.protect import asked_of
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.problem.instance import places_in
from incrowd.published.assigned import broken_by, rows_of_flow, spread
from incrowd.tables.base import Column, Source, encoded_alike
from incrowd.tables.spreadsheet import undone
from incrowd.text.units import counted

Ints = NDArray[np.int64]
PAIRS = 1 << 22  # of rows looked at together; bounds the memory


@dataclass(frozen=True)
class Verdict:
    """What was found.

    Attributes
    ----------
    reasons: why the answer is no; none when it is yes.  They name columns and rows, never cells.
    rows, classes, smallest_class: of the release.
    """

    reasons: tuple[str, ...]
    rows: int
    classes: int
    smallest_class: int

    @property
    def lawful(self) -> bool:
        """Whether the answer is yes."""
        return not self.reasons


def verify_release(
    original: Source, released: Source, policy: Policy, spreadsheet_safe: bool = False
) -> Verdict:
    """Check a release against its original under the policy it was made with.

    Parameters
    ----------
    spreadsheet_safe: take away the apostrophe before cells that a spreadsheet would run.

    Raises
    ------
    InputError: the policy does not fit the original.
    OutOfScopeError: its pseudonyms link rows.
    """
    if policy.links_rows:
        raise OutOfScopeError(
            "rows that pseudonyms link are counted by which row is whose, which only the proof "
            "holds; verify with it (--proof)"
        )
    table = coded(original, policy)
    original = table.source  # without rows that do not say whose they are, where those are dropped
    require_columns(policy, table.roles, original.columns)
    published = table.roles.published(original.columns)
    reasons = list(_columns_differ(published, released.columns))
    if reasons:
        return Verdict(tuple(reasons), released.rows, 0, 0)
    unchanged = (*table.roles.sensitive, *table.roles.keep, *policy.fixed)
    pairs = {name: encoded_alike(original, released, name) for name in unchanged}
    columns = {n: pairs[n][1] if n in pairs else released.encode(n) for n in published}
    columns = {n: undone(column) if spreadsheet_safe else column for n, column in columns.items()}
    pattern = np.column_stack([columns[name].codes for name in table.roles.qi])
    _, sizes = np.unique(pattern, axis=0, return_counts=True)
    smallest = int(sizes.min(initial=released.rows))
    if released.rows:
        reasons += combinations_broken(policy, table.roles.qi, pattern)
    if released.rows and smallest < policy.k:
        reasons.append(
            f"the smallest class has {counted(smallest, 'row')}, fewer than k = {policy.k} "
            f"({int((sizes < policy.k).sum())} of {counted(len(sizes), 'class', 'classes')} "
            "too small)"
        )
    known = {name: column for name, (column, _) in pairs.items()}
    if not 0 <= original.rows - released.rows <= most_missing(policy, original.rows):
        reasons.append(
            f"the release has {counted(released.rows, 'row')}, the original {original.rows:,}"
        )
    else:
        reasons += _rows_differ(known, table, columns)
    if not reasons and released.rows and is_constrained(policy):
        reasons += constraints_broken(table, columns, policy)
    if not reasons and released.rows and policy.person:
        reasons += _people_lack(known, table, columns, pattern, policy.k)
    elif not reasons and released.rows and asks_of_sensitive(policy):
        reasons += _models_broken(table, columns, pattern)
    return Verdict(tuple(reasons), released.rows, len(sizes), smallest)


def combinations_broken(
    policy: Policy, qi: Sequence[str], pattern: NDArray[np.int32]
) -> Iterator[str]:
    """Yield the combinations of which too few rows show the same; ``pattern``: cells as codes."""
    for one in asked_of(policy, qi) if policy.protect else ():
        some = pattern[:, [qi.index(name) for name in one.columns]]
        _, group, sizes = np.unique(some, axis=0, return_inverse=True, return_counts=True)
        few = sizes < one.k
        if few.any():
            yield (
                f"{int(few.sum())} of {len(sizes)} groups of rows alike in "
                f"{', '.join(map(repr, one.columns))} have fewer than {one.k} rows, first that of "
                f"released row {int(np.flatnonzero(few[group.ravel()])[0]) + 1}"
            )


def most_missing(policy: Policy, rows: int) -> int:
    """Return how many of so many rows a release may lack."""
    if policy.delete_rows is None:
        return policy.suppress_rows
    limit = read(policy.delete_rows).limit(rows)
    return rows if limit is None else limit


def _columns_differ(expected: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    lost = [name for name in expected if name not in found]
    new = [name for name in found if name not in expected]
    if lost:
        yield (
            f"the release lacks the columns {', '.join(map(repr, lost))} "
            "(columns left out on purpose are named with --id)"
        )
    if new:
        yield f"the release has columns it should not have: {', '.join(map(repr, new))}"


def _models_broken(
    table: Coded, columns: dict[str, Column], pattern: NDArray[np.int32]
) -> Iterator[str]:
    """Yield why some class breaks the models; the sensitive columns are known to agree."""
    secret = []
    for name in table.roles.sensitive:  # codes as in the original, which the models are about
        place = {text: code for code, text in enumerate(table.attributes[name].values)}
        codes = [place[text] for text in columns[name].values]
        secret.append(np.array(codes, np.int32)[columns[name].codes])
    _, member = np.unique(pattern, axis=0, return_inverse=True)
    group = Group(np.column_stack(secret), table.instance.sensitive_sizes)
    broken = ~table.model.lawful_classes(Classes(member.ravel(), group))
    if broken.any():
        models = table.model.in_words(table.roles.sensitive)
        yield f"{int(broken.sum())} of {len(broken)} classes break {models}"


def _people_lack(
    unchanged: dict[str, Column],
    table: Coded,
    columns: dict[str, Column],
    pattern: NDArray[np.int32],
    k: int,
) -> Iterator[str]:
    """Yield why classes have too few people, or break models that count them.

    The released rows are known to be the original ones, in some order.
    """
    (levels, nodes), trees = _nodes_of(table, columns), table.instance.trees
    pairs = [(column, columns[name]) for name, column in unchanged.items()]
    before, after = common_keys(pairs, len(table.leaves), len(nodes))
    originals = Nodes(trees, table.leaves.astype(np.int64))
    origin, spreading = np.arange(len(nodes)), False
    _, member = np.unique(pattern, axis=0, return_inverse=True)
    if not (np.array_equal(before, after) and originals.fit(levels, nodes)):
        flow = Flow(originals, before, levels, nodes, after)
        origin, spreading = rows_of_flow(flow.amounts(), flow.left_of, flow.right_of), True
        whose = table.attributes[table.roles.attributes[-1]].codes.astype(np.int64)
        fits = set(zip(flow.tails.tolist(), flow.heads.tolist(), strict=True))
        kinds = flow.right_of, fits, flow.left_of
        origin = spread(origin, member.ravel(), whose, *kinds, k)
    broken = broken_by(table.problem, table.copy_of_row[origin], member.ravel())
    if broken:
        open_ = "; it is not decided whether others are: verify with the proof (--proof)"
        yield (
            f"{broken} of {int(member.max()) + 1} classes break "
            f"{table.model.in_words(table.roles.attributes)}, as original rows were assigned to "
            f"released ones{open_ if spreading else ''}"
        )


def _unknown_cell(table: Coded, columns: dict[str, Column]) -> Iterator[str]:
    """Yield the first released cell that no original cell may become."""
    for tree in table.instance.trees:
        column = columns[tree.column]
        place = places_among(tree, column.values)
        strange = [text not in place for text in column.values] or [False]
        if any(strange):
            rows = np.flatnonzero(np.array(strange)[column.codes])
            yield (
                f"column {tree.column!r}, released row {int(rows[0]) + 1}: the cell is neither an "
                "original value nor one of its ancestors"
            )
            return


def _nodes_of(table: Coded, columns: dict[str, Column]) -> tuple[Ints, Ints]:
    """Return level and node of each released cell: int64, shape (rows, columns)."""
    rows = len(next(iter(columns.values())).codes)
    found = np.empty((2, rows, table.instance.columns), np.int64)
    for j, tree in enumerate(table.instance.trees):
        column = columns[tree.column]
        place = places_among(tree, column.values)
        known = [place[text] for text in column.values] or [(0, 0)]
        found[:, :, j] = np.array(known)[column.codes].reshape(-1, 2).T
    return found[0], found[1]


def _rows_differ(
    unchanged: dict[str, Column], table: Coded, columns: dict[str, Column]
) -> Iterator[str]:
    """Yield why the released rows are not the original ones, generalized or ``unchanged``."""
    rows_left, trees = len(next(iter(columns.values())).codes), table.instance.trees
    strange = list(_unknown_cell(table, columns))
    if strange:
        yield from strange
        return
    levels, nodes = _nodes_of(table, columns)
    count = len(table.leaves)
    pairs = [(column, columns[name]) for name, column in unchanged.items()]
    before, after = common_keys(pairs, count, rows_left)
    left_out = count - rows_left
    if not left_out and not np.array_equal(np.sort(before), np.sort(after)):
        yield f"the columns {', '.join(map(repr, unchanged))} are not the original ones"
        return
    at_level = Nodes(trees, table.leaves.astype(np.int64))
    if not left_out and np.array_equal(before, after) and at_level.fit(levels, nodes):
        return
    missing = Flow(at_level, before, levels, nodes, after).unmatched - left_out
    if missing:
        yield (
            f"{missing} original rows have no released row of their own: "
            "some cell is neither an original value nor one of its ancestors"
        )


def common_keys(pairs: list[tuple[Column, Column]], rows: int, rows_left: int) -> tuple[Ints, Ints]:
    """Number the combinations of the other columns alike in both tables."""
    both = np.zeros(rows + rows_left, np.int64)
    for before, after in pairs:
        vocabulary = {text: i for i, text in enumerate({*before.values, *after.values})}
        codes = [
            np.array([vocabulary[text] for text in column.values] or [0], np.int64)[column.codes]
            for column in (before, after)
        ]
        both = np.unique(both * len(vocabulary) + np.concatenate(codes), return_inverse=True)[1]
    return both[:rows], both[rows:]


@dataclass(frozen=True, eq=False)
class Nodes:
    """The ancestors of each original cell.  ``leaves``: int64, shape (rows, columns).

    Levels and nodes are those of ``incrowd.hierarchy.labels.places_among``.
    """

    trees: tuple[Family, ...]
    leaves: Ints

    def at(self, levels: Sequence[int], rows: Ints) -> Ints:
        """int64, shape (len(rows), columns): ancestors at one level per column.

        0 for an interval, of which there may be several.
        """
        chosen = []
        for j, (tree, level) in enumerate(zip(self.trees, levels, strict=True)):
            own = self.leaves[rows, j]
            if isinstance(tree, RangeFamily):
                chosen.append(own if level == 0 else np.zeros_like(own))
            else:
                chosen.append(tree.node[level][own])
        return np.column_stack(chosen).astype(np.int64)

    def fit(self, levels: Ints, nodes: Ints) -> bool:
        """Whether row i of the release stands above row i of the original, for every i."""
        return all(
            below(tree, self.leaves[:, j], levels[:, j], nodes[:, j]).all()
            for j, tree in enumerate(self.trees)
        )


def below(tree: Family, leaves: Ints, levels: Ints, nodes: Ints) -> NDArray[np.bool_]:
    """bool, shape (rows,): whether each leaf lies below a node."""
    low, end = ends(tree, levels, nodes)
    return (low <= leaves) & (leaves < end)


class Flow:
    """A maximum matching of original and released rows, as a flow between their kinds.

    Attributes
    ----------
    left_of, right_of: int64, shape (rows,): the kind of each original and each released row.
    tails, heads: kinds of original rows that may be kinds of released rows, pair by pair.
    unmatched: original rows that are left without a released row.
    """

    def __init__(
        self, originals: Nodes, before: Ints, levels: Ints, nodes: Ints, after: Ints
    ) -> None:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import maximum_flow

        kinds = partial(np.unique, axis=0, return_inverse=True, return_counts=True)
        left, self.left_of, lefts = kinds(np.column_stack([before, originals.leaves]))
        right, self.right_of, rights = kinds(np.column_stack([after, levels, nodes]))
        self.left_of, self.right_of = self.left_of.ravel(), self.right_of.ravel()
        distinct = Nodes(originals.trees, left[:, 1:])
        self.tails, self.heads = fitting(distinct, left[:, 0], right)
        n, m = len(left), len(right)
        room = np.minimum(lefts[self.tails], rights[self.heads])
        source, sink, self.first = n + m, n + m + 1, n
        tail = np.concatenate([np.full(n, source), self.tails, n + np.arange(m)])
        head = np.concatenate([np.arange(n), n + self.heads, np.full(m, sink)])
        capacity = np.concatenate([lefts, room, rights]).astype(np.int32)
        graph = coo_array((capacity, (tail, head)), shape=(n + m + 2, n + m + 2)).tocsr()
        self.found = maximum_flow(graph, source, sink)
        self.unmatched = int(lefts.sum()) - int(self.found.flow_value)

    def amounts(self) -> Iterator[tuple[int, int, int]]:
        """Yield kind of original row, kind of released row, and how many go that way."""
        flow = self.found.flow.tocoo()
        ways = zip(flow.row.tolist(), flow.col.tolist(), flow.data.tolist(), strict=True)
        last = self.first + int(self.right_of.max(initial=-1))
        for tail, head, number in ways:
            if number > 0 and tail < self.first <= head <= last:
                yield tail, head - self.first, number


def fitting(originals: Nodes, keys: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Return which distinct originals (int64) lie below which distinct released rows (int64).

    One join per combination of levels that occurs in the release; of intervals their ends are
    compared, pair by pair.
    """
    width = len(originals.trees)
    everyone = np.arange(len(keys))
    shape, of_shape = np.unique(right[:, 1 : 1 + width], axis=0, return_inverse=True)
    order = np.argsort(of_shape.ravel(), kind="stable")
    cuts = np.searchsorted(of_shape.ravel()[order], np.arange(len(shape) + 1))
    tails, heads = [], []
    for levels, (begin, end) in zip(shape, pairwise(cuts.tolist()), strict=True):
        members = order[begin:end]
        above = np.column_stack([keys, originals.at(levels.tolist(), everyone)])
        nodes = right[members, 1 + width :]
        ranged = [
            j
            for j, (tree, level) in enumerate(zip(originals.trees, levels.tolist(), strict=True))
            if isinstance(tree, RangeFamily) and level == SPAN
        ]
        labels = np.column_stack([right[members, 0], nodes])
        labels[:, [1 + j for j in ranged]] = 0
        if not ranged:
            at = places_in(labels, above)
            tails.append(everyone[at >= 0])
            heads.append(members[at[at >= 0]])
            continue
        for tail, head in paired(labels, above):
            fits = np.ones(len(tail), bool)
            for j in ranged:
                level = np.full(len(head), SPAN)
                fits &= below(originals.trees[j], originals.leaves[tail, j], level, nodes[head, j])
            tails.append(tail[fits])
            heads.append(members[head[fits]])
    return np.concatenate(tails), np.concatenate(heads)


def paired(labels: Ints, above: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield, some at a time, all pairs of a row of ``above`` and an equal one of ``labels``."""
    kinds, kind_of, sizes = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(kind_of.ravel(), kind="stable")
    begins = np.cumsum(sizes) - sizes
    at = places_in(kinds, above)
    rows = np.flatnonzero(at >= 0)
    count = sizes[at[rows]]
    cuts = np.searchsorted(np.cumsum(count), np.arange(PAIRS, count.sum() + PAIRS, PAIRS))
    for some in np.split(np.arange(len(rows)), np.unique(cuts)):
        times = count[some]
        tail = np.repeat(rows[some], times)
        within = np.arange(len(tail)) - np.repeat(np.cumsum(times) - times, times)
        yield tail, order[np.repeat(begins[at[rows[some]]], times) + within]
