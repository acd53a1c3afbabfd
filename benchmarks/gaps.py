"""Proven gaps under a time limit, end to end through the command line.

    python benchmarks/gaps.py ../shared/data [--cpu] [--out FILE] [NAME …]

Each case runs `incrowd anonymize --time-limit` with a proof file in a fresh process, and lets
`incrowd verify` check it.  ``adult200-stars-3-30s``: the first 200 rows of adult, suppression,
k = 3, 30 seconds.  With ``--cpu`` the limit is one of CPU time, for machines with other work to do.
Kernels should have been compiled before: run one case twice.  CPU seconds are the operating
system's account of a process.
"""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from runs import Job, arguments, tabulate, timed

CASES = (
    *(Job(table="adult", rows=rows, k=k, limit=30) for rows in (100, 200, 300) for k in (3, 5)),
    Job(table="adult", rows=1000, k=3, limit=590),
    Job(table="adult", rows=1000, k=5, limit=590),
    Job(table="adult", rows=1000, cost="level", k=3, limit=590),
    *(Job(table="adult", k=k, limit=300) for k in (3, 5, 10, 25)),
    *(Job(table="adult", k=k, limit=60) for k in (3, 5, 10)),
    *(Job(table="cup", k=k, limit=300) for k in (3, 5, 10)),
    *(Job(table="cup", k=k, limit=60) for k in (3, 5, 10)),
    *(
        Job(table="adult", cost=cost, k=k, limit=limit)
        for limit in (60, 120)
        for cost in ("level", "ncp")
        for k in (2, 5, 10, 25)
    ),
    Job(table="cup", cost="level", k=5, limit=60),
)
ON_CPU_TIME = """
import time
time.monotonic = time.process_time
from incrowd.cli import main
main()
"""
HEAD = "| case | cost | bound | gap | bound in the file | CPU s | check, CPU s |"


def run(case: Job, data: Path, program: list[str]) -> str:
    """Run one case; return its line of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        original, release, proof = (
            case.original(data, folder),
            folder / "release.csv",
            folder / "proof",
        )
        words = case.words(data, original, release)
        out, search = timed([*program, *words, "--proof", str(proof)])
        facts = json.loads(out)
        words = ["incrowd", "verify", str(release), "--original", str(original), "--json"]
        _, check = timed([*words, "--proof", str(proof)])
    mean = case.cost != "stars"
    each = facts["cells"] if mean else 1
    cost, bound, in_file = (
        f"{amount / each:.5f}" if mean else f"{amount:,.0f}"
        for amount in (
            facts["cost"],
            facts["lower_bound"],
            facts.get("proof_bound", facts["lower_bound"]),
        )
    )
    return (
        f"| {case.name} | {cost} | {bound} | {facts['gap']:.2%} | {in_file} | {search:.0f} "
        f"| {check:.1f} |"
    )


def main() -> None:
    """Run the cases and print or write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--cpu", action="store_true", help="limits are CPU seconds")
    given = parser.parse_intermixed_args()
    program = [sys.executable, "-c", ON_CPU_TIME] if given.cpu else ["incrowd"]
    tabulate(given, HEAD, {case.name: partial(run, case, given.data, program) for case in CASES})


if __name__ == "__main__":
    main()
