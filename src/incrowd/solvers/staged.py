"""A run in stages: the best so far, what is proven, and when to end; shared by the engines."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from incrowd.bounds.prices import Prices
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context, Outcome


class StagedRun(ABC):
    """One anytime run; a subclass sets these attributes and lists its stages."""

    context: Context
    stop: Stop
    best: Solution
    bound: int
    certificate: Prices | None

    @abstractmethod
    def stages(self) -> Iterable[Callable[[], None]]:
        """Return the stages in order; each is asked for when the one before is over."""

    def outcome(self) -> Outcome:
        """Go through the stages; stop as soon as the budget says so."""
        ended = "finished"
        for stage in self.stages():
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
        return Outcome(self.best, self.bound, ended, self.certificate)

    def tell(self, stage: str, share: float | None = None, cost: int | None = None) -> None:
        """Report progress with the best cost and bound so far."""
        best = self.best.cost if cost is None else min(cost, self.best.cost)
        self.context.tell(stage, best, self.bound, share)

    def offer(self, solution: Solution) -> None:
        """Keep the solution if it is the best so far."""
        if solution.cost < self.best.cost:
            self.best = solution

    def done(self) -> bool:
        """Whether time is up or the gap is small enough."""
        return self.stop.now() or self.stop.satisfied(self.best.cost, self.bound)
