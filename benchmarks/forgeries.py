"""Thousands of forged proofs, judged by brute force; and how soon holes made on purpose are found.

    python benchmarks/forgeries.py [--cases 10000] [--out benchmarks/forgeries.md]
    python benchmarks/forgeries.py --holes

What is forged, how, and who judges: ``tests/checker/forging``.  Each case is told by its number, a
seed: honest proof ``case mod number of proofs``, changed as the seed says.  Cases run in
processes of their own, a few hundred in each, so that one which ends its process is seen as well.
After each process the report so far is printed, or written over the one before.
"""

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "checker")]

from forging.bases import RECIPES, made  # noqa: E402
from forging.bundle import Bundle  # noqa: E402
from forging.run import LEVELS, forged  # noqa: E402
from forging.sabotage import HOLES  # noqa: E402

from incrowd.checker.verify import check  # noqa: E402

SEEDS, PIECE, TRIES = 3, 500, 200
LIMIT = 600  # CPU seconds of a process, after which it is ended


def honest() -> list[Bundle]:
    """Return all honest proofs; recipes without a lawful release of a table are left out."""
    bundles = []
    for name in RECIPES:
        for seed in range(SEEDS):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    bundles.append(made(name, seed, Path(folder)))
                except RuntimeError:
                    continue
    return bundles


def work(first: int, last: int, made_once: str) -> None:
    """Run cases; print each outcome as a line of JSON, its number before it is begun.

    ``made_once``: the file of all honest proofs.
    """
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]  # which nobody may raise
    limit = LIMIT if hard == resource.RLIM_INFINITY else min(LIMIT, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    bundles = pickle.loads(Path(made_once).read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        slowest = 0.0
        for bundle in bundles:
            started = os.times().user
            check(*bundle.copy().save(Path(folder)))
            slowest = max(slowest, os.times().user - started)
        print(json.dumps(["honest", slowest, memory()]), flush=True)
    for case in range(first, last):
        print(json.dumps(["begun", case]), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            found = forged(bundles[case % len(bundles)], case, Path(folder))
        print(json.dumps(["done", case, *found]), flush=True)
    print(json.dumps(["memory", memory()]), flush=True)


def memory() -> int:
    """Return the most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def pieces(cases: int) -> Iterator[tuple[list[list[Any]], int]]:
    """Run all cases, a few hundred to a process; after each, yield all lines so far and cases run.

    A process that ends before its time has one line more: the case that ended it.
    """
    lines: list[list[Any]] = []
    first = 0
    made_once = Path(tempfile.mkdtemp()) / "honest"
    made_once.write_bytes(pickle.dumps(honest()))  # by one process: they take the longest
    while first < cases:
        last = min(cases, first + PIECE)
        words = [sys.executable, __file__, "--work", str(first), str(last), str(made_once)]
        run = subprocess.run(words, capture_output=True, text=True)
        mine = [json.loads(line) for line in run.stdout.splitlines()]
        first = last
        if run.returncode:
            first = max([line[1] for line in mine if line[0] == "begun"], default=last) + 1
            mine.append(["ended", first - 1, run.returncode])
        lines += mine
        print(f"{first:,} of {cases:,}", file=sys.stderr, flush=True)
        yield lines, first


def table(lines: list[list[Any]], cases: int) -> str:
    """Return the report in Markdown."""
    done = [line[2:] for line in lines if line[0] == "done"]
    level_of = {change: level for level, changes in LEVELS.items() for change in changes}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for _, _, changes, accepted, _, faults, _ in done:
        kind = "false" if faults else {True: "true", False: "no", None: "unwritten"}[accepted]
        for change in set(changes):
            counts[change][kind] += 1
    rows = [
        f"| {level_of[change]} | {change} | {sum(kinds.values()):,} | {kinds['no']:,} | "
        f"{kinds['true']:,} | {kinds['false']} |"
        for change, kinds in sorted(
            counts.items(), key=lambda item: (list(LEVELS).index(level_of[item[0]]), item[0])
        )
    ]
    reasons = Counter(str(line[4]) for line in done if line[3] is False)
    slow = max((line[6] for line in done), default=0)
    calm = max((line[1] for line in lines if line[0] == "honest"), default=0)
    most = max((line[1] for line in lines if line[0] == "memory"), default=0)
    least = max((line[2] for line in lines if line[0] == "honest"), default=0)
    ended = [line[1:] for line in lines if line[0] == "ended"]
    told = [
        f"{cases:,} cases; {sum(line[3] is True for line in done):,} accepted, of which the judge "
        f"calls {sum(bool(line[5]) for line in done)} false; {len(reasons):,} different reasons to "
        "reject.",
        f"Processes that a case ended: {len(ended)} {ended or ''}",
        f"The slowest check of a forgery took {slow:.2f} CPU s, of an honest proof {calm:.2f}. "
        f"Most memory of a process: {most} MB, after the honest ones {least} MB.",
        "",
        "| level | change | cases | rejected | accepted, true | accepted, false |",
        "|---|---|---|---|---|---|",
        *rows,
    ]
    faults = [f"- {line}" for line in done if line[5]]
    return "\n".join([*told, *(["", "False:", ""] if faults else []), *faults, ""])


def holes() -> str:
    """Return how many forgeries it takes to find each hole that is made on purpose."""
    rows = ["| hole in the checker | found by | after forgeries | what it then claims |"]
    rows += ["|---|---|---|---|"]
    for name, (opened, base, change) in HOLES.items():
        with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
            bundle = made(base, 0, Path(place))
            for one in opened():
                stack.enter_context(one)
            found = next(
                (
                    f"{seed + 1} | {outcome.faults[0]}"
                    for seed in range(TRIES)
                    if (outcome := forged(bundle, seed, Path(place), change)).faults
                ),
                f"not in {TRIES} | ",
            )
        rows.append(f"| {name} | {change}, of “{base}” | {found} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return "\n".join([*rows, ""])


def main() -> None:
    """Run what is asked for; print a report, or write it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--holes", action="store_true")
    parser.add_argument("--work", nargs=3)
    parser.add_argument("--out")
    given = parser.parse_args()
    if given.work:
        work(int(given.work[0]), int(given.work[1]), given.work[2])
        return
    texts = [holes()] if given.holes else (table(*so_far) for so_far in pieces(given.cases))
    for text in texts:  # a run that is interrupted has said what it found until then
        if given.out:
            Path(given.out).write_text(text, encoding="utf-8")
        else:
            print(text, flush=True)


if __name__ == "__main__":
    main()
