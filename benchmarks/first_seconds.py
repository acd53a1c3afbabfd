"""Cost and bound against CPU seconds: what a run has in hand if it is stopped then.

    python benchmarks/first_seconds.py ../shared/data [--out benchmarks/first_seconds.md] [NAME …]

Each case runs in a fresh process, kernels compiled beforehand.  The seconds are all that the
operating system accounts to it since it began: start, imports, reading and the search.
"""

import json
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

from runs import Job, arguments, tabulate

MARKS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
# what ARX 3.9.2 ends with, tuned, and its CPU seconds: ../shared/BASELINES.md
ARX = {
    "adult-stars-2": "20,939 (1.4)",
    "adult-stars-5": "36,616 (1–3)",
    "adult-stars-10": "46,124 (.7)",
    "adult-stars-25": "57,993 (.6)",
    "cup-stars-2": "184,500 (12)",
    "cup-stars-5": "223,859 (5)",
    "cup-stars-10": "242,218 (2)",
    "adult-level-5": "29,670 (2–9)",
    "adult-ncp-5": "16,043 (2–9)",
    "cup-level-5": "116,833 (33–49)",
    "cup-ncp-5": "37,050 (33–49)",
}
JOBS = (
    *(Job(table="adult", k=k) for k in (2, 5, 10, 25)),
    *(Job(table="cup", k=k) for k in (2, 5, 10)),
    *(Job(table=table, k=5, cost=cost) for table in ("adult", "cup") for cost in ("level", "ncp")),
    *(Job(table=table, k=5, limit=limit) for table in ("adult", "cup") for limit in (1.0, 2.0)),
)
HEAD = "| case | " + " | ".join(f"{mark:g} s" for mark in MARKS) + " | end | ARX 3.9.2 (CPU s) |"
Point = tuple[float, float, float]


def seconds() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def trace(job: Job, data: Path) -> list[Point]:
    """Make a release in this process; return (CPU seconds, cost, bound) as they came."""
    import polars as pl

    import incrowd as ic

    points: list[Point] = []

    def listen(event: ic.Event) -> None:
        if event.cost is not None:
            points.append((seconds(), float(event.cost), float(event.bound or 0)))

    source = data / f"{job.table}.csv"
    hierarchies = {
        column: data / "hierarchies" / f"{job.table}_hierarchy_{column}.csv"
        for column in pl.read_csv(source, separator=";", n_rows=0).columns
        if job.cost != "stars"
    }
    options = {"cost": job.cost, "hierarchies": hierarchies} if hierarchies else {}
    release = ic.anonymize(
        source, k=job.k, seed=1, time_limit=job.limit, progress=listen, **options
    )
    return [*points, (seconds(), float(release.cost), float(release.lower_bound))]


def run(job: Job, data: Path) -> str:
    """Run one case in a process of its own; return its line of the table."""
    words = [sys.executable, __file__, str(data), job.name, "--trace"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    points: list[Point] = json.loads(done.stdout)
    end = points[-1][0]
    cells = [
        told([point for point in points if point[0] <= mark]) if mark <= end else ""
        for mark in MARKS
    ]
    other = ARX[job.name.removesuffix(f"-{job.limit:g}s") if job.limit else job.name]
    return f"| {job.name} | {' | '.join(cells)} | {told(points)} ({end:.1f} s) | {other} |"


def told(points: list[Point]) -> str:
    """Cost and bound of the last of some points."""
    if not points:
        return "–"
    _, cost, bound = points[-1]
    return f"{cost:,.0f} / {bound:,.0f}"


def main() -> None:
    """Run the cases and print or write the table; with ``--trace``, one case here."""
    parser = arguments(__doc__)
    parser.add_argument("--trace", action="store_true", help="print the points of one case")
    given = parser.parse_intermixed_args()
    jobs = {job.name: job for job in JOBS}
    if given.trace:
        print(json.dumps(trace(jobs[given.names[0]], given.data)))
        return
    tabulate(given, HEAD, {name: partial(run, job, given.data) for name, job in jobs.items()})


if __name__ == "__main__":
    main()
