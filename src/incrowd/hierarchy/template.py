"""How an interval is written: what stands before, between and behind its two ends."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from incrowd.errors import HierarchyError

BETWEEN_WHOLE, BETWEEN = "-", ".."
"""What stands between the ends unless a template says so: the second where an end has a hyphen."""
LOW, HIGH = "{low}", "{high}"
SHOW = re.compile(r"(?:^|,)\s*show\s*=")
"""Where a template begins in the options of a range; it goes on to their end."""


@dataclass(frozen=True)
class Template:
    """``{low} to {high}``: what stands before, between and behind the ends of an interval."""

    before: str
    between: str
    after: str

    @classmethod
    def parse(cls, text: str) -> "Template":
        """Read a template, in which ``{low}`` and then ``{high}`` stand once each.

        Raises
        ------
        HierarchyError: they do not, or nothing is between them, or it has a line break.
        """
        before, low, rest = text.partition(LOW)
        between, high, after = rest.partition(HIGH)
        if not (low and high) or re.search(r"[{}]", before + between + after):
            raise HierarchyError(
                f"range:show={text}: write {{low}} and then {{high}} once each, and no other "
                "braces, like show={low} to {high}"
            )
        if not between:
            raise HierarchyError(
                f"range:show={text}: nothing stands between the ends, so 1 to 23 and 12 to 3 read "
                "alike; write it like show={low} to {high}"
            )
        if not text.isprintable():
            raise HierarchyError(
                "range:show: the template has a line break, or another sign that does not print"
            )
        return cls(before, between, after)

    def text(self, low: str, high: str) -> str:
        """Return the text of the interval with these ends."""
        return f"{self.before}{low}{self.between}{high}{self.after}"

    def ends(self, text: str) -> tuple[str, str] | None:
        """Return the texts of the ends, or None where the text is no interval."""
        if not (text.startswith(self.before) and text.endswith(self.after)):
            return None
        inner = text[len(self.before) : len(text) - len(self.after)]
        low, between, high = inner.partition(self.between)
        return (low, high) if between and low and high else None

    def one_way(self, lows: Iterable[str]) -> bool:
        """Whether no text can be read as two intervals, these being the texts of lower ends.

        What stands between them occurs first behind the lower end, so ``ends`` finds it there.
        """
        return all((low + self.between).index(self.between) == len(low) for low in lows)


WHOLE = Template("", BETWEEN_WHOLE, "")
"""How intervals of numbers that are not negative read: ``37-42``."""
