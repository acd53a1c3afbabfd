"""Ten releases of a table of which a tenth of the people changes each time.

``python benchmarks/republish.py adult.csv [--m 3] [--weight W] [--releases 10]``: 3,000 rows of a
table with a header and semicolons, occupation as the sensitive column, the other columns as
quasi-identifiers, stars.  Prints for each release stars, counterfeits, the fewest of them, rows
whose value the intersection of classes reveals (also for independent releases of the same classes'
kind, with ``--independent``), and CPU seconds.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.policy import Policy
from incrowd.series.asked import Asked
from incrowd.series.of_table import republished
from incrowd.tables.files import open_table

ROWS, CHURN = 3000, 300


def main() -> None:
    """Run the series."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--m", type=int, default=3)
    parser.add_argument("-k", type=int, default=1)
    parser.add_argument("--weight", type=float)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--independent", action="store_true")
    asked = parser.parse_args()
    table = pl.read_csv(asked.table, separator=";", infer_schema=False)
    table = table.with_row_index("person").with_columns(pl.col("person").cast(pl.String))
    qi = [c for c in table.columns if c not in ("person", "occupation")]
    rng = np.random.default_rng(0)
    order = rng.permutation(table.height)
    present, unused = list(order[:ROWS]), list(order[ROWS:])
    policy = Policy(k=1, person="person", sensitive="occupation", qi=qi, seed=1)
    series = Asked(m=asked.m, k=asked.k, weight=asked.weight)
    seen: dict[str, dict[str, frozenset[str]]] = {"invariant": {}, "independent": {}}
    total = np.zeros(4, np.int64)
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder) / "history"
        for number in range(asked.releases):
            if number:
                gone = {int(row) for row in rng.choice(present, CHURN, replace=False)}
                present = [r for r in present if r not in gone] + unused[:CHURN]
                unused = unused[CHURN:]
            today = table[present]
            began = time.process_time()
            release = republished(open_table(today), policy, series, history)
            release.write(Path(folder) / "out.csv", history)
            took = time.process_time() - began
            keys = today["person"].to_list()
            for one in release.classes:
                for row in one.values():
                    if row >= 0:
                        key, values = keys[row], frozenset(one)
                        now = seen["invariant"].get(key, values) & values
                        seen["invariant"][key] = now
            told = sum(len(values) < 2 for values in seen["invariant"].values())
            line = (
                f"release {number + 1}: {release.rows} people, stars {release.cost}, counterfeits "
                f"{release.counterfeits} (fewest {release.fewest}), withheld "
                f"{sum(release.withheld.values())}, told {told}, CPU {took:.1f}"
            )
            if asked.independent:
                line += f"; independent: told {independent(today, qi, asked.m, seen)}"
            print(line, flush=True)
            total += [int(release.cost), release.counterfeits, release.fewest, round(took)]
    print("sums: stars {} counterfeits {} fewest {} CPU {}".format(*total))


def independent(
    today: pl.DataFrame, qi: list[str], m: int, seen: dict[str, dict[str, frozenset[str]]]
) -> int:
    """Return how many people's value independent l-diverse releases tell together."""
    release = ic.anonymize(
        today, k=m, qi=qi, sensitive="occupation", id="person", l=m, l_kind="frequency",
        time_limit=8,
    )  # fmt: skip
    classes = release.data.select(qi).with_columns(today["person"], release.data["occupation"])
    known = seen["independent"]
    for part in classes.partition_by(qi):
        values = frozenset(part["occupation"])
        for key in part["person"]:
            known[key] = known.get(key, values) & values
    here = set(today["person"])
    return sum(len(values) == 1 for key, values in known.items() if key in here)


if __name__ == "__main__":
    main()
