"""Draws docs/images/ratio-against-k.svg: how far methods are from the optimum, against k.

    python benchmarks/ratio_against_k.py [--limit S] [--out FILE]     (needs the demo extra)

Left: cost ÷ proven lower bound on the 1,566 people of the demo, six quasi-identifiers and
suppression; at each k all methods are measured by the same bound, the engine's.  The true ratio to
the optimum is at most what is drawn.  Right: what the forest can and cannot know: cost ÷
the forest's own bound on the two tables of ``distance-twins``, which are alike to it, and the ratio
that it guarantees.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import incrowd as ic
from incrowd.driver.solve import solve
from incrowd.instances.known import DistanceTwins
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.problem import Problem
from incrowd.tables.samples import QI, SENSITIVE, nhefs

KS = (2, 3, 5, 8, 12, 18, 25)
TWINS = tuple(range(3, 15))
COLOURS = {
    "m-approximation": "#6c71c4",
    "forest": "#cb4b16",
    "mondrian": "#b58900",
    "k-member": "#859900",
    "engine": "#005faf",
}
Line = list[tuple[float, float]]
WIDTH, HEIGHT, TOP, BOTTOM = 960, 420, 62, 54


def on_people(limit: float) -> dict[str, Line]:
    """Cost ÷ the engine's bound at each k, by method."""
    table = nhefs()
    found: dict[str, Line] = {method: [] for method in COLOURS}
    for k in KS:
        best = ic.anonymize(
            table, k, qi=QI, sensitive=SENSITIVE, method="engine", gap=0.005, time_limit=limit
        )
        for method, line in found.items():
            release = best
            if method != "engine":
                release = ic.anonymize(table, k, qi=QI, sensitive=SENSITIVE, method=method)
            line.append((k, release.cost / best.lower_bound))
            print(k, method, release.cost, best.lower_bound, round(line[-1][1], 4), file=sys.stderr)
    return found


def on_twins() -> dict[str, Line]:
    """Cost ÷ the forest's bound on both tables, and the guarantee, at each k."""
    found: dict[str, Line] = {"guarantee": [], "blocks": [], "halves": []}
    for k in TWINS:
        found["guarantee"].append((k, max(2 * k - 1, 3 * k - 5)))
        for twin in ("blocks", "halves"):
            instance, _ = DistanceTwins(k, twin).to_table().to_instance()
            solved = solve(Problem(instance, KAnonymity(k)), "forest")
            found[twin].append((k, solved.cost / solved.bound))
    return found


class Panel:
    """One diagram between two x, with its scales."""

    def __init__(
        self, left: int, right: int, xs: Sequence[float], top: float, *, log: bool
    ) -> None:
        self.left, self.right, self.xs, self.top, self.log = left, right, xs, top, log
        self.parts: list[str] = []

    def x(self, k: float) -> float:
        """Horizontal place, by log k."""
        low, high = math.log(self.xs[0]), math.log(self.xs[-1])
        return self.left + (self.right - self.left) * (math.log(k) - low) / (high - low)

    def y(self, ratio: float) -> float:
        """Vertical place; 1 is the bottom."""
        share = math.log(ratio) / math.log(self.top) if self.log else (ratio - 1) / (self.top - 1)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    def text(self, x: float, y: float, words: str, anchor: str = "middle", fill: str = "#444"):
        """Put words down."""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{words}</text>'
        )

    def frame(self, title: str, ratios: Sequence[float], ks: Sequence[float]) -> None:
        """Grid, scales and title."""
        self.text(self.left - 34, 22, title, "start", "#111")
        for ratio in ratios:
            y = self.y(ratio)
            self.parts.append(
                f'<line x1="{self.left}" x2="{self.right}" y1="{y:.1f}" y2="{y:.1f}" '
                'stroke="#ddd"/>'
            )
            self.text(self.left - 8, y + 5, f"{ratio:g}", "end")
        for k in ks:
            self.text(self.x(k), HEIGHT - BOTTOM + 21, f"{k:g}")
        self.text((self.left + self.right) / 2, HEIGHT - 10, "k")

    def lines(self, found: dict[str, Line], named: dict[str, tuple[str, str, str]]) -> None:
        """Draw lines with dots; ``named``: name, colour, dashes.  Names keep a line's distance."""
        ends = sorted(((line[-1][1], key) for key, line in found.items()), key=lambda end: end[0])
        height = HEIGHT - BOTTOM + 20.0
        for last, key in ends:
            name, colour, dashes = named[key]
            line = [(self.x(k), self.y(ratio)) for k, ratio in found[key]]
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
            self.parts.append(
                f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5" '
                f'stroke-dasharray="{dashes}"/>'
            )
            if not dashes:
                self.parts += [
                    f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in line
                ]
            height = min(self.y(last) + 5, height - 18)
            self.text(self.right + 10, height, name, "start", colour)


def drawn(people: dict[str, Line], twins: dict[str, Line]) -> str:
    """Return the picture as SVG."""
    most = max(ratio for line in people.values() for _, ratio in line)
    top = math.ceil(most * 2) / 2
    left = Panel(54, 400, KS, top, log=False)
    steps = 1 if top > 4 else 0.5
    left.frame(
        "cost ÷ proven bound, 1,566 people, six columns",
        [1 + steps * i for i in range(int((top - 1) / steps) + 1)],
        KS,
    )
    left.lines(people, {name: (name, colour, "") for name, colour in COLOURS.items()})
    right = Panel(594, 820, TWINS, 40, log=True)
    right.frame("forest: cost ÷ its own bound, twin tables", (1, 2, 4, 8, 16, 32), (3, 4, 6, 9, 14))
    right.lines(
        twins,
        {
            "guarantee": ("guarantee", "#666", "6 5"),
            "blocks": ("dear twin (k/2)", "#cb4b16", ""),
            "halves": ("cheap twin", "#2aa198", ""),
        },
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="14">',
            "<title>Ratio of cost to proven lower bound against k</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
            *left.parts,
            *right.parts,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--limit", type=float, default=60, help="wall seconds of each engine run")
    images = Path(__file__).parent.parent / "docs" / "images"
    parser.add_argument("--out", type=Path, default=images / "ratio-against-k.svg")
    given = parser.parse_args()
    given.out.write_text(drawn(on_people(given.limit), on_twins()), encoding="utf-8")
