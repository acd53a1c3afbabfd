"""What searches in the workers: tables of codes in, records out; the engine is one machine's."""

import numpy as np
import pyarrow as pa

from incrowd._api import configured
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import certify
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.support import support_prices, uniqueness_prices
from incrowd.bounds.wide import wide_prices
from incrowd.driver.solve import solve as solve_problem
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.proof.certificate import Certificate
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.spark.certificates import certified, packed
from incrowd.spark.polishing import polished
from incrowd.spark.task import Task
from incrowd.spark.tasks import first_block, numbers, of_table, records

MOST_VISITS = 200_000_000  # of the search for supports, over the whole table


def solve(task: Task, table: pa.Table) -> pa.Table:
    """Solve a block: ``CODED`` (and ``block``) in, ``RECORDS`` out."""
    instance, _ = of_table(task, table)
    context = Context(task.seed, Stop(task.time_limit, task.gap, task.spend))
    method = configured(task.method, task.reductions)
    problem = Problem(instance, task.model, task.names)
    solved = solve_problem(problem, method, context)
    price = np.zeros(instance.distinct)
    if solved.prices is not None:
        price = solved.prices.price / solved.prices.quantum
    proof = packed(certified(task, problem, solved)) if task.proof else None
    how = f"{solved.method};{solved.ended}"
    return records(solved.solution, price, first_block(table), solved.bound, how, proof)


def polish(task: Task, table: pa.Table) -> pa.Table:
    """Regroup the classes of a shifted block, starting from what they are: never dearer."""
    instance, place_of = of_table(task, table)
    member = numbers(table, "cls")
    counts = numbers(table, "n")
    price = np.zeros(instance.distinct)
    price[place_of] = table.column("price").to_numpy()
    order = np.lexsort((member, place_of))
    start = Solution.of(instance, np.repeat(member[order], counts[order]))
    found = polished(start, price, task)
    return records(found, price, first_block(table), 0, "engine;stopped paying")


def bound(task: Task, table: pa.Table) -> pa.Table:
    """Return a lower bound of the whole table, given prices that hold within blocks."""
    instance, place_of = of_table(task, table)
    k = Problem(instance, task.model).smallest_class
    tree = PrefixTree(instance)
    price, complete = support_prices(tree, k, MOST_VISITS)
    known = Prices(price, 1) if complete else wide_prices(instance, k, Stop(task.time_limit))
    if complete:
        guess = np.zeros(instance.distinct)
        guess[place_of] = table.column("price").to_numpy()
        # prices of blocks break patterns that lie in several: certify repairs them
        known = better(known, certify(tree, k, np.maximum(guess, 0.0)), instance.counts)
    proof = packed(Certificate(known)) if task.proof else None
    best = known.bound(instance.counts)
    return pa.table(
        {"bound": pa.array([best], pa.int64()), "proof": pa.array([proof], pa.string())}
    )


def unique_bound(task: Task, table: pa.Table) -> pa.Table:
    """Return the part that these rows have in the bound that needs no other row's support."""
    instance, _ = of_table(task, table)
    k = Problem(instance, task.model).smallest_class
    price = uniqueness_prices(instance, k)
    return pa.table({"bound": pa.array([int(price @ instance.counts)], pa.int64())})
