"""The rule that generalizes an ordered column to the smallest interval that holds a class."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.errors import HierarchyError, UnorderedError, did_you_mean
from incrowd.hierarchy.costs import NCP_SCALE, Cost, Explicit, Level, Ncp, Stars
from incrowd.hierarchy.interval import exact, plain
from incrowd.hierarchy.ladder import Ladder, apart, distinct
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.template import BETWEEN, BETWEEN_WHOLE, SHOW, Template
from incrowd.hierarchy.text import read_lines
from incrowd.text.exact import decimals, unit_of
from incrowd.text.numerals import POINT, finite, with_mark

WIDTH, VALUES, STARS = "width", "values", "stars"
NUMBERS, DATES, ORDER = "numbers", "dates", "order"
LONGEST = 60
"""Digits before or behind the point of a number; doubles that people write have fewer."""
OPTIONS = ("round", "most", "cost", "order", "show")
EXAMPLE = (
    "write range, or range:round=5,most=20,cost=values, or range:order=FILE, each with "
    "show={low} to {high} at the end if you like"
)


def without_template(text: str) -> tuple[str, str | None]:
    """Return what stands behind ``range:`` without ``show=…``, its last option, and the latter."""
    begin = SHOW.search(text)
    return (text, None) if begin is None else (text[: begin.start()], text[begin.end() :].strip())


def options_in(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield each of the other options: as it is written, its name, ``=`` and its value."""
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = map(str.strip, part.partition("="))
        yield part, name, equals, value


