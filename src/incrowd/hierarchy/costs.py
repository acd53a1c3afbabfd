"""What a cell pays for being released as an ancestor: level/height, NCP, stars, or as listed.

A cost depends on the released text alone: a label that repeats on several levels costs what it
costs on the lowest of them, and a value that repeats itself costs what it does there: 0, unless a
list says otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import HierarchyError, did_you_mean, quoted
from incrowd.hierarchy.ladder import Ladder
from incrowd.hierarchy.text import form, read_lines
from incrowd.text.exact import fraction_of, unit_of

NO_COST = "the cost is not a number of 0 or more with at most six decimals"
NCP_SCALE = 10**6
PLACES = 6
"""Decimals of an explicit node cost; more are an error, so that every cost is exact."""

Number = int | float | str | Decimal | Fraction
"""A cost or a weight: floats count as the shortest decimal that writes them."""


@runtime_checkable
class Cost(Protocol):
    """A rule that prices the nodes of a ladder: a frozen value."""

    def charge(self, ladder: Ladder) -> tuple[NDArray[np.int64], int]:
        """Return int64 of shape (levels, leaves) and the unit: costs are ``array / unit``.

        Columns never fall towards the root.

        Raises
        ------
        HierarchyError: the rule cannot price this ladder.
        """
        ...


@dataclass(frozen=True)
class Level:
    """A cell at level i of a hierarchy of height h costs i/h.

    Source: Aggarwal, Feder, Kenthapadi, Motwani, Panigrahy, Thomas and Zhu, "Anonymizing Tables",
    ICDT 2005.
    """

    def charge(self, ladder: Ladder) -> tuple[NDArray[np.int64], int]:
        """Return the levels, in units of 1/height; refuses leaves at unequal depth."""
        if ladder.uneven:
            raise HierarchyError(
                f"{ladder.subject}: leaves at unequal depth, so a level has no cost: "
                f"{ladder.uneven}; make the lines equally long (delete line 1 if it only names "
                "columns), or use the cost 'ncp'"
            )
        return ladder.level.astype(np.int64), ladder.levels - 1


@dataclass(frozen=True)
class Ncp:
    """A cell released as a node costs (leaves below the node − 1) / (leaves of the domain − 1).

    Rounded to 10⁻⁶, halves up.  A domain of one leaf loses nothing: its cost is 0.  Source: the
    normalized certainty penalty of Xu, Wang, Pei, Wang, Shi and Fu, "Utility-Based Anonymization
    Using Local Recoding", KDD 2006.
    """

    def charge(self, ladder: Ladder) -> tuple[NDArray[np.int64], int]:
        """Return the penalties, in units of 10⁻⁶."""
        most = max(ladder.domain - 1, 1)
        return (2 * NCP_SCALE * (ladder.below - 1) + most) // (2 * most), NCP_SCALE


@dataclass(frozen=True)
class Stars:
    """Every changed cell costs 1; under suppression, the number of stars."""

    def charge(self, ladder: Ladder) -> tuple[NDArray[np.int64], int]:
        """Return 1 where the label differs from the value, else 0."""
        return (ladder.level > 0).astype(np.int64), 1


@dataclass(frozen=True, eq=False)
class Explicit:
    """Each label of a column costs what a list says; values that are not listed cost 0.

    Attributes
    ----------
    costs: label → cost ≥ 0, exact, of at most six decimals; ``*`` and every group are listed.
    origin: where the list comes from, for messages.
    lines: label → line of the file, for messages.
    """

    costs: Mapping[str, Number]
    origin: str = "the given costs"
    lines: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_file(cls, path: str | Path) -> "Explicit":
        """Read ``label;cost`` lines (a heading line ``label;cost`` is allowed).

        Raises
        ------
        HierarchyError: the file cannot be read, a line is not ``label;cost``, a label is listed
            with two costs.
        """
        lines = read_lines(path)
        costs: dict[str, Number] = {}
        places: dict[str, int] = {}
        for row, fields in enumerate(lines.rows):
            if row == 0 and [f.strip().casefold() for f in fields] == ["label", "cost"]:
                continue
            if len(fields) != 2:
                raise HierarchyError(
                    f"{lines.where(row)}: expected label;cost, found {len(fields)} fields"
                )
            label, text = fields
            try:
                cost = exact(text.strip())
            except ValueError:
                raise HierarchyError(f"{lines.where(row)}: {NO_COST}") from None
            if costs.setdefault(label, cost) != cost:
                raise HierarchyError(f"{lines.where(row)}: this label has another cost further up")
            places[label] = row
        numbers = lines.numbers()
        return cls(costs, lines.name, {label: numbers[row] for label, row in places.items()})

    def charge(self, ladder: Ladder) -> tuple[NDArray[np.int64], int]:
        """Return the listed costs, in units of the least common denominator.

        Raises
        ------
        HierarchyError: a label is not listed, or a cost falls towards the root.
        """
        listed = {label: self._exact(label) for label in self.costs}
        unit = unit_of(listed.values())
        own = [int(listed.get(str(x), 0) * unit) if x is not None else 0 for x in ladder.leaves]
        values = dict(zip(ladder.leaves, own, strict=True))
        rows = [np.array(own, np.int64)]
        for up in range(1, ladder.levels):
            padded = np.ones(len(ladder.labels[up]), bool)
            padded[ladder.node[up]] = ladder.level[up] == 0
            labels = zip(ladder.labels[up], padded.tolist(), strict=True)
            price = [
                values.get(x, 0) if leaf else int(self._find(listed, ladder, x) * unit)
                for x, leaf in labels
            ]
            rows.append(np.array(price, np.int64)[ladder.node[up]])
        cost = np.vstack(rows)
        self._never_falls(ladder, cost, listed)
        return cost, unit

    def _place(self, label: str | None) -> str:
        line = self.lines.get(label) if label is not None else None
        if line is None:
            return f"{self.origin}, label of the form {form(str(label))}"
        return f"{self.origin}, line {line}"

    def _exact(self, label: str) -> Fraction:
        try:
            return exact(self.costs[label])
        except ValueError:
            raise HierarchyError(f"{self._place(label)}: {NO_COST}") from None

    def _find(self, listed: Mapping[str, Fraction], ladder: Ladder, label: str | None) -> Fraction:
        if label is None or label not in listed:
            raise HierarchyError(
                f"{ladder.subject}: {self.origin} lacks the cost of a label of {ladder.origin}, of "
                f"the form {form(str(label))}; incrowd hierarchy show shows the labels"
            )
        return listed[label]

    def _never_falls(
        self, ladder: Ladder, cost: NDArray[np.int64], listed: Mapping[str, Fraction]
    ) -> None:
        falls = np.argwhere(np.diff(cost, axis=0) < 0)
        if not len(falls):
            return
        up, leaf = map(int, falls[0])
        path = ladder.path(leaf)
        low, high = path[up], path[up + 1]
        raise HierarchyError(
            f"{self._place(high)}: a cost falls towards the root: {float(listed[str(high)]):g}, "
            f"less than {float(listed.get(str(low), 0)):g} for a label below ({self._place(low)}; "
            f"{ladder.subject})"
        )


RULES: dict[str, Cost] = {"level": Level(), "ncp": Ncp(), "stars": Stars()}


def parse_cost(text: str) -> Cost:
    """Return the cost that a text names: ``level``, ``ncp``, ``stars`` or a file ``label;cost``.

    Raises
    ------
    HierarchyError: none of them.
    """
    if text.strip().casefold() in RULES:
        return RULES[text.strip().casefold()]
    path = Path(text.strip())
    if path.is_file():
        return Explicit.from_file(path)
    hint = did_you_mean(text, RULES)
    hint = hint if "did you mean" in hint else ""
    raise HierarchyError(
        f"unknown cost {text!r}{hint} (allowed are level, ncp, stars, or a file with label;cost)"
    )


def exact(number: Number) -> Fraction:
    """Return a nonnegative number exactly; a float counts as the shortest decimal that writes it.

    Raises
    ------
    ValueError: not a finite number, negative, or of more than 6 decimals (fractions are
        taken as they are).
    """
    if isinstance(number, Fraction):
        if number < 0:
            raise ValueError(f"{number} is negative")
        return number
    try:
        decimal = number if isinstance(number, Decimal) else Decimal(str(number))
    except InvalidOperation:
        raise ValueError(f"{quoted(number)} is not a number") from None
    if not decimal.is_finite() or decimal < 0:
        raise ValueError(f"{number} is not a number of 0 or more")
    value = fraction_of(decimal)
    if 10**PLACES % value.denominator:
        raise ValueError(f"{number} has more than {PLACES} decimals")
    return value
