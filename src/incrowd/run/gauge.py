"""What share of a stage is done, for whoever looks while a kernel runs."""

from collections.abc import Callable


class Gauge:
    """Parts of a stage, one after the other, each with what tells how far it is.

    Another thread reads it (``incrowd.run.telling``), now and then in the middle of a step, when a
    part may seem further than it is; so of two readings the lesser counts.
    """

    def __init__(self, within: Callable[[], float] = lambda: 0.0) -> None:
        self.part(0.0, 1.0, within)

    def part(self, begin: float, end: float, within: Callable[[], float]) -> None:
        """Begin the part from ``begin`` to ``end`` (0..1), of which ``within`` tells the share."""
        self._part, self._before = (begin, end, within), 0.0

    def steps(self, begin: float, end: float, number: int) -> Callable[[int], None]:
        """Begin a part of so many steps; return what is to be told whenever some are done."""
        done = 0

        def told(some: int) -> None:
            nonlocal done
            done += some

        self.part(begin, end, lambda: done / max(1, number))
        return told

    def __call__(self) -> float:
        """Return the share of the stage that is done, 0..1."""
        begin, end, within = self._part
        now = min(1.0, max(0.0, within()))
        before, self._before = self._before, now
        return begin + (end - begin) * min(now, before)
