"""Constraints as a proof states them, by brute force over levels."""

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
    for name, most in held.get("caps", {}).items():
        pairs = zip(kept, after, strict=True)
        many = sum(new[name] != guarded(old[name]) for old, new in pairs)
        found += [f"{many} cells of {name} are changed"] if many > most else []
    return found


def class_cost(rows: Sequence[Row], ladders: Mapping[str, Paths], held: Mapping[str, Any]) -> Any:
    """Return what fixed and linked cells of a class's row cost at least, and what changes.

    That is, of each capped column, how many cells; None: the class breaks the constraints.
    """
    if any(len({row[name] for row in rows}) > 1 for name in held["fixed"]):
        return None
    total, caps = 0, held.get("caps", {})
    changed = {name: len({row[name] for row in rows}) > 1 for name in caps}
    for link in held["linked"]:
        open_to = [shown(row, link, ladders) for row in rows]
        shared = set.intersection(*map(set, open_to))
        own = [{name: labels[link.index(name)] != rows[0][name] for name in caps if name in link}
               for labels in shared]  # fmt: skip
        each = zip((open_to[0][labels] for labels in shared), own, strict=True)
        cost, some = min(each, key=lambda both: (both[0], sum(both[1].values())))
        total, changed = total + cost, changed | some
    return total, tuple(len(rows) * changed[name] for name in caps)


def constrained_anew(draw: random.Random, bundle: Bundle) -> None:
    """State other columns that are fixed or linked, as if the release were made so."""
    names = list(bundle.facts["roles"]["qi"])
    draw.shuffle(names)
    fixed, linked = draw.randint(0, len(names)), draw.choice([0, 2, 2, 3])
    link = names[fixed : fixed + linked]
    held: dict[str, Any] = {"fixed": names[:fixed], "linked": [link] if link else []}
    if draw.random() < 0.4:
        capped = draw.sample(names[fixed:], draw.randint(0, len(names) - fixed))
        held["caps"] = {name: draw.randint(0, bundle.release.height) for name in capped}
        unit = bundle.facts["scale"] * bundle.facts["quantum"]
        bundle.facts["cap_prices"] = {name: draw.choice([1, unit // 2, unit]) for name in capped}
    bundle.facts["constraints"] = held
    if draw.random() < 0.2:
        del bundle.facts["constraints"]


def capped_anew(draw: random.Random, bundle: Bundle) -> None:
    """Let more or fewer cells change under a cap, or at another price."""
    most, price = bundle.facts["constraints"]["caps"], bundle.facts["cap_prices"]
    name = draw.choice(list(most))
    if draw.random() < 0.5:
        most[name] = max(0, most[name] + draw.choice([-2, -1, 1]))
    else:
        price[name] = draw.choice([0, price[name] // 2, price[name] + 1, price[name] * 2])


CHANGES: dict[str, Callable[[random.Random, Bundle], Any]] = {
    "other constraints": constrained_anew,
    "other caps": capped_anew,
}
