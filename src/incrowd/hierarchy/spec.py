"""Hierarchies as written on the command line and in policy files: ``interval:5,10``, a file …"""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from incrowd.errors import HierarchyError, did_you_mean, home_hint
from incrowd.hierarchy.averages import KINDS, Averages
from incrowd.hierarchy.bands import Bands
from incrowd.hierarchy.characters import Keep, Prefix
from incrowd.hierarchy.date import Dates
from incrowd.hierarchy.file import HierarchyFile
from incrowd.hierarchy.interval import Intervals
from incrowd.hierarchy.ladder import Source, Suppression
from incrowd.hierarchy.missing import sparing
from incrowd.hierarchy.ranges import LONGEST, Ranges, too_long
from incrowd.hierarchy.rounding import EndCodes, Rounding
from incrowd.text.numerals import POINT
from incrowd.text.paths import could_be_name, names_file

RULES = ("interval", "bands", "prefix", "keep", "date", "range", "round", "codes", *KINDS, "none")
OF_NUMBERS = ("interval", "bands", "range", "round", "codes", *KINDS)
"""Those that read numbers."""
ORDERED = re.compile(r"(range:(?:(?!\s*show\s*=)[^,]*,)*\s*order=)([^,]+)")
"""How a range names the file of its order, ahead of its template."""
ALLOWED = (
    "allowed are interval:5,10,20, bands:0,18,65+, range, mean, prefix:1,2, keep:1,3, date, none, "
    "or a file (leaf;level1;…;*)"
)


def parse(text: str) -> Source:
    """Return the source that a text names.

    Parameters
    ----------
    text: ``interval:W1,W2,…`` (widths), ``bands:B1,B2,…+`` (borders), ``prefix:N1,N2,…``
        (characters masked from the end), ``keep:N1,N2,…`` (first characters kept), ``date`` or
        ``date:year,decade`` (see ``Dates``), also ``date:format=%d/%m/%Y``, ``range`` or
        ``range:round=5,most=20,show={low} to {high}`` (see ``Ranges``), ``mean``, ``median`` or
        ``centroid`` (see ``Averages``), ``round:5,10`` (multiples), ``codes:<18,90+`` (top and
        bottom codes), ``none``, or a file's path.
        A file that is called like a rule is written with its folder: ``./date``.

    Raises
    ------
    HierarchyError: neither a rule nor a file; says what is allowed.
    """
    rule, colon, rest = text.strip().partition(":")
    parts = tuple(part.strip() for part in rest.split(",")) if colon else ()
    if rule == "none" and not colon:
        return Suppression()
    if rule == "date":
        return Dates.parse(parts)
    if rule == "interval":
        return Intervals(tuple(_width(part, text) for part in parts))
    if rule == "prefix":
        return Prefix(tuple(_count(part, text) for part in parts))
    if rule == "keep":
        return Keep(tuple(_count(part, text) for part in parts))
    if rule == "range":
        return Ranges.parse(rest)
    if rule == "bands":
        return Bands.parse(rest)
    if rule == "round":
        return Rounding(tuple(_width(part, text) for part in parts))
    if rule == "codes":
        return EndCodes.parse(rest)
    if rule in KINDS:
        return Averages.parse(rule, rest)
    path = Path(text.strip())
    if text.strip() and names_file(path):
        return HierarchyFile(path)
    raise HierarchyError(_unknown(text, rule, path))


def source_of(spec: "str | Path | Source", marks: Sequence[str], decimal: str = POINT) -> Source:
    """Return the source that a text names, or the one given; marks of missing values spared.

    ``decimal``: what stands before the decimals of numbers, for rules that read some.

    Raises
    ------
    HierarchyError: neither a rule nor a file.
    """
    source: Any = parse(str(spec)) if isinstance(spec, str | Path) else spec
    if decimal != POINT and hasattr(source, "decimal"):
        source = replace(source, decimal=decimal)
    return sparing(source, marks)


def called_like_a_rule(text: str) -> bool:
    """Whether a text begins as one that names a rule does."""
    return text.partition(":")[0].strip() in RULES


def in_folder(rule: str, folder: str | Path) -> str:
    """Return a rule, the file that it names (``range:order=FILE``) looked for in a folder."""
    return ORDERED.sub(lambda found: found[1] + str(Path(folder) / found[2].strip()), rule)


def _width(part: str, text: str) -> Decimal:
    try:
        number = Decimal(part)
    except InvalidOperation:
        example = "steps like round:5,10" if "round" in text else "widths like interval:5,10,20"
        raise HierarchyError(f"{text!r}: {part!r} is not a number; write {example}") from None
    if too_long(number):
        raise HierarchyError(f"{text!r}: {part!r} has more than {LONGEST} digits")
    return number


def _count(part: str, text: str) -> int:
    if not part.isdecimal():
        raise HierarchyError(
            f"{text!r}: {part!r} is not a number of characters; write prefix:1,2 or keep:1,3"
        )
    return int(part)


def _unknown(text: str, rule: str, path: Path) -> str:
    if "\n" in text or not could_be_name(path):  # values and groups, which no message may show
        return (
            "a hierarchy of several lines, or longer than a name may be, is neither a rule nor the "
            f"name of a file ({ALLOWED})"
        )
    if text.strip() and path.is_dir():
        return f"hierarchy {text!r} is a folder; {ALLOWED}"
    hint = did_you_mean(rule, RULES)
    if "did you mean" not in hint and path.parent.is_dir():
        hint = did_you_mean(path.name, (p.name for p in path.parent.iterdir() if p.is_file()))
    if "did you mean" not in hint:
        hint = home_hint(text)
    return f"hierarchy {text!r} is neither a rule nor a file{hint} ({ALLOWED})"
