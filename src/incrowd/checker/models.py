"""The privacy models, each from its definition, in exact arithmetic.

A model is plain data, e.g. ``{"model": "frequency", "l": 3, "column": "diagnosis"}``; the full list
stands in docs/reference/proof-format.md.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker import once, shares
from incrowd.checker.entropy import entropy_reaches
from incrowd.checker.limits import MOST_DEPTH, MOST_DIGITS, MOST_MODELS, require_within
from incrowd.checker.ordered import Places
from incrowd.checker.rejection import RejectedError, require, require_none
from incrowd.checker.transport import Scaled, checked_metric, least_work

Plain = Mapping[str, Any]
Histogram = Mapping[Any, int]
COUNTED = ("k-anonymity", "people")  # rows, and persons
DISTANCES = {"equal": "", "ordered": "order", "hierarchical": "order levels"}
DISTANCES |= {"metric": "order matrix"}
PEOPLE = ("missing", "linked", "alike", "whole")  # what may be said of people beside their number
KEYS = {
    "k-anonymity": "k",
    "people": "k columns",
    "combination": "k columns",
    "distinct": "l column",
    "frequency": "l column",
    "entropy": "l column",
    "recursive": "c l column",
    "disjoint": "l columns",
    "alpha-k": "alpha k column",
    "basic-beta": "beta column",
    "enhanced-beta": "beta column",
    "delta-disclosure": "delta column",
}
KEYS |= {f"t-closeness {d}": f"t distance column {more}" for d, more in DISTANCES.items()}
# steps of all searches of a proof: so many, and for each row more; a call of ``mates`` takes TRIES
MOST_TRIES, TRIES = 1 << 24, 1 << 8
EACH, STEP = 1 << 15, 1 << 3  # ``STEP``: what one value costs that a distance looks at


class Known(dict[Any, int]):
    """The table's histogram and its rows, which every class asks for."""

    def __init__(self, counts: Histogram) -> None:
        super().__init__(counts)
        self.rows = sum(counts.values())


def require_keys(models: Sequence[Plain]) -> None:
    """Reject a model with other keys than its own: what one part of the checker does not look at,
    such as a second column or an order of values, another could read a bound from."""
    require(len(models) <= MOST_MODELS, f"the proof names more than {MOST_MODELS} models")
    for model in models:
        kind = model.get("model")
        full = f"{kind} {model.get('distance')}" if kind == "t-closeness" else kind
        require(full in KEYS, f"the checker does not know the model {full!r}")
        wanted = {"model", *KEYS[str(full)].split()}
        more = {"alpha-k": {"values"}, "people": set(PEOPLE)}.get(str(kind), set())
        more = more | ({"once"} if kind in once.KINDS else set())
        fine = set(model) - more == wanted and model.get("missing", "own") in ("own", "drop")
        fine = fine and all(
            model.get(n, True) is True for n in ("linked", "alike", "whole", "once")
        )
        fine = fine and ("alike" in model or "whole" not in model)
        named = model.get("columns", [model.get("column", "")])
        fine = fine and isinstance(named, list) and all(isinstance(name, str) for name in named)
        require(fine, f"the model {kind} has other keys than it needs")


def require_lawful(
    classes: NDArray[np.int64], sensitive: pl.DataFrame, models: Sequence[Plain]
) -> None:
    """Reject the first class (by its first row) that breaks one of the models."""
    tries = [MOST_TRIES + EACH * len(classes)]
    for model in models:
        if model.get("model") in ("k-anonymity", "combination"):
            continue  # counted where the classes are
        columns = columns_of(model, sensitive)
        keys = pl.DataFrame({str(j): sensitive.get_column(c) for j, c in enumerate(columns)})
        frame = keys.with_columns(pl.Series("class", classes)).with_row_index("row")
        table = Known(Counter(keys.rows()))
        if model.get("once"):
            counts = once.table_of(model, sensitive, columns[0], models)
            table = Known({(v,): n for v, n in counts.items()})
            frame = once.counted(frame, keys.columns, sensitive[once.whose(models)])
        groups = frame.group_by("class", *keys.columns).agg(pl.len(), pl.col("row").min())
        members: dict[int, Counter[Any]] = {}
        first: dict[int, int] = {}
        for name, *values, count, row in groups.rows():
            members.setdefault(name, Counter())[tuple(values)] = count
            first[name] = min(row, first.get(name, row))
        if model.get("distance") == "metric":
            model = {**model, "matrix": scaled(model, len(table))}
        if model.get("distance") == "ordered":
            model = {**model, "order": Places(model.get("order"), table)}
        seen: dict[frozenset[Any], bool] = {}
        for name in sorted(members, key=first.__getitem__):
            histogram = members[name]
            key = frozenset(histogram.items())
            if key not in seen:
                seen[key] = lawful(model, histogram, table, tries)
            require(seen[key], f"its class breaks the model {described(model)}", first[name] + 1)
        if model.get("linked"):
            require_shared(frame, keys.columns, int(number(model, "k", whole=True)))


