"""Which released row is whose: as they stand, as a proof says, or by a matching."""

from pathlib import Path

import numpy as np

from incrowd.checker.files import read_proof
from incrowd.checker.rejection import RejectedError
from incrowd.errors import InputError, require_one_line
from incrowd.kernels.types import Ints
from incrowd.published.fitting import Flow, Nodes, Ways, common_keys
from incrowd.tables.base import FewerRows, Table, agree


def rows_in_order(nodes: Nodes, keys: Ints, levels: Ints, labels: Ints, shown: Ints) -> bool:
    """Whether row i of the release stands above row i of the original, for every i.

    Parameters
    ----------
    nodes: the originals.  levels, labels: int64, shape (rows, columns): the released cells.
    keys, shown: int64, shape (rows,): the columns published as they are, in both tables.
    """
    return len(keys) == len(shown) and np.array_equal(keys, shown) and nodes.fit(levels, labels)


def rows_of_proof(path: str | Path, released: int, rows: int) -> Ints:
    """int64, shape (released,): original row of each released row, as a proof file says.

    Raises
    ------
    InputError: the file is no proof, or one of other tables.
    """
    require_one_line(path, "the proof")
    try:
        table = read_proof(path, rows).rows
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'cannot be read'}") from None
    except RejectedError as error:
        raise InputError(f"{path}: {error}") from None
    found = table["original"].to_numpy().astype(np.int64)
    if "class" in table.columns:  # deleted rows are in none, and stand at the end
        found = found[table["class"].to_numpy() >= 0]
    fine = len(found) == released and len(np.unique(found)) == released
    if not fine or (released and (found.min() < 0 or found.max() >= rows)):
        raise InputError(f"{path}: the proof is not of this release and this original")
    return found


def rows_shared(original: Table, source: Table) -> Ints | None:
    """int64, shape (rows of ``source``,): which row of ``original`` each one is, −1 for none.

    By the cells of the columns in both: the tables agree row by row, but for rows that were left
    out of either, or no two rows of the original are alike.  None where neither tells.
    """
    (whole, kept), (other, theirs) = _whole(original), _whole(source)
    names = [name for name in whole.columns if name in other.columns]
    if names and whole.rows == other.rows and all(agree(whole, other, name) for name in names):
        place = np.full(whole.rows, -1)
        place[kept] = np.arange(len(kept))
        return place[theirs]
    try:
        pairs = [(original.encode(name), source.encode(name)) for name in names]
    except InputError:  # a column without a text form, as lists have none
        return None
    mine, found = common_keys(pairs, original.rows, source.rows)
    alike = len(np.unique(mine)) < original.rows or not np.isin(found, mine).all()
    order = np.argsort(mine)
    return None if alike else order[np.searchsorted(mine[order], found)]


def _whole(table: Table) -> tuple[Table, Ints]:
    """Return the table that a table has some rows of, and which."""
    kept = np.arange(table.rows)
    while isinstance(table, FewerRows):
        kept, table = table.kept[kept], table.source
    return table, kept


def rows_matched(nodes: Nodes, keys: Ints, levels: Ints, labels: Ints, shown: Ints) -> Ints:
    """int64, shape (released,): an original row for each released row, one of many ways as a rule.

    −1 where there is no row left.
    """
    flow = Flow(nodes, keys, levels, labels, shown)
    return _dealt(flow.ways, flow.left_of, flow.right_of)


def _dealt(ways: Ways, left_of: Ints, right_of: Ints) -> Ints:
    """Deal the rows of each distinct original out to the distinct released rows, as they flow."""
    found = np.full(len(right_of), -1)
    tail, head, amount, _ = ways
    order = np.lexsort((head, tail))
    givers = np.argsort(left_of, kind="stable")
    first = np.searchsorted(left_of[givers], tail[order])
    takers = np.argsort(right_of, kind="stable")
    next_taker = np.searchsorted(right_of[takers], np.arange(right_of.max(initial=-1) + 1))
    given: dict[int, int] = {}
    for t, h, units, at in zip(
        tail[order].tolist(), head[order].tolist(), amount[order].tolist(), first.tolist(),
        strict=True,
    ):  # fmt: skip
        begin = at + given.get(t, 0)
        to = int(next_taker[h])
        found[takers[to : to + units]] = givers[begin : begin + units]
        given[t] = given.get(t, 0) + units
        next_taker[h] += units
    return found
