"""The hierarchies and costs that a verifier asks for, held against those of a proof."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import Any

import polars as pl

from incrowd.checker.files import Proof
from incrowd.errors import HierarchyError, InputError
from incrowd.hierarchy.averages import Averages
from incrowd.hierarchy.build import build_trees, weight_of
from incrowd.hierarchy.file import HierarchyRows
from incrowd.hierarchy.labels import with_star
from incrowd.hierarchy.missing import bare_of, sparing
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.ranges import DATES, NUMBERS, ORDER, STARS, WIDTH, Ranges
from incrowd.hierarchy.spec import called_like_a_rule
from incrowd.hierarchy.spec import source_of as rule_of
from incrowd.policy import Policy
from incrowd.policy.served import OTHER_COST, asked_among
from incrowd.published.ladders import ladder_of
from incrowd.text.marks import STAR
from incrowd.text.numerals import POINT

Path = tuple[str | None, ...]
NCP = "ncp"


def stated_of(proof: Proof, column: str) -> dict[str, Any]:
    """Return what a proof says of where a column's hierarchy comes from."""
    return proof.facts["hierarchies"].get(column, {})


def rule_differs(proof: Proof, column: str, source: Any) -> str | None:
    """Say how a source of hierarchies makes something else than a proof states; None: the same."""
    how = f"its hierarchy is not {source}"
    if isinstance(bare_of(source), Averages) or column in averaged_in(proof):
        same, how = same_average(proof, column, source), f"its cells are not as {source} says"
    elif isinstance(bare_of(source), Ranges) or "range" in stated_of(proof, column):
        same = same_range(proof, column, source)
    else:
        same = paths_of(proof, column) == labels_of(source, proof, column)
    return None if same else how


def stated_rule(proof: Proof, column: str) -> Any:
    """Return the rule that a proof calls a column's labels by, with its marks of missing values.

    None: by none that is known, or by that of intervals or averages, which the checker has held
    against the proof.
    """
    known = stated_of(proof, column)
    origin = str(known.get("origin"))
    # beside the hash of a file, too: one that is called like a rule has its folder before its name
    if not called_like_a_rule(origin) or {"range", "average"} & {*known}:
        return None
    try:
        return rule_of(origin, known.get("missing", ()), str(known.get("decimal", POINT)))
    except HierarchyError:  # it was given in memory, and called so
        return None


def range_of(stated: dict[str, Any]) -> Ranges:
    """Return the rule that a proof states of a column with intervals."""
    step, most = (stated[name] and Decimal(stated[name]) for name in ("round", "most"))
    cost = WIDTH if stated["cost"] == STARS else stated["cost"]
    order = tuple(stated["order"]) if "order" in stated else None
    mark = stated.get("decimal", POINT)
    return Ranges(step, most, cost, order, show=stated.get("show"), decimal=mark)


def same_range(proof: Proof, column: str, source: Any) -> bool:
    """Whether a source of hierarchies is the rule that a proof states."""
    stated = stated_of(proof, column).get("range")
    bare = bare_of(source)
    if stated is None or not isinstance(bare, Ranges):
        return False
    parts = ("round", "most", "order", "show", *(() if stated["cost"] == STARS else ("cost",)))
    mine = range_of(stated)
    if stated["kind"] == NUMBERS and mine.decimal != bare.decimal:
        return False
    return all(getattr(mine, name) == getattr(bare, name) for name in parts)


def decimal_in(proof: Proof, column: str) -> str | None:
    """Return what stands before decimals of the numbers that a column's rule reads; None of none.

    A rule that makes labels says so where it is no point, and may read no numbers else.
    """
    stated = stated_of(proof, column)
    rule = stated.get("average") or stated.get("range") or {}
    if rule.get("kind", ORDER) in (DATES, ORDER):
        return stated.get("decimal")
    return rule.get("decimal", POINT)


def averaged_in(proof: Proof) -> tuple[str, ...]:
    """Return the columns whose cells are averages."""
    return tuple(proof.facts.get("averaged", ()))


def same_average(proof: Proof, column: str, source: Any) -> bool:
    """Whether a source of hierarchies is the average that a proof states, with its decimals."""
    stated, bare = stated_of(proof, column).get("average"), bare_of(source)
    if stated is None or not isinstance(bare, Averages):
        return False
    same = bare.kind == stated["kind"] and bare.digits in (None, stated["digits"])
    return same and bare.decimal == stated.get("decimal", POINT)


def rungs_of(proof: Proof, column: str) -> pl.DataFrame:
    """Return what a proof says of a column's hierarchy, level by level."""
    return proof.ladders.filter(pl.col("column") == column).sort("level")


def paths_of(proof: Proof, column: str) -> dict[str | None, Path]:
    """Return the labels of each value, from itself to the star, repetitions left out."""
    return {leaf: shortened(labels) for leaf, labels in labels_in(proof, column).items()}