def require_shared(rows: pl.DataFrame, whose: Sequence[str], k: int) -> None:
    """Reject a person whose rows together are not those of at least k people, class by class."""
    classes = pl.col("class").sort().cast(pl.String).str.join(",").alias("record")
    people = rows.group_by(whose).agg(classes, pl.col("row").min())
    alone = people.filter(pl.len().over("record") < k)["row"].sort()
    require_none(alone, f"fewer than {k} people share all rows of this one's person", None)


def least_size(models: Sequence[Plain]) -> int:
    """Return the k of the models that are k-anonymity."""
    return int(
        max(
            (number(m, "k", True) for m in models if m.get("model") == "k-anonymity"),
            default=Fraction(1),
        )
    )


def columns_of(model: Plain, sensitive: pl.DataFrame) -> list[str]:
    """Return the sensitive columns that the model looks at."""
    columns = list(model.get("columns", [model["column"]] if "column" in model else []))
    require(all(c in sensitive.columns for c in columns), "a model asks of no sensitive column")
    require(bool(columns), "a model asks of no column")
    return columns


def described(model: Plain) -> str:
    """Say which model it is, without what it lists of the table's values."""
    keys = ("model", "k", "c", "l", "t", "alpha", "beta", "delta")
    return ", ".join(str(model[key]) for key in keys if key in model)


def number(model: Plain, name: str, whole: bool = False) -> Fraction:
    """Return a positive parameter: a whole number, or a fraction written as text."""
    value = model.get(name)
    fits = type(value) is int or (isinstance(value, str) and not whole)
    require(fits, f"the model's {name} is not {'a whole number' if whole else 'an exact number'}")
    exact = fraction(value)
    zero = exact == 0 and name in ("t", "beta")
    require(exact > 0 or zero, f"the model's {name} is not positive")
    return exact


def fraction(value: Any) -> Fraction:
    """Return a whole number or a fraction written as ``1/5`` or ``2.5``, but not as ``1e9``."""
    written = isinstance(value, str) and re.fullmatch(r"[0-9]+(/[0-9]+|\.[0-9]+)?", value)
    require(len(str(value)) <= MOST_DIGITS, f"a model's number has over {MOST_DIGITS} digits")
    require(type(value) is int or bool(written), "a model's number is not written as a fraction")
    return Fraction(value)


def lawful(
    model: Plain, group: Histogram, table: Histogram, tries: list[int] | None = None
) -> bool:
    """Whether a class with these sensitive values (tuples, counted) obeys the model.

    ``tries``: how many steps a search may take, counted down; by default as many as for one class.
    """
    tries = tries or [MOST_TRIES + TRIES * len(group)]
    kind, n = model.get("model"), sum(group.values())
    falling = sorted(group.values(), reverse=True)
    if kind == "t-closeness":
        return work(model, group, table, tries) <= number(model, "t")
    if kind in shares.NAMES:
        tries[0] -= STEP * len(model.get("values") or ())
        require_within(tries[0] >= 0, "the guarded values of a class take too long to count")
        limit, k = share_limit(model)
        return shares.fits(str(kind), limit, k, *shares.counted(model, group, table))
    if kind == "people":  # the values are persons: however many rows each has
        return len(group) >= number(model, "k", whole=True)
    l = number(model, "l", whole=kind != "entropy")  # noqa: E741
    if kind == "distinct":
        return len(group) >= l
    if kind == "frequency":
        return l * falling[0] <= n
    if kind == "recursive":
        return falling[0] < number(model, "c") * sum(falling[int(l) - 1 :])
    if kind == "entropy":
        return entropy_reaches(falling, l)
    if kind == "disjoint":
        return all(mates(row, list(group), int(l), tries) for row in group)
    raise RejectedError(f"the checker does not know the model {kind!r}")


