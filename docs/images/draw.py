"""Draws docs/images/nhefs.svg: how many cells a k-anonymous release of the demo's table changes.

python docs/images/draw.py      (needs the demo extra; about a minute)

Every point is a run of ``incrowd.anonymize`` with the default seed on the 1,566 people of the demo,
six quasi-identifiers, suppression, gap 0.01.  The lines to compare with are the methods
``mondrian`` and ``k-member`` of this package, re-implementations from their papers.
"""

import argparse
from pathlib import Path

import incrowd as ic
from incrowd.tables.samples import QI, SENSITIVE, nhefs

KS = (2, 3, 5, 8, 12, 18, 25)
METHODS = {
    "mondrian": ("Mondrian (2006)", "#b58900"),
    "k-member": ("k-member (2007)", "#859900"),
    "auto": ("incrowd", "#005faf"),
}
WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 46, 52


def shares() -> dict[str, list[float]]:
    """Return the share of changed cells by method, and the proven bound, at each k."""
    table = nhefs()
    found: dict[str, list[float]] = {name: [] for name in (*METHODS, "bound")}
    for k in KS:
        for method in METHODS:
            own = {"gap": 0.01, "time_limit": 120} if method == "auto" else {}
            release = ic.anonymize(table, k, qi=QI, sensitive=SENSITIVE, method=method, **own)
            found[method].append(release.cost_fraction)
            if method == "auto":
                found["bound"].append(release.lower_bound / release.cells)
                print(k, release)
    return found


def x_at(number: int) -> float:
    """Horizontal place of the n-th k; evenly spaced, as a table would have them."""
    return LEFT + (WIDTH - LEFT - RIGHT) * number / (len(KS) - 1)


def y_at(share: float) -> float:
    """Vertical place of a share from 0 to 1."""
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def line(values: list[float], colour: str, name: str, middle: float) -> list[str]:
    """Return a line with dots, and its name at the right end."""
    points = " ".join(f"{x_at(i):.1f},{y_at(v):.1f}" for i, v in enumerate(values))
    dots = [
        f'<circle cx="{x_at(i):.1f}" cy="{y_at(v):.1f}" r="4" fill="{colour}"/>'
        for i, v in enumerate(values)
    ]
    label = (
        f'<text x="{x_at(len(KS) - 1) + 12:.1f}" y="{middle:.1f}" fill="{colour}" '
        f'dominant-baseline="middle">{name}</text>'
    )
    return [
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
        *dots,
        label,
    ]


def text(x: float, y: float, words: str, anchor: str = "middle", colour: str = "#444") -> str:
    """Return one piece of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def drawn(found: dict[str, list[float]]) -> str:
    """Return the picture as SVG."""
    base = y_at(0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="14">',
        "<title>Share of changed cells against k, on the table of incrowd demo</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        text(LEFT, 24, "cells changed, of 9,396 (1,566 people × 6 answers)", "start", "#111"),
    ]
    for tenth in range(0, 11, 2):
        y = y_at(tenth / 10)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        )
        parts.append(text(LEFT - 8, y + 5, f"{tenth * 10} %", "end"))
    for i, k in enumerate(KS):
        parts.append(text(x_at(i), base + 22, str(k)))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, base + 44, "k: everybody hides among so many"))
    below = " ".join(f"{x_at(i):.1f},{y_at(v):.1f}" for i, v in enumerate(found["bound"]))
    parts.append(
        f'<polygon points="{LEFT},{base:.1f} {below} {x_at(len(KS) - 1):.1f},{base:.1f}" '
        'fill="#005faf" fill-opacity="0.12"/>'
    )
    parts.append(
        text(x_at(4), y_at(found["bound"][4] / 2), "proven: no release reaches in here", "middle")
    )
    ends = sorted((found[method][-1], method) for method in METHODS)
    height = y_at(ends[0][0])
    places = {}
    for share, method in ends:  # from the lowest line up; names keep a line's distance
        height = min(y_at(share), height)
        places[method] = height
        height -= 18
    for method, (name, colour) in METHODS.items():
        parts += line(found[method], colour, name, places[method])
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("nhefs.svg"))
    given = parser.parse_args()
    given.out.write_text(drawn(shares()), encoding="utf-8")
