"""When a search no longer pays: the one policy of all searches that could go on for ever.

**A search pays as long as the second half of what it has spent brought release and bound nearer to
each other by at least ``LITTLE`` of the cost.**  What is spent may be seconds, where a time limit
asks for all of them, or turns, so that a run without a limit can be repeated.  Where turns are
alike, each is judged by itself: **one that brings less than ``LITTLE`` is the last.**  ``--gap 0``
and ``--spend`` ask for what is left as well: nothing is ever too little then.
"""

from bisect import bisect_right
from dataclasses import dataclass, field

LITTLE = 0.0005


@dataclass
class Paying:
    """What a search has brought so far, against what it has spent.

    Attributes
    ----------
    little: share of the cost that half of what is spent must bring.
    spent, apart: amounts, ascending, and cost less bound after each.
    """

    little: float = LITTLE
    spent: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)

    def goes_on(self, spent: float, cost: float, bound: float) -> bool:
        """Note how far the search has come; whether it still pays.

        It does until there is something to compare with: what was known after half of ``spent``.
        """
        self.spent.append(spent)
        self.apart.append(cost - bound)
        half = bisect_right(self.spent, spent / 2) - 1
        return half < 0 or self.apart[half] - self.apart[-1] >= self.little * cost


@dataclass
class Turns:
    """Turns that are alike: each is to move a cost down, or a bound up, by ``little`` of it.

    Attributes
    ----------
    last: where the last turn ended; None before the first.
    idle: whether that turn brought too little.
    """

    little: float = LITTLE
    last: float | None = None
    idle: bool = False

    def note(self, now: float) -> None:
        """Note where a turn has ended."""
        if self.last is not None:
            self.idle = abs(now - self.last) < self.little * abs(now)
        self.last = now
