"""Releases that publish the averages of classes: recomputed, and their cost and bound counted.

What is asked of a class is its own definition here: it has k rows or more, its rows lack the same
cells, and in each averaged column every row shows the average of the class's cells, rounded as
stated, halves away from zero.

Cost.  A class costs the squares of its numbers about their mean (distances from their median),
times rows·weight over those of the whole column, so that all rows in one class would cost their
weight each.  Centroids are measured by all their columns together.  The sum is cut to 1/scale.

Bound.  Rows that lack the same cells and vary in one column: the cheapest classes are runs in
order, of k rows or more (see ``docs/explanation/averages.md``), found by ``runs.py``.
Several columns: prices that sum to no more over a class than it costs (``nearest.py``).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.delimited import MARK
from incrowd.checker.files import Proof
from incrowd.checker.models import least_size
from incrowd.checker.nearest import require_cheap
from incrowd.checker.numerals import mark_of, without_comma
from incrowd.checker.recheck import classes_of, require_permutation, require_size
from incrowd.checker.rejection import RejectedError, require
from incrowd.checker.runs import in_units, shortest

Ints = NDArray[np.int64]
KINDS = ("mean", "median", "centroid")
LONGEST, DIGITS = 60, 18
# how text writes an average: plainly, or as numbers below 0.0001 are written of Parquet and Arrow
WRITTEN = re.compile(
    r"(?!-0\Z)-?(0|[1-9][0-9]*)(\.[0-9]+)?|-?[0-9](\.[0-9]+)?(e-[0-9]{2}|E-[1-9][0-9]?)"
)


class Column(NamedTuple):
    """An averaged column: its rule, its cells as numbers (None: missing), and its price.

    ``mark``: what stands before decimals.
    """

    name: str
    kind: str
    digits: int
    weight: Fraction
    cells: list[str | None]
    numbers: list[Fraction | None]
    price: Fraction = Fraction(0)
    mark: str = "."


def compared(
    text: Sequence[pl.DataFrame],
    tables: Sequence[pl.DataFrame],
    origin: Ints,
    proof: Proof,
    known: tuple[Any, dict[str, Any]],
) -> dict[str, Any]:
    """Return what original and release prove together with a proof of averages, or reject it.

    Parameters
    ----------
    text: the quasi-identifiers before and after.  tables: all columns, before and after.
    known: the quasi-identifiers' ladders, whose stars cost weights, and what costs mean, see
        ``incrowd.checker.costs.meaning``.
    """
    (ladders, costs), facts, models = known, proof.facts, proof.facts["models"]
    plain = len(models) == 1 and models[0].get("model") == "k-anonymity" and not proof.sets.height
    plain = plain and not facts.get("suppressed_rows") and "delete_rows" not in facts
    require(plain, "averages are proved of k-anonymity alone, and of all rows")
    cost, bound, scale, quantum = (facts[n] for n in ("cost", "bound", "scale", "quantum"))
    k, rules = least_size(models), rules_of(facts["hierarchies"])
    named = [column.removeprefix(MARK) for column in rules]
    fine = isinstance(facts["averaged"], list) and sorted(facts["averaged"]) == sorted(named)
    require(fine, "the proof names other averaged columns")
    marks = {c: facts["hierarchies"][c].get("missing", ()) for c in rules}
    stars = {c: max(ladder["cost"].to_list(), default=0) for c, ladder in ladders.items()}
    weights = {c: Fraction(star, scale) for c, star in stars.items()}
    classes = proof.rows["class"].cast(pl.Int64).to_numpy()
    columns = columns_of(text[0], rules, marks, weights)
    found = recheck(text[0], text[1], columns, k, classes, origin, cost, scale)
    as_numbers = [{c for c in table.columns if table[c].dtype.is_numeric()} for table in tables]
    for column in found:
        if column.name not in as_numbers[1]:
            require_written(column, text[1], classes, origin, column.name in as_numbers[0])
    sizes = facts.get("sizes", [])
    require(all(b < k for b in sizes), "the proof has prices for more rows than k")
    price = {b: proof.rows[f"price_of_{b}"].cast(pl.Int64).to_numpy() for b in sizes}
    price[k] = proof.rows["price"].cast(pl.Int64).to_numpy()
    proven = least(columns, k, price, origin, scale, quantum)
    require(bound <= proven, f"what is known proves {proven}, not {bound}")
    require(0 <= bound <= cost, "the bound is above the cost, or below 0")
    names = {column.name: "distances" if column.kind == "median" else "squares" for column in found}
    names = {name.removeprefix(MARK): rule for name, rule in names.items()}
    told = {c: cost | {"rule": names.get(c, cost["rule"])} for c, cost in costs.items()}
    most = sum(star * text[0].height for star in stars.values())
    shown = [name.removeprefix(MARK) for name in tables[1].columns]
    said = {"rows": text[0].height, "columns": shown, "suppressed_rows": 0, "averaged": named}
    return {**said, "costs": told, "proven": proven, "most": most}


def rules_of(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the averages that a proof states; reject one that is not what it is called.

    ``stated``: what the proof says of hierarchies, by column.
    """
    rules = {c: source["average"] for c, source in stated.items() if "average" in source}
    for name, rule in rules.items():
        fine = (
            isinstance(rule, dict)
            and {*rule} - {"decimal"} == {"kind", "digits"}
            and rule["kind"] in KINDS
        )
        fine = fine and type(rule["digits"]) is int and abs(rule["digits"]) <= DIGITS
        require(fine, "the proof states no average", column=name)
        called = f"{rule['kind']}:digits={rule['digits']}"
        same = stated[name].get("origin") == called
        require(same, "its average is not the rule that it is called", column=name)
    return rules


