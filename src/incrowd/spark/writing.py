"""What Spark writes: the release, counted again as written, and its proof beside it."""

from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

from incrowd.checker.delimited import Reading
from incrowd.checker.verify import check
from incrowd.errors import VerificationError
from incrowd.privacy.model import claims_of
from incrowd.proof.confirm import priced
from incrowd.proof.prove import evidence_of, require_plain_costs, write_statement
from incrowd.proof.writing import write_proof
from incrowd.release import Release
from incrowd.spark.check import recounted
from incrowd.spark.plan import workers_errors
from incrowd.spark.readback import certificate_of, whole
from incrowd.spark.result import SparkRelease
from incrowd.tables.atomic import whole as whole_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write_folder(
    spark: "SparkSession", release: SparkRelease, place: str, form: str, csv: Mapping[str, Any]
) -> None:
    """Write the release as files of a form into a folder, and count what was written.

    Parameters
    ----------
    csv: how delimited text is read, and written.

    Raises
    ------
    VerificationError: other rows were written than were released.
    """
    local = "://" not in place
    with workers_errors():
        writer = release.data.write.mode("overwrite" if local else "errorifexists")
        if form == "parquet":
            writer.parquet(place)
            written = spark.read.parquet(place)
        else:
            kept = ("header", "sep", "quote", "escape", "encoding")
            spaces = ("ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace")
            writer.csv(place, **{name: csv[name] for name in (*kept, *spaces)})
            written = spark.read.csv(place, **csv)
        rows, smallest = recounted(written, release.roles.qi)
    if rows != release.written_rows or (rows and smallest < release.k):
        raise VerificationError(
            f"what was written has {rows:,} rows and a smallest class of {smallest}; the release "
            f"has {release.written_rows:,} rows: nothing was published. Did the table change "
            "meanwhile?"
        )


def read_back(
    release: SparkRelease, places: tuple[str, str], given: Mapping[str, Any]
) -> tuple[dict[str, Any], Release]:
    """Read original and release on the driver; write proof and statement where they are asked for.

    Returns the proof's JSON part, empty without a proof, and the release as one of this machine.
    """
    reading = {name: given[name] for name in ("delimiter", "encoding")}
    here = whole(release, *places, **reading)
    if given["proof"] is None:
        return {}, here
    with whole_file(given["proof"], private=True) as file:
        facts = prove(release, here, places, file, reading)
    if given["statement"] is not None:
        with whole_file(given["statement"]) as file:
            write_statement(facts, given["proof"], file)
    return facts, here


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
    evidence = evidence_of(whole, table.copy_of_row, table.problem, models, False, released)
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
