"""What follows from a release's figures, wherever the release was made."""

from collections.abc import Mapping
from typing import ClassVar

from incrowd.policy.base import Policy
from incrowd.policy.roles import Roles
from incrowd.text.models import models_in_words
from incrowd.text.units import Priced, shown, warned


class Figures(Priced):
    """Figures of a release.

    Attributes
    ----------
    called: what the text form calls it.
    policy: what was asked; roles: of the columns; models: names of what every class obeys.
    rows: of the release.  changed: number of changed cells by quasi-identifier.
    warnings: what the release does not protect from, for the publisher alone.
    """

    called: ClassVar[str] = "Release"
    policy: Policy
    roles: Roles
    models: tuple[str, ...]
    rows: int
    changed: Mapping[str, int]
    warnings: tuple[str, ...]

    @property
    def k(self) -> int:
        """The k that was asked for."""
        return self.policy.k

    @property
    def seed(self) -> int:
        """The seed of the search."""
        return self.policy.search_seed

    @property
    def columns(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.roles.qi)

    @property
    def cells(self) -> int:
        """Number of cells that could have changed: rows × quasi-identifiers."""
        return self.rows * self.columns

    @property
    def changed_cells(self) -> int:
        """Number of changed cells."""
        return sum(self.changed.values())

    def __repr__(self) -> str:
        return (
            f"<{self.called}: {self.rows} rows × {self.columns} quasi-identifiers, "
            f"{models_in_words(self.models)}, {self.changed_cells} of {self.cells} cells changed, "
            f"cost {shown(self.cost)}, bound {shown(self.lower_bound)}, "
            f"{self.status}{warned(self.warnings)}>"
        )
