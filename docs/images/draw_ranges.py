"""Draws docs/images/ranges.svg: the classes of one table at one k, by bands and by ranges.

python docs/images/draw_ranges.py      (needs the extras demo and report; a minute)

The first 240 people of the demo's survey (NHANES I Epidemiologic Follow-up Study, as packaged in
``causaldata``) with age and weight as quasi-identifiers, k = 5, cost NCP.  Each dot is a person,
each box what a class publishes: on the left of a ladder of bands, on the right the smallest ranges.
"""

from pathlib import Path
from typing import Any

import polars as pl

import incrowd as ic
from incrowd.report.use import numbers_of

ROWS, K = 240, 5
COLUMNS = {"age": "age", "wt71": "weight"}
BANDS = {"age": "interval:5,10,20", "weight": "interval:5,10,20,40"}
RANGES = {"age": "range", "weight": "range"}
COLOURS = ("#b58900", "#005faf")


def people() -> pl.DataFrame:
    """Return ages in years and weights in whole kilograms."""
    from causaldata import nhefs_complete

    frame = nhefs_complete.load_pandas().data[list(COLUMNS)].head(ROWS).round().astype(int)
    return pl.DataFrame({new: frame[old].tolist() for old, new in COLUMNS.items()})


def boxes(release: ic.Release) -> list[tuple[float, float, float, float]]:
    """Return what each class publishes: the least and the greatest age, likewise the weight."""
    found = numbers_of(release)
    age, weight = found["age"], found["weight"]
    return sorted(set(zip(age.low, age.high, weight.low, weight.high, strict=True)))


def drawn(releases: dict[str, ic.Release], table: pl.DataFrame, path: Path) -> None:
    """Write the picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    mpl.rcParams["svg.hashsalt"] = "incrowd"
    mpl.rcParams["svg.fonttype"] = "none"
    figure = Figure(figsize=(9, 4.4), layout="constrained")
    panels: Any = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, colour, (name, release) in zip(panels, COLOURS, releases.items(), strict=True):
        for left, right, low, high in boxes(release):
            size = (right - left + 0.8, high - low + 0.8)
            shape = {"facecolor": (colour, 0.13), "edgecolor": colour, "linewidth": 1.1}
            ax.add_patch(Rectangle((left - 0.4, low - 0.4), *size, **shape))
        ax.plot(table["age"], table["weight"], ".", color="#333333", markersize=3.5)
        share = float(release.cost) / release.cells
        bound = float(release.lower_bound) / release.cells
        ax.set_title(f"{name}: {share:.1%} lost, no release less than {bound:.1%}", fontsize=11)
        ax.set_xlabel("age")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    panels[0].set_ylabel("weight, kg")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    table = people()
    asked = {"cost": "ncp", "seed": 1, "order": "keep"}
    drawn(
        {
            name: ic.anonymize(table, K, hierarchies=rules, **asked)
            for name, rules in (("bands", BANDS), ("ranges", RANGES))
        },
        table,
        Path(__file__).with_name("ranges.svg"),
    )
