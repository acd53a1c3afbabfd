"""The prefix-tree search under what a sensitive model says of classes."""

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import Ascent
from incrowd.bounds.prefix_tree import NO_CUT, NO_SINK, UNLIMITED, PrefixTree, Task
from incrowd.bounds.pricing import VARIATION, Pricing, assembled, shares_of
from incrowd.bounds.strides import Strides
from incrowd.bounds.top_copies import Pad
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop


class LawfulTree:
    """The search bound to one instance and one model's pricing; one caller at a time.

    ``stop``: see ``PrefixTree``.
    """

    def __init__(
        self, instance: Instance, pricing: Pricing, pad: Pad, stop: Stop | None = None
    ) -> None:
        self.instance, self.pricing, self.pad = instance, pricing, pad
        self.tree = PrefixTree(instance, stop)
        self.k = int(pricing.least[0])
        self.shares = shares_of(pricing)
        self.strides = (
            Strides.even(instance.distinct)
            if self.shares is None
            else Strides.by_caps(self.shares.value, self.shares.caps)
        )

    def run(
        self,
        mode: int,
        u: NDArray[np.float64],
        margin: float = 0.0,
        extra: float = 0.0,
        cut: NDArray[np.float64] = NO_CUT,
        sink: Emission = NO_SINK,
        visits: int = UNLIMITED,
    ) -> NDArray[np.int64]:
        """Run one search; return (patterns, pairs, visits, trouble)."""
        least, word = np.float64(margin), self.tree.word(mode)
        task = Task(mode, self.k, u, 1, least, False, sink, visits, cut, extra, word)
        return self.tree.search(task, (self.pricing, self.pad))

    def ascent(
        self, lists: Emission, patterns: int, counts: NDArray[np.int64], work: int | None = None
    ) -> Ascent:
        """Return the ascent over the first of these patterns; ``work``: see ``Ascent``."""
        lawful = self.pricing, self.pad
        return Ascent(
            lists, patterns, counts, self.k, -np.inf, lawful, self.strides, work,
            threads=self.tree.stop.threads,
        )  # fmt: skip


def charged_tree(problem: Problem, tree: LawfulTree, stop: Stop | None = None) -> LawfulTree:
    """Return a tree by closeness alone where a model asks for it among others, else ``tree``.

    A lawful class obeys each law of its model, so it is worth no more than the dearest class that
    obeys one of them, and charges by that law alone bound its releases.
    """
    k = problem.smallest_class
    close = [x for x in problem.model.pricing(problem.table, k, 0) if x.kind == VARIATION]
    if len(close) != 1 or len(tree.pricing.kind) == 1:
        return tree
    return LawfulTree(problem.instance, *assembled(problem, close, k), stop)
