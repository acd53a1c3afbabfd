"""From a table to a veiled solution."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from math import prod

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.best import best_prices
from incrowd.constraints.plan import is_constrained
from incrowd.driver.solve import Solved, require_lawful_table
from incrowd.encoding.encoded import Coded
from incrowd.errors import InputError, OutOfScopeError, VerificationError
from incrowd.hierarchy.family import trees_of
from incrowd.hierarchy.file import HierarchyFile, HierarchyRows
from incrowd.hierarchy.tree import Tree
from incrowd.kernels.types import Ints
from incrowd.policy.base import Policy
from incrowd.policy.veil import by_column
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.problem.solution import Solution
from incrowd.run.entropy import numbers, shuffled
from incrowd.solvers.base import Context
from incrowd.veil.coins import raised, tossed
from incrowd.veil.heaviest import Weights, made_exactly, weighed
from incrowd.veil.lists import MOST_CHOICES, Known, Lawful, Lots, least_paid, with_levels
from incrowd.veil.matching import bits_of_lots, cheapest
from incrowd.veil.optimum import best, require_few
from incrowd.veil.program import cp_sat

ID = "consistent"
EXACT = "subset-dp"
MATCHING = "simplex-matching"
STEPS = "exact-steps"
METHODS = ("auto", ID, EXACT, MATCHING, STEPS)
MOST_CELLS = 150_000  # that auto gives to simplex matching


@dataclass(frozen=True, eq=False, kw_only=True)
class Veil:
    """What is said of the veil of a release.  Its coins are kept nowhere.

    Attributes
    ----------
    chances: column → probability with which each of its cells was hidden at first, or raised to a
        certain level of its hierarchy; 0 for columns without a veil.
    veiled_bound_units: what no lawful release of the veiled table costs less than, its veiled cells
        counted, in units of 1/scale.  It tells of the coins and of the original.
    """

    chances: dict[str, Fraction]
    veiled_bound_units: int

    @property
    def factors(self) -> dict[str, Fraction]:
        """Column → 1/q, the most by which a release changes the odds of a hidden cell's values."""
        return {name: 1 / chance for name, chance in self.chances.items() if chance}


def require_servable(table: Coded, policy: Policy) -> None:
    """Raise OutOfScopeError where the theorem does not hold, or nobody proved that it does."""
    asked = [
        (is_constrained(policy), "fixed, linked and capped columns: what they ask of a cell looks "
         "at other cells of the table"),
        (bool(policy.person), "person: rows of one person hang together"),
        (bool(policy.suppress_rows), "suppress_rows: which rows are left out looks at all cells"),
        (policy.method not in METHODS, f"the method {policy.method!r}: the "
         "theorem is about consistent methods, and local search is none"),
        (policy.cost not in ("level", "stars"), "this cost, which may look at the table's values"),
        (table.instance.ranged, "ranges: where they begin follows from the values in the table"),
        (bool(in_need_of_others(table, policy)), "hierarchies by rule, whose levels or labels may "
         "depend on other values of the table; write them to a file (incrowd hierarchy)"),
        (not table.instance.plain and policy.cost != "level", "hierarchies but with the cost "
         "level"),
        (not table.instance.plain and policy.method not in ("auto", ID), f"hierarchies with the "
         f"method {policy.method!r}; leave --method out"),
        (not table.model.closed_under_supersets,
         "models under which a class may become unlawful by rows that join it; k-anonymity and "
         "distinct l-diversity are served"),
        (choices_of(table) > MOST_CHOICES, f"more than {MOST_CHOICES:,} choices of a level for "
         "each column, such as of 16 quasi-identifiers without hierarchies: all are looked at"),
        (policy.method == MATCHING and not is_two_anonymity(table), "simplex-matching but for "
         "k = 2, without other models"),
        (policy.method == STEPS and not table.model.size_decides, "exact-steps but for "
         "k-anonymity, without other models"),
    ]  # fmt: skip
    for wrong, why in asked:
        if wrong:
            raise OutOfScopeError(f"the veil does not serve {why}")


