"""The methods that average: one tuple, from which lists are derived."""

from typing import Protocol

from incrowd.averages.axes import Ints
from incrowd.averages.exact import HansenMukherjee
from incrowd.averages.mdav import MDAV, VMDAV
from incrowd.averages.search import Microaggregation
from incrowd.averages.strata import Points
from incrowd.errors import InputError, OutOfScopeError, did_you_mean
from incrowd.run.stop import Stop
from incrowd.solvers.base import Described


class Averaging(Described, Protocol):
    """One way to form classes of which the averages are published."""

    def refuse(self, points: Points) -> str | None:
        """Say why these points are out of scope and what to use instead, or return None."""
        ...

    def run(self, points: Points, seed: int, stop: Stop) -> Ints:
        """Return the class of each row, dense numbers from 0; each has k rows or more."""
        ...


METHODS: tuple[Averaging, ...] = (Microaggregation(), HansenMukherjee(), MDAV(), VMDAV())


def averaging(method: str) -> Averaging | None:
    """Return the method with this id; None for ``auto``.

    Raises
    ------
    InputError: there is none; names the nearest.
    """
    ids = [known.id for known in METHODS]
    if method == "auto":
        return None
    if method not in ids:
        hint = did_you_mean(method, ids)  # a list of all where none is near
        raise InputError(f"method {method!r} does not average columns, or is not a method{hint}")
    return next(known for known in METHODS if known.id == method)


def chosen(asked: Averaging | None, points: Points) -> Averaging:
    """Return the method for these points: the exact one where it serves them, if none is asked.

    Raises
    ------
    OutOfScopeError: the one asked for does not serve them.
    """
    if asked is None:
        exact, search = HansenMukherjee(), Microaggregation()
        return search if exact.refuse(points) else exact
    reason = asked.refuse(points)
    if reason is not None:
        raise OutOfScopeError(f"method {asked.id!r} does not serve this table: {reason}")
    return asked
