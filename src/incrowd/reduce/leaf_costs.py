"""Values that cost something though they stay (Blocki and Williams 2010, Def. 9).

Give each row a value of its own in every column with such costs, at no cost, below the node of
the value that it had.  A class of two rows or more then joins at that node at least, and pays for
it what it would have paid for the value; above it nothing changes.  So where every lawful class
has two rows, each release costs the same in both tables: optima, ratios and lower bounds carry
over, and every method that knows only values that are free serves the others.  Rows are all
different then, so what is fast because many are alike is not.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError
from incrowd.hierarchy.family import Family, costs_to_keep
from incrowd.hierarchy.tree import Tree
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution


@dataclass(frozen=True, eq=False)
class Apart:
    """A table, and the same with its rows told apart.

    Attributes
    ----------
    original, instance: both tables.
    place: int64, shape (rows,): the copy there that each copy of the original is.
    """

    original: Instance
    instance: Instance
    place: NDArray[np.int64]

    def lift(self, solution: Solution) -> Solution:
        """Return a solution of the original."""
        return Solution(self.original, solution.classes[self.place])


def told_apart(instance: Instance) -> Apart | None:
    """Return the table with its rows told apart; None where all values are free to stay."""
    if not any(map(costs_to_keep, instance.trees)):
        return None
    codes = instance.codes[instance.copies]
    trees: list[Family] = []
    for j, tree in enumerate(instance.trees):
        if not (isinstance(tree, Tree) and costs_to_keep(tree)):
            trees.append(tree)
            continue
        order = np.argsort(codes[:, j], kind="stable")
        value = codes[order, j]
        codes[order, j] = np.arange(instance.rows)
        own = np.arange(instance.rows, dtype=np.int32)
        node = np.vstack([own, tree.node[:, value]])
        cost = np.vstack([np.zeros(instance.rows, np.int64), tree.cost[:, value]])
        labels = (tuple(map(str, own.tolist())), *tree.labels)
        trees.append(Tree(tree.column, labels, node, cost))
    secret = None if instance.sensitive is None else instance.sensitive[instance.copies]
    return Apart(instance, *from_codes(codes, tuple(trees), secret, instance.scale))


def served_apart(problem: Problem) -> tuple[Problem, Apart | None]:
    """Return the problem that methods serve, and its rows told apart where it is another.

    Raises
    ------
    OutOfScopeError: values cost something though they stay, and a class of one row is lawful.
    """
    apart = told_apart(problem.instance)
    if apart is None:
        return problem, None
    if problem.smallest_class < 2:
        raise OutOfScopeError(
            "values that cost something though they stay are served where every class has two "
            "rows at least; use k ≥ 2"
        )
    return replace(problem, instance=apart.instance), apart
