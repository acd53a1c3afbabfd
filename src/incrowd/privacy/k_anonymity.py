"""k-anonymity: every class has at least k rows (Samarati and Sweeney 1998)."""

from dataclasses import dataclass

from incrowd.errors import InputError
from incrowd.privacy.base import Group


@dataclass(frozen=True)
class KAnonymity:
    """Every class has at least ``k`` rows."""

    k: int

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise InputError(f"k must be a whole number of at least 1, not {self.k!r}")

    @property
    def name(self) -> str:
        """Text form."""
        return f"{self.k}-anonymity"

    closed_under_union = True

    def smallest_class(self, table: Group) -> int:
        """k rows."""
        return self.k

    def lawful(self, group: Group, table: Group) -> bool:
        """At least k rows."""
        return group.rows >= self.k
