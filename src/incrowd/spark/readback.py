"""A release that Spark has written, as one of this machine: what reports and proofs speak of.

The driver reads original and release; the bound and the prices come from the tasks, and which
original row a released row was from ``assignment.py``.
"""

import numpy as np

from incrowd.bounds.prices import Prices
from incrowd.bounds.support import uniqueness_prices
from incrowd.driver.solve import Solved
from incrowd.encoding.encoded import Coded, coded, edit_for
from incrowd.errors import InputError, VerificationError
from incrowd.problem.solution import Solution
from incrowd.proof.certificate import Certificate
from incrowd.release import Release
from incrowd.spark.assignment import Shown
from incrowd.spark.certificates import unpacked
from incrowd.spark.result import SparkRelease
from incrowd.tables.files import read


def whole(
    release: SparkRelease,
    original: str,
    released: str,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Release:
    """Return a release that was written by Spark as one of this machine, with reports and figures.

    Parameters
    ----------
    release: made with ``whole=True``.
    original, released: files, or folders of files, that the driver can read; it holds both tables.
    delimiter, encoding: of delimited files; None for what they show.

    Raises
    ------
    InputError: the release was made without ``whole``, or a file cannot be read.
    VerificationError: the two tables do not go together, or not with the release.
    """
    if release.ways is None:
        raise InputError("make the release with whole=True, and write its rows first")
    table = coded(read(original, delimiter, encoding), release.policy, by_name=True)
    written = read(released, delimiter, encoding)
    shown = Shown.of(written, table.roles.qi)
    origin = release.ways.origin(table, written, shown)
    member = np.empty(len(origin), np.int64)
    member[table.copy_of_row[origin]] = shown.label
    solution = Solution.of(table.instance, member)
    if (table.instance.scale, solution.cost) != (release.scale, release.cost_units):
        raise VerificationError(
            "what was written costs something else than the release; did the table change "
            "meanwhile?"
        )
    known = certificate_of(release, table)
    prices = None if known.rules else known.prices
    units, how = (release.cost_units, release.bound_units), (release.method, release.ended)
    solved = Solved(solution, *units, *how, prices)
    made = Release(
        coded=table,
        edit=edit_for(table, solution, table.roles.published(table.source.columns), origin),
        policy=release.policy,
        cost_units=release.cost_units,
        bound_units=release.bound_units,
        method=release.method,
        ended=release.ended,
        seconds=release.seconds,
        solved=solved,
    )
    made.require_same(written)
    _ = made.class_of_row  # the independent re-check
    return made


def certificate_of(release: SparkRelease, table: Coded) -> Certificate:
    """Return the prices that the tasks found, for the distinct rows in their order."""
    instance = table.instance
    if release.certificate is None:
        price = uniqueness_prices(instance, table.problem.smallest_class)
        return Certificate(Prices(price, 1))
    known = unpacked(release.certificate)
    if len(known.prices.price) != instance.distinct:
        raise VerificationError(
            f"the original has {instance.distinct:,} distinct rows, and Spark priced "
            f"{len(known.prices.price):,}: did the table change meanwhile?"
        )
    return known
