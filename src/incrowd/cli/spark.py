"""``incrowd anonymize --engine spark``: files in, a folder of files out."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.cli import options
from incrowd.cli.options import options_of
from incrowd.cli.output import print_json, proof_bound, release_record, say, say_proof_bound, warn
from incrowd.cli.places import require_places, require_proof_of
from incrowd.cli.progress import progress
from incrowd.cli.reporting import also_written, require_reports, write_reports
from incrowd.cli.summary import summary
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.run.events import PROOF, Event, Listener
from incrowd.spark.front import BLOCK_ROWS, release_of, require_spark
from incrowd.spark.result import SparkRelease
from incrowd.tables.dialect import BY_NAME
from incrowd.tables.folders import whole_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from incrowd.release import Release

UNSERVED = (
    *("spreadsheet_safe", "metadata", "existing_original", "existing_proof", "joined"),
    *("held_back", "codebook"),
)
OF_FILES = ("sheet", "of_table", "query", "replace", "derive", "derived")
PARQUET = (".parquet", ".pq")


def run(table: str, output: str, as_json: bool, quiet: bool, given: Mapping[str, Any]) -> int:
    """Do what ``incrowd anonymize`` does, on Spark; return the exit code."""
    require_servable(table, output, given)
    spark = session()
    frame = read(spark, table, given)
    policy = Policy(**options.policy_arguments(frame.columns, given))
    rows = BLOCK_ROWS if given["block_rows"] is None else given["block_rows"]
    earlier = None if given["existing"] is None else read(spark, given["existing"], given)
    with progress(quiet, None) as listener:
        release = release_of(
            frame, policy, rows, given["scratch"], listener, bool(on_driver(given)), earlier
        )
        try:
            facts, here = write(spark, release, (table, output), given, listener)
        finally:
            release.unpersist()
    if here is not None:
        write_reports(here, table, output, given)
    told: Any = release if here is None else replace(release, warnings=here.warnings)
    if as_json:
        print_json(release_record(told, output, given["proof"]) | proof_bound(told, facts))
    say(f"{summary(told)}\nwritten  {output}{also_written(given)}", quiet)
    say_proof_bound(told, facts, quiet)
    warn(told.warnings)
    return 0


def require_servable(table: str, output: str, given: Mapping[str, Any]) -> None:
    """Raise InputError for what ``--engine spark`` does not do."""
    require_spark()
    if asked := options_of(UNSERVED, given):
        raise InputError(f"{', '.join(asked)}: not served with --engine spark")
    if asked := options_of(OF_FILES, given):
        raise InputError(f"{asked[0]}: not served with --engine spark, which reads files")
    if "-" in (table, output):
        raise InputError("--engine spark reads and writes files and folders, not pipes")
    require_proof_of(given["statement"], given["proof"])
    require_places(given["proof"], given["statement"])
    require_reports(output, given)
    if given["existing"] is not None:
        require_earlier(output, given)
    if asked := on_driver(given):
        require_readable(table, output, asked)
    if given["order"] == "keep":
        raise InputError("rows have no order on Spark; leave out --order keep")
    target = Path(output)
    if "://" not in output and target.exists() and not replaceable(target):
        raise InputError(
            f"{output}: is there already, and not as an earlier output of Spark; choose another "
            "folder or remove it"
        )


def require_earlier(output: str, given: Mapping[str, Any]) -> None:
    """Raise InputError for what does not go with an earlier release on Spark."""
    if asked := on_driver(given):
        raise InputError(
            f"{', '.join(asked)}: not served with --existing and --engine spark; make the release "
            "on one machine"
        )
    if given["existing"] == "-":
        raise InputError("--existing: --engine spark reads files and folders, not pipes")


def on_driver(given: Mapping[str, Any]) -> list[str]:
    """Return the options for which the driver reads both tables."""
    return options_of(("proof", "report", "report_internal"), given)


def require_readable(table: str, output: str, asked: Sequence[str]) -> None:
    """Raise InputError where the driver cannot read both tables, as proofs and reports need it."""
    if "://" in table + output or not Path(table).exists():
        raise InputError(
            f"{asked[0]} on Spark needs IN and OUT as files or folders that the driver can read, "
            "by their names"
        )
    within = Path(table).iterdir() if Path(table).is_dir() else ()
    if any(part.is_dir() and part.name[:1] not in ("_", ".") for part in within):  # as Spark hides
        raise InputError(
            f"{asked[0]} needs IN as one file or a folder of files, without folders in it"
        )


def replaceable(target: Path) -> bool:
    """Whether a folder is empty or was written by Spark."""
    return target.is_dir() and ((target / "_SUCCESS").exists() or not any(target.iterdir()))


def session() -> "SparkSession":
    """Return the session that the environment names (``SPARK_REMOTE``, spark-submit, …).

    Raises
    ------
    InputError: there is none; says what Spark says, which knows no cell yet.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    elsewhere = ("SPARK_REMOTE", "SPARK_HOME", "MASTER", "PYSPARK_GATEWAY_PORT")
    if not any(os.environ.get(name) for name in elsewhere):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return SparkSession.builder.appName("incrowd").getOrCreate()
    except PySparkException as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(
            f"no Spark to work on: {said[0]} Name a server that answers "
            "(SPARK_REMOTE=sc://HOST:PORT), or have pyspark, of which pyspark-client is a part "
            "only, and Java on this machine"
        ) from None


