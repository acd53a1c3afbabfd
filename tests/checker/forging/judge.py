"""What an accepted proof must not say: judged by brute force, from plain readings of its files.

Nothing here is shared with the checker, nor with the rest of incrowd: tables are read by ``plain``,
models are those of ``tests/privacy/naive_models.py``, the optimum is that of ``tests/oracle.py``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import Any

from forging import constrained
from forging.averaged import averaged_faults
from forging.combined import KIND, combined_faults, least_combined
from forging.intervals import intervals_of, range_faults
from forging.persons import owned, owner, people_faults, people_in, together
from forging.plain import Plain, Stated
from oracle import least_within
from privacy import naive_models as naive

Row = dict[str, str | None]
Paths = dict[str | None, list[tuple[str | None, int]]]  # leaf → label and cost by level
Choices = dict[str | None, dict[str | None, int]]  # leaf → label → cost
RUN = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"'*[+-]?(\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?%?\Z")


def faults_of(
    original: Plain, release: Plain, stated: Stated, said: Mapping[str, Any]
) -> list[str]:
    """Return what is false of what the checker says of an accepted proof.

    ``said``: the facts of its verdict.
    """
    facts = stated.facts
    roles = facts["roles"]
    named = [column for role in roles.values() for column in role]
    if sorted(named) != sorted(original.header) or len(set(named)) < len(named):
        return ["not every column has one role"]
    wanted = [column for column in original.header if column not in roles["id"]]
    models, gone = facts["models"], facts.get("deleted_rows", 0)
    if release.header != wanted or said["columns"] != wanted:
        return ["the columns are others"]
    before = [dict(zip(original.header, row, strict=True)) for row in original.rows]
    after = [dict(zip(release.header, row, strict=True)) for row in release.rows]
    origin, whole = [row["original"] for row in stated.rows], before
    if len(origin) != len(after) + gone or len(set(origin)) < len(origin):
        return ["the row map is none"]
    if not all(0 <= row < len(before) for row in origin) or said["rows"] != len(after):
        return ["rows are lost or added"]
    if gone != said.get("deleted_rows", 0) or gone > facts.get("delete_rows", {}).get("most", 0):
        return ["other rows are deleted than may be"]
    kept = [before[row] for row in origin[: len(after)]]
    deleted = [before[row] for row in origin[len(after) :]]
    if any(row not in owned(models, [row]) for row in kept):
        return ["rows of nobody are released"]
    before = owned(models, before)
    listed = {column: ladder_of(stated, column) for column in roles["qi"]}
    ladders = {  # costs count the values of the table
        c: {leaf: path for leaf, path in one.items() if any(row[c] == leaf for row in whole)}
        for c, one in listed.items()
    }
    found = [fault for column, one in listed.items() for fault in ladder_faults(column, one)]
    found += [f"{c}: no hierarchy is named" for c, one in ladders.items()
              if height_of(one) > 1 and c not in facts["hierarchies"]]  # fmt: skip
    roots = {path[-1][0] for one in ladders.values() for path in one.values() if len(path) > 1}
    found += ["a root is not the star"] if roots - {facts.get("star", "*")} else []
    stated_ranges = {c: facts["hierarchies"].get(c, {}).get("range") for c in ladders}
    ranges = {c: rule for c, rule in stated_ranges.items() if rule is not None}
    for column in ranges:
        found += range_faults(column, facts["hierarchies"][column], ladders[column])
    if "averaged" in facts or found:
        return found or averaged_faults(before, after, stated, ladders, said)
    choices = {c: choices_of(one, ranges.get(c)) for c, one in ladders.items()}
    found += cell_faults(kept, after, facts, choices)
    if found:
        return found
    dropped = len(before) - len(after) - gone
    found += people_faults(kept, after, roles, models)
    found += combined_faults(after, roles["qi"], [m for m in models if m["model"] == KIND])
    return (
        found
        + model_faults(kept, after, roles, models)
        + dropped_faults(before, dropped, facts, said)
        + cost_faults((kept, deleted), after, ladders, choices, facts, said, dropped)
        + meaning_faults(ladders, ranges, said)
        + constrained.constrained_faults(
            kept,
            after,
            ladders,
            facts,
            said,
            guarded if facts.get("spreadsheet_safe") is True else lambda text: text,
        )
    )


def ladder_of(stated: Stated, column: str) -> Paths:
    """Return each value's labels and costs, level by level."""
    paths: Paths = {}
    mine = [rung for rung in stated.ladders if rung["column"] == column]
    for rung in sorted(mine, key=lambda rung: rung["level"]):
        paths.setdefault(rung["leaf"], []).append((rung["label"], rung["cost"]))
    return paths


