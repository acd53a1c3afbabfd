"""Columns whose values may become intervals of their order: what a cell may read, what it costs.

The rule stands in the proof beside the column's ladder, which lists the values and the star alone.
All else is worked out here from the texts of the values, in exact numbers.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.numerals import mark_of, with_mark, without_comma
from incrowd.checker.rejection import RejectedError, require
from incrowd.checker.wording import is_called, wording

Ints = NDArray[np.int64]
PARTS = 10**6  # of the widest interval: the unit of positions
LONGEST = 60  # digits before or behind the point
BLOCK = 1 << 19  # windows, and entries in them, expanded at once; bounds the memory
DECLARED = re.compile(r"missing \S+( \(.*\))?", re.DOTALL)  # how statistics packages' files say so
KEYS = {"kind", "round", "most", "cost"}
RULES = ("range", "mean", "median", "centroid")  # whose cells are none of a ladder's labels


class Windows(NamedTuple):
    """Intervals as the price inequality asks for them.

    int64, shape (leaves,), leaves in their order: codes a < b cost ``up[b] - down[a]`` if
    b <= ``reach[a]``, and else the star's cost; a single leaf costs 0.  The first ``known`` leaves
    have a place in the order.
    """

    down: Ints
    up: Ints
    reach: Ints
    star: int
    known: int

    def times(self, quantum: int) -> "Windows":
        """Return the same with all costs multiplied."""
        down, up = self.down * quantum, self.up * quantum
        return Windows(down, up, self.reach, self.star * quantum, self.known)


class Intervals:
    """One column's intervals, by its rule and the values that its ladder lists.

    Attributes
    ----------
    leaves: the values in their order, then those that only the star holds.
    met: texts that were read as intervals, see ``interval``.
    """

    def __init__(
        self, rule: Mapping[str, Any], ladder: pl.DataFrame, column: str, missing: Any = ()
    ) -> None:
        def must(truth: bool, reason: str) -> None:
            require(truth, f"its range {reason}", column=column)

        order, show = rule.get("order"), rule.get("show")
        more = {name for name in ("order", "show", "decimal") if rule.get(name) is not None}
        must(set(rule) == KEYS | more, "has other keys")
        must(rule["kind"] in ("numbers", "dates", "order"), "is of an unknown kind")
        listed = isinstance(order, list) and len(order) <= PARTS
        must((rule["kind"] == "order") == listed, "lists an order, or should")
        must(rule["cost"] in ("width", "values", "stars"), "has an unknown cost")
        self.kind, self.cost, self.mark = rule["kind"], rule["cost"], mark_of(rule, column)
        self.met: dict[str, tuple[Fraction, Fraction, int]] = {}
        self.places = {text: Fraction(n) for n, text in enumerate(order or [])}
        must("" not in self.places, "lists an empty value")
        must(len(self.places) == len(order or []), "lists a value twice")
        self.step, self.most = (number(rule[name]) for name in ("round", "most"))
        for name, read in (("round", self.step), ("most", self.most)):
            fine = rule[name] is None or (read is not None and read > 0)
            must(fine and (read is None or written(read) == rule[name]), f"has no lawful {name}")
        must(self.step is None or self.kind == "numbers", "rounds what is not a number")
        must(ladder["level"].n_unique() <= 2, "has a ladder with groups")
        own, missing = ladder.filter(pl.col("level") == 0), {*missing}
        must(not (own["cost"] != 0).any(), "charges values that stay")
        values = own["leaf"].to_list()
        at = {value: self.place(value) for value in values if value is not None}
        only_star = [text for text in at if DECLARED.fullmatch(text) or text in missing]
        self.known = {text: x for text, x in at.items() if x is not None and text not in only_star}
        must(len(self.known) + len(only_star) == len(at), "has a value without a place")
        inside = sorted(self.known, key=lambda text: (self.known[text], text))
        self.leaves: list[str | None] = [*inside, *sorted(only_star)]
        self.leaves += [None] if None in values else []
        self.numbers = [self.known[text] for text in inside]
        self.distinct, self.names = sorted({*self.numbers}), list(self.places)
        self.star = max(ladder["cost"].to_list(), default=0)
        must(self.star % PARTS == 0, "has costs that are not millionths")
        both = (self.rounded(x, down) for x in self.numbers for down in (True, False))
        self.ends = list(zip(both, both, strict=True))
        plain = "-" if self.kind == "numbers" and min(self.numbers, default=0) >= 0 else ".."
        self.wording = wording(f"{{low}}{plain}{{high}}" if show is None else show, column)
        self.firsts = {self.text(low): low for low, _ in self.ends}
        self.lasts = {self.text(high): high for _, high in self.ends}
        texts = {*ladder["label"].to_list(), *self.places, *self.firsts, *self.lasts}
        must(self.wording.one_way(self.firsts, self.lasts, texts), "has texts that read alike")

    def place(self, text: str) -> Fraction | None:
        """Return where a value stands in the order, or None."""
        if self.kind == "order":
            return self.places.get(text)
        return number(text, self.mark) if self.kind == "numbers" else day(text)

    def rounded(self, x: Fraction, down: bool) -> Fraction:
        """Return the multiple of the step at or below a number, or at or above it."""
        step = self.step
        return x if step is None else (x // step if down else -(-x // step)) * step

    def text(self, end: Fraction) -> str:
        """Return how an end of an interval is written."""
        if self.kind == "order":
            return self.names[int(end)]
        day = date.fromordinal(int(end)).isoformat() if self.kind == "dates" else None
        return day or with_mark(written(end), self.mark)

    def positions(self, low: Fraction, high: Fraction) -> tuple[int, int]:
        """Return where an interval begins and ends, in parts of the widest one, halves up."""
        if self.cost == "stars":
            return 0, PARTS
        least, greatest = self.ends[0][0], self.ends[-1][1]
        if self.cost == "values":
            low = Fraction(bisect_left(self.distinct, low))
            high = Fraction(bisect_right(self.distinct, high) - 1)
            least, greatest = Fraction(0), Fraction(len(self.distinct) - 1)
        width = (greatest - least) or Fraction(1)
        low, high = ((x - least) / width * PARTS + Fraction(1, 2) for x in (low, high))
        return int(low // 1), int(high // 1)

    def pays(self, leaf: str | None, label: str | None) -> int | None:
        """Return what a value costs that is released as an interval; None if it is in none such."""
        own = None if leaf is None else self.known.get(leaf)
        if own is None or label is None:
            return None
        if label not in self.met:
            self.met[label] = self.interval(label)
        low, high, cost = self.met[label]
        return cost if low <= own <= high else None

    def interval(self, label: str) -> tuple[Fraction, Fraction, int]:
        """Return the ends that a text shows, and what a cell costs; ends that hold none if none."""
        first, last = self.wording.ends(label)
        if label in self.firsts and label in self.lasts:  # several texts of one number
            first = last = label
        low, high = self.firsts.get(first), self.lasts.get(last)
        if low is None or high is None or (self.most is not None and high - low > self.most):
            return Fraction(1), Fraction(0), 0
        begin, end = self.positions(low, high)
        return low, high, (end - begin) * (self.star // PARTS)

    def priced(self, kinds: pl.DataFrame) -> pl.DataFrame:
        """Fill in what cells cost that became intervals: ``leaf, label, cost`` (null: unknown)."""
        cells = kinds.select("leaf", "label", "cost").rows()
        found = [self.pays(a, b) if cost is None else cost for a, b, cost in cells]
        return kinds.with_columns(pl.Series("cost", found, pl.Int64))

    def windows(self) -> Windows:
        """Return the intervals as the price inequality asks for them."""
        unit, here = self.star // PARTS, len(self.numbers)
        both = [self.positions(*end) for end in self.ends]
        rest = [0] * (len(self.leaves) - here)
        down, up = (np.array([p[side] for p in both] + rest, np.int64) * unit for side in (0, 1))
        highs = [high for _, high in self.ends]
        ends = [low + (self.most or 0) for low, _ in self.ends]
        reach = [here - 1 if self.most is None else bisect_right(highs, x) - 1 for x in ends]
        reach = np.maximum(reach + rest, np.arange(len(self.leaves)))
        return Windows(down, up, reach.astype(np.int64), self.star, here)


def intervals_of(
    named: Mapping[str, Any], ladders: Mapping[str, pl.DataFrame]
) -> dict[str, Intervals]:
    """Return the intervals of the columns for which ``named``, the proof's sources, states a range.

    Rejected is one that is not what the source's public name says, and a ladder that is called so.
    """
    found = {}
    for column, ladder in ladders.items():
        known = named.get(column, {})
        if "range" in known:
            rule = known["range"]
            require(isinstance(rule, dict), "its range is no JSON object", column=column)
            try:
                found[column] = Intervals(rule, ladder, column, known.get("missing", ()))
            except (TypeError, ValueError, KeyError, InvalidOperation):
                raise RejectedError("its range is written otherwise", column=column) from None
            fine = is_called(str(known.get("origin")), rule)
            require(fine, "its range is not the rule that it is called", column=column)
        elif "average" not in known and known.get("sha256") is None:
            word = str(known.get("origin")).partition(":")[0]
            fine = word not in RULES
            require(fine, f"its hierarchy is called {word}, and is none", column=column)
    return found


def number(text: Any, mark: str = ".") -> Fraction | None:
    """Return the number that a text writes, exactly; None for none, or one of too many digits.

    ``mark``: what stands before decimals.
    """
    try:
        read = Decimal(without_comma(text, mark) if isinstance(text, str) else "NaN")
    except InvalidOperation:
        return None
    if not read.is_finite() or "_" in text:
        return None
    behind = -int(read.as_tuple().exponent)
    return Fraction(read) if read.adjusted() < LONGEST and behind <= LONGEST else None


def day(text: str) -> Fraction | None:
    """Return the day that a text in ISO 8601 writes, as a number; None for none."""
    try:
        return Fraction(datetime.fromisoformat(text).date().toordinal())
    except ValueError:
        return None


def written(x: Fraction) -> str:
    """Write a number without exponent and trailing zeros."""
    with localcontext() as context:
        context.prec = 4 * LONGEST
        return f"{(Decimal(x.numerator) / Decimal(x.denominator)).normalize():f}"


def opened(rows: Any, state: Any, k: int, keep: Any) -> Iterator[tuple[int, Any]]:
    """Split every group by the windows of the next column, and cut; as ``inequality.refine``.

    A window is an interval that begins and ends at values of the group, or the star.  One that
    costs more than the highest price in the group, with the others of k, could pay is left out.
    """
    w: Windows = rows.trees[state.depth]
    code = rows.leaf[state.depth][state.row]
    order = np.lexsort((state.row, code, state.group))
    row, group, code = state.row[order], state.group[order], code[order]
    at = np.flatnonzero((np.diff(group, prepend=-1) != 0) | (np.diff(code, prepend=-1) != 0))
    end, of, value = np.append(at[1:], len(row)), group[at], code[at]  # of the cells: equal codes
    first = np.flatnonzero(np.diff(of, prepend=-1))
    last = np.append(first[1:], len(at)) - 1
    top = np.maximum.reduceat(rows.price[row], at[first])
    room = -(-(top + state.high) // k) - 1 - state.cost  # what a window may cost at most
    most = np.searchsorted(w.up[: w.known], w.down[value] + room[of], "right") - 1
    most = np.maximum(np.minimum(most, w.reach[value]), value)
    size = len(w.up)
    high = np.searchsorted(of * size + value, of * size + most, "right") - 1
    high = np.where(room[of] >= 0, high, np.arange(len(at)) - 1)
    starred = (w.star <= room) & (value[last] > w.reach[value[first]])
    number = high - np.arange(len(at)) + 1
    cuts = np.searchsorted(np.cumsum(number), np.arange(BLOCK, number.sum() + BLOCK, BLOCK))
    for low_cells in np.split(np.arange(len(at)), np.unique(cuts)):
        low = np.repeat(low_cells, number[low_cells])
        begins = np.cumsum(number[low_cells]) - number[low_cells]
        far = low + np.arange(len(low)) - np.repeat(begins, number[low_cells])
        cost = np.where(low == far, 0, w.up[value[far]] - w.down[value[low]])
        yield from formed(rows, state, k, keep, row, (at[low], end[far], of[low], cost))
    whole = (at[first], end[last], np.arange(len(first)), np.full(len(first), w.star))
    yield from formed(rows, state, k, keep, row, tuple(each[starred] for each in whole))


def formed(
    rows: Any, state: Any, k: int, keep: Any, row: Ints, windows: tuple[Ints, ...]
) -> Iterator[tuple[int, Any]]:
    """Make groups of windows: (first entry, entry behind the last, group, cost) of each."""
    begin, end, of, cost = windows
    length = end - begin
    cuts = np.searchsorted(np.cumsum(length), np.arange(BLOCK, length.sum() + BLOCK, BLOCK))
    for some in np.split(np.arange(len(length)), np.unique(cuts)):
        if not length[some].sum():
            continue
        group = np.repeat(np.arange(len(some)), length[some])
        starts = np.cumsum(length[some]) - length[some]
        entry = np.arange(len(group)) + (begin[some] - starts)[group]
        order = np.lexsort((row[entry], group))
        paid = state.cost[of[some]] + cost[some]
        yield len(group), keep(rows, state.depth + 1, row[entry][order], starts, paid, k)
