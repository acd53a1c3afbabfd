"""Whether a published table is a lawful release of an original, without a proof.

Each original row must have a released row of its own such that every quasi-identifier is the
original value or one of its ancestors and the other columns agree.  The rows may stand in any
order, so this is a perfect matching between original and released rows.  Equal rows are
exchangeable, hence a maximum flow between the distinct ones decides it exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.of_table import rules_of
from incrowd.constraints.plan import is_constrained, require_columns
from incrowd.constraints.published import constraints_broken
from incrowd.encoding.encoded import Coded, coded
from incrowd.encoding.suppressed_rows import without_rows
from incrowd.errors import NoLawfulReleaseError, OutOfScopeError, listed
from incrowd.kernels.types import Ints
from incrowd.policy import Policy
from incrowd.policy.deletion import limit_of, read
from incrowd.policy.models import asks_of_sensitive
from incrowd.policy.protect import asked_of
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.published.assigned import Rings, broken_by, rows_of_flow
from incrowd.published.fitting import Cells, Flow, Nodes, common_keys
from incrowd.published.pseudonyms import KEY, pseudonyms_broken, there
from incrowd.published.spelled import alike, told_apart, unsafe, unseen
from incrowd.tables.base import Column, Source
from incrowd.tables.spreadsheet import undone
from incrowd.text.units import counted

COINS = "whether coins hid cells as the veil that is asked for says"


@dataclass(frozen=True)
class Verdict:
    """What was found.

    Attributes
    ----------
    reasons: why the answer is no; none when it is yes.  They name columns and rows, never cells.
    rows, classes, smallest_class: of the release.
    not_checked: what is asked for and nobody can check without a proof, and what nobody looks at.
    """

    reasons: tuple[str, ...]
    rows: int
    classes: int
    smallest_class: int
    not_checked: tuple[str, ...] = ()

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
    OutOfScopeError: it is one of linked rows, or of columns that are generalized alike.
    """
    _require_served(policy)
    table = coded(original, policy)
    qi, rows = table.roles.qi, released.rows
    require_columns(policy, table.roles, table.source.columns)
    reasons = list(_columns_differ(table.roles.published(original.columns), released.columns))
    left = (*((COINS,) if policy.veil else ()), *((KEY,) if table.roles.pseudonym else ()))
    left += (*unseen(released),)
    if reasons:
        return Verdict(tuple(reasons), rows, 0, 0, left)
    unchanged = (*table.roles.sensitive, *table.roles.keep, *policy.fixed)
    reasons += told_apart(released, original, {*unchanged} - {*qi})
    known, columns = _columns_alike(table, released, unchanged)
    for name in table.roles.pseudonym:
        reasons += pseudonyms_broken(name, released.encode(name))
    if spreadsheet_safe:
        reasons += unsafe(columns)
        columns = {name: undone(column) for name, column in columns.items()}
    pattern = np.column_stack([columns[name].codes for name in qi])
    _, sizes = np.unique(pattern, axis=0, return_counts=True)
    if rows:
        reasons += combinations_broken(policy, qi, pattern)
        reasons += _classes_too_small(sizes, policy.k)
    cells, count = Cells.of(table, columns), table.source.rows
    if 0 <= count - rows <= most_missing(policy, count):
        reasons += _rows_differ(known, table, columns, cells)
    else:
        reasons.append(f"the release has {counted(rows, 'row')}, the original {count:,}")
    if not reasons and rows < count and policy.delete_rows is None:
        reasons += _too_many_left_out(table, policy, count - rows)
    if not reasons and rows and is_constrained(policy):
        reasons += constraints_broken(table, columns, policy)
    if not reasons and rows and policy.person:
        reasons += _people_lack(known, table, columns, pattern, cells, policy.k)
    elif not reasons and rows and asks_of_sensitive(policy):
        reasons += _models_broken(table, known, columns, pattern)
    return Verdict(tuple(reasons), rows, len(sizes), int(sizes.min(initial=rows)), left)


def _require_served(policy: Policy) -> None:
    """Raise OutOfScopeError for what is decided by which row is whose."""
    averaged = listed(rules_of(policy))
    whose = {
        "whether the rows of each person are linked": policy.links_rows,
        "whether constant columns are generalized alike in all rows of a person": (
            policy.constant_alike
        ),
        f"whether {averaged} show the average of each class": averaged,
    }
    for what in (words for words, asked in whose.items() if asked):
        raise OutOfScopeError(
            f"{what} is decided by which row is whose, which only the proof holds; verify with it "
            "(--proof, in Python proof=). What anonymize returned in Python checks itself again by "
            "its own verify()"
        )


