"""What rows may be deleted for: costs and bounds of adult, nine columns, with and without.

    python benchmarks/deletion.py ../shared/data [--out benchmarks/deletion.md]

Each case runs `incrowd anonymize --seed 1` in a fresh process, kernels compiled beforehand; the
engine alone, so that lines compare.  A deleted row costs the stated price, which is nine for all
its cells: what ARX's suppression limit counts, with which rows that it leaves out are rows of nine
stars and need no class of k.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

KS = (2, 3, 5, 10, 25)
ASKED = ("", "price=9", "price=9,most=2%", "price=6,most=2%", "price=4,most=2%")
ARX = dict(zip(KS, ("20,939", "28,807", "36,616", "46,124", "57,993"), strict=True))
HEAD = "| k | deletions | cost | stars | deleted rows | certified bound | gap | ARX 3.9.2 | CPU s |"


def line(k: int, asked: str, data: Path, folder: Path) -> str:
    """Make one release; return its line of the table."""
    release = folder / "release.csv"
    words = ["incrowd", "anonymize", str(data / "adult.csv"), "-o", str(release), "-k", str(k)]
    words += ["--json", "-q", "--seed", "1", "--method", "engine"]
    words += ["--delete-rows", asked] if asked else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    record = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    released = pl.read_csv(release, separator=";", infer_schema=False)
    stars = sum(int((released[name] == "*").sum()) for name in released.columns)
    price = record.get("deletion_price", 0)
    gone = record.get("deleted_rows", 0)
    assert record["cost"] == stars + price * gone
    return (
        f"| {k} | {asked or 'none'} | {record['cost']:,.0f} | {stars:,} | {gone} "
        f"| {record['lower_bound']:,.0f} | {record['gap']:.2%} | {ARX[k]} | {seconds:.0f} |"
    )


def main() -> None:
    """Write the table as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = [HEAD, "|" + "---|" * HEAD.count(" | ") + "---|"]
    with tempfile.TemporaryDirectory() as folder:
        for k in KS:
            for asked in ASKED:
                lines.append(line(k, asked, given.data, Path(folder)))
                sys.stdout.write(lines[-1] + "\n")
                sys.stdout.flush()
    if given.out:
        given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
