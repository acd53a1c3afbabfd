"""Ranges: loss and bound on adult, ages as ranges, the other columns trees, NCP.

    python benchmarks/ranges.py DATA [CASE ...] [--limit SECONDS] [--out FILE]

DATA is a folder with adult.csv and hierarchies/.  A line of the table in ranges.md per case: mean
loss of a cell, the bound, the gap, processor seconds.  The loss is counted again from the released
texts by the independent checker; the script adds nothing to that.
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
CASES = {
    "age, k = 2": (2, ("age",)),
    "age, k = 5": (5, ("age",)),
    "age, k = 10": (10, ("age",)),
    "age, education, salary, k = 5": (5, ("age", "education", "salary-class")),
}
HEAD = "| case | loss | bound | gap | status | method | CPU s |"


def rules_of(data: Path, columns: list[str], ordered: tuple[str, ...]) -> dict[str, Any]:
    """Return a hierarchy for each column: a range where it is ordered, else the table's file."""
    listed = {"education": EDUCATION, "salary-class": SALARY}
    found: dict[str, Any] = {}
    for name in columns:
        if name in ordered:
            order = listed.get(name)
            found[name] = Ranges(order=order, origin=f"{name}.txt") if order else "range"
        else:
            found[name] = data / "hierarchies" / f"adult_hierarchy_{name}.csv"
    return found


def line(data: Path, case: str, limit: float | None) -> str:
    """Make a release, check it, and return its line of the table."""
    k, ordered = CASES[case]
    frame = pl.read_csv(data / "adult.csv", separator=";", infer_schema=False)
    rules = rules_of(data, frame.columns, ordered)
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