def choices_of(paths: Paths, rule: Any) -> Choices:
    """Return what each value may become, and at what cost."""
    found: Choices = {}
    for leaf, path in paths.items():
        for label, cost in path:
            found.setdefault(leaf, {}).setdefault(label, cost)
    for leaf, some in ({} if rule is None else intervals_of(rule, paths)).items():
        for label, cost in some.items():
            found[leaf].setdefault(label, cost)
    return found


def height_of(paths: Paths) -> int:
    """Return on how many levels above the values something changes."""
    levels = list(zip(*paths.values(), strict=True))
    return sum(low != high for low, high in pairwise([[x for x, _ in one] for one in levels]))


def ladder_faults(column: str, paths: Paths) -> list[str]:
    """Return where a hierarchy is no tree, or a cost no cost."""
    if not paths:
        return []
    if len({len(path) for path in paths.values()}) > 1:
        return [f"{column}: a level is missing"]
    below: dict[str | None, set[frozenset[str | None]]] = {}
    cost: dict[str | None, set[int]] = {}
    for level in zip(*paths.values(), strict=True):
        for label in {label for label, _ in level}:
            under = frozenset(
                leaf for leaf, one in zip(paths, level, strict=True) if one[0] == label
            )
            below.setdefault(label, set()).add(under)
        for label, one in level:
            cost.setdefault(label, set()).add(one)
    falls = any(a > b for path in paths.values() for (_, a), (_, b) in pairwise(path))
    groups = {under for some in below.values() for under in some}
    checks = {
        "is no tree": any(a & b and not (a <= b or b <= a) for a, b in combinations(groups, 2)),
        "has a label for two groups": any(len(some) > 1 for some in below.values()),
        "has two costs for a label": any(len(some) > 1 for some in cost.values()),
        "has a cost that falls": falls,
        "does not start at the value": any(path[0][0] != leaf for leaf, path in paths.items()),
        "has no root": len({path[-1][0] for path in paths.values()}) > 1,
        "calls a group by nothing": any(
            not label and some != {frozenset([label])} for label, some in below.items()
        ),
    }
    return [f"{column}: the hierarchy {name}" for name, wrong in checks.items() if wrong]


def cell_faults(
    kept: Sequence[Row],
    after: Sequence[Row],
    facts: Mapping[str, Any],
    choices: Mapping[str, Choices],
) -> list[str]:
    """Return what is untrue of a cell."""
    safe = facts.get("spreadsheet_safe") is True
    for number, (old, new) in enumerate(zip(kept, after, strict=True), start=1):
        for column, cell in new.items():
            if column in facts["roles"].get("pseudonym", ()):
                continue
            truths = [old[column]]
            if column in choices:
                truths = list(choices[column].get(old[column], {}))
            if cell not in [guarded(truth) if safe else truth for truth in truths]:
                return [f"row {number}, {column}: {cell!r} is not true of {old[column]!r}"]
    return []


def guarded(text: str | None) -> str | None:
    """Return a text as ``--spreadsheet-safe`` writes it."""
    runs = text is not None and RUN.match(text) and not NUMBER.match(text)
    return f"'{text}" if runs else text


def model_faults(
    kept: Sequence[Row], after: Sequence[Row], roles: Mapping[str, list[str]], models: Any
) -> list[str]:
    """Return which class breaks a model; what a model looks at stands in the original."""
    classes: dict[tuple[str | None, ...], list[int]] = {}
    for i, row in enumerate(after):
        classes.setdefault(tuple(row[column] for column in roles["qi"]), []).append(i)
    published = {column for role in ("qi", "keep") for column in roles[role]}
    found = []
    for model in (model for model in models if model["model"] != KIND):
        looked = set(model.get("columns", [model.get("column")])) - {None}
        found += [f"{model} looks at {column}" for column in looked & published]
        found += [
            f"class {key} breaks {model}"
            for key, rows in classes.items()
            if not obeys(model, rows, kept, models)
        ]
    return found


