"""New rows beside fixed columns: each group of rows with equal fixed values by itself.

No class may hold two values of a fixed column, and nobody joins a published class that hides one or
shows another.  So what the groups cost at the least adds up, and bounds do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd.errors import listed
from incrowd.existing.classes import solver
from incrowd.existing.covers import Published
from incrowd.existing.join import Ints, Joining, LostRowsError
from incrowd.hierarchy.labels import SPAN
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance
from incrowd.reduce.fixed import groups_of
from incrowd.run.stop import Share
from incrowd.solvers.base import Context


@dataclass(eq=False)
class Part:
    """Rows of equal fixed values, and the published classes that they may join.

    Attributes
    ----------
    rows: int64: numbers of the distinct rows; copies: int64: of their copies.
    classes: int64: numbers of the published classes.
    """

    rows: Ints
    copies: Ints
    classes: Ints
    joining: Joining


class JoiningApart:
    """The new rows in groups; asked what ``Joining`` is asked, it answers for all of them.

    Parameters
    ----------
    instance, model, published, sensitive: as of ``Joining``.
    context: of the search; groups share its time.
    fixed: numbers of the fixed columns.
    """

    def __init__(
        self,
        instance: Instance,
        model: Model,
        published: Published,
        context: Context,
        sensitive: tuple[str, ...],
        fixed: Sequence[int],
    ) -> None:
        self.instance, self.model, self.context = instance, model, context
        self.total = len(published.levels)
        self.names = [instance.trees[j].column for j in fixed]
        self.price = np.zeros(instance.distinct)
        solve = solver(model, context)
        member = groups_of(instance.codes, fixed)
        self.groups = []
        for g in range(int(member.max(initial=-1)) + 1):
            rows = np.flatnonzero(member == g)
            copies = np.flatnonzero(member[instance.copies] == g)
            classes = np.flatnonzero(showing(published, instance, fixed, int(rows[0])))
            part = part_of(instance, rows)
            joining = Joining(part, model, part_of_published(published, classes), solve, sensitive)
            self.groups.append(Part(rows, copies, classes, joining))

    def best(self) -> Ints:
        """int64, shape (copies,): published class, or classes + number of a new class.

        Raises
        ------
        LostRowsError: some rows fit nowhere; names the fixed columns, never a value.
        """
        place = np.zeros(self.instance.rows, np.int64)
        left, new, stop = self.instance.rows, self.total, self.context.stop
        for group in self.groups:
            share = Share.of(stop, stop.left() * len(group.copies) / left)
            group.joining.solve = solver(self.model, replace(self.context, stop=share))
            try:
                found = group.joining.best()
            except LostRowsError as error:
                raise LostRowsError(
                    group.copies[error.copies],
                    f"of the new rows alike in the fixed {listed(self.names)}: {error}",
                ) from None
            fresh = found >= len(group.classes)
            joined = group.copies[~fresh]
            place[joined] = group.classes[found[~fresh]]
            kinds, number = np.unique(found[fresh], return_inverse=True)
            place[group.copies[fresh]] = new + number.ravel()
            self.price[group.rows] = group.joining.price
            left, new = left - len(group.copies), new + len(kinds)
        return place

    def cost(self, place: Ints) -> int:
        """What all copies pay."""
        total = 0
        for group in self.groups:
            where = place[group.copies]
            fresh = where >= self.total
            inside = np.searchsorted(group.classes, np.where(fresh, 0, where))
            total += group.joining.cost(
                np.where(fresh, where - self.total + len(group.classes), inside)
            )
        return total

    def bound(self) -> int:
        """What no way to place the copies costs less than."""
        for group in self.groups:
            group.joining.price = self.price[group.rows]
        return sum(group.joining.bound() for group in self.groups)


def showing(published: Published, instance: Instance, fixed: Sequence[int], row: int) -> Ints:
    """bool, shape (classes,): whether a published class shows a row's values in fixed columns."""
    fits = np.ones(len(published.levels), bool)
    for j in fixed:
        tree, code = instance.trees[j], instance.codes[row, j]
        node = code if isinstance(tree, RangeFamily) else tree.node[0][code]
        same = (published.levels[:, j] == 0) & (published.nodes[:, j] == node)
        if isinstance(tree, RangeFamily) and tree.several_texts:  # an interval may read like it
            span, leaf = published.levels[:, j] == SPAN, tree.leaves[code]
            ends = np.divmod(np.where(span, published.nodes[:, j], 0), len(tree.leaves))
            first, last = (np.array(texts, object) for texts in (tree.first, tree.last))
            same |= span & (first[ends[0]] == leaf) & (last[ends[1]] == leaf)
        fits &= same
    return fits


def part_of(instance: Instance, rows: Ints) -> Instance:
    """Return some distinct rows of an instance, which stay in their order."""
    secret = None if instance.sensitive is None else instance.sensitive[rows]
    codes = np.ascontiguousarray(instance.codes[rows])
    return Instance(codes, instance.counts[rows], instance.trees, instance.scale, secret)


def part_of_published(published: Published, classes: Ints) -> Published:
    """Return some of the published classes."""
    values = tuple(published.values[c] for c in classes.tolist())
    return Published(published.levels[classes], published.nodes[classes], values)