def _columns_alike(
    table: Coded, released: Source, unchanged: Sequence[str]
) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the original columns that a row keeps, and all released ones, coded alike.

    Of pseudonyms a row keeps whether there is one.
    """
    original, hidden = table.source, table.roles.pseudonym
    pairs = {name: alike(original, released, name) for name in unchanged}
    for name in hidden:
        pairs[name] = there(original.encode(name)), there(released.encode(name))
    published = table.roles.published(original.columns)
    columns = {n: pairs[n][1] if n in pairs else released.encode(n) for n in published}
    return {name: column for name, (column, _) in pairs.items()}, columns


def _classes_too_small(sizes: Ints, k: int) -> Iterator[str]:
    """Yield how many classes have fewer than k rows; there are some classes."""
    if sizes.min() < k:
        yield (
            f"the smallest class has {counted(int(sizes.min()), 'row')}, fewer than k = {k} "
            f"({int((sizes < k).sum())} of {counted(len(sizes), 'class', 'classes')} too small)"
        )


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
                f"{listed(one.columns)} have fewer than {one.k} rows, first that of "
                f"released row {int(np.flatnonzero(few[group.ravel()])[0]) + 1}"
            )


def most_missing(policy: Policy, rows: int) -> int:
    """Return how many of so many rows a release may lack."""
    if policy.delete_rows is None:
        return limit_of(policy.suppress_rows, rows)
    limit = read(policy.delete_rows).limit(rows)
    return rows if limit is None else limit


def _too_many_left_out(table: Coded, policy: Policy, missing: int) -> Iterator[str]:
    """Yield that fewer rows would do, where they would: who leaves them out chooses which.

    Of several sensitive columns the fewest are known only where they are none; a release of no row
    at all says nothing, so there it is enough that some number would do.
    """
    try:
        enough = without_rows(table, policy).rows
    except NoLawfulReleaseError:  # none is found so, and the release is judged by itself
        return
    known = not enough or len(table.roles.sensitive) == 1 or missing == table.source.rows
    if missing > enough and known:
        yield f"{counted(missing, 'row')} of the original are left out, where {enough:,} would do"


def _columns_differ(expected: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    lost = [name for name in expected if name not in found]
    new = [name for name in found if name not in expected]
    if lost:
        yield (
            f"the release lacks the column{'s' if lost[1:] else ''} {listed(lost)} "
            "(columns left out on purpose are named with --id)"
        )
    if new:
        yield f"the release has columns it should not have: {listed(new)}"


def _models_broken(
    table: Coded,
    unchanged: dict[str, Column],
    columns: dict[str, Column],
    pattern: NDArray[np.int32],
) -> Iterator[str]:
    """Yield why some class breaks the models; the sensitive columns are known to agree."""
    secret = []
    for name in table.roles.sensitive:  # codes as in the original, which the models are about
        exact, coarse = unchanged[name], table.attributes[name].codes  # -0.0 and 0.0, bit by bit
        place = {
            exact.values[e]: c
            for e, c in set(zip(exact.codes.tolist(), coarse.tolist(), strict=True))
        }
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
    cells: Cells,
    k: int,
) -> Iterator[str]:
    """Yield why classes have too few people, or break models that count them.

    The released rows are known to be the original ones, in some order.
    """
    (levels, nodes, _), trees = cells, table.instance.trees
    pairs = [(column, columns[name]) for name, column in unchanged.items()]
    before, after = common_keys(pairs, len(table.leaves), len(nodes))
    originals = Nodes(trees, table.leaves.astype(np.int64))
    _, member = np.unique(pattern, axis=0, return_inverse=True)
    as_they_stand = np.array_equal(before, after) and originals.fit(levels, nodes)
    if as_they_stand and not broken_by(table.problem, table.copy_of_row, member.ravel()):
        return
    flow = Flow(originals, before, levels, nodes, after)
    origin = rows_of_flow(flow.amounts(), flow.left_of, flow.right_of)
    whose = table.owners
    fits = set(zip(flow.tails.tolist(), flow.heads.tolist(), strict=True))
    kinds = flow.right_of, fits, flow.left_of
    origin = Rings(origin, member.ravel(), whose, *kinds, k).spread()
    broken = broken_by(table.problem, table.copy_of_row[origin], member.ravel())
    if broken:
        yield (
            f"{broken} of {int(member.max()) + 1} classes break "
            f"{table.model.in_words(table.roles.attributes)}, as original rows were assigned to "
            "released ones; it is not decided whether others are: verify with the proof (--proof)"
        )


def _rows_differ(
    unchanged: dict[str, Column], table: Coded, columns: dict[str, Column], cells: Cells
) -> Iterator[str]:
    """Yield why the released rows are not the original ones, generalized or ``unchanged``."""
    if cells.strange:
        yield cells.strange
        return
    (levels, nodes, _), trees = cells, table.instance.trees
    rows_left, count = len(nodes), len(table.leaves)
    if not rows_left:  # there is nothing to be of another row
        return
    pairs = [(column, columns[name]) for name, column in unchanged.items()]
    before, after = common_keys(pairs, count, rows_left)
    left_out = count - rows_left
    if not left_out and not np.array_equal(np.sort(before), np.sort(after)):
        yield f"the columns {listed(unchanged)} are not the original ones"
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