@dataclass(frozen=True)
class Ranges:
    """Each class shows the interval from its least to its greatest value: ``37-42``.

    Numbers, dates in ISO 8601, or the values that a file lists in their order.  An interval costs
    its width over that of the whole column, or (values inside − 1)/(values − 1).  A missing value
    becomes ``*`` only.

    Attributes
    ----------
    round: ends go outward to multiples of this, so that they tell no value; single values stay.
    most: the width beyond which an interval becomes ``*``: of numbers, or days, or steps.
    cost: ``"width"`` or ``"values"``.
    order: the values in their order, where a file lists them; ``origin``: that file.
    show: how an interval is written, like ``"{low} to {high}"``; ``None`` for ``37-42``.
    decimal: what stands before the decimals of numbers, read and written: ``"."`` or ``","``.
    """

    round: Decimal | None = None
    most: Decimal | None = None
    cost: str = WIDTH
    order: tuple[str, ...] | None = None
    origin: str = ""
    show: str | None = None
    decimal: str = POINT

    def __post_init__(self) -> None:
        for name in ("round", "most"):
            if getattr(self, name) is None:
                continue
            (number,) = exact([getattr(self, name)], "range:round=5,most=20")
            object.__setattr__(self, name, number)
            if not (number.is_finite() and number > 0):
                raise HierarchyError(f"{self}: {name} is a number above 0; {EXAMPLE}")
            if too_long(number):
                raise HierarchyError(f"range: {name} has more than {LONGEST} digits")
        if self.cost not in (WIDTH, VALUES):
            hint = did_you_mean(self.cost, (WIDTH, VALUES))
            raise HierarchyError(f"{self}: cost is width or values{hint}")
        between = BETWEEN if self.show is None else Template.parse(self.show).between
        if any(not value or between in value for value in self.order or ()):
            raise HierarchyError(
                f"{self}: a listed value is empty or has {between!r} in it, which stands between "
                "the ends; choose another text with show={low} to {high}"
            )
        if self.order is not None and self.round is not None:
            raise HierarchyError(f"{self}: ends of listed values are not rounded; leave round out")

    def __str__(self) -> str:
        parts = [f"order={Path(self.origin).name}"] if self.order is not None else []
        numbers = ("round", "most")
        given = {name: getattr(self, name) for name in numbers}
        parts += [f"{name}={plain(number)}" for name, number in given.items() if number is not None]
        parts += [f"cost={self.cost}"] if self.cost != WIDTH else []
        parts += [f"show={self.show}"] if self.show is not None else []
        return f"range:{','.join(parts)}" if parts else "range"

    @classmethod
    def parse(cls, text: str) -> "Ranges":
        """Read ``round=5,most=20,cost=values,order=FILE``, what stands behind ``range:``.

        A template, ``show={low} to {high}``, is the last: it may have commas of its own.

        Raises
        ------
        HierarchyError: it is written otherwise, or the file cannot be read.
        """
        text, show = without_template(text)
        found: dict[str, Any] = {} if show is None else {"show": show}
        for part, name, equals, value in options_in(text):
            if name not in OPTIONS or not equals or name in found:
                hint = did_you_mean(name, OPTIONS)
                raise HierarchyError(
                    f"range:{text}: {part!r} is not an option of it{hint}; {EXAMPLE}"
                )
            found[name] = value
        for name in {"round", "most"} & found.keys():
            try:
                found[name] = Decimal(found[name])
            except InvalidOperation:
                raise HierarchyError(
                    f"range:{text}: {found[name]!r} is not a number; {EXAMPLE}"
                ) from None
        if "order" in found:
            found |= {"order": read_order(Path(found["order"])), "origin": found["order"]}
        return cls(**found)

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Refuse: intervals have no levels.

        Raises
        ------
        HierarchyError: always.
        """
        raise HierarchyError(
            f"column {column!r}: {self} has no levels, which are asked for here: each class gets "
            "an interval of its own; give a hierarchy with levels, like interval:5,10,20"
        )

    def family(
        self, column: str, values: Sequence[str | None], cost: Cost
    ) -> tuple[RangeFamily, int]:
        """Return the intervals of a column's distinct values, and the unit of what they cost.

        Raises
        ------
        HierarchyError: some values have no place in the order, or the cost is a list of labels.
        """
        known, missing = distinct(values)
        known, declared = apart(known)
        kind, place = self._places(column, known)
        order = sorted(range(len(known)), key=lambda i: (place[i], known[i]))
        known, place = [known[i] for i in order], [place[i] for i in order]
        ends, charged = Ends.of(kind, place, self), self._charged(column, cost)
        if charged == STARS and len(set(place)) < len(place):  # one of them would stay as it is
            raise HierarchyError(
                f"column {column!r}: one value is written in several ways, and the cost 'stars' "
                "cannot say which of them changed; write it alike, or choose the cost level or ncp"
            )
        down, up = positions(place, ends, charged)
        most = None if self.most is None else Fraction(self.most)
        reach = [
            len(known) - 1 if most is None else bisect_right(ends.last, first + most) - 1
            for first in ends.first
        ]
        reach = [max(at, c) for c, at in enumerate(reach)]
        beyond = [*map(str, declared), *([None] if missing else [])]
        here = range(len(known), len(known) + len(beyond))
        void = np.zeros(len(beyond), np.int64)
        family = RangeFamily(
            column,
            (*known, *beyond),
            (*(ends.text(x) for x in ends.first), *("" for _ in beyond)),
            (*(ends.text(x) for x in ends.last), *("" for _ in beyond)),
            np.concatenate([np.array(down, np.int64), void]),
            np.concatenate([np.array(up, np.int64), void]),
            np.array([*reach, *here], np.int64),
            NCP_SCALE,
            self.stated(kind, charged),
            ends.shown,
        )
        require_one_way(family)
        return family, NCP_SCALE

    def ends_in(
        self, column: str, values: Sequence[str | None], published: Sequence[str | None]
    ) -> tuple[str, ...]:
        """Return the ends of published ranges that stand at no place of a column's own values.

        And those that show one of these values as its interval reads: ``1``, where that is ``01``.

        Raises
        ------
        HierarchyError: some value has no place in the order.
        """
        known, _ = apart(distinct(values)[0])
        kind, place = self._places(column, known)
        at = places_by({"kind": kind, "order": self.order, "decimal": self.decimal})
        plain = (Template("", BETWEEN, ""), Template("", BETWEEN_WHOLE, ""))
        ways = plain if self.show is None else (Template.parse(self.show),)
        found: dict[Fraction, str] = {}
        for text in published:
            both = [way.ends(text) for way in ways] if text is not None else []
            for low, high in filter(None, both):
                places = at(low), at(high)
                if places[0] is not None and places[1] is not None:
                    found |= {places[0]: low, places[1]: high}
        ends = Ends.of(kind, sorted(set(place)), self)
        alike = {ends.text(a) for a, b in zip(ends.first, ends.last, strict=True) if a == b}
        also = sorted(alike & {*published} - {*values})
        return (*(found[x] for x in sorted(found.keys() - set(place))), *also)

    def stated(self, kind: str, cost: str) -> dict[str, Any]:
        """Return what a proof says of the rule: its text, and what is needed to apply it."""
        numbers = {"round": self.round, "most": self.most}
        texts = {n: None if number is None else plain(number) for n, number in numbers.items()}
        order = {} if self.order is None else {"order": list(self.order)}
        show = {} if self.show is None else {"show": self.show}
        mark = {} if self.decimal == POINT or kind != NUMBERS else {"decimal": self.decimal}
        return {"rule": str(self), "kind": kind, **texts, "cost": cost, **order, **show, **mark}

    def _charged(self, column: str, cost: Cost) -> str:
        if isinstance(cost, Stars):
            return STARS
        if isinstance(cost, Level | Ncp):
            return self.cost
        what = "a list of costs" if isinstance(cost, Explicit) else f"the cost {cost!r}"
        raise HierarchyError(
            f"column {column!r}: {self} has no labels that {what} could name; choose the cost "
            "ncp, level or stars for it"
        )

    def _places(self, column: str, values: Sequence[str]) -> tuple[str, list[Fraction]]:
        """Return what the values are, and where each stands in their order."""
        if self.order is not None:
            at = {value: Fraction(i) for i, value in enumerate(self.order)}
            found = {ORDER: [at.get(value) for value in values]}
        else:
            numbers = [number_of(value, self.decimal) for value in values]
            found = {NUMBERS: numbers, DATES: list(map(day_of, values))}
            if self.round is not None:
                del found[DATES]
        kind = min(found, key=lambda kind: found[kind].count(None))
        absent = [v for v, place in zip(values, found[kind], strict=True) if place is None]
        if absent:
            raise UnorderedError(column, sorted(absent), str(self))
        return kind, [place for place in found[kind] if place is not None]


def kind_of(values: Sequence[str | None], decimal: str = POINT) -> str | None:
    """Return ``"numbers"`` or ``"dates"`` where all values that are not missing are such."""
    known, _ = distinct(values)
    known, _ = apart(known)
    kinds = {NUMBERS: lambda value: number_of(value, decimal), DATES: day_of}
    found = (kind for kind, read in kinds.items() if None not in map(read, known))
    return next(found, None) if known else None


@dataclass(frozen=True)
class Ends:
    """Where the intervals that begin and end at each value do so, and how that is written."""

    kind: str
    first: list[Fraction]
    last: list[Fraction]
    shown: Template
    order: tuple[str, ...] = ()
    decimal: str = POINT

    @classmethod
    def of(cls, kind: str, place: list[Fraction], rule: Ranges) -> "Ends":
        """Return the ends, rounded outward where the rule says so; values are rising."""
        first, last = place, place
        if rule.round is not None:
            step = Fraction(rule.round)
            first, last = [x // step * step for x in place], [-(-x // step) * step for x in place]
        hyphens = kind != NUMBERS or (bool(place) and first[0] < 0)
        shown = Template("", BETWEEN if hyphens else BETWEEN_WHOLE, "")
        shown = shown if rule.show is None else Template.parse(rule.show)
        return cls(kind, first, last, shown, rule.order or (), rule.decimal)

    def text(self, end: Fraction) -> str:
        """Return how an end is written."""
        if self.kind == ORDER:
            return self.order[int(end)]
        if self.kind == DATES:
            return date.fromordinal(int(end)).isoformat()
        return with_mark(decimal_text(end), self.decimal)


def positions(place: list[Fraction], ends: Ends, cost: str) -> tuple[list[int], list[int]]:
    """Return where intervals begin and end, in units of 1/``NCP_SCALE`` of the widest one.

    Each position is rounded, halves up, so that what an interval costs is a difference of two.
    """
    if cost == STARS or not place:
        return [0] * len(place), [NCP_SCALE] * len(place)
    first, last = ends.first, ends.last
    if cost == VALUES:
        values = sorted(set(place))
        first = [Fraction(bisect_left(values, x)) for x in first]
        last = [Fraction(bisect_right(values, x) - 1) for x in last]
    # whole numbers of one unit: fractions would reduce each result
    unit = unit_of((*first, *last))
    begin, end = ([x.numerator * (unit // x.denominator) for x in ends] for ends in (first, last))
    least, widest = begin[0], (end[-1] - begin[0]) or unit

    def position(x: int) -> int:
        return (2 * NCP_SCALE * (x - least) + widest) // (2 * widest)

    return [position(x) for x in begin], [position(x) for x in end]


def require_one_way(family: RangeFamily) -> None:
    """Raise where two intervals, or an interval and a value, read alike.

    Raises
    ------
    HierarchyError: they do; no value is named.
    """
    if not family.shown.one_way(family.first):
        raise HierarchyError(
            f"column {family.column!r}: what stands between the ends of a range, "
            f"{family.shown.between!r}, begins within a lower end too, so two ranges may read "
            "alike; choose another text with show={low} to {high}"
        )
    leaves = (leaf for leaf in family.leaves if leaf is not None)
    if family.like_ranges({*leaves, *family.first, *family.last}):
        raise HierarchyError(
            f"column {family.column!r}: a value of it reads like a range; choose another text with "
            "show={low} to {high}"
        )


def places_by(rule: Mapping[str, Any]) -> Callable[[str], Fraction | None]:
    """Return where a value stands in the order that a rule states (``Ranges.stated``), or None."""
    if rule["kind"] == ORDER:
        return {value: Fraction(i) for i, value in enumerate(rule["order"])}.get
    if rule["kind"] != NUMBERS:
        return day_of
    return partial(number_of, decimal=rule.get("decimal", POINT))


def number_of(value: str, decimal: str = POINT) -> Fraction | None:
    """Return the number that a text writes, exactly; None where it writes none."""
    number = finite(value, decimal)
    if number is None or "_" in value or too_long(number):
        return None
    return Fraction(number)


def day_of(value: str) -> Fraction | None:
    """Return the day that a text in ISO 8601 writes, as a number; None where it writes none."""
    with suppress(ValueError):
        return Fraction(datetime.fromisoformat(value).date().toordinal())
    return None


def too_long(number: Decimal) -> bool:
    """Whether a number has too many digits to be worth them."""
    exponent = number.as_tuple().exponent
    behind = -exponent if isinstance(exponent, int) else 0
    return number.adjusted() >= LONGEST or behind > LONGEST


def decimal_text(number: Fraction) -> str:
    """Write a number without exponent and trailing zeros, exactly."""
    places = decimals((number,))
    whole = abs(number.numerator) * (10**places // number.denominator)
    digits = str(whole).zfill(places + 1)
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{text}" if number < 0 else text


def read_order(path: Path) -> tuple[str, ...]:
    """Return the values that a file lists in their order, one a line.

    Raises
    ------
    HierarchyError: the file cannot be read, lists nothing, or a value twice.
    """
    lines = read_lines(path, "\x1f")  # a line is one field
    values = [fields[0] for fields in lines.rows]
    if len(set(values)) < len(values):
        raise HierarchyError(f"{path}: some value is listed twice; write each once, one a line")
    return tuple(values)
