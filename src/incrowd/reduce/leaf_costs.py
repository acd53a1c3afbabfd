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
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.tree import Tree
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.base import Reduced, unchanged


def costs_to_keep(tree: Family) -> bool:
    """Whether some value of the column costs something though it stays."""
    return isinstance(tree, Tree) and bool(tree.cost[0].any())


def told_apart(instance: Instance) -> tuple[Instance, NDArray[np.int64]]:
    """Return the table of rows told apart, and int64, shape (rows,): which copy there each is."""
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
    return from_codes(codes, tuple(trees), secret, instance.scale)


@dataclass(frozen=True)
class TellRowsApart:
    """Give rows values of their own where values cost something though they stay."""

    id = "leaf-costs"
    source = "a class of two rows joins above values that no two rows share"

    def apply(self, problem: Problem) -> Reduced:
        """Return the table of rows told apart.

        Raises
        ------
        OutOfScopeError: a class of one row would be lawful.
        """
        instance = problem.instance
        if not any(map(costs_to_keep, instance.trees)):
            return unchanged(problem)
        if problem.smallest_class < 2:
            raise OutOfScopeError(
                "values that cost something though they stay are served where every class has two "
                "rows at least; use k ≥ 2"
            )
        larger, place = told_apart(instance)

        def lift(solution: Solution) -> Solution:
            return Solution(instance, solution.classes[place])

        return Reduced(replace(problem, instance=larger), lift)