def form_of(path: str, otherwise: str = "csv") -> str:
    """Return ``parquet`` or ``csv``: by the name, or by what lies in a local folder."""
    name = path.rstrip("/").lower()
    if any(end in name for end in PARQUET):
        return "parquet"
    if name.endswith((".csv", ".txt", *BY_NAME)):
        return "csv"
    inside = Path(path)
    if inside.is_dir() and any(p for end in PARQUET for p in inside.rglob(f"*{end}")):
        return "parquet"
    return otherwise


def read(spark: "SparkSession", path: str, given: Mapping[str, Any]) -> "DataFrame":
    """Return a table of Parquet, or of CSV with all columns as text."""
    if "://" not in path and not any(c in path for c in "*?[{") and not Path(path).exists():
        raise InputError(f"{path}: no such file or folder")
    if form_of(path) == "parquet":
        return spark.read.parquet(path)
    return spark.read.csv(path, **csv_options(given, path))


def csv_options(given: Mapping[str, Any], *paths: str) -> dict[str, Any]:
    """How CSV is read and written: missing cells empty, empty text quoted, spaces kept.

    paths: of which the first one that holds text tells by its name what cuts its lines.
    """
    text = next((path for path in paths if form_of(path) == "csv"), "")
    delimiter = given["delimiter"] or BY_NAME.get(Path(text).suffix.lower(), ",")
    return {
        "header": True,
        "inferSchema": False,
        "sep": "\t" if delimiter in ("\\t", "tab") else delimiter,
        "quote": '"',
        "escape": '"',
        "multiLine": True,
        "ignoreLeadingWhiteSpace": False,
        "ignoreTrailingWhiteSpace": False,
        "encoding": given["encoding"] or "UTF-8",
        "mode": "FAILFAST",
    }


def write(
    spark: "SparkSession",
    release: SparkRelease,
    places: tuple[str, str],
    given: Mapping[str, Any],
    listener: Listener,
) -> tuple[dict[str, Any], "Release | None"]:
    """Write the release, count what was written, and let it appear, with its proof or not at all.

    A local folder appears whole or not at all.  In an object store the folder gets its name at
    once, and Spark's ``_SUCCESS`` at the end; it must not exist before.

    Returns the proof's JSON part, empty without a proof; and the release as one of this machine,
    where the driver reads it.
    """
    from incrowd.spark.writing import read_back, write_folder  # it needs pyspark

    (table, output), options = places, csv_options(given, *places)
    form = form_of(output, form_of(table))
    if "://" in output:
        write_folder(spark, release, output, form, options)
        return {}, None
    with whole_folder(output) as folder:
        place = str(folder.resolve())
        write_folder(spark, release, place, form, options)
        if not on_driver(given):
            return {}, None
        listener(Event(PROOF))
        return read_back(release, (table, place), given)
