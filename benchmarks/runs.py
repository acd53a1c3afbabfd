"""What gaps.py and releases.py share: commands for tables on disk, timing, lines as they come."""

import argparse
import resource
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl


@dataclass(frozen=True, kw_only=True)
class Job:
    """One release to make.

    Attributes
    ----------
    table: name of a table of the data folder, without ``.csv``.
    cost: ``stars`` for suppression; ``level`` or ``ncp`` for the table's hierarchies.
    rows: how many from the top; 0 for all.
    limit: seconds.
    drop: column that is left out.
    """

    table: str
    k: int
    cost: str = "stars"
    rows: int = 0
    limit: float | None = None
    drop: str | None = None

    @property
    def name(self) -> str:
        """For example ``adult-stars-5`` or ``adult200-level-3-30s``; ``adult8`` lacks a column."""
        short = self.table + (str(self.rows) if self.rows else "8" if self.drop else "")
        return f"{short}-{self.cost}-{self.k}" + (f"-{self.limit:g}s" if self.limit else "")

    def original(self, data: Path, folder: Path) -> Path:
        """Return the table's file, in ``folder`` if it is cut."""
        source = data / f"{self.table}.csv"
        if not self.rows:
            return source
        lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
        cut = folder / "table.csv"
        cut.write_text("".join(lines[: self.rows + 1]), encoding="utf-8")
        return cut

    def words(self, data: Path, original: Path, release: Path) -> list[str]:
        """Write down the command line, without the program."""
        words = ["anonymize", str(original), "-o", str(release), "-k", str(self.k)]
        words += ["--json", "--quiet"]
        if self.drop:
            words += ["--id", self.drop]
        if self.limit:
            words += ["--time-limit", str(self.limit)]
        if self.cost != "stars":
            words += ["--cost", self.cost]
            for column in pl.read_csv(original, separator=";", n_rows=0).columns:
                file = data / "hierarchies" / f"{self.table}_hierarchy_{column}.csv"
                words += ["--hierarchy", f"{column}={file}"]
        return words


def timed(words: list[str]) -> tuple[str, float]:
    """Run a command; return its output and its CPU seconds, by the operating system's account."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of what both scripts take."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path)
    return parser


def tabulate(given: argparse.Namespace, head: str, cases: Mapping[str, Callable[[], str]]) -> None:
    """Run the cases named, or all; print their lines as they come, and write them to ``--out``."""
    names = given.names or list(cases)
    if unknown := set(names) - set(cases):
        raise SystemExit(
            f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(cases)}"
        )
    lines = [head, "|" + "---|" * (head.count("|") - 1)]
    print(*lines, sep="\n", flush=True)
    for name in names:
        lines.append(cases[name]())
        print(lines[-1], flush=True)
    if given.out:
        given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
