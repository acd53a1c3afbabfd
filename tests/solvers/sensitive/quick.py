"""The engine with schedules for tables of a few rows, and what its stages begin with."""

import numpy as np

from incrowd.bounds.lawful_price import LawfulPriceBound, first_prices
from incrowd.bounds.lawful_shares import LawfulShares
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.price import PriceBound
from incrowd.bounds.pricing import pricing_of
from incrowd.lattice.emission import Emission
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.engine import LawfulSearch

LAWFUL = LawfulSearch(
    prices=LawfulPriceBound(rounds=3, iterations=30, pairs=100_000, patterns=10_000),
    by_size=LawfulPriceBound(rounds=1, iterations=20, pairs=100_000, patterns=10_000),
    k_prices=PriceBound(rounds=2, iterations=20, pairs=100_000, patterns=10_000),
    shares=LawfulShares(iterations=30, pairs=100_000, patterns=10_000),
    annealing=LawfulAnnealing(moves=60),
    programmed=(0, 0),
)
QUICK = Engine(lawful=LAWFUL)


def fractional(
    problem: Problem, iterations: int = 400
) -> tuple[LawfulTree, np.ndarray, Emission, np.ndarray]:
    """The tree, prices near the best, patterns, and the copies that each pair carries."""
    tree = LawfulTree(problem.instance, *pricing_of(problem))
    assert LAWFUL.prices is not None
    price = LAWFUL.prices.ascend(tree, first_prices(tree)[0])
    shares = LawfulShares(iterations=iterations, pairs=100_000, patterns=10_000)
    emission, margin = shares.emission(tree, price, 1.0)
    share, _ = shares.run(tree, emission, price, margin, problem.instance.counts)
    return tree, price, emission, share


def require_lawful(problem: Problem, solution: Solution) -> None:
    """Assert that every class is lawful by the definition of its model."""
    for number in range(len(solution.sizes)):
        copies = np.flatnonzero(solution.classes == number)
        assert problem.model.lawful(problem.group(copies), problem.table), problem.model
