"""Proven gaps under a time limit, end to end through the command line.

    python benchmarks/gaps.py ../shared/data [--out FILE] [ROWS:K:SECONDS …]

Each case takes the first ROWS rows of adult (0: all), runs `incrowd anonymize --time-limit` with a
proof file in a fresh process, and lets `incrowd verify` check it.  Kernels should have been
compiled before: run one case twice.  CPU seconds are the operating system's account of a process.
"""

import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path

CASES = (
    *((rows, k, 30) for rows in (100, 200, 300) for k in (3, 5)),
    (1000, 3, 290),
    *((0, k, 290) for k in (3, 5, 10, 25)),
)


def seconds(words: list[str]) -> tuple[str, float]:
    """Run a command; return its output and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(rows: int, k: int, limit: float, data: Path) -> str:
    """Run one case; return its line of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = (data / "adult.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        table, release, proof = (folder / n for n in ("table.csv", "release.csv", "proof"))
        table.write_text("".join(lines[: rows + 1] if rows else lines), encoding="utf-8")
        words = ["incrowd", "anonymize", str(table), "-o", str(release), "-k", str(k), "--json"]
        words += ["--quiet", "--time-limit", str(limit), "--proof", str(proof)]
        out, search = seconds(words)
        facts = json.loads(out)
        checked = ["incrowd", "verify", str(release), "--original", str(table)]
        _, check = seconds([*checked, "--proof", str(proof)])
    in_file = facts.get("proof_bound", facts["lower_bound"])
    return (
        f"| {facts['rows']:,} | {k} | {limit:g} | {facts['cost']:,} | {facts['lower_bound']:,} "
        f"| {facts['gap']:.2%} | {in_file:,} | {search:.0f} | {check:.1f} |"
    )


def main() -> None:
    """Run the cases and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    table = [
        "| rows | k | limit, s | stars | bound | gap | bound in the file | CPU s | check, CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print(*table, sep="\n", flush=True)
    for case in CASES:
        if not arguments.cases or ":".join(map(str, case)) in arguments.cases:
            table.append(run(*case, arguments.data))
            print(table[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
