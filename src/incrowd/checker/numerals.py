"""Numbers with a decimal comma, as the checker reads them."""

from typing import Any

from incrowd.checker.rejection import require

COMMA = ","
BETWEEN = (".", " ", "'", "\u2019", "\u00a0", "\u202f")  # what may stand between thousands


def without_comma(text: str, mark: str) -> str:
    """Return a number with a decimal point and nothing between thousands; '' for no number.

    ``mark``: what stands before decimals; with a point the text is returned as it is.
    """
    if mark != COMMA:
        return text
    number = text.strip()
    sign = number[:1] if number[:1] in ("+", "-") else ""
    whole, comma, decimals = number.removeprefix(sign).partition(COMMA)
    found = [between for between in BETWEEN if between in whole]
    parts = whole.split(found[0]) if found else [whole]
    if found:
        fine = len(parts[0]) <= 3 and parts[0][:1] != "0"
        if not fine or any(len(part) != 3 for part in parts[1:]):
            return ""
    digits = [*parts, *([decimals] if comma else [])]
    if not all(part.isascii() and part.isdigit() for part in digits):
        return ""
    return sign + "".join(parts) + ("." + decimals if comma else "")


def with_mark(text: str, mark: str) -> str:
    """Return a number that was written with a decimal point as it is published."""
    return text.replace(".", mark)


def mark_of(rule: Any, column: str) -> str:
    """Return what a rule of the proof says to stand before decimals; rejected is no such mark."""
    mark = rule.get("decimal", ".")
    fine = mark == COMMA or "decimal" not in rule
    require(fine, "its decimals are written otherwise", column=column)
    return mark
