"""What Spark writes: the release, counted again as written, and its proof beside it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd.errors import VerificationError
from incrowd.proof.prove import write_statement
from incrowd.release import Release
from incrowd.spark.check import recounted
from incrowd.spark.plan import workers_errors
from incrowd.spark.proof import prove
from incrowd.spark.readback import whole
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
