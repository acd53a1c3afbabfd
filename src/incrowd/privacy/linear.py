"""Models that are linear in the number of rows of each kind in a class, for integer programs."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from incrowd.privacy.distance import GroundDistance


@dataclass(frozen=True, eq=False)
class Closeness:
    """One t-closeness law."""

    t: float
    attribute: int
    distance: GroundDistance


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