def veiled(table: Coded, policy: Policy, context: Context) -> tuple[Solved, Veil]:
    """Hide cells by coins, then make a release by a consistent method.

    The bound beside it is of the table without its veil, as for every release.

    Raises
    ------
    OutOfScopeError: the theorem does not hold for what is asked, or an optimum is not proven.
    """
    require_servable(table, policy)
    require_lawful_table(table.problem)
    assert policy.veil is not None
    method = method_for(table, policy)
    if method == EXACT:
        require_few(table.instance.rows)
    if method == STEPS:
        cp_sat()
    chances = by_column(policy.veil, table.roles.qi)
    lawful = judge(table)
    lowest = tossed_for(table, chances)
    lowest[set_aside(len(lowest), lawful)] = tops_of(table)
    context.tell(f"{method} method" if method == ID else method)
    if method in (ID, STEPS):
        solution, bound = by_lists(table, lowest, lawful, method, context)
    else:
        solution = by_optimum(table, lowest > 0, lawful, method, context)
        bound = solution.cost
    require_as_promised(table, solution, bound)
    solved = unveiled(table, solution, context, method)
    return solved, Veil(chances=chances, veiled_bound_units=bound)


def by_lists(
    table: Coded, lowest: Ints, lawful: Lawful, method: str, context: Context
) -> tuple[Solution, int]:
    """Return the release of a method that goes step by step, and a bound of the veiled table."""
    known, trees = known_of(table, lowest), trees_of(table.instance.trees, "the veil")
    costs = [nominal(tree.dearest, tree.levels) for tree in trees]
    paid = [tree.cost[:, leaf] for tree, leaf in zip(trees, table.leaves.T, strict=True)]
    least = table.problem.smallest_class
    exchanging = table.model.size_decides
    lots = drawn(len(lowest), 0 if exchanging else least)
    if method == STEPS:
        found = made_exactly(known, costs, lawful, lots, least, weights_drawn(table), context.stop)
    else:
        found = with_levels(known, costs, lawful, lots, least if exchanging else 0)
    bound = int(least_paid(known, costs, paid, lawful).sum())
    return solution_of(table, found.of_row, found.levels), bound


def by_optimum(
    table: Coded, hidden: NDArray[np.bool_], lawful: Lawful, method: str, context: Context
) -> Solution:
    """Return the first of the cheapest releases."""
    known = known_of(table, np.zeros(table.leaves.shape, np.int64))
    codes = np.column_stack([nodes[0] for nodes in known.nodes])  # in the order of the texts
    weights = np.array([tree.dearest for tree in table.instance.trees], np.int64)
    if method == EXACT:
        classes = best(codes, hidden, weights, lawful)
    else:
        # what breaks ties between equally cheap releases: a small number for each cell
        most = np.uint64((1 << bits_of_lots(*codes.shape)) - 1)
        ties = (numbers(codes.size) & most).astype(np.int64).reshape(codes.shape)
        classes = cheapest(codes, hidden, weights, ties, context)
    return solution_of(table, classes.of_row, classes.hidden.astype(np.int64))


def in_need_of_others(table: Coded, policy: Policy) -> list[str]:
    """Return the columns whose hierarchy may depend on which values the table has."""
    sources = policy.sources()
    return [
        tree.column
        for tree in table.instance.trees
        if isinstance(tree, Tree)
        and tree.levels > 2
        and not isinstance(sources.get(tree.column), HierarchyFile | HierarchyRows)
    ]


def tops_of(table: Coded) -> Ints:
    """int64, shape (columns,): the highest level of each column, at which it is hidden."""
    return np.array([tree.levels - 1 for tree in trees_of(table.instance.trees, "the veil")])


def choices_of(table: Coded) -> int:
    """Return in how many ways a level can be chosen for each column."""
    return prod(tree.levels for tree in table.instance.trees if isinstance(tree, Tree))


def nominal(dearest: int, levels: int) -> Ints:
    """int64, shape (levels,): what a cell at each level costs, in the eyes of the method.

    By the level alone: what a label that repeats itself costs depends on the value.
    """
    return dearest * np.arange(levels) // (levels - 1)


def tossed_for(table: Coded, chances: Mapping[str, Fraction]) -> Ints:
    """int64, shape (rows, columns): the level from which on a cell is known, as the coins fell.

    Raises
    ------
    InputError: a column has so many levels that their probabilities add up to more than 1.
    """
    heights = tops_of(table).tolist()
    for (name, chance), height in zip(chances.items(), heights, strict=True):
        if chance * height > 1:
            raise InputError(
                f"veil of {name!r}: each of the {height} levels above the values has this "
                f"probability, {float(chance):g}, so 1/{height} is the most"
            )
    return raised(table.instance.rows, list(chances.values()), heights)


