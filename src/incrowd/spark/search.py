"""What searches in the workers: tables of codes in, records out; the engine is one machine's."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.bounds.lawful_price import first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import certify
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.pricing import pricing_of
from incrowd.bounds.support import support_prices, uniqueness_prices
from incrowd.bounds.wide import wide_prices
from incrowd.driver.solve import Solved
from incrowd.driver.solve import solve as solve_problem
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.proof.certificate import Certificate
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.catalog import with_reductions
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.engine.search import Search
from incrowd.solvers.progress import Progress
from incrowd.spark.certificates import certified, certified_whole, packed
from incrowd.spark.task import Task
from incrowd.spark.tasks import first_block, numbers, of_table, records

MOST_VISITS = 200_000_000  # of the search for supports, over the whole table


def solve(task: Task, table: pa.Table) -> pa.Table:
    """Solve a block: ``CODED`` (and ``block``) in, ``RECORDS`` out."""
    instance, _ = of_table(task, table)
    problem, solved = solved_as_asked(instance, task)
    price = np.zeros(instance.distinct)
    known = solved.lawful if task.people and solved.lawful is not None else solved.prices
    if known is not None:
        price = known.price / known.quantum
    proof = packed(certified(task, problem, solved)) if task.proof else None
    how = f"{solved.method};{solved.ended}"
    return records(solved.solution, price, first_block(table), solved.bound, how, proof)


def solved_as_asked(instance: Instance, task: Task) -> tuple[Problem, Solved]:
    """Search by the method that was asked for, within its time."""
    context = Context(task.seed, Stop(task.time_limit, task.gap, task.spend))
    problem = Problem(instance, task.model, task.names)
    return problem, solve_problem(problem, with_reductions(task.method, task.reductions), context)


def polish(task: Task, table: pa.Table) -> pa.Table:
    """Regroup the classes of a shifted block, starting from what they are: never dearer."""
    instance, place_of = of_table(task, table)
    member = numbers(table, "cls")
    counts = numbers(table, "n")
    price = np.zeros(instance.distinct)
    price[place_of] = table.column("price").to_numpy()
    order = np.lexsort((member, place_of))
    start = Solution.of(instance, np.repeat(member[order], counts[order]))
    if task.people:
        again = solved_as_asked(instance, task)[1].solution
        found = again if again.cost < start.cost else start
    else:
        found = polished(start, price, task)
    return records(found, price, first_block(table), 0, "engine;stopped paying")


def bound(task: Task, table: pa.Table) -> pa.Table:
    """Return a lower bound of the whole table, given prices that hold within blocks."""
    instance, place_of = of_table(task, table)
    guess = np.zeros(instance.distinct)
    guess[place_of] = table.column("price").to_numpy()
    if task.people:
        problem = Problem(instance, task.model, task.names)
        prices, lawful = prices_of_people(problem, guess, Stop(task.time_limit))
        proof = None
        if task.proof:
            proof = packed(
                certified_whole(task, problem, prices) if lawful else Certificate(prices)
            )
        return bounds(max(0, prices.bound(instance.counts)), proof)
    k = Problem(instance, task.model).smallest_class
    tree = PrefixTree(instance)
    price, complete = support_prices(tree, k, MOST_VISITS)
    known = Prices(price, 1) if complete else wide_prices(instance, k, Stop(task.time_limit))
    if complete:
        # prices of blocks break patterns that lie in several: certify repairs them
        known = better(known, certify(tree, k, np.maximum(guess, 0.0)), instance.counts)
    proof = packed(Certificate(known)) if task.proof else None
    return bounds(known.bound(instance.counts), proof)


def bounds(units: int, proof: str | None) -> pa.Table:
    """Return a bound and the certificate behind it as a table of one row."""
    return pa.table(
        {"bound": pa.array([units], pa.int64()), "proof": pa.array([proof], pa.string())}
    )


def prices_of_people(
    problem: Problem, guess: NDArray[np.float64], stop: Stop
) -> tuple[Prices, bool]:
    """Return prices of blocks, repaired in the whole table, or better; whether people count there.

    They prove at least what each row's cheapest pattern with k people costs.  In wide tables they
    are those of rows alone, and prove less.  ``guess``: float64, shape (distinct,): the prices.
    Why: docs/explanation/bounds.md, "Blocks".
    """
    instance = problem.instance
    tree = LawfulTree(instance, *pricing_of(problem), stop)
    price, complete = first_prices(tree, MOST_VISITS)
    if complete:
        return better(safe_prices(tree, price), safe_prices(tree, guess), instance.counts), True
    return wide_prices(instance, problem.smallest_class, stop), False


def unique_bound(task: Task, table: pa.Table) -> pa.Table:
    """Return the part that these rows have in the bound that needs no other row's support.

    Where people are counted, all of these rows are those of too few.
    """
    instance, _ = of_table(task, table)
    k = instance.rows + 1 if task.people else Problem(instance, task.model).smallest_class
    price = uniqueness_prices(instance, k)
    return pa.table({"bound": pa.array([int(price @ instance.counts)], pa.int64())})


def polished(start: Solution, price: NDArray[np.float64], task: Task) -> Solution:
    """Return a lawful solution of the same copies that costs no more than ``start``."""
    instance = start.instance
    k = Problem(instance, task.model).smallest_class
    surplus = idle_copies(start, k)
    keep = np.flatnonzero(~surplus)
    counts = np.bincount(instance.copies[keep], minlength=instance.distinct).astype(np.int64)
    small = replace(instance, counts=counts, sensitive=None)
    context = Context(task.seed, Stop(task.time_limit, None))
    progress = Progress(context, Solution.of(small, start.classes[keep]))
    before = progress.best.cost
    progress.bound = min(int(price @ small.counts), before)
    search = Search(Engine(), small, k, progress)
    search.price = price
    search.polish()
    if progress.best.cost >= before:
        return start
    classes = np.empty(instance.rows, np.int64)
    classes[keep] = progress.best.classes
    # those set aside are whole classes by themselves, one for each distinct row
    classes[surplus] = len(progress.best.sizes) + instance.copies[surplus]
    found = Solution.of(instance, classes)
    return found if found.cost < start.cost and found.sizes.min() >= k else start


def idle_copies(solution: Solution, k: int) -> NDArray[np.bool_]:
    """bool, shape (copies,): copies in classes of nothing but themselves, beyond 2k of them.

    At least k of a row are set aside, or none: they are a class that costs nothing.
    """
    instance = solution.instance
    low = np.full(len(solution.sizes), instance.distinct)
    high = np.zeros(len(solution.sizes), np.int64)
    np.minimum.at(low, solution.classes, instance.copies)
    np.maximum.at(high, solution.classes, instance.copies)
    pure = (low == high)[solution.classes]
    idle = np.zeros(instance.rows, bool)
    at = np.flatnonzero(pure)
    rows = instance.copies[at]  # ascending
    first = np.searchsorted(rows, rows)
    rank = np.arange(len(at)) - first
    held = np.bincount(rows, minlength=instance.distinct)[rows]
    idle[at[(rank >= 2 * k) & (held >= 3 * k)]] = True
    return idle
