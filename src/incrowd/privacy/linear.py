"""Models that are linear in the number of rows of each kind in a class, for integer programs."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from incrowd.privacy.distance import GroundDistance


@dataclass(frozen=True, eq=False)
class Closeness:
    """One t-closeness law."""

    t: Fraction
    attribute: int
    distance: GroundDistance

    def threshold(self, rows: int, unit: int) -> float:
        """Return a number that parts the distances that are lawful from those that are not.

        A class of n of the table's N rows is at a multiple of 1/(n·N·unit) from the table.  The
        middle between the largest of these up to t and the least above is as far as can be from
        both, so that no lawful class is lost to a solver's tolerance, and no other one let in.

        Parameters
        ----------
        rows: of the table; unit: distances are in 1/``unit``.
        """
        grids = [n * rows * unit for n in range(1, rows + 1)]
        below = max(Fraction(int(self.t * grid), grid) for grid in grids)
        above = min(Fraction(int(self.t * grid) + 1, grid) for grid in grids)
        return float((below + above) / 2)


@dataclass(frozen=True)
class Recursive:
    """One recursive (c, l)-diversity law: r₁ < c·(r_l + r_{l+1} + …)."""

    c: Fraction
    l: int  # noqa: E741
    attribute: int


@dataclass(frozen=True)
class Linear:
    """A model taken apart: (l, attribute) pairs for two diversities, and the other laws."""

    k: int = 1
    distinct: tuple[tuple[int, int], ...] = ()
    frequency: tuple[tuple[int, int], ...] = ()
    closeness: tuple[Closeness, ...] = ()
    recursive: tuple[Recursive, ...] = ()

    @property
    def attributes(self) -> int:
        """Number of sensitive attributes that the laws look at."""
        looked = [a for _, a in self.distinct + self.frequency]
        return len({*looked, *(law.attribute for law in self.closeness + self.recursive)})


def attainable(c: Fraction, rows: int) -> Fraction:
    """Return the least ratio of two numbers of rows that is at least ``c``.

    No class lies between the two, so it is as good a limit as c, and its numbers are small.
    """
    return min(Fraction(-(-c * n // 1), n) for n in range(1, max(rows, 1) + 1))


def together(found: Iterable[Linear]) -> Linear:
    """Return what asks for all of them."""
    known = list(found)
    return Linear(
        max((one.k for one in known), default=1),
        tuple(law for one in known for law in one.distinct),
        tuple(law for one in known for law in one.frequency),
        tuple(law for one in known for law in one.closeness),
        tuple(law for one in known for law in one.recursive),
    )
