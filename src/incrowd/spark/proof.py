"""The proof of a release that Spark has written, made on the driver from the two tables."""

from collections.abc import Mapping
from typing import IO, Any

from incrowd.checker.delimited import Reading
from incrowd.checker.verify import check
from incrowd.errors import VerificationError
from incrowd.privacy.claims import claims_of
from incrowd.proof.prove import evidence_of, priced, require_plain_costs
from incrowd.proof.writing import write_proof
from incrowd.release import Release
from incrowd.spark.readback import certificate_of
from incrowd.spark.result import SparkRelease


def prove(
    release: SparkRelease,
    whole: Release,
    places: tuple[str, str],
    file: IO[bytes],
    reading: Mapping[str, str | None],
) -> dict[str, Any]:
    """Write the proof of a release that stands on disk; return the proof's JSON part.

    Parameters
    ----------
    whole: the same release, as one of this machine.
    places: original and release: files or folders of files that the driver can read.
    file: where the proof goes; it has a name, by which the checker reads it.
    reading: ``delimiter`` and ``encoding`` of delimited files, None for what they show.

    Raises
    ------
    VerificationError: the independent checker refuses the release.
    """
    (original, released), table = places, whole.coded
    require_plain_costs(table.instance)
    names = {name: column.values for name, column in table.attributes.items()}
    models, _ = claims_of(table.model, names)
    evidence = evidence_of(whole, table.copy_of_row, table.problem, models, spreadsheet_safe=False)
    evidence = priced(evidence, certificate_of(release, table))
    facts = write_proof(file, evidence, original, released)
    file.flush()
    form = Reading(reading["delimiter"], reading["encoding"], odd_header=True)
    verdict = check(released, original, file.name, reading=form)
    if not verdict.accepted:
        raise VerificationError(
            f"the independent checker refuses the release: {verdict.reason}; nothing was published"
        )
    return facts
