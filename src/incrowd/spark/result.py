"""What ``incrowd.spark.release`` returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from incrowd.published.figures import Figures
from incrowd.text.units import Number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.policy.base import Policy
    from incrowd.policy.roles import Roles


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease(Figures):
    """A release on Spark and what is known about it.

    Attributes
    ----------
    data: the release, a Spark frame; made anew, from the table and the classes found, when used.
    policy, roles, models: what was asked.
    rows, classes, smallest_class: counted in Spark on the released rows.
    changed: number of changed cells by quasi-identifier.
    scale, cost_units, bound_units, worst_units: costs in units of 1/scale, as in ``Release``.
    method, ended, seconds: which solver ran, why it ended, wall time.
    blocks: False when one task solved the whole table.
    """

    called: ClassVar[str] = "SparkRelease"
    data: "DataFrame"
    policy: "Policy"
    roles: "Roles"
    models: tuple[str, ...]
    rows: int
    classes: int
    smallest_class: int
    changed: Mapping[str, int]
    scale: int
    cost_units: int
    bound_units: int
    worst_units: int
    method: str
    ended: str
    seconds: float
    blocks: bool
    certificate: str | None = None  # the prices behind the bound, see incrowd.spark.certificates
    ways: Any = None  # how distinct rows are released, see incrowd.spark.assignment; for a proof
    keeper: Any = None
    further_bounds: Mapping[str, Number] = field(default_factory=dict)
    suppressed_rows: int = 0  # leaving rows out is not served on Spark
    rows_without_person: int = 0  # left out with ``missing_person="drop"``
    people: int | None = None  # counted in Spark by the columns that name them
    fewest_people: int | None = None  # in any class
    warnings: tuple[str, ...] = ()  # only what the cost tells is looked for on Spark
    unchecked: tuple[str, ...] = ()  # no independent checker is asked on Spark
    veil: None = None  # a veil is not served
    deleted: None = None  # deleting rows is not served
    averaged: None = None  # averages are not served
    protected: None = None  # combinations of columns are not served

    @property
    def written_rows(self) -> int:
        """Rows of ``data``."""
        return self.rows

    def unpersist(self) -> None:
        """Free what is kept for ``data``, which may be of no use afterwards."""
        if self.keeper is not None:
            self.keeper.forget()


class Earlier(NamedTuple):
    """An earlier release: how many rows and classes it has."""

    rows: int
    classes: int


@dataclass(frozen=True, eq=False, repr=False)
class SparkExtendedRelease(SparkRelease):
    """An earlier release with new rows in it.

    ``rows``, ``cost``, ``lower_bound``, ``changed`` are about the new rows; ``data``, ``classes``
    and ``smallest_class`` about both.

    Attributes
    ----------
    existing: the earlier release, whose rows stay as they are.
    joined: new rows that joined published classes; the others form classes of their own.
    """

    existing: Earlier = field(default_factory=lambda: Earlier(0, 0))
    joined: int = 0

    @property
    def written_rows(self) -> int:
        """Rows of ``data``: earlier and new ones."""
        return self.existing.rows + self.rows
