"""Fixed and linked columns as a proof states them, by brute force over levels."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forging.bundle import Bundle

Row = Mapping[str, str | None]
Paths = Mapping[str | None, Sequence[tuple[str | None, int]]]
NONE: Mapping[str, Any] = {"fixed": [], "linked": []}


def shown(row: Row, link: Sequence[str], ladders: Mapping[str, Paths]) -> dict[Any, int]:
    """Return what a row can show in linked columns, and what that costs."""
    paths = [ladders[name][row[name]] for name in link]
    top = max(map(len, paths))
    found: dict[Any, int] = {}
    for t in range(top):
        rungs = [path[max(0, t - (top - len(path)))] for path in paths]
        labels, cost = tuple(label for label, _ in rungs), sum(cost for _, cost in rungs)
        found[labels] = min(cost, found.get(labels, cost))
    return found


def constrained_faults(
    kept: Sequence[Row], after: Sequence[Row], ladders: Mapping[str, Paths],
    facts: Mapping[str, Any], said: Mapping[str, Any], guarded: Any,
) -> list[str]:  # fmt: skip
    """Return what is false of the constraints that a verdict tells."""
    held = facts.get("constraints", NONE)
    found = [] if said.get("constraints", NONE) == held else ["other constraints are told"]
    for old, new in zip(kept, after, strict=True):
        changed = [c for c in held["fixed"] if new[c] != guarded(old[c])]
        found += [f"{c} is fixed and changed" for c in changed]
        for link in held["linked"]:
            cells = tuple(new[name] for name in link)
            open_to = {tuple(map(guarded, labels)) for labels in shown(old, link, ladders)}
            found += [] if cells in open_to else [f"{link} stand at several levels"]
    return found


def class_cost(rows: Sequence[Row], ladders: Mapping[str, Paths], held: Mapping[str, Any]) -> Any:
    """Return what fixed and linked cells of a class's row cost at least; None: it breaks them."""
    if any(len({row[name] for row in rows}) > 1 for name in held["fixed"]):
        return None
    total = 0
    for link in held["linked"]:
        open_to = [shown(row, link, ladders) for row in rows]
        shared = set.intersection(*map(set, open_to))
        total += min(open_to[0][labels] for labels in shared)
    return total


def constrained_anew(draw: random.Random, bundle: Bundle) -> None:
    """State other columns that are fixed or linked, as if the release were made so."""
    names = list(bundle.facts["roles"]["qi"])
    draw.shuffle(names)
    fixed, linked = draw.randint(0, len(names)), draw.choice([0, 2, 2, 3])
    link = names[fixed : fixed + linked]
    bundle.facts["constraints"] = {"fixed": names[:fixed], "linked": [link] if link else []}
    if draw.random() < 0.2:
        del bundle.facts["constraints"]


CHANGES: dict[str, Callable[[random.Random, Bundle], Any]] = {"other constraints": constrained_anew}
