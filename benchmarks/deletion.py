"""What rows may be deleted for: costs and bounds of adult, nine columns, with and without.

    python benchmarks/deletion.py ../shared/data [CASE …] [--out benchmarks/deletion.md]

Each case runs `incrowd anonymize --seed 1` in a fresh process, kernels compiled beforehand; the
engine alone, so that lines compare.  A deleted row costs the stated price, which is nine for all
its cells: what ARX's suppression limit counts, with which rows that it leaves out are rows of nine
stars and need no class of k.
"""

import json
import tempfile
from functools import partial
from pathlib import Path

import polars as pl

from runs import arguments, tabulate, timed

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
    output, seconds = timed(words)
    record = json.loads(output)
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
    given = arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = {
            f"{k}, {asked}" if asked else str(k): partial(line, k, asked, given.data, Path(folder))
            for k in KS
            for asked in ASKED
        }
        tabulate(given, HEAD, cases)


if __name__ == "__main__":
    main()
