"""Microaggregation: information loss and bound against MDAV and V-MDAV, on six tables.

    python benchmarks/microaggregation.py DATA [CASE ...] [--out FILE]

DATA is a folder with adult.csv and cup.csv; NHEFS comes from the package ``causaldata``.  The
field's own test sets, Census, Tarragona and EIA, come with the R package sdcMicro: put them there
by ``write.csv(CASCrefmicrodata, "census.csv", row.names = FALSE)`` and so on.  A line of
the table in microaggregation.md per case: SSE/SST in percent, each column by its standard
deviation, of MDAV, V-MDAV and what ``auto`` takes, its bound, the gap and processor seconds.  The
independent checker counts each release again.
"""

import time
from functools import partial
from pathlib import Path

import polars as pl

import incrowd as ic
from runs import arguments, tabulate

COLUMNS = {
    "adult": ("age",),
    "cup": ("AGE", "INCOME", "RAMNTALL", "NGIFTALL", "MINRAMNT"),
    "cup income": ("INCOME",),
    "NHEFS": ("age", "wt71", "ht", "smokeintensity", "smokeyrs"),
    "NHEFS weight": ("wt71",),
    "NHEFS three": ("age", "wt71", "ht"),
}
FIELD = {"Census": 13, "Tarragona": 13, "EIA": 10}
"""The field's test sets, and how many columns at the end are averaged: all that are amounts."""
KS = (3, 5, 10)
ALL = {f"{name}, k = {k}": (name, k) for name in (*COLUMNS, *FIELD) for k in KS}
HEAD = "| case | MDAV | V-MDAV | incrowd | below the better | bound | gap | status | CPU s |"


def table_of(data: Path, name: str) -> pl.DataFrame:
    """Return the columns of a case."""
    if name in FIELD:
        whole = pl.read_csv(data / f"{name.lower()}.csv")
        return whole.select(whole.columns[-FIELD[name] :])
    table, columns = name.split()[0], list(COLUMNS[name])
    if table == "NHEFS":
        from causaldata import nhefs_complete

        return pl.from_pandas(nhefs_complete.load_pandas().data[columns].astype(float))
    return pl.read_csv(data / f"{table}.csv", separator=";").select(columns)


def line(data: Path, case: str) -> str:
    """Make three releases and return the line."""
    name, k = ALL[case]
    frame = table_of(data, name)
    rules = dict.fromkeys(frame.columns, "mean")
    loss = {}
    for method in ("mdav", "v-mdav"):
        release = ic.anonymize(frame, k, hierarchies=rules, method=method, seed=1)
        loss[method] = release.cost_fraction
    began = time.process_time()
    release = ic.anonymize(frame, k, hierarchies=rules, seed=1)
    seconds = time.process_time() - began
    assert release.verify()
    own, bound = release.cost_fraction, release.bound_units / release.worst_units
    below = 1 - own / min(loss.values()) if min(loss.values()) else 0
    figures = (100 * loss["mdav"], 100 * loss["v-mdav"], 100 * own)
    told = " | ".join(f"{x:.4f}" for x in figures)
    return (
        f"| {case} | {told} | {below:.1%} | {100 * bound:.4f} | {release.gap:.1%} | "
        f"{release.status} | {seconds:.0f} |"
    )


def main() -> None:
    """Print the table."""
    given = arguments(__doc__).parse_args()
    tabulate(given, HEAD, {case: partial(line, given.data, case) for case in ALL})


if __name__ == "__main__":
    main()
