"""Draws docs/images/veil.svg: what a veil costs, on the table of ``incrowd demo``.

python docs/images/draw_veil.py      (needs the extras demo and report; a minute)

Each point is the mean of five releases of 1,566 people, six quasi-identifiers, suppression: coins
are fresh each time, so that the picture is never quite the same twice.
"""

from pathlib import Path

import incrowd as ic
from incrowd.tables.samples import QI, SENSITIVE, nhefs

CHANCES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
TIMES = 5


def share(k: int, chance: float) -> float:
    """Return the mean share of stars."""
    table = nhefs()
    found = (ic.anonymize(table, k, qi=QI, sensitive=SENSITIVE, veil=chance) for _ in range(TIMES))
    return sum(release.changed_cells / release.cells for release in found) / TIMES


def drawn(shares: dict[int, list[float]], plain: dict[int, float], path: Path) -> None:
    """Write the picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "incrowd"
    figure = Figure(figsize=(7.2, 4), layout="constrained")
    axes = figure.add_subplot()
    for (k, values), colour in zip(shares.items(), ("#005faf", "#b58900"), strict=True):
        axes.plot(CHANCES, values, "o-", color=colour, label=f"k = {k}, veiled")
        axes.axhline(plain[k], color=colour, linestyle=":", label=f"k = {k}, no veil, the engine")
    axes.plot([0, 0.5], [0, 0.5], color="#999999", linewidth=1, label="what coins alone hide")
    axes.set_xlim(0, 0.51)
    axes.set_ylim(0, 1)
    axes.set_xlabel("q: probability with which coins hide a cell; the factor is 1/q")
    axes.set_ylabel("share of stars")
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    plain = {k: ic.anonymize(nhefs(), k, qi=QI, sensitive=SENSITIVE, gap=0.01) for k in (2, 5)}
    drawn(
        {k: [share(k, chance) for chance in CHANCES] for k in plain},
        {k: release.changed_cells / release.cells for k, release in plain.items()},
        Path(__file__).with_name("veil.svg"),
    )
