"""Releases and bounds of real tables, end to end through the command line.

    python benchmarks/releases.py ../shared/data [--out benchmarks/releases.md] [NAME …]

Each case runs `incrowd anonymize` in a fresh process (kernels compiled beforehand by one small
run).  Changed cells are counted from the files; CPU seconds and peak memory are the operating
system's account of that process.  The tables are the adult and cup files that ARX's authors use
for benchmarks, with their hierarchies; they are not part of this project.
"""

import json
import resource
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from runs import Job, arguments, tabulate, timed


@dataclass(frozen=True)
class Case:
    """One release, the figure to reach and what others reach."""

    job: Job
    goal: float
    other: str = ""


ADULT_9 = (
    (2, 19600, "20,939"),
    (3, 27050, "28,807"),
    (5, 34650, "36,616"),
    (10, 43700, "46,124"),
    (25, 55600, "57,993"),
)
CUP = ((3, 199700, "206,908"), (5, 217100, "223,859"), (10, 236600, "242,218"))
HIERARCHIES = (
    ("adult", "level", (0.0402, 0.0880, 0.1203, 0.1642), (".0590", ".1093", ".1439", ".1895")),
    ("adult", "ncp", (0.0196, 0.0478, 0.0718, 0.1088), (".0309", ".0591", ".0833", ".1199")),
    ("cup", "level", (0.1579, 0.2122, 0.2393, 0.2751), (".1823", ".2302", ".2582", "–")),
    ("cup", "ncp", (0.0443, 0.0666, 0.0834, 0.1129), (".0521", ".0730", ".0897", "–")),
)
CASES = (
    *(Case(Job(table="adult", k=k), goal, other) for k, goal, other in ADULT_9),
    Case(Job(table="adult", k=5, limit=5), 35100, "36,616"),
    Case(Job(table="adult", k=5, drop="salary-class"), 31250, "32,969"),
    *(Case(Job(table="cup", k=k), goal, other) for k, goal, other in CUP),
    *(
        Case(Job(table=table, cost=cost, k=k), goal, other)
        for table, cost, goals, others in HIERARCHIES
        for k, goal, other in zip((2, 5, 10, 25), goals, others, strict=True)
    ),
)
HEAD = "| case | cost | certified bound | gap | goal | ARX 3.9.2 | CPU s |"


def run(case: Case, data: Path) -> str:
    """Run one case; return its line of the table."""
    job = case.job
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "release.csv"
        words = job.words(data, job.original(data, Path(folder)), output)
        words += ["--method", "engine", "--order", "keep", "--seed", "1"]
        out, cpu = timed(["incrowd", *words])
        facts = json.loads(out)
        released = pl.read_csv(output, separator=";", infer_schema=False)
    sizes = released.group_by(released.columns).len()["len"]
    assert int(sizes.min()) >= job.k
    if job.cost == "stars":
        stars = sum(int((released[c] == "*").sum()) for c in released.columns)
        assert stars == facts["cost"]
        cost, bound, goal = (f"{x:,.0f}" for x in (facts["cost"], facts["lower_bound"], case.goal))
    else:
        cost, bound = (f"{facts[x] / facts['cells']:.5f}" for x in ("cost", "lower_bound"))
        goal = f"{case.goal:.4f}"
    return (
        f"| {job.name} | {cost} | {bound} | {facts['gap']:.2%} | {goal} | {case.other} "
        f"| {cpu:.0f} |"
    )


def main() -> None:
    """Run the cases and print or write the table."""
    given = arguments(__doc__).parse_intermixed_args()
    tabulate(given, HEAD, {case.job.name: partial(run, case, given.data) for case in CASES})
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nlargest peak memory: {peak:.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
