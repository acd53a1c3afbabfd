"""What makes a changed bundle agree with itself again, so that little is left to be found."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from forging.bundle import Bundle
from forging.plain import shown

Paths = dict[str | None, list[tuple[str | None, int]]]


def paths_of(bundle: Bundle, column: str) -> Paths:
    """Return each value's labels and costs, level by level."""
    paths: Paths = {}
    for name, leaf, _, label, cost in bundle.parts["ladders.parquet"].sort("level").rows():
        if name == column:
            paths.setdefault(leaf, []).append((label, cost))
    return paths


def origin_of(bundle: Bundle) -> list[int]:
    """Return the original row of each released row."""
    return bundle.parts["rows.parquet"]["original"].to_list()


def leaves_of(bundle: Bundle, column: str) -> list[str | None]:
    """Return a column's original cells in the order of the release, as text."""
    cells = bundle.original.columns[column]
    return [shown(cells[row]) for row in origin_of(bundle)]


def classes_of(bundle: Bundle) -> list[list[int]]:
    """Return the rows of each class of the release, in the order of their first rows."""
    found: dict[Any, list[int]] = {}
    for i in range(bundle.release.height):
        key = tuple(bundle.release.columns[c][i] for c in bundle.facts["roles"]["qi"])
        found.setdefault(key, []).append(i)
    return list(found.values())


def joined(bundle: Bundle, rows: Sequence[int]) -> None:
    """Release rows as one class, each column as low as can be."""
    for column in bundle.facts["roles"]["qi"]:
        paths, leaves = paths_of(bundle, column), leaves_of(bundle, column)
        levels = zip(*(paths[leaves[i]] for i in rows), strict=True)
        label = next(level[0][0] for level in levels if len({label for label, _ in level}) == 1)
        for i in rows:
            bundle.release.columns[column][i] = label
        bundle.release.types.pop(column, None)


def starred(bundle: Bundle, rows: Sequence[int]) -> None:
    """Release rows with a star in each cell."""
    for column in bundle.facts["roles"]["qi"]:
        paths, leaves = paths_of(bundle, column), leaves_of(bundle, column)
        cells = [shown(cell) for cell in bundle.release.columns[column]]
        for i in rows:
            cells[i] = paths[leaves[i]][-1][0]
        bundle.release.columns[column] = cells
        bundle.release.types.pop(column, None)


def mend(bundle: Bundle) -> None:
    """State the classes and the cost that the release has."""
    rows = bundle.parts["rows.parquet"]
    number = [0] * bundle.release.height + [-1] * bundle.facts.get("deleted_rows", 0)
    for i, members in enumerate(classes_of(bundle)):
        for row in members:
            number[row] = i
    if len(number) == rows.height:
        classes = pl.Series("class", number, dtype=pl.Int64)
        bundle.parts["rows.parquet"] = rows.with_columns(classes)
    cost = aside(bundle)
    for column in bundle.facts["roles"]["qi"]:
        paths, leaves = paths_of(bundle, column), leaves_of(bundle, column)
        for leaf, cell in zip(leaves, bundle.release.columns[column], strict=False):
            fits = [c for label, c in paths.get(leaf, []) if label == shown(cell)]
            cost += min(fits, default=0)
    bundle.facts["cost"] = cost


def aside(bundle: Bundle) -> int:
    """Return what rows that are left out cost, or deleted ones."""
    facts = bundle.facts
    if "delete_rows" in facts:
        return facts["delete_rows"]["price"] * facts["deleted_rows"]
    dropping = {c for m in facts["models"] if m.get("missing") == "drop" for c in m["columns"]}
    cells = [bundle.original.columns[c] for c in dropping]
    silent = sum(not all(row) for row in zip(*cells, strict=True))
    out = bundle.original.height - silent - bundle.release.height
    roots = [paths_of(bundle, c).values() for c in facts["roles"]["qi"]]
    return out * sum(max((path[-1][1] for path in one), default=0) for one in roots)


def proven(bundle: Bundle) -> int:
    """Return what the prices would prove, if they broke nothing and nothing were charged."""
    rows, total, quantum = bundle.parts["rows.parquet"], 0, max(1, bundle.facts["quantum"])
    for column in rows.columns:
        total += sum(rows[column].to_list()) if column.startswith("price") else 0
    for part in bundle.parts["sets.parquet"].partition_by("set"):
        total += part["weight"][0] * (part.height % max(1, part["modulus"][0]))
    if "delete_rows" in bundle.facts:
        price, most = (bundle.facts["delete_rows"][name] for name in ("price", "most"))
        over = sorted((max(0, x - price * quantum) for x in rows["price"].to_list()), reverse=True)
        return max(0, -(-(total - sum(over[:most])) // quantum))
    return max(0, -(-total // quantum)) + aside(bundle)
