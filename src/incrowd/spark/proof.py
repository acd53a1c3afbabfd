"""The proof of a release that Spark has written, made on the driver from the two tables.

The prices come from the tasks, and which original row a released row was from ``assignment.py``.
"""

from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prices import Prices
from incrowd.bounds.support import uniqueness_prices
from incrowd.checker.delimited import Reading
from incrowd.checker.verify import check
from incrowd.encoding.encoded import Coded, coded
from incrowd.errors import VerificationError
from incrowd.privacy.claims import claims_of
from incrowd.problem.solution import Solution
from incrowd.proof.certificate import Certificate
from incrowd.proof.prove import dialect_of, origins, require_plain_costs, spared
from incrowd.proof.writing import Evidence, write_proof
from incrowd.spark.assignment import assigned
from incrowd.spark.certificates import unpacked
from incrowd.spark.result import SparkRelease
from incrowd.tables.files import read

Ints = NDArray[np.int64]


def prove(
    release: SparkRelease,
    original: str,
    released: str,
    file: IO[bytes],
    reading: Mapping[str, str | None],
) -> dict[str, Any]:
    """Write the proof of a release that stands on disk; return the proof's JSON part.

    Parameters
    ----------
    original, released: files or folders of files that the driver can read.
    file: where the proof goes; it has a name, by which the checker reads it.
    reading: ``delimiter`` and ``encoding`` of delimited files, None for what they show.

    Raises
    ------
    VerificationError: the two tables do not go together, or the independent checker refuses them.
    """
    source = read(original, **reading)
    table = coded(source, release.policy)
    require_plain_costs(table.instance)
    origin, classes = assigned(table, read(released, **reading), release.ways)
    facts = write_proof(file, evidence_of(release, table, origin, classes), original, released)
    file.flush()
    form = Reading(reading["delimiter"], reading["encoding"], odd_header=True)
    verdict = check(released, original, file.name, reading=form)
    if not verdict.accepted:
        raise VerificationError(
            f"the independent checker refuses the release: {verdict.reason}; nothing was published"
        )
    return facts


def evidence_of(release: SparkRelease, table: Coded, origin: Ints, classes: Ints) -> Evidence:
    """Gather what the proof says."""
    problem, policy = table.problem, release.policy
    copies = table.copy_of_row[origin]
    member = np.empty(len(copies), np.int64)
    member[copies] = classes
    known = certificate_of(release, table)
    names = {name: column.values for name, column in table.attributes.items()}
    models, unchecked = claims_of(problem.model, names)
    return Evidence(
        solution=Solution.of(table.instance, member),
        copy_of_row=table.copy_of_row,
        order=origin,
        classes=classes,
        roles=table.roles,
        models=models,
        unchecked=[part.called(table.roles.attributes) for part in unchecked],
        prices=known.prices,
        price_k=problem.smallest_class,
        pricing=known.rules,
        csv=dialect_of(table.source),
        hierarchies=origins(policy.hierarchies) | spared(policy, table.instance.trees),
    )


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