def columns_of(
    before: pl.DataFrame,
    rules: Mapping[str, Any],
    marks: Mapping[str, Iterable[str]],
    weights: Mapping[str, Fraction],
) -> list[Column]:
    """Return the averaged columns of an original with their prices."""
    found = []
    for name, rule in rules.items():
        require(name in before.columns, "the proof states no average", column=name)
        cells, spared = before[name].cast(pl.String).to_list(), {*marks[name]}
        mark = mark_of(rule, name)
        told = {t: None if t is None or t in spared else t for t in {*cells}}
        known = {t: None if x is None else number(x, name, mark) for t, x in told.items()}
        numbers = [known[cell] for cell in cells]
        kind, digits = rule["kind"], rule["digits"]
        found.append(Column(name, kind, digits, weights[name], cells, numbers, mark=mark))
    whole = [of_table(column) for column in found]
    together = [j for j, column in enumerate(found) if column.kind == "centroid"]
    done = []
    for j, column in enumerate(found):
        mine = together if j in together else [j]
        worth = sum(found[i].weight * whole[i][0] for i in mine)
        spread = sum(found[i].weight * whole[i][1] for i in mine)
        done.append(
            column._replace(price=column.weight * worth / spread if spread else Fraction(0))
        )
    return done


def of_table(column: Column) -> tuple[int, Fraction]:
    """Return how many cells of a column are numbers, and their spread as one class."""
    known = [x for x in column.numbers if x is not None]
    return len(known), spread(known, column.kind) if known else Fraction(0)


def number(text: str, column: str, mark: str) -> Fraction:
    """Return the number that a text writes, exactly; ``mark``: what stands before decimals."""
    try:
        read = Decimal(without_comma(text, mark))
    except InvalidOperation:
        read = Decimal("NaN")
    exponent = read.as_tuple().exponent
    fine = isinstance(exponent, int) and "_" not in text
    fine = fine and read.adjusted() < LONGEST and -int(exponent) <= LONGEST
    require(fine, "an original cell of an averaged column is no number", column=column)
    return Fraction(read)


def average(numbers: Sequence[Fraction], kind: str) -> Fraction:
    """Return the mean of a class, or its median: of two middle values their mean."""
    whole, unit = in_units(numbers)
    if kind != "median":
        return Fraction(sum(whole), len(whole) * unit)
    whole, half = sorted(whole), len(whole) // 2
    return Fraction(whole[half] + whole[-half - 1], 2 * unit)


def spread(numbers: Sequence[Fraction], kind: str) -> Fraction:
    """Return the squares of a class about its mean, or the distances from its median."""
    whole, unit = in_units(numbers)
    n, half = len(whole), len(whole) // 2
    if kind == "median":
        whole = sorted(whole)
        return Fraction(sum(whole[n - half :]) - sum(whole[:half]), unit)
    return Fraction(n * sum(x * x for x in whole) - sum(whole) ** 2, n * unit * unit)