def share_limit(model: Plain) -> tuple[Fraction, int]:
    """Return α, β or δ, and k (1 for all but (α,k)-anonymity)."""
    limit = number(model, shares.NAMES[model["model"]])
    return limit, int(number(model, "k", whole=True)) if model["model"] == "alpha-k" else 1


def share_table(model: Plain, table: Histogram) -> dict[Any, shares.Share]:
    """Return the least and largest share of each value in a lawful class."""
    return shares.limits(model, share_limit(model)[0], table)


def mates(
    row: tuple[Any, ...],
    others: Sequence[tuple[Any, ...]],
    l: int,  # noqa: E741
    tries: list[int],
) -> bool:
    """Whether ``row`` and l−1 of the others differ pairwise in every attribute.

    ``tries``: how many calls there may be, counted down.
    """
    tries[0] -= TRIES
    require_within(
        tries[0] >= 0, "the disjoint classmates of a class leave too many choices to try"
    )
    left = [o for o in others if all(a != b for a, b in zip(row, o, strict=True))]
    if l <= 1 or len(left) < l - 1:
        return l <= 1
    return any(mates(other, left[i + 1 :], l - 1, tries) for i, other in enumerate(left))


def work(model: Plain, group: Histogram, table: Histogram, tries: list[int]) -> Fraction:
    """Earth Mover's Distance between a class and the table, both as shares."""
    n, rows = sum(group.values()), shares.rows_of(table)
    distance = model.get("distance")
    if distance == "equal":
        return Fraction(sum(max(0, h * rows - n * table[v]) for v, h in group.items()), n * rows)
    order: Any = model.get("order")
    if isinstance(order, Places):
        tries[0] -= STEP * len(group)
        require_within(tries[0] >= 0, "the distances of a class take too long to add up")
        return Fraction(order.moved(group), n * rows * max(len(order) - 1, 1))
    tries[0] -= STEP * len(table) * max(1, len(model.get("levels") or ()))
    require_within(tries[0] >= 0, "the distances of a class take too long to add up")
    surplus = {v[0]: group.get(v, 0) * rows - n * count for v, count in table.items()}
    require(isinstance(order, list), "the model does not list the values")
    require(
        set(order) == set(surplus) and len(order) == len(surplus), "the model lists other values"
    )
    falling = [surplus[v] for v in order]
    if distance == "ordered":
        total = sum(abs(int(s)) for s in np.cumsum(np.array(falling, object)))
        return Fraction(total, n * rows * max(len(order) - 1, 1))
    if distance == "hierarchical":
        levels = split(model, len(order))
        total = sum(s for at in levels for s in sums(at, falling) if s > 0)
        return Fraction(total, n * rows * max(len(levels), 1))
    require(distance == "metric", "the checker does not know the model's distance")
    unit, matrix = scaled(model, len(order))
    return Fraction(least_work(falling, matrix, tries)) / (unit * n * rows)


def nearest(model: Plain, values: int) -> Fraction:
    """Return a distance that no two values fall below: mass that is moved goes so far at least."""
    distance, one = model.get("distance"), Fraction(1)
    if distance == "ordered":
        return one / max(values - 1, 1)
    if distance == "hierarchical":
        return one / max(len(split(model, values)), 1)
    if distance == "metric":
        d = metric(model, values)
        return min((x for i, row in enumerate(d) for x in row[:i]), default=one)
    return one if distance == "equal" else Fraction(0)


def split(model: Plain, values: int) -> list[list[int]]:
    """Return the levels of a hierarchy of values at which not all values are one."""
    levels: Any = model.get("levels")
    fine = isinstance(levels, list) and 0 < len(levels) <= MOST_DEPTH
    fine = fine and all(len(level) == values for level in levels)
    require(fine and len(set(levels[0])) == values, "the model's hierarchy is not a hierarchy")
    for low, high in pairwise(levels):
        require(len(set(zip(low, high, strict=True))) == len(set(low)), "it has two parents")
    return [level for level in levels if len(set(level)) > 1]