def known_of(table: Coded, lowest: Ints) -> Known:
    """Return what the method may know, nodes of each level in the order of their texts.

    So which of two nodes comes first does not depend on what else is in the table.
    """
    nodes = []
    for tree, leaf in zip(trees_of(table.instance.trees, "the veil"), table.leaves.T, strict=True):
        levels = zip(tree.labels, tree.node, strict=True)
        nodes.append(np.array([in_order(labels)[node] for labels, node in levels])[:, leaf])
    return Known(nodes, lowest)


def in_order(texts: Sequence[str | None]) -> Ints:
    """int64, shape (texts,): the place of each in their order; a missing value comes first."""
    keys = [(text is not None, text or "") for text in texts]
    place = np.empty(len(keys), np.int64)
    place[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return place


def is_two_anonymity(table: Coded) -> bool:
    """Whether k = 2 is all that is asked."""
    return table.model.size_decides and table.problem.smallest_class == 2


def method_for(table: Coded, policy: Policy) -> str:
    """Return the method that is asked for, or the better one for what is asked.

    Neither cells nor clocks are looked at: which method makes a release may not depend on them.
    """
    if policy.method != "auto":
        return policy.method
    shape = table.instance
    small = shape.plain and shape.rows * shape.columns <= MOST_CELLS
    return MATCHING if small and is_two_anonymity(table) else ID


def judge(table: Coded) -> Lawful:
    """Return what says whether groups of the table's rows are lawful."""
    instance = table.instance
    least = table.problem.smallest_class
    secret = instance.sensitive_codes[table.distinct_of_row]
    looks = not table.model.size_decides

    def lawful(rows: Ints, group: Ints) -> NDArray[np.bool_]:
        fine = np.bincount(group) >= least
        if looks and fine.any():
            enough = fine[group]
            kept, member = np.unique(group[enough], return_inverse=True)
            values = Group(secret[rows[enough]].astype(np.int32), instance.sensitive_sizes)
            fine[kept] = table.model.lawful_classes(Classes(member.ravel(), values))
        return fine

    return lawful


def drawn(rows: int, least: int) -> Lots:
    """Return who helps, by lot: none for classes of two, a quarter of the rows for five.

    Where rows change places, nobody has to.
    """
    share = min(Fraction(2, 5), Fraction(max(0, least - 2), 12))
    return Lots(tossed(rows, [share])[:, 0], shuffled(rows))


def weights_drawn(table: Coded) -> Weights:
    """Return what exact steps weigh: a lot for each row, one for each text of each column."""
    key = numbers(2).tobytes()
    signs = np.empty(table.leaves.shape, np.uint64)
    for j, tree in enumerate(trees_of(table.instance.trees, "the veil")):
        texts = [f"{j} {'' if text is None else '=' + text}" for text in tree.labels[0]]
        drawn = [blake2b(text.encode(), key=key, digest_size=8).digest() for text in texts]
        signs[:, j] = np.frombuffer(b"".join(drawn), np.uint64)[tree.node[0]][table.leaves[:, j]]
    return Weights(weighed(numbers(table.instance.rows)), signs)


def set_aside(rows: int, lawful: Lawful) -> Ints:
    """int64: rows of which nothing is published, so that whoever is left has lawful company.

    The first of an order by lot that are a lawful class, none of whose cells is looked at.
    """
    order = shuffled(rows)
    low, high = 1, rows
    while low < high:
        middle = (low + high) // 2
        if lawful(order[:middle], np.zeros(middle, np.int64)).all():
            high = middle
        else:
            low = middle + 1
    return order[:high]


def solution_of(table: Coded, of_row: Ints, levels: Ints) -> Solution:
    """Return the classes as a solution that shows no more than they do."""
    return Solution(table.instance, table.by_copy(of_row), least=levels)


def require_as_promised(table: Coded, solution: Solution, bound: int) -> None:
    """Raise VerificationError unless every class is lawful and shows what it may, and no more."""
    fine = table.problem.lawful_classes(solution.classes).all()
    shown = solution.least is not None and np.array_equal(solution.levels, solution.least)
    if not fine or not shown or solution.cost < bound:
        raise VerificationError("the consistent method made a class that breaks what was asked")


def unveiled(table: Coded, solution: Solution, context: Context, method: str) -> Solved:
    """Return the solution with the best price bound of the table without its veil."""
    problem = table.problem
    prices, bound = None, 0
    if problem.smallest_class > 1:
        prices = best_prices(table.instance, problem.smallest_class, context.stop)
        bound = max(0, prices.bound(table.instance.counts))
    ended = context.stop.why() if context.stop.now() else "finished"
    return Solved(solution, solution.cost, bound, method, ended, prices)
