"""From values, sources, costs and weights to the trees of an instance."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from incrowd.checker.limits import MOST_LEVELS
from incrowd.errors import HierarchyError, InputError, did_you_mean
from incrowd.hierarchy.costs import PLACES, Cost, Number, exact, parse_cost
from incrowd.hierarchy.family import Family, FamilySource
from incrowd.hierarchy.ladder import Ladder, Source, Suppression
from incrowd.hierarchy.tree import Tree

CostChoice = Cost | str
DEAREST_ROW = 2**40
"""Integer costs of one row stay below this, so that 2^23 rows sum safely in 64 bits."""


def build_trees(
    values: Mapping[str, Sequence[str | None]],
    sources: Mapping[str, Source] | None = None,
    cost: CostChoice | Mapping[str, CostChoice] = "level",
    weights: Mapping[str, Number] | None = None,
) -> tuple[tuple[Family, ...], int]:
    """Return one tree, or family of intervals, per column and the scale of their integer costs.

    Parameters
    ----------
    values: column → its distinct values, in any order; ``None`` is the missing value.  The trees
        stand in this mapping's order; `Tree.leaves` gives each column's codes.
    sources: column → where its hierarchy comes from; columns not named are suppressed whole.
    cost: one cost for all columns, or column → cost (columns not named: ``"level"``).  Texts are
        read by `parse_cost`.  Under suppression ``"level"`` and ``"stars"`` agree.
    weights: column → positive factor on its costs, exact (at most six decimals); others 1.

    Returns
    -------
    the trees, and the scale: a cost c in a tree means c/scale.  The scale is the least common
    multiple over the columns of (unit of the cost × denominator of the weight); units are the
    height for levels, 10⁶ for NCP, 1 for stars, the least common
    denominator for explicit costs.

    Raises
    ------
    HierarchyError: a hierarchy or a cost is broken or does not fit the values.
    InputError: a weight or a column name is wrong.
    """
    sources, weights = sources or {}, weights or {}
    choices = cost if isinstance(cost, Mapping) else dict.fromkeys(values, cost)
    for what, named in (("hierarchy", sources), ("weight", weights), ("cost", choices)):
        _known_columns(what, named, values)
    charged = []
    for column, distinct in values.items():
        source, rule = sources.get(column, Suppression()), _rule(choices.get(column, "level"))
        if isinstance(source, FamilySource):
            family, unit = source.family(column, distinct, rule)
        else:
            family, unit = _tree(source.build(column, distinct), rule)
        weight = weight_of(column, weights.get(column, 1))
        charged.append((family, weight.numerator, unit * weight.denominator))
    scale = math.lcm(*(unit for *_, unit in charged))
    dearest = sum(family.dearest * times * (scale // unit) for family, times, unit in charged)
    if dearest >= DEAREST_ROW or scale >= DEAREST_ROW:
        raise InputError(
            "the weights and costs need more digits than fit: in their common unit of "
            f"1/{scale} a whole row costs {dearest}, and at most {DEAREST_ROW} is allowed; "
            "use rounder weights"
        )
    return tuple(family.times(n * (scale // unit)) for family, n, unit in charged), scale


def _tree(ladder: Ladder, rule: Cost) -> tuple[Tree, int]:
    if ladder.levels > MOST_LEVELS:  # the re-check would say so after the search
        raise HierarchyError(
            f"{ladder.subject}: the hierarchy has {ladder.levels:,} levels, the value and the root "
            f"among them; at most {MOST_LEVELS:,} are served, so leave some out"
        )
    numerators, unit = rule.charge(ladder)
    return Tree(ladder.column, ladder.labels, ladder.node, numerators), unit


def _rule(choice: CostChoice) -> Cost:
    if not isinstance(choice, str) and not hasattr(choice, "charge"):
        raise InputError(f"cost: {type(choice).__name__} is neither a text nor a cost")
    return parse_cost(choice) if isinstance(choice, str) else choice


def weight_of(column: str, weight: Number) -> Fraction:
    """Return a column's weight, exactly.

    Raises
    ------
    InputError: it is no number above 0 of at most six decimals.
    """
    try:
        value = exact(weight)
    except ValueError as error:
        hint = "write a number above 0, like 2 or 0.5"
        raise InputError(f"weight of column {column!r}: {error}; {hint}") from None
    if value == 0:
        raise InputError(
            f"weight of column {column!r}: 0; weights are positive (keep a column that may be "
            f"suppressed for nothing out of the quasi-identifiers), with at most {PLACES} decimals"
        )
    return value


def _known_columns(what: str, named: Iterable[str], columns: Mapping[str, object]) -> None:
    for name in named:
        if name not in columns:
            raise HierarchyError(
                f"{what} for the column {name!r}, which is not among the quasi-identifiers"
                f"{did_you_mean(name, columns)}"
            )