def rounded(x: Fraction, digits: int) -> Fraction:
    """Round to so many decimals, halves away from zero."""
    up, down = 10 ** max(0, digits), 10 ** max(0, -digits)
    unit = x.denominator * down
    whole = Fraction((2 * abs(x.numerator) * up + unit) // (2 * unit) * down, up)
    return whole if x >= 0 else -whole


def recheck(
    before: pl.DataFrame,
    after: pl.DataFrame,
    columns: Sequence[Column],
    k: int,
    classes: Ints,
    origin: Ints | None,
    cost: int,
    scale: int,
) -> list[Column]:
    """Check what is published of classes against the original, and what they cost.

    Parameters
    ----------
    before, after: the quasi-identifiers as text, of all rows.
    classes: int64, shape (rows,): of each released row.  origin: see ``recheck.recheck``.

    Returns
    -------
    the columns.

    Raises
    ------
    RejectedError: the first violation, by row number and column, never by value.
    """
    rows = before.height
    require(after.height == rows == len(classes), "the release has not the rows of the original")
    order = np.arange(rows) if origin is None else origin
    require_permutation(order, rows)
    averaged = {column.name for column in columns}
    for name in before.columns:
        if name not in averaged:
            wrong = before[name].gather(order).ne_missing(after[name]).arg_true()
            require(not len(wrong), "the cell was changed, and is no average", column=name)
    require_size(classes_of(after, before.columns), k)
    inside = not rows or bool(classes.min() >= 0 and classes.max() < rows)
    require(inside, "a class has a number that is none")
    require_size(classes, k)
    members = np.split(np.argsort(classes, kind="stable"), np.cumsum(np.bincount(classes))[:-1])
    groups = [member for member in members if len(member)]
    total = sum(
        (paid(column, after[column.name], groups, order) for column in columns), Fraction(0)
    )
    counted = int(total * scale)
    require(counted == cost, f"the release costs {counted}, not {cost} as claimed")
    return list(columns)


def paid(column: Column, shown: pl.Series, groups: Sequence[Ints], order: Ints) -> Fraction:
    """Return what classes pay in a column; reject the first whose rows do not show its average."""
    released, total = shown.cast(pl.String).to_list(), Fraction(0)
    for member in groups:
        rows, place = member.tolist(), order[member].tolist()
        texts = {released[row] for row in rows}
        known = [x for x in (column.numbers[at] for at in place) if x is not None]
        where = rows[0] + 1, column.name
        if not known:
            same = all(
                column.cells[at] == released[row] for row, at in zip(rows, place, strict=True)
            )
            require_at(same and len(texts) == 1, "a missing cell was changed", *where)
            continue
        require_at(len(known) == len(rows), "its class lacks the cells of some rows alone", *where)
        require_at(len(texts) == 1, "its class does not show one average", *where)
        (text,) = texts
        require_at(text is not None, "the average of its class is missing", *where)
        right = rounded(average(known, column.kind), column.digits)
        require_at(
            number(str(text), column.name, column.mark) == right,
            "it is not its class's average",
            *where,
        )
        total += spread(known, column.kind)
    return total * column.price


def require_written(
    column: Column, after: pl.DataFrame, classes: Ints, order: Ints, typed: bool
) -> None:
    """Reject an average that is written in a way of its own: spaces and zeros could tell of cells.

    It stays as it was written where each row of the class had this very text.  ``typed``: they were
    numbers of Parquet or Arrow, where zeros may stand behind if all have as many decimals.
    """
    texts = after[column.name].cast(pl.String).to_list()
    own = [column.cells[at] for at in order.tolist()]
    groups = classes.tolist()
    changed = {group for group, new, old in zip(groups, texts, own, strict=True) if new != old}
    first = {text: row for row, text in enumerate(texts) if groups[row] in changed}
    first = {text: row for text, row in first.items() if text is not None}
    ours = {t: without_comma(t, column.mark) for t in first}  # as long: without thousands apart
    ours = {t: x for t, x in ours.items() if WRITTEN.fullmatch(x) and len(x) == len(t)}
    read = {t: Decimal(x) for t, x in ours.items() if typed or "e" not in x.lower()}
    decimals = {t: -int(x.as_tuple().exponent) for t, x in read.items()}
    filled = any(decimals[t] > 0 and x.as_tuple().digits[-1] == 0 for t, x in read.items())
    for text, row in first.items():
        fine = text in read and (decimals[text] == 0 or Fraction(read[text]).denominator > 1)
        fine = fine and (not filled or (typed and decimals[text] in (0, max(decimals.values()))))
        reason = "the average of its class is written in a way of its own"
        require_at(fine, reason, row + 1, column.name)


def require_at(truth: bool, reason: str, row: int, column: str) -> None:
    """Reject at a row of the release."""
    if not truth:
        raise RejectedError(reason, row, column)


def least(
    columns: Sequence[Column],
    k: int,
    price: Mapping[int, Ints],
    origin: Ints,
    scale: int,
    quantum: int,
) -> int:
    """Return what no release costs less than, in units of 1/scale, or reject prices too high.

    price: int64, shape (rows,): of the released rows, by the number of rows that they are for.
    """
    lacking: dict[Any, list[int]] = {}
    for row in range(len(origin)):
        pattern = tuple(c.cells[row] if c.numbers[row] is None else 0 for c in columns)
        lacking.setdefault(pattern, []).append(row)
    own = {b: np.zeros_like(each) for b, each in price.items()}
    for b, each in price.items():
        own[b][origin] = each
    total = Fraction(0)
    for rows in lacking.values():
        able = [c for c in columns if len({c.numbers[row] for row in rows}) > 1 and c.price]
        if len(able) > 1:
            kinds = [c.kind == "median" for c in able]
            mine = {b: each[rows] for b, each in own.items()}
            due = mine.pop(k)
            require_cheap(places(able, rows), kinds, k, due, scale * quantum, mine)
            total += Fraction(sum(due.tolist()), scale * quantum)
        elif able:
            numbers = sorted(x for x in (able[0].numbers[row] for row in rows) if x is not None)
            total += able[0].price * shortest(numbers, k, able[0].kind)
    return max(0, int(total * scale))


def places(columns: Sequence[Column], rows: Sequence[int]) -> NDArray[np.float64]:
    """Return rows as points: squares (or distances) between coordinates are what they cost."""
    place = np.zeros((len(rows), len(columns)))
    for j, column in enumerate(columns):
        numbers, unit = in_units([column.numbers[row] or Fraction(0) for row in rows])
        middle = sorted(numbers)[len(numbers) // 2]
        scale = float(column.price) if column.kind == "median" else float(column.price) ** 0.5
        place[:, j] = [(x - middle) / unit * scale for x in numbers]
    return place
