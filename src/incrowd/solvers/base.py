"""What a solver is: a frozen value with a declared guarantee and scope, and one method."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError
from incrowd.events import Event, Listener, silent
from incrowd.instance import Instance
from incrowd.privacy.base import Group, Model
from incrowd.solution import Solution
from incrowd.stop import Stop


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance and the model its release must obey."""

    instance: Instance
    model: Model

    @property
    def table(self) -> Group:
        """The whole table's sensitive values, copies written out."""
        instance = self.instance
        return Group(instance.sensitive_codes[instance.copies], instance.sensitive_sizes)

    def group(self, copies: NDArray[np.integer]) -> Group:
        """The sensitive values of some copies."""
        instance = self.instance
        return Group(instance.sensitive_codes[instance.copies[copies]], instance.sensitive_sizes)

    @property
    def smallest_class(self) -> int:
        """A lower bound on the size of a lawful class."""
        return self.model.smallest_class(self.table)


@dataclass(frozen=True, eq=False)
class Context:
    """What a run is given besides the problem."""

    seed: int = 0
    stop: Stop = field(default_factory=Stop)
    listener: Listener = silent
    threads: int = 1

    def tell(
        self,
        stage: str,
        cost: int | None = None,
        bound: int | None = None,
        share: float | None = None,
    ) -> None:
        """Report progress."""
        self.listener(Event(stage, cost, bound, share))


@dataclass(frozen=True, eq=False)
class Prices:
    """A price certificate: integer prices per distinct row, in units of 1/(scale·quantum).

    For every pattern with at least k matching rows, the k highest prices among those rows sum to
    at most k·cost(pattern)·quantum; so no lawful release costs less than Σ counts·prices/quantum.

    charge: what all patterns together may be worth more than they cost, which is taken off that
        sum (``incrowd.bounds.charges``); 0 where the prices obey the inequality.
    """

    price: NDArray[np.int64]
    quantum: int
    charge: int = field(default=0, kw_only=True)


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
    """

    solution: Solution | None
    bound: int = 0
    ended: str = "finished"
    prices: Prices | None = None
    lawful: Prices | None = None


@dataclass(frozen=True)
class Scope:
    """What a solver serves, as ``incrowd methods`` lists it; ``Solver.refuse`` decides.

    Attributes
    ----------
    models: words, e.g. ``("k-anonymity",)`` or ``("any closed under union",)``.
    hierarchies: whether trees higher than 1 are served.
    rows: the number of distinct rows beyond which it refuses for certain, or None.
    size: in words, when a table is too large for it; empty when size alone is no reason.
    """

    models: tuple[str, ...] = ("k-anonymity",)
    hierarchies: bool = True
    rows: int | None = None
    size: str = ""


@runtime_checkable
class Solver(Protocol):
    """One algorithm.  ``guarantee`` is ``"exact"``, ``"none"``, or the ratio in words."""

    @property
    def id(self) -> str: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def source(self) -> str: ...

    def refuse(self, problem: Problem) -> str | None:
        """Say why this problem is out of scope and what to use instead, or return None."""
        ...

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Solve; obey ``context.stop``; never claim more than was proved."""
        ...


def insist(solver: Solver, problem: Problem) -> None:
    """Raise OutOfScopeError with the solver's reason if it refuses the problem."""
    reason = solver.refuse(problem)
    if reason is not None:
        raise OutOfScopeError(f"method {solver.id!r} does not serve this table: {reason}")
