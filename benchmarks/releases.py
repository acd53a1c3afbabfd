"""Releases and bounds of real tables, end to end through the command line.

    python benchmarks/releases.py ../shared/data [--out benchmarks/releases.md] [NAME …]

Each case runs `incrowd anonymize` in a fresh process (kernels compiled beforehand by one small
run).  Changed cells are counted from the files; CPU seconds and peak memory are the operating
system's account of that process.  The tables are the adult and cup files that ARX's authors use
for benchmarks, with their hierarchies; they are not part of this project.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl


@dataclass(frozen=True)
class Case:
    """One release: table, cost and k, the figure to reach and what others reach."""

    table: str
    cost: str
    k: int
    goal: float
    other: str = ""
    limit: float | None = None
    drop: str | None = None

    @property
    def name(self) -> str:
        """For example ``adult-stars-5``."""
        short = self.table + ("8" if self.drop else "")
        return f"{short}-{self.cost}-{self.k}" + (f"-{self.limit:g}s" if self.limit else "")


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
    *(Case("adult", "stars", k, goal, other) for k, goal, other in ADULT_9),
    Case("adult", "stars", 5, 35100, "36,616", limit=5),
    Case("adult", "stars", 5, 31250, "32,969", drop="salary-class"),
    *(Case("cup", "stars", k, goal, other) for k, goal, other in CUP),
    *(
        Case(table, cost, k, goal, other)
        for table, cost, goals, others in HIERARCHIES
        for k, goal, other in zip((2, 5, 10, 25), goals, others, strict=True)
    ),
)


def command(case: Case, data: Path, output: Path) -> list[str]:
    """Write down the command line of a case."""
    source = data / f"{case.table}.csv"
    columns = pl.read_csv(source, separator=";", n_rows=0).columns
    words = [
        "incrowd",
        "anonymize",
        str(source),
        "-o",
        str(output),
        "-k",
        str(case.k),
        "--method",
        "engine",
        "--json",
        "--quiet",
        "--order",
        "keep",
        "--seed",
        "1",
    ]
    if case.drop:
        words += ["--id", case.drop]
    if case.limit:
        words += ["--time-limit", str(case.limit)]
    if case.cost != "stars":
        words += ["--cost", case.cost]
        for column in columns:
            file = data / "hierarchies" / f"{case.table}_hierarchy_{column}.csv"
            words += ["--hierarchy", f"{column}={file}"]
    return words


def run(case: Case, data: Path) -> dict[str, object]:
    """Run one case; return its row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "release.csv"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command(case, data, output), stdout=subprocess.PIPE, text=True)
        out, _ = process.communicate()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        facts = json.loads(out)
        released = pl.read_csv(output, separator=";", infer_schema=False)
        sizes = released.group_by(released.columns).len()["len"]
        stars = sum(int((released[c] == "*").sum()) for c in released.columns)
    assert int(sizes.min()) >= case.k
    cells = facts["cells"]
    mean = case.cost != "stars"
    if not mean:
        assert stars == facts["cost"]
    return {
        "case": case.name,
        "cost": facts["cost"] / cells if mean else stars,
        "bound": facts["lower_bound"] / cells if mean else facts["lower_bound"],
        "gap": facts["gap"],
        "goal": case.goal,
        "other": case.other,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak": after.ru_maxrss / 1024,  # the largest child so far
        "mean": mean,
    }


def line(row: dict[str, object]) -> str:
    """Format a row of the table."""
    form = "{:.5f}".format if row["mean"] else "{:,.0f}".format
    goal = f"{row['goal']:.4f}" if row["mean"] else f"{row['goal']:,.0f}"
    return (
        f"| {row['case']} | {form(row['cost'])} | {form(row['bound'])} | {row['gap']:.2%} "
        f"| {goal} | {row['other']} | {row['cpu']:.0f} |"
    )


def main() -> None:
    """Run the cases and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    head = [
        "| case | cost | certified bound | gap | goal | ARX 3.9.2 | CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    lines = list(head)
    print(*head, sep="\n", flush=True)
    peak = 0.0
    for case in CASES:
        if arguments.names and case.name not in arguments.names:
            continue
        row = run(case, arguments.data)
        peak = max(peak, float(str(row["peak"])))
        lines.append(line(row))
        print(lines[-1], flush=True)
    print(f"\nlargest peak memory: {peak:.0f} MB", file=sys.stderr)
    if arguments.out:
        lines += ["", f"Largest peak memory of one process: {peak:.0f} MB."]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
