"""A hierarchy as a picture: an outline for the terminal, an SVG for a page."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from incrowd.hierarchy.ladder import Ladder

if TYPE_CHECKING:
    from rich.tree import Tree as RichTree

ROW, INDENT, LETTER, MARGIN = 22, 26, 7.6, 16
"""Pixels: height of a row, indent of a level, width of a letter, margin of the page."""
LONGEST = 60
"""Letters of a label that are shown."""
FANS = (None, 20, 10, 6, 4, 3)
STYLE = (
    ".incrowd-tree{background:#fff;color:#1c2733}"
    ".incrowd-tree text{font:14px ui-sans-serif,system-ui,sans-serif;fill:currentColor}"
    ".incrowd-tree .n{fill:#5a6672}.incrowd-tree path{stroke:#9aa5b1;fill:none}"
    "@media(prefers-color-scheme:dark){.incrowd-tree{background:#14181d;color:#e8ecf0}"
    ".incrowd-tree .n{fill:#a3adb8}.incrowd-tree path{stroke:#56616d}}"
)


@dataclass(frozen=True, eq=False)
class Branch:
    """A node and what is below it.

    Attributes
    ----------
    leaves: number of values below the node, 1 for a value.
    hidden: number of children left out.
    """

    label: str
    leaves: int
    children: tuple["Branch", ...] = ()
    hidden: int = 0

    @property
    def lines(self) -> int:
        """Lines of the outline, a note on hidden children counted."""
        return 1 + sum(child.lines for child in self.children) + (self.hidden > 0)


def outline(ladder: Ladder, lines: int | None = 60) -> Branch:
    """Return the hierarchy as branches that fit in some lines.

    First each node shows fewer children, but at least three; then the lowest levels are left out.

    Parameters
    ----------
    lines: how many lines to fill; None shows everything.
    """
    top, whole = ladder.levels - 1, len(ladder.leaves)
    if lines is None:
        return _Grower(ladder, None, 0, None).branch(top, (0, whole))
    for lowest in range(top):
        for fan in FANS:
            grower = _Grower(ladder, fan, lowest, lines)
            branch = grower.branch(top, (0, whole))
            if branch.lines <= lines and not grower.full:
                return branch
    return Branch("*", whole)


class _Grower:
    """Grows branches down to a level with at most ``fan`` children each; stops when full."""

    def __init__(self, ladder: Ladder, fan: int | None, lowest: int, lines: int | None) -> None:
        self.ladder, self.fan, self.lowest, self.lines = ladder, fan, lowest, lines
        self.grown = 0

    @property
    def full(self) -> bool:
        """Whether more lines were needed than there are, so that branches were left out."""
        return self.lines is not None and self.grown > self.lines

    def branch(self, up: int, run: tuple[int, int]) -> Branch:
        """Return the node over a run of leaves; a label that repeats is shown once."""
        start, end = run
        self.grown += 1
        if self.full or end == start:
            return Branch("*", end - start)
        label = _shown(self.ladder.labels[up][self.ladder.node[up, start]])
        up = int(self.ladder.level[up, start])
        if up <= self.lowest:
            return Branch(label, end - start)
        cuts = np.flatnonzero(np.diff(self.ladder.node[up - 1, start:end])) + 1 + start
        runs = list(pairwise([start, *cuts.tolist(), end]))
        kept = runs if self.fan is None or len(runs) <= self.fan + 1 else runs[: self.fan]
        children = tuple(self.branch(up - 1, below) for below in kept)
        return Branch(label, end - start, children, len(runs) - len(kept))


def _shown(label: str | None) -> str:
    if label is None:
        return "(missing)"
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in label)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def to_rich(branch: Branch) -> "RichTree":
    """Return the outline as a tree that rich prints; labels are not read as markup."""
    from rich.text import Text
    from rich.tree import Tree as RichTree

    def name(node: Branch) -> Text:
        return Text(node.label) + Text(_note(node), "dim")

    def grow(tree: RichTree, node: Branch) -> None:
        for child in node.children:
            grow(tree.add(name(child)), child)
        if node.hidden:
            tree.add(Text(_more(node), "dim"))

    root = RichTree(name(branch))
    grow(root, branch)
    return root


def _note(node: Branch) -> str:
    if not node.children and node.leaves == 1:
        return ""
    return f"  {node.leaves:,} value{'' if node.leaves == 1 else 's'}"


def _more(node: Branch) -> str:
    return f"… {node.hidden:,} more"


@dataclass(frozen=True)
class _Row:
    depth: int
    parent: int
    label: str
    note: str


def _rows(node: Branch, depth: int, parent: int, first: int) -> Iterator[_Row]:
    """Yield the rows of an outline; ``first`` is the number of the node's own row."""
    yield _Row(depth, parent, node.label, _note(node))
    at = first + 1
    for child in node.children:
        yield from _rows(child, depth + 1, first, at)
        at += child.lines
    if node.hidden:
        yield _Row(depth + 1, first, "", _more(node))


def to_svg(branch: Branch, title: str) -> str:
    """Return the outline as one self-contained SVG, light or dark as the reader's system is.

    Every label is escaped; nothing is loaded from elsewhere.
    """
    rows = list(_rows(branch, 0, -1, 0))
    title = _shown(title)
    widest = max(len(r.label) + len(r.note) + 2 + r.depth * INDENT / LETTER for r in rows)
    width, height = int(widest * LETTER) + 2 * MARGIN, len(rows) * ROW + 2 * MARGIN
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="incrowd-tree" role="img" '
        'aria-labelledby="incrowd-tree-title incrowd-tree-text" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<title id="incrowd-tree-title">{escape(title)}</title>',
        f'<desc id="incrowd-tree-text">A tree of {branch.leaves:,} values: the root *, its groups, '
        "and their values, each below and to the right of the group it belongs to.</desc>",
        f"<style>{STYLE}</style>",
    ]
    for at, row in enumerate(rows):
        x, y = MARGIN + row.depth * INDENT, MARGIN + at * ROW + ROW // 2
        if row.parent >= 0:
            elbow, top = x - INDENT + 5, MARGIN + row.parent * ROW + ROW - 3
            parts.append(f'<path d="M{elbow} {top}V{y}H{x - 5}"/>')
        gap = ' dx="6"' if row.label else ""
        note = f'<tspan class="n"{gap}>{escape(row.note.strip())}</tspan>' if row.note else ""
        parts.append(f'<text x="{x}" y="{y + 5}">{escape(row.label)}{note}</text>')
    return "\n".join([*parts, "</svg>", ""])