def obeys(model: Mapping[str, Any], rows: Sequence[int], table: Sequence[Row], models: Any) -> bool:
    """Whether a class obeys a model, from the papers' definitions; ``models``: all of them."""
    kind = model["model"]
    if kind == "k-anonymity":
        return len(rows) >= model["k"]
    columns = model.get("columns", [model.get("column")])
    cells = [tuple(row[column] for column in columns) for row in table]
    if kind == "people":
        return len({owner(model, i, table[i]) for i in rows}) >= model["k"]
    if kind == "disjoint":
        codes = [
            {x: i for i, x in enumerate(dict.fromkeys(one))} for one in zip(*cells, strict=True)
        ]
        some = [tuple(code[x] for code, x in zip(codes, cell, strict=True)) for cell in cells]
        return naive.disjoint([some[i] for i in rows], model["l"])
    known = {x: i for i, (x,) in enumerate(dict.fromkeys(cells))}
    whole = [known[x] for (x,) in cells]
    if "once" not in model:
        return fits(model, [whole[i] for i in rows], whole, known)
    whose = [owner(people_in(models)[0], i, row) for i, row in enumerate(table)]
    pairs = list(zip(whole, whose, strict=True))
    group = [value for value, _ in {pairs[i]: None for i in rows}]
    return fits(model, group, [value for value, _ in {*pairs}], known)


def fits(model: Mapping[str, Any], group: list[int], table: list[int], known: Any) -> bool:
    """Whether a class with these values, numbered by ``known``, obeys a model of one column."""
    kind = model["model"]
    number = {name: Fraction(model[name]) for name in ("l", "c", "t", "alpha", "beta", "delta")
              if name in model}  # fmt: skip
    if kind == "distinct":
        return naive.distinct(group, model["l"])
    if kind == "frequency":
        return naive.frequency(group, model["l"])
    if kind == "entropy":
        return naive.entropy(group, number["l"])
    if kind == "recursive":
        return naive.recursive(group, number["c"], model["l"])
    if kind == "alpha-k":
        some = [known[v] for v in model.get("values", known) if v in known]
        most = number["alpha"] * len(group)
        return len(group) >= model["k"] and all(group.count(v) <= most for v in some)
    if kind == "basic-beta":
        return naive.basic_beta(group, table, number["beta"])
    if kind == "enhanced-beta":
        return naive.enhanced_beta(group, table, number["beta"])
    if kind == "delta-disclosure":
        return naive.delta(group, table, number["delta"])
    if kind == "t-closeness":
        return moved(model, tuple(group), tuple(table), known) <= number["t"]
    raise ValueError(kind)


def moved(model: Mapping[str, Any], group: Any, table: Any, known: Any) -> Fraction:
    """Return the Earth Mover's Distance of a class and the table."""
    place = {value: i for i, value in enumerate(model.get("order", known))}
    code = {number: place[value] for value, number in known.items()}
    far = distances(model, len(known))
    return flow(tuple(sorted(code[v] for v in group)), tuple(sorted(code[v] for v in table)), far)


@cache
def flow(group: tuple[int, ...], table: tuple[int, ...], far: Any) -> Fraction:
    """Return the least work, of which brute force asks often."""
    return naive.mover(list(group), list(table), [list(row) for row in far])


