"""t-closeness, or another model, of a sensitive column of many values, on tables made from seed 0.

``python benchmarks/many_values.py income 20000 --t 0.3 --distance ordered``: so many people with
seven quasi-identifiers and an income, nearly all different.  ``diagnosis``: one of 100 diagnoses;
``code``: one of 2,000 codes such as ``B17``, for ``--distance hierarchy`` by their first letters.
k = 5.  The time limit is one of CPU seconds, which a machine that others use as well does not cut
short.  Prints cost, bound, gap, CPU seconds and the memory at its peak.
"""

import argparse
import resource
import time

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.run import clock
from persons import drawn, skewed


def people(kind: str, rows: int) -> pl.DataFrame:
    """Return the table; its last column is called ``value``."""
    rng = np.random.default_rng(0)
    columns = skewed(rng, rows) | {"ward": drawn(rng, 12, 0.8, rows)}
    if kind == "income":
        value = np.exp(rng.normal(10, 0.6, rows)).round().astype(int)
    elif kind == "diagnosis":
        value = drawn(rng, 100, 0.9, rows)
    else:
        codes = np.array([f"{chr(65 + i // 100)}{i % 100:02d}" for i in rng.permutation(2000)])
        value = codes[drawn(rng, 2000, 0.9, rows)]
    return pl.DataFrame(columns | {"value": value})


def main() -> None:
    """Make one release."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["income", "diagnosis", "code"])
    parser.add_argument("rows", type=int)
    parser.add_argument("--t", default="0.3")
    parser.add_argument("--model", help="another model in place of t, such as alpha=0.15")
    parser.add_argument("--distance", default="equal")
    parser.add_argument("--time-limit", type=float, default=60.0)
    asked = parser.parse_args()
    clock.now = time.process_time
    frame = people(asked.kind, asked.rows)
    ladder = {"value": "prefix:1,2"} if asked.distance == "hierarchy" else None
    began = time.process_time()
    close = {"t": asked.t, "distance": asked.distance, "hierarchies": ladder}
    release = ic.anonymize(
        frame, k=5, sensitive="value", time_limit=asked.time_limit, gap=0.01, seed=1,
        **({"models": [asked.model]} if asked.model else close),
    )  # fmt: skip
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{frame.height:,} rows, {frame['value'].n_unique():,} values: cost {release.cost:,}, "
        f"bound {release.lower_bound:,}, gap {release.gap:.1%}, CPU {took:.0f} s, {peak:.2f} GiB"
    )


if __name__ == "__main__":
    main()
