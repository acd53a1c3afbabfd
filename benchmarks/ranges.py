"""Ranges: loss and bound on adult, cup and NHEFS: some columns as ranges, the others trees; NCP.

    python benchmarks/ranges.py DATA [CASE ...] [--limit SECONDS] [--out FILE]

DATA is a folder with adult.csv, cup.csv and hierarchies/; NHEFS comes with causaldata.  A line of
the table in ranges.md per case: mean loss of a cell, the bound, the gap, processor seconds.  The
loss is counted again from the released texts by the independent checker; the script adds nothing.
"""

import time
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import incrowd as ic
from incrowd.hierarchy import Ranges
from runs import arguments, tabulate

EDUCATION = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"),
    *("Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school"),
    "Doctorate",
)
SALARY = ("<=50K", ">50K")
AGE = ("age",)
ORDERED = ("age", "education", "salary-class")
AMOUNTS = ("AGE", "INCOME", "NGIFTALL", "MINRAMNT", "RAMNTALL")
MEASURED = ("age", "ht", "wt71", "sbp", "dbp", "cholesterol", "smokeintensity")
CASES = {
    "adult, age, k = 2": ("adult", 2, AGE),
    "adult, age, k = 5": ("adult", 5, AGE),
    "adult, age, k = 10": ("adult", 10, AGE),
    "adult, age, education, salary, k = 5": ("adult", 5, ORDERED),
    "cup, five columns, k = 5": ("cup", 5, AMOUNTS),
    "NHEFS, seven measurements, k = 2": ("nhefs", 2, MEASURED),
    "NHEFS, seven measurements, k = 5": ("nhefs", 5, MEASURED),
}
HEAD = "| case | loss | bound | gap | status | method | CPU s |"


def rules_of(
    data: Path, columns: list[str], ordered: tuple[str, ...], table: str = "adult"
) -> dict[str, Any]:
    """Return a hierarchy for each column: a range where it is ordered, else the table's file."""
    listed = {"education": EDUCATION, "salary-class": SALARY}
    found: dict[str, Any] = {}
    for name in columns:
        if name in ordered:
            order = listed.get(name) if table == "adult" else None
            found[name] = Ranges(order=order, origin=f"{name}.txt") if order else "range"
        elif table != "nhefs":  # whose other columns are suppressed
            found[name] = data / "hierarchies" / f"{table}_hierarchy_{name}.csv"
    return found


def frame_of(data: Path, table: str) -> pl.DataFrame:
    """Return a table as text; of NHEFS the measurements, sex and race."""
    if table == "nhefs":
        import causaldata

        whole = pl.from_pandas(causaldata.nhefs.load_pandas().data)
        return whole.select("sex", "race", *MEASURED)
    return pl.read_csv(data / f"{table}.csv", separator=";", infer_schema=False)


def line(data: Path, case: str, limit: float | None) -> str:
    """Make a release, check it, and return its line of the table."""
    table, k, ordered = CASES[case]
    frame = frame_of(data, table)
    rules = rules_of(data, frame.columns, ordered, table)
    began = time.process_time()
    release = ic.anonymize(
        frame, k, qi=frame.columns, hierarchies=rules, cost="ncp", seed=1, time_limit=limit
    )
    seconds = time.process_time() - began
    assert release.verify()
    loss, bound = (float(x) / release.cells for x in (release.cost, release.lower_bound))
    return (
        f"| {case} | {loss:.5f} | {bound:.5f} | {release.gap:.2%} | {release.status} | "
        f"{release.method} | {seconds:.0f} |"
    )


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--limit", type=float)
    given = parser.parse_args()
    tabulate(given, HEAD, {case: partial(line, given.data, case, given.limit) for case in CASES})


if __name__ == "__main__":
    main()
