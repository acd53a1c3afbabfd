"""When a search no longer pays: the one policy of all searches that could go on for ever.

**A search pays as long as the second half of what it has spent brought release and bound nearer to
each other by at least ``LITTLE`` of the cost.**  What is spent may be seconds, where a time limit
asks for all of them, or turns, so that a run without a limit can be repeated.  ``--gap 0`` and
``--spend`` ask for what is left as well: nothing is ever too little then.
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