def distances(model: Mapping[str, Any], values: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return the ground distance, values in the model's order."""
    kind = model["distance"]
    if kind == "equal":
        far = naive.equal(values)
    elif kind == "ordered":
        far = naive.ordered(values)
    elif kind == "hierarchical":
        levels = model["levels"]
        whole = [0] * values  # the root, which the model may leave out
        far = naive.hierarchical([*levels, whole])
    else:
        far = [[Fraction(x) for x in row] for row in model["matrix"]]
    return tuple(map(tuple, far))


def dropped_faults(
    before: Sequence[Row], dropped: int, facts: Mapping[str, Any], said: Mapping[str, Any]
) -> list[str]:
    """Return what is false where rows are left out: none may be of a table that is lawful."""
    found = []
    if not said["suppressed_rows"] == dropped <= max(0, facts.get("suppress_rows", 0)):
        found.append("another number of rows is left out")
    asked = {c for m in facts["models"] for c in m.get("columns", [m.get("column")])} - {None}
    alone = len(asked) <= 1 and not any("values" in model for model in facts["models"])
    for fewer in range(dropped if alone else min(dropped, 1)):
        for out in combinations(range(len(before)), fewer):
            rest = [row for i, row in enumerate(before) if i not in out]
            if rest and all(
                obeys(m, range(len(rest)), rest, facts["models"]) for m in facts["models"]
            ):
                return [*found, f"{dropped} rows are left out where {fewer} would do"]
    return found


def cost_faults(
    rows: tuple[Sequence[Row], Sequence[Row]],
    after: Sequence[Row],
    ladders: Mapping[str, Paths],
    choices: Mapping[str, Choices],
    facts: Mapping[str, Any],
    said: Mapping[str, Any],
    dropped: int,
) -> list[str]:
    """Return whether the cost is another one, or some release costs less than the bound.

    ``rows``: of the original, those that are released and those that are deleted.
    """
    safe, models = facts.get("spreadsheet_safe") is True, facts["models"]
    (kept, deleted), every = rows, [*rows[0], *rows[1]]
    held = facts.get("constraints", constrained.NONE)
    apart = {*held["fixed"], *(name for link in held["linked"] for name in link)}
    aside = dropped * sum(
        max((p[-1][1] for p in one.values()), default=0) for one in ladders.values()
    )
    deletion = facts.get("delete_rows", {"price": 0, "most": 0})
    cost = aside + deletion["price"] * len(deleted)
    for old, new in zip(kept, after, strict=True):
        for column, one in choices.items():
            labels = [(guarded(x) if safe else x, c) for x, c in one[old[column]].items()]
            cost += min(c for label, c in labels if label == new[column])
    found = [] if cost == said["cost"] else [f"the cost is {cost}, not {said['cost']}"]

    def class_cost(members: tuple[int, ...]) -> tuple[int, tuple[int, ...]] | None:
        lawful = together(models, members, every)
        if not lawful or not all(obeys(model, members, every, models) for model in models):
            return None
        known = constrained.class_cost([every[i] for i in members], ladders, held)
        if known is None:
            return None
        one, changed = known
        for column, some in choices.items():
            if column in apart:
                continue
            open_to = [some[every[i][column]] for i in members]
            shared = set.intersection(*(set(labels) for labels in open_to))
            one += min(open_to[0][label] for label in shared)
        return len(members) * one, changed

    if any(model["model"] == KIND for model in models):
        cells = [{c: some[row[c]] for c, some in choices.items()} for row in kept]
        least = least_combined(cells, models, facts["roles"]["qi"])
    else:
        room = tuple(held.get("caps", {}).values())
        least = least_with_deletions(len(every), class_cost, deletion, room)
    if least is None or said["bound"] > least + aside:
        found.append(f"the bound is {said['bound']}, the optimum {least} and {aside}")
    if said["optimal"] != (said["cost"] == said["bound"]):
        found.append("optimal is another word for something")
    return found


def least_with_deletions(
    rows: int, class_cost: Callable[[tuple[int, ...]], Any], deletion: Mapping[str, int],
    room: tuple[int, ...],
) -> int | None:  # fmt: skip
    """Return the least cost of a release in which some rows may be deleted, and some cells change.

    ``room``, ``class_cost``: see ``oracle.least_within``.
    """
    found = []
    for gone in range(min(rows, deletion["most"]) + 1):
        for some in combinations(range(rows), rows - gone):

            def renamed(members: tuple[int, ...], some: tuple[int, ...] = some) -> Any:
                return class_cost(tuple(some[i] for i in members))

            one = least_within(len(some), renamed, room) if some else 0
            found += [] if one is None else [one + gone * deletion["price"]]
    return min(found, default=None)


def meaning_faults(
    ladders: Mapping[str, Paths], ranges: Mapping[str, Any], said: Mapping[str, Any]
) -> list[str]:
    """Return what is false of what the costs are said to mean."""
    found = []
    for column, paths in ladders.items():
        told, scale = said["costs"][column], said["scale"]
        root = max((path[-1][1] for path in paths.values()), default=0)
        if Fraction(told["suppressed"]) != Fraction(root, scale):
            found.append(f"{column}: a star costs another price")
        if column in ranges:
            if told["rule"] != ranges[column]["cost"]:
                found.append(f"{column}: ranges cost by another rule")
            continue
        paid = [(lv, cost) for path in paths.values() for lv, cost in steps(path) if lv]
        height = len(next(iter(paths.values()), ())) - 1
        free = all(path[0][1] == 0 for path in paths.values())
        if told["rule"] != "listed" and not free:
            found.append(f"{column}: a value costs something though it stays")
        if told["rule"] == "stars" and any(cost != root for _, cost in paid):
            found.append(f"{column}: not each changed cell costs the same")
        true = all(cost * height == lv * root for lv, cost in paid) and height == height_of(paths)
        if told["rule"] == "levels" and not true:
            found.append(f"{column}: costs are not those of the levels")
    return found


def steps(path: Sequence[tuple[str | None, int]]) -> list[tuple[int, int]]:
    """Return the level at which each label of a path begins, and its cost."""
    first: dict[str | None, tuple[int, int]] = {}
    for level, (label, cost) in enumerate(path):
        first.setdefault(label, (level, cost))
    return list(first.values())
