"""How far an anytime run has come: the best so far, what is proven, and when to end."""

from collections.abc import Callable, Iterable

from incrowd.bounds.prices import Prices
from incrowd.problem.solution import Solution
from incrowd.run.paying import Paying
from incrowd.solvers.base import Context, Outcome


class Progress:
    """What the stages of one run share.

    Attributes
    ----------
    context, stop: what the run was given, and its end.
    best: the best lawful solution so far.
    met: the least cost that the stage at hand has told of: a solution that it will offer.
    bound: the largest bound proven so far, in units of 1/scale.
    certificate, lawful: the prices behind it, as ``Outcome`` has them.
    """

    def __init__(self, context: Context, best: Solution) -> None:
        self.context, self.stop, self.best = context, context.stop, best
        self.met = best.cost
        self.bound = 0
        self.certificate: Prices | None = None
        self.lawful: Prices | None = None

    def outcome(self, stages: Iterable[Callable[[], None]]) -> Outcome:
        """Go through the stages; stop as soon as the budget says so.

        Each stage is asked for when the one before is over.
        """
        ended = "finished"
        for stage in stages:
            self.met = self.best.cost
            stage()
            if self.best.cost <= self.bound:
                ended = "finished"
                break
            if self.stop.satisfied(self.best.cost, self.bound):
                ended = "gap reached"
                break
            if self.stop.now():
                ended = self.stop.why()
                break
            ended = "stopped paying"
        return Outcome(self.best, self.bound, ended, self.certificate, self.lawful)

    def tell(
        self,
        stage: str,
        share: float | None = None,
        cost: int | None = None,
        gauge: Callable[[], float] | None = None,
    ) -> None:
        """Report progress with the best cost and bound so far; ``cost``: what the stage has met."""
        if cost is not None:
            self.met = min(cost, self.met)
        best = self.best.cost if cost is None else min(cost, self.best.cost)
        self.context.tell(stage, best, self.bound, share, gauge)

    def offer(self, solution: Solution) -> None:
        """Keep the solution if it is the best so far."""
        if solution.cost < self.best.cost:
            self.best = solution

    def prove(self, prices: Prices, bound: int, lawful: bool = False) -> None:
        """Keep prices and the bound that they prove; ``lawful``: for lawful classes only."""
        self.bound = bound
        self.certificate, self.lawful = (None, prices) if lawful else (prices, None)

    def paying(self) -> Callable[[], bool]:
        """Return what tells, turn after turn, whether the search pays for the time it takes."""
        pays = Paying()

        def going() -> bool:
            pays_still = pays.goes_on(self.stop.elapsed(), self.best.cost, self.bound)
            return pays_still or self.stop.thorough

        return going

    def done(self) -> bool:
        """Whether time is up or the gap is small enough, also of what a stage will offer."""
        best = min(self.met, self.best.cost)
        return self.stop.now() or self.stop.satisfied(best, self.bound)
