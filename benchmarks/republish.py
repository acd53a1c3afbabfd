"""Ten releases of a table of which a tenth of the people changes each time.

``python benchmarks/republish.py adult.csv [--m 3] [--weight W] [--releases 10] [--rows 3000]``:
rows of a table with a header and semicolons, occupation as the sensitive column, the other columns
as quasi-identifiers, stars.  Prints for each release stars, their bound, counterfeits, the fewest
of them, rows whose value the intersection of classes reveals, and CPU seconds.  ``--beside``: what
independent releases of the same kind reveal when they are intersected, and of how many newcomers
``--existing`` tells the value, as all that their class gained has one (who left stays published).
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.policy import Policy
from incrowd.series.asked import Invariance
from incrowd.series.of_table import republished
from incrowd.tables.files import open_table

CHURN = 10  # of which one leaves, and one comes


def main() -> None:
    """Run the series."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--m", type=int, default=3)
    parser.add_argument("-k", type=int, default=1)
    parser.add_argument("--weight", type=float)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--beside", action="store_true")
    asked = parser.parse_args()
    table = pl.read_csv(asked.table, separator=";", infer_schema=False)
    table = table.with_row_index("person").with_columns(pl.col("person").cast(pl.String))
    qi = [c for c in table.columns if c not in ("person", "occupation")]
    rng = np.random.default_rng(0)
    order = rng.permutation(table.height)
    present, unused = list(order[: asked.rows]), list(order[asked.rows :])
    churn = asked.rows // CHURN
    policy = Policy(k=1, person="person", sensitive="occupation", qi=qi, seed=1)
    series = Invariance(m=asked.m, k=asked.k, weight=asked.weight)
    seen: dict[str, dict[str, frozenset[str]]] = {"invariant": {}, "independent": {}}
    total = np.zeros(5, np.int64)
    earlier: pl.DataFrame | None = None
    came = list(present)
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder) / "history"
        for number in range(asked.releases):
            if number:
                gone = {int(row) for row in rng.choice(present, churn, replace=False)}
                came = unused[:churn]
                present = [r for r in present if r not in gone] + came
                unused = unused[churn:]
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
                f"release {number + 1}: {release.rows} people, stars {release.cost} (at least "
                f"{release.lower_bound}), counterfeits {release.counterfeits} (fewest "
                f"{release.fewest}), withheld {sum(release.withheld.values())}, told {told}, "
                f"CPU {took:.1f}"
            )
            if asked.beside:
                stars, told = independent(today, qi, asked.m, seen)
                line += f"; independent: stars {stars}, told {told}"
                stars, told, earlier = added(table[came], qi, asked.m, earlier)
                line += f"; existing: stars {stars}, told {told} of {len(came)} newcomers"
            print(line, flush=True)
            figures = (release.cost, release.lower_bound, release.counterfeits, release.fewest)
            total += [*map(int, figures), round(took)]
    print("sums: stars {} (at least {}) counterfeits {} fewest {} CPU {}".format(*total))


def independent(
    today: pl.DataFrame, qi: list[str], m: int, seen: dict[str, dict[str, frozenset[str]]]
) -> tuple[int, int]:
    """Return stars, and how many people's value independent l-diverse releases tell together."""
    release = ic.anonymize(today, order="keep", **question(qi, m))
    classes = release.data.select(qi).with_columns(today["person"], release.data["occupation"])
    known = seen["independent"]
    for part in classes.partition_by(qi):
        values = frozenset(part["occupation"])
        for key in part["person"]:
            known[key] = known.get(key, values) & values
    here = set(today["person"])
    told = sum(len(values) == 1 for key, values in known.items() if key in here)
    return int(release.cost), told


def added(
    new: pl.DataFrame, qi: list[str], m: int, earlier: pl.DataFrame | None
) -> tuple[int, int, pl.DataFrame]:
    """Add rows to an earlier release; return its stars, newcomers whose value it tells, and it."""
    release = ic.anonymize(new, existing=earlier, order="keep", **question(qi, m))
    whole = release.data
    before = 0 if earlier is None else earlier.height
    told = 0
    for part in whole[before:].partition_by(qi):
        told += part.height if earlier is not None and part["occupation"].n_unique() == 1 else 0
    stars = sum(int((whole[column] == "*").sum()) for column in qi)
    return stars, told, whole


def question(qi: list[str], m: int) -> dict[str, Any]:
    """Return what is asked of releases that know nothing of each other."""
    return {
        "k": m, "qi": qi, "sensitive": "occupation", "id": "person", "l": m,
        "l_kind": "frequency", "time_limit": 8,
    }  # fmt: skip


if __name__ == "__main__":
    main()