def labels_in(proof: Proof, column: str) -> dict[str | None, list[str | None]]:
    """Return the labels of each value, level by level."""
    found: dict[str | None, list[str | None]] = {}
    for leaf, label in rungs_of(proof, column).select("leaf", "label").iter_rows():
        found.setdefault(leaf, []).append(label)
    return found


def shortened(labels: Any) -> Path:
    """Leave out labels that repeat the one below."""
    return tuple(label for label, _ in groupby(labels))


def labels_of(source: Any, proof: Proof, column: str) -> dict[str | None, Path]:
    """Return the same as a source of hierarchies makes it of the values that the proof lists.

    Raises
    ------
    HierarchyError: the source does not fit the values.
    """
    leaves = list(paths_of(proof, column))
    ladder = source.build(column, leaves)
    star = proof.facts.get("star", "*")
    paths = (ladder.path(leaf) for leaf in range(len(ladder.leaves)))
    return {path[0]: shortened((*path[:-1], star)) for path in paths}


def costs_differ(proof: Proof, policy: Policy, by_rule: bool) -> Iterator[str]:
    """Yield the columns whose costs are others than those asked for.

    Where no cost is named (``by_rule`` false), and of averages, the weights are held: what
    suppressed cells cost.
    """
    weights = {column: weight_of(column, weight) for column, weight in policy.weights.items()}
    for column in weights:
        if column not in proof.facts["roles"]["qi"]:
            yield f"column {column!r} is not a quasi-identifier, so it has no weight"
    asked = costs_asked(proof, policy) if by_rule else None
    averaged = averaged_in(proof)
    for column in proof.facts["roles"]["qi"]:
        stated = costs_of(proof, column)
        if column in averaged and by_rule and asked_among(policy, OTHER_COST):
            yield f"column {column!r}: averages have a cost of their own (leave --cost out)"
            continue
        rule = stated_of(proof, column).get("range", {}).get("cost")
        by_weight = asked is None or column in averaged
        if asked is not None and not by_weight and (stated, rule) != asked[column]:
            yield f"column {column!r}: its costs are not those asked for (--cost, --weight)"
        if by_weight and len(paths_of(proof, column)) > 1:
            star, weight = max(stated.values()), weights.get(column, Fraction(1))
            if star != weight:
                yield f"column {column!r}: a suppressed cell costs {star}, not {weight}"


def costs_of(proof: Proof, column: str) -> dict[tuple[str | None, str | None], Fraction]:
    """Return what each value costs under each of its labels, in the user's units."""
    rungs = rungs_of(proof, column).select("leaf", "label", "cost").iter_rows()
    return {(leaf, label): Fraction(cost, proof.facts["scale"]) for leaf, label, cost in rungs}


def costs_asked(
    proof: Proof, policy: Policy
) -> dict[str, tuple[dict[tuple[str | None, str | None], Fraction], str | None]]:
    """Return by column what ``costs_of`` would be under the policy's cost and weights.

    And, of a column with intervals, by what these are charged.

    Raises
    ------
    InputError: a cost counts a hierarchy's values, and its file is not given.
    """
    qi, star = proof.facts["roles"]["qi"], proof.facts.get("star", "*")
    qi = [column for column in qi if column not in averaged_in(proof)]
    values = {column: list(paths_of(proof, column)) for column in qi}
    sources = {column: source_of(proof, policy, column) for column in qi}
    sources = {column: source for column, source in sources.items() if source is not None}
    weights = {column: weight for column, weight in policy.weights.items() if column in qi}
    trees, scale = build_trees(values, sources, policy.cost, weights)
    found = {}
    for tree in trees:
        rule = tree.rule["cost"] if isinstance(tree, RangeFamily) else None
        rungs = ladder_of(with_star(tree, star)).select("leaf", "label", "cost").iter_rows()
        costs = {(leaf, label): Fraction(cost, scale) for leaf, label, cost in rungs}
        found[tree.column] = costs, rule
    return found


def source_of(proof: Proof, policy: Policy, column: str) -> Any:
    """Return where a column's hierarchy comes from: as asked, as a rule, or as the proof lists it.

    Raises
    ------
    InputError: NCP counts the values of a file that is not given.
    """
    known = proof.facts["hierarchies"].get(column)
    if column in policy.hierarchies:
        return policy.sources()[column]
    if known is None:
        return None
    if "range" in known:
        return sparing(range_of(known["range"]), known.get("missing", ()))
    if (rule := stated_rule(proof, column)) is not None:
        return rule
    cost = policy.cost.get(column, "level") if isinstance(policy.cost, dict) else policy.cost
    if cost == NCP:
        raise InputError(
            f"the cost ncp counts the values of the hierarchy of {column!r}: give it as well, "
            f"--hierarchy {column}=FILE"
        )
    paths = labels_in(proof, column).items()
    spared = (None, *known.get("missing", ()))
    own = [path for leaf, path in paths if leaf not in spared or len(shortened(path)) > 2]
    rows = HierarchyRows(tuple(tuple(label or "" for label in (*path[:-1], STAR)) for path in own))
    return sparing(rows, known.get("missing", ()))
