"""What a second core gives, and what sixteen would.

    python benchmarks/cores.py ../shared/data [--out benchmarks/cores.md] [NAME …]

Each case is released by one thread and by two, in turns, each in a fresh process; the least wall
seconds of ``--turns`` of each count, so that the machine should be quiet.  Both releases must cost
the same.  A third run says where its CPU seconds go, which the load of the machine does not change:
what is spent inside pieces that threads share out, and the longest piece of those that more threads
cannot make smaller (regions).  From these Amdahl's law says what 16 cores would give.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from resampled import resampled
from runs import arguments, tabulate

MANY = 16
CASES: dict[str, tuple[str, list[str]]] = {
    "adult": ("adult", ["-k", "5", "--method", "engine"]),
    "cup": ("cup", ["-k", "5", "--method", "engine"]),
    "1M": ("1M", ["-k", "5", "--method", "engine", "--gap", "0.025"]),
    "adult, t = .2": ("adult", ["-k", "5", "--t", "0.2", "--sensitive", "occupation"]),
}
HEAD = (
    "| case | cost | wall s, 1 thread | 2 threads | ratio | CPU s | shared | serial "
    f"| by shares: 2 | {MANY} |"
)


def table_of(name: str, data: Path, folder: Path) -> Path:
    """Return the file of a table."""
    if name != "1M":
        return data / f"{name}.csv"
    file = folder / "1M.parquet"
    if not file.exists():
        adult = pl.read_csv(data / "adult.csv", separator=";")
        resampled(adult, 1_000_000).write_parquet(file)
    return file


class Shares:
    """Where a run's CPU seconds go: wraps ``incrowd.run.threads.together``.

    Attributes
    ----------
    shared: CPU seconds inside of works that are shared out, of all threads.
    regions: for every call that regions made, CPU seconds of each.
    """

    def __init__(self) -> None:
        self.shared = 0.0
        self.regions: list[list[float]] = []
        self.lock = threading.Lock()

    def wrapped(self, together: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        """Return a ``together`` that measures."""

        def measured(works: Sequence[Callable[[], Any]], threads: int) -> list[Any]:
            spent: list[float] = []

            def do(work: Callable[[], Any]) -> Any:
                begun = time.thread_time()
                found = work()
                with self.lock:
                    spent.append(time.thread_time() - begun)
                return found

            found = together([partial(do, work) for work in works], threads)
            owner = type(getattr(getattr(works[0], "func", None), "__self__", None)).__name__
            self.shared += sum(spent) if len(works) > 1 else 0.0
            if owner in ("ByRegions", "LawfulRegions"):
                self.regions.append(spent)
            return found

        return measured

    def seconds(self, total: float, cores: int) -> float:
        """Return the wall seconds on so many cores of which none ever waits but for regions."""
        regions = sum(sum(spent) for spent in self.regions)
        longest = sum(max(max(spent), sum(spent) / cores) for spent in self.regions)
        return total - self.shared + (self.shared - regions) / cores + longest


def measured_shares(words: list[str]) -> None:
    """Run the command line here with two threads; print where its CPU seconds went, as JSON."""
    from incrowd.run import threads

    shares = Shares()
    threads.together = shares.wrapped(threads.together)  # before others import it
    from incrowd.cli.group import cli

    begun = time.process_time()
    try:
        cli([*words, "--threads", "2"])
    except SystemExit as end:
        assert not end.code
    total = time.process_time() - begun
    facts = {"total": total, "shared": shares.shared}
    facts |= {str(n): shares.seconds(total, n) for n in (2, MANY)}
    print(json.dumps(facts))


def run(words: list[str], threads: int) -> tuple[int, float, float]:
    """Run the command line; return cost, wall and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    command = [sys.executable, "-m", "incrowd", *words, "--threads", str(threads)]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    wall = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(json.loads(text)["cost"]), wall, cpu


def line(name: str, data: Path, folder: Path, turns: int) -> str:
    """Measure one case."""
    table, options = CASES[name]
    source, output = table_of(table, data, folder), folder / "release.csv"
    words = ["anonymize", str(source), "-o", str(output), *options]
    words += ["--seed", "1", "--json", "--quiet"]
    run(words, 2)  # compiles the kernels
    found = [run(words, threads) for _ in range(turns) for threads in (1, 2)]
    assert len({cost for cost, _, _ in found}) == 1
    one, two = (min(wall for _, wall, _ in found[first::2]) for first in (0, 1))
    inner = [sys.executable, __file__, "--shares", *words]
    told = subprocess.run(inner, stdout=subprocess.PIPE, text=True, check=True).stdout
    facts = json.loads(told.splitlines()[-1])
    total, shared = facts["total"], facts["shared"]
    return (
        f"| {name} | {found[0][0]:,} | {one:.1f} | {two:.1f} | {one / two:.2f} | {found[0][2]:.1f} "
        f"| {shared / total:.0%} | {1 - shared / total:.0%} "
        f"| {total / facts['2']:.2f} | {total / facts[str(MANY)]:.1f} |"
    )


def main() -> None:
    """Run the cases and print the table."""
    if sys.argv[1:2] == ["--shares"]:
        measured_shares(sys.argv[2:])
        return
    parser: argparse.ArgumentParser = arguments(__doc__)
    parser.add_argument("--turns", type=int, default=2)
    given = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        # as after an installation: Python's files are compiled once
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(folder, "compiled")))
        cases = {name: partial(line, name, given.data, Path(folder), given.turns) for name in CASES}
        tabulate(given, HEAD, cases)


if __name__ == "__main__":
    main()
