"""Ground distances of t-closeness as people name them: a word, or a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.checker.limits import MOST_DEPTH, MOST_DIGITS
from incrowd.checker.transport import FEW, LARGEST_UNIT, MOST_BITS, MOST_VALUES
from incrowd.errors import InputError, decimal_hint, did_you_mean
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.family import trees_of
from incrowd.hierarchy.ladder import is_missing
from incrowd.measures.metric_file import read_metric, read_order
from incrowd.measures.orders import given_metric, given_order, natural_order, ordered
from incrowd.privacy.distance import Equal, Hierarchical
from incrowd.privacy.metric import Metric
from incrowd.privacy.ordered import Ordered
from incrowd.text.numerals import POINT
from incrowd.text.paths import names_file

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.privacy.distance import GroundDistance
    from incrowd.tables.base import Column

DISTANCES = ("equal", "ordered", "hierarchy")


def distance_of(
    text: str, name: str, column: "Column", sources: Mapping[str, "Hierarchy"], decimal: str = POINT
) -> "GroundDistance":
    """Return a ground distance over a column's codes.

    Parameters
    ----------
    text: ``equal``, ``ordered`` (numbers by size, dates by time), ``hierarchy``, or a file: of
        lines ``value;other value;distance``, or of one value a line from least to greatest.
    decimal: what stands before the decimals of numbers.
    """
    if text == "equal":
        return Equal()
    if text == "ordered":
        # of a table without rows there is nothing to put in order
        order = natural_order(column.values, decimal) if column.values else ()
        if order is None:
            raise InputError(_unordered(name, column, decimal))
        return Ordered(order)
    if text == "hierarchy":
        if name not in sources:
            raise InputError(
                f"the distance 'hierarchy' needs a hierarchy of {name!r}: --hierarchy {name}=…"
            )

        families, _ = build_trees({name: column.values}, {name: sources[name]}, "stars")
        tree = trees_of(families, "the distance of a sensitive attribute")[0]
        require_shallow(tree.levels, f"the distance 'hierarchy' of {name!r}")
        return Hierarchical.of(tree, column.values)
    if not names_file(text):
        hint = did_you_mean(text, DISTANCES)
        raise InputError(f"distance {text!r} is neither one of ours nor a file{hint}")
    return _from_file(Path(text), name, column)


def _unordered(name: str, column: "Column", decimal: str) -> str:
    """Return why a column has no order of its own, and what to do."""
    file = "give a file with one value a line, from least to greatest, as --distance"
    missing = any(map(is_missing, column.values))
    known = [value for value in column.values if value is not None and not is_missing(value)]
    if missing and natural_order(known, decimal):
        return (
            f"{name!r} has missing values, and the table does not know their place in the order "
            f"of the others; {file}, an empty line standing for empty cells"
        )
    if ordered(known, decimal):
        return (
            f"two texts of {name!r} are one number or one time, so they have no order: write each "
            f"number or time in one way, or {file}"
        )
    return (
        f"the values of {name!r} have no order that the table knows (numbers and ISO dates have); "
        f"{file}{decimal_hint(known)}"
    )


def _from_file(path: Path, name: str, column: "Column") -> "GroundDistance":
    """Read a metric or an order; lines with two delimiters make it a metric."""
    first = path.read_text(encoding="utf-8-sig", errors="replace").partition("\n")[0]
    is_metric = any(first.count(delimiter) >= 2 for delimiter in ";\t,")
    given = read_metric(path) if is_metric else read_order(path)
    values = len(column.values)
    if isinstance(given, dict) and values > MOST_VALUES:
        raise InputError(
            f"{path}: a file of distances is served for at most {MOST_VALUES:,} values, and "
            f"{name!r} has {values:,}; use equal, ordered or hierarchy"
        )
    try:
        if isinstance(given, dict):
            found = given_metric(name, column.values, given)
            require_coarse(found)
            return found
        return Ordered(given_order(name, column.values, given))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def require_shallow(levels: int, what: str = "a hierarchical distance") -> None:
    """Raise InputError for a hierarchy of values too deep for the re-check, before the search."""
    if levels > MOST_DEPTH:
        raise InputError(
            f"{what}: the hierarchy has {levels:,} levels, and at most {MOST_DEPTH} are served; "
            "leave some out"
        )


def require_coarse(metric: Metric) -> None:
    """Raise InputError for distances too many or too fine for the re-check, before the search."""
    values, unit = len(metric.matrix), metric.unit
    if values > MOST_VALUES:
        raise InputError(
            f"distances are served for at most {MOST_VALUES:,} values, and here are {values:,}"
        )
    long = unit > 10 ** (MOST_DIGITS // 2 - 1) and any(
        len(str(x)) > MOST_DIGITS for row in metric.matrix for x in row
    )
    if long or unit.bit_length() > MOST_BITS or (unit >= LARGEST_UNIT and values > FEW):
        raise InputError(
            f"the distances have a least common denominator of {len(str(unit))} digits, as parts "
            "of the largest one, which is too fine to check; round them"
        )