def sums(node: Iterable[int], surplus: Iterable[int]) -> list[int]:
    """Add up the surplus at each node."""
    total: Counter[int] = Counter()
    for at, s in zip(node, surplus, strict=True):
        total[at] += s
    return list(total.values())


def scaled(model: Plain, values: int) -> Scaled:
    """Return the distances of a model in whole numbers, or reject what is no metric."""
    known = model["matrix"]
    return known if isinstance(known, Scaled) else Scaled.of(metric(model, values))


def metric(model: Plain, values: int) -> Sequence[Sequence[Fraction]]:
    """Return the distances of a model, or reject what is no metric of diameter 1."""
    return distances(tuple(map(tuple, model["matrix"])), values)


@lru_cache(8)
def distances(matrix: tuple[tuple[Any, ...], ...], values: int) -> Sequence[Sequence[Fraction]]:
    """Return the distances, which every class asks for."""
    return checked_metric([[fraction(x) for x in row] for row in matrix], values)


def least_class(models: Sequence[Plain], sensitive: pl.DataFrame) -> int:
    """Return a number of rows that no lawful class falls below."""
    least = 1
    for model in models:
        kind = model.get("model")
        if kind == "t-closeness" or kind in shares.NAMES:
            table = once.table_of(model, sensitive, columns_of(model, sensitive)[0], models)
            steps = shares.MOST_STEPS // len(models)
            if kind == "t-closeness":
                least = max(least, least_close(model, table, steps))
            else:
                few = shares.least(share_table(model, table), table, steps)
                least = max(least, few, share_limit(model)[1])
        elif kind == "combination":
            continue  # says nothing of classes
        elif kind == "recursive":
            # r₁ ≥ 1 and the l−1 largest counts are ≥ 1, so n > l − 1 + 1/c
            c, l = number(model, "c"), number(model, "l", whole=True)  # noqa: E741
            least = max(least, floor(l - 1 + 1 / c) + 1)
        else:
            least = max(least, ceil(number(model, "k" if kind in COUNTED else "l")))
    return least


def fewest_of(model: Plain, sensitive: pl.DataFrame, models: Sequence[Plain]) -> int:
    """Return the different values that a class has at least under a model that counts people."""
    table = once.table_of(model, sensitive, columns_of(model, sensitive)[0], models)
    limits = share_table(model, table) if model["model"] in shares.NAMES else {}
    apart = nearest(model, len(table)) if model["model"] == "t-closeness" else Fraction(1)
    return once.fewest_values(model, table, limits, apart)


def least_close(model: Plain, table: Histogram, steps: int) -> int:
    """Return the least n for which the quotas n·C(v)/N, rounded, can be within t of the table.

    Or a smaller number, where it takes more than so many ``steps`` to find.
    """
    most = steps // max(1, len(table))
    rows, t = sum(table.values()), number(model, "t")
    distance, order = model.get("distance"), model.get("order", list(table))
    counts = [table[v] for v in order]
    if distance == "ordered":
        cumulated = np.cumsum(counts).tolist()
        for n in range(1, min(rows, most)):
            rests = [n * c % rows for c in cumulated]
            if sum(min(r, rows - r) for r in rests) <= t * n * rows * max(len(order) - 1, 1):
                return n
        return max(min(rows, most), 1)
    levels, factor = [list(range(len(counts)))], Fraction(1)
    if distance == "hierarchical":
        levels = split(model, len(counts)) or levels
    if distance == "metric":
        factor = nearest(model, len(counts))
    tables = [sums(node, counts) for node in levels]
    for n in range(1, min(rows, most)):
        moved = sum(rounding(n, at, rows) for at in tables)
        if factor * moved <= t * n * rows * len(tables):
            return n
    return max(min(rows, most), 1)


def rounding(n: int, counts: Iterable[int], rows: int) -> int:
    """Return the least Σ (x(v)·N − n·C(v))⁺ over whole numbers x(v) ≥ 0 that sum to n."""
    rests = sorted((n * c % rows for c in counts), reverse=True)
    return sum(rows - r for r in rests[: sum(rests) // rows])
