"""How an interval is written, and which two ends a text names."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from incrowd.checker.rejection import require

LONGEST = 1000  # characters of a template


class Wording(NamedTuple):
    """What stands before, between and behind the ends of an interval."""

    before: str
    between: str
    after: str

    def ends(self, text: str) -> tuple[str, str]:
        """Return the ends, split where what stands between them first occurs; or twice the text."""
        fits = text.startswith(self.before) and text.endswith(self.after)
        low, between, high = text[len(self.before) : len(text) - len(self.after)].partition(
            self.between
        )
        return (low, high) if fits and between else (text, text)

    def one_way(self, lows: Collection[str], highs: Collection[str], values: Any) -> bool:
        """Whether no two intervals of these ends, and no interval and a value, read alike."""
        first = all((low + self.between).index(self.between) == len(low) for low in lows)
        split = [self.ends(value) for value in values if value is not None]
        return first and not any(a != b and a in lows and b in highs for a, b in split)


def wording(show: Any, column: str) -> Wording:
    """Return a template's wording: ``{low}`` and then ``{high}`` once each; rejected is another."""
    fine = isinstance(show, str) and len(show) <= LONGEST  # each interval is held against it
    require(fine, "its template is not a text, or too long", column=column)
    before, low, rest = show.partition("{low}")
    between, high, after = rest.partition("{high}")
    other = before + between + after
    fine = low and high and between and not {"{", "}"} & {*other} and other.isprintable()
    require(bool(fine), "its template lacks an end, or what is between", column=column)
    return Wording(before, between, after)


def is_called(origin: str, rule: Mapping[str, Any]) -> bool:
    """Whether a rule's text says what its parts do."""
    name, _, rest = origin.partition(":")
    show = rule.get("show")
    if show is not None:  # the last of a rule's parts, which may have commas of its own
        end = f"show={show}"
        if not f",{rest}".endswith(f",{end}"):
            return False
        rest = rest.removesuffix(end)
    stated = set(filter(None, rest.split(",")))
    numbers = {f"{n}={rule[n]}" for n in ("round", "most") if rule[n] is not None}
    order = {part for part in stated if part.startswith("order=")}
    other = stated - numbers - order
    costs = {"width": [set()], "values": [{"cost=values"}], "stars": [set(), {"cost=values"}]}
    ordered = bool(order) == (rule["kind"] == "order")
    return name == "range" and ordered and numbers <= stated and other in costs[rule["cost"]]
