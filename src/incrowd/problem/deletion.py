"""What it costs to leave rows out of a release, and how many may be left out."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Deletion:
    """Rows may be deleted.

    Attributes
    ----------
    price: what a deleted row costs, in units of 1/scale.
    most: how many rows may be deleted; None for any number.
    """

    price: int
    most: int | None = None

    def limit(self, rows: int) -> int:
        """Return how many of so many rows may be deleted."""
        return rows if self.most is None else min(rows, self.most)
