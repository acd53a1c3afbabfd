"""Releases of tables of any size on Spark: ``incrowd.spark.anonymize(df, …)``.

    front.py      anonymize and release, and what is not served
    making.py     Spark frame → distinct rows → tasks → Spark frame: wiring only
    columns.py    each column's values as codes, on the driver
    task.py       what a task is told; how records look    plan.py  how it gets to the workers
    tasks.py      what runs in the workers: values to codes and back, counts
    search.py     what searches in the workers: the same engine as on one machine
    tree.py       which block a row belongs to
    blocks.py     several tasks instead of one: blocks, borders polished, one bound
    adding.py     rows added to an earlier release; earlier.py: its columns and labels;
                  joining.py: what then runs in the workers
    persons.py    whose each row is, where people are counted
    keeping.py    what a task found, kept so that it is not found twice
    rows.py       from classes back to rows, by joins
    check.py      the re-check of what was released        result.py  what is returned
    writing.py    files in a folder, counted again
    readback.py   what was written, as a release of one machine, with its reports
    assignment.py    which original row each released one was
    certificates.py  prices on their way from a task to the driver

Only calls that Spark Connect serves are used.  The driver needs neither numba nor the engine; the
workers need incrowd.
"""

from typing import TYPE_CHECKING

from incrowd.run.late import importer

if TYPE_CHECKING:
    from incrowd.spark.front import anonymize as anonymize
    from incrowd.spark.front import release as release
    from incrowd.spark.readback import whole as whole
    from incrowd.spark.result import SparkRelease as SparkRelease

_HOME = {
    "SparkRelease": "incrowd.spark.result",
    "anonymize": "incrowd.spark.front",
    "release": "incrowd.spark.front",
    "whole": "incrowd.spark.readback",
}

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


__getattr__ = importer(__name__, _HOME)
