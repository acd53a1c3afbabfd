"""What a solver is: a frozen value with a declared guarantee and scope, and one method."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from incrowd.bounds.prices import Prices
from incrowd.errors import OutOfScopeError
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.events import Event, Listener, silent
from incrowd.run.stop import Stop


@dataclass(frozen=True, eq=False)
class Context:
    """What a run is given besides the problem."""

    seed: int = 0
    stop: Stop = field(default_factory=Stop)
    listener: Listener = silent

    def tell(
        self,
        stage: str,
        cost: int | None = None,
        bound: int | None = None,
        share: float | None = None,
        gauge: Callable[[], float] | None = None,
    ) -> None:
        """Report progress; ``gauge``: what tells the share while the stage goes on."""
        if share is None and gauge is not None:
            share = gauge()
        self.listener(Event(stage, cost, bound, share, gauge=gauge))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a solver returns.

    Attributes
    ----------
    solution: the best lawful solution, or None when none was found.
    bound: a proven lower bound in units of 1/scale (0 when the method proves none).
    ended: why it ended: ``"finished"``, ``"stopped paying"``, ``"gap reached"``,
        ``"time limit"`` or ``"interrupted"``.
    prices: the price certificate behind ``bound``, where there is one.
    lawful: prices that hold for lawful classes only (``incrowd.bounds.lawful_price``), where the
        bound comes from them; they need not be a certificate for classes of k rows.
    by: id of the method whose release it is, where that is another one's; else empty.
    """

    solution: Solution | None
    bound: int = 0
    ended: str = "finished"
    prices: Prices | None = None
    lawful: Prices | None = None
    by: str = ""


@dataclass(frozen=True)
class Scope:
    """What a solver serves, as ``incrowd methods`` lists it; ``Solver.refuse`` decides.

    Attributes
    ----------
    models: words, e.g. ``("k-anonymity",)`` or ``("any closed under union",)``.
    hierarchies: whether trees higher than 1 are served.
    rows: the number of distinct rows beyond which it refuses for certain, or None.
    size: in words, when a table is too large for it; empty when size alone is no reason.
    time: in words, what is proven of its running time in the worst case; empty when nothing is.
    """

    models: tuple[str, ...] = ("k-anonymity",)
    hierarchies: bool = True
    rows: int | None = None
    size: str = ""
    time: str = ""


class Described(Protocol):
    """What a method says of itself; ``guarantee``: ``"exact"``, ``"none"``, or a ratio in words."""

    @property
    def id(self) -> str: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def source(self) -> str: ...


@runtime_checkable
class Solver(Described, Protocol):
    """One algorithm."""

    def refuse(self, problem: Problem) -> str | None:
        """Say why this problem is out of scope and what to use instead, or return None."""
        ...

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Solve; obey ``context.stop``; never claim more than was proved."""
        ...


def refuse_other_models(problem: Problem, served: str = "k-anonymity") -> str | None:
    """Say no to all models but k-anonymity, for the methods that know no other."""
    if problem.model.size_decides:
        return None
    return f"it serves {served}, not {problem.asked}; use engine or mondrian"


def refuse_open_models(problem: Problem) -> str | None:
    """Say no to models under which the whole table need not be a lawful class.

    But for those that the driver mends: see ``incrowd.driver.unions``.
    """
    if problem.model.closed_under_union or problem.model.mended_by_merging:
        return None
    return f"{problem.asked} is not closed under union; use subset-dp"


def insist(solver: Solver, problem: Problem) -> None:
    """Raise OutOfScopeError with the solver's reason if it refuses the problem."""
    reason = solver.refuse(problem)
    if reason is not None:
        raise OutOfScopeError(f"method {solver.id!r} does not serve this table: {reason}")
