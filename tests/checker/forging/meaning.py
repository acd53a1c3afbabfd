"""Changes that know what a proof means: several places at once, so that all else agrees."""

import random

import polars as pl

from forging.bundle import Bundle
from forging.facts import Change, new_rule
from forging.mending import classes_of, joined, mend, paths_of, proven, starred
from forging.plain import shown

Draw = random.Random


def column_of(draw: Draw, bundle: Bundle) -> str:
    """Choose a quasi-identifier, rather one with a hierarchy."""
    qi = bundle.facts["roles"]["qi"]
    return draw.choice([*qi, *(4 * [c for c in qi if c in bundle.facts["hierarchies"]])])


def claimed(draw: Draw, bundle: Bundle) -> None:
    """State classes and cost as they are, and a bound as high as it may seem."""
    mend(bundle)
    facts = bundle.facts
    most = proven(bundle)
    if draw.random() < 0.5:
        facts["bound"] = draw.choice([facts["bound"] + 1, most, most + 1, facts["cost"]])
    facts["bound"] = min(facts["bound"], max(0, facts["cost"]))


def split(draw: Draw, bundle: Bundle) -> None:
    """Part a class in two, too small perhaps."""
    rows = draw.choice(classes_of(bundle))
    draw.shuffle(rows)
    cut = draw.randrange(1, len(rows)) if len(rows) > 1 else 1
    for part in (rows[:cut], rows[cut:]):
        if part:
            joined(bundle, part)
    claimed(draw, bundle)


def regrouped(draw: Draw, bundle: Bundle) -> None:
    """Deal the rows into other classes of two to four."""
    rows = draw.sample(range(bundle.release.height), bundle.release.height)
    while rows:
        size = min(len(rows), draw.choice([2, 3, 4]))
        part, rows = rows[:size], rows[size:]
        part, rows = (part + rows, []) if len(rows) < 2 else (part, rows)
        joined(bundle, part)
    claimed(draw, bundle)


def broken_lines(draw: Draw, bundle: Bundle) -> None:
    """Have cells of a kept column hold the end of a line, and the release write it as it is."""
    end = draw.choice(["\r", "\n", "\r\n"])
    text = f"n{end}o"
    for table in (bundle.original, bundle.release):
        table.columns["note"] = [text] * table.height
        table.types.pop("note", None)
    bundle.edits.append(("release", lambda data: data.replace(f'"{text}"'.encode(), text.encode())))
    claimed(draw, bundle)


def another_root(draw: Draw, bundle: Bundle) -> None:
    """Call the root of a hierarchy otherwise, in the release as well."""
    star, new = bundle.facts.get("star", "*"), draw.choice(["all", " ", "\u200b", "**", "1"])
    column = pl.col("column") == column_of(draw, bundle)
    ladders = bundle.parts["ladders.parquet"]
    name = ladders.filter(column)["column"][0]
    here = column & (pl.col("label") == star)
    label = pl.when(here).then(pl.lit(new)).otherwise(pl.col("label")).alias("label")
    bundle.parts["ladders.parquet"] = ladders.with_columns(label)
    cells = [shown(cell) for cell in bundle.release.columns[name]]
    bundle.release.columns[name] = [new if cell == star else cell for cell in cells]
    claimed(draw, bundle)


def lower_k(draw: Draw, bundle: Bundle) -> None:
    """Lower k in one place or several, and part a class."""
    facts = bundle.facts
    for one in facts["models"]:
        if "k" in one and draw.random() < 0.6:
            one["k"] = max(1, one["k"] - 1)
    if draw.random() < 0.5:
        facts["price_k"] = max(1, facts["price_k"] - 1)
    if draw.random() < 0.3:
        facts["models"].insert(0, {"model": "k-anonymity", "k": 1})
    split(draw, bundle)


def published(draw: Draw, bundle: Bundle) -> None:
    """Call a quasi-identifier kept or sensitive, and publish it as it is."""
    roles = bundle.facts["roles"]
    column = draw.choice(roles["qi"])
    roles["qi"].remove(column)
    roles[draw.choice(["keep", "sensitive"])].append(column)
    origin = bundle.parts["rows.parquet"]["original"].to_list()
    if draw.random() < 0.8:
        bundle.release.columns[column] = [bundle.original.columns[column][row] for row in origin]
        bundle.release.types |= {c: t for c, t in bundle.original.types.items() if c == column}
    if draw.random() < 0.8:
        ladders = bundle.parts["ladders.parquet"]
        bundle.parts["ladders.parquet"] = ladders.filter(pl.col("column") != column)
    claimed(draw, bundle)


def coarser(draw: Draw, bundle: Bundle) -> None:
    """Suppress a class, or all, and claim that it had to be."""
    every = range(bundle.release.height)
    starred(bundle, every if draw.random() < 0.5 else draw.choice(classes_of(bundle)))
    claimed(draw, bundle)


def finer(draw: Draw, bundle: Bundle) -> None:
    """Release a row, or a class, with another label of one column."""
    column = column_of(draw, bundle)
    paths = paths_of(bundle, column)
    rows = draw.choice(classes_of(bundle))
    rows = rows if draw.random() < 0.5 else rows[:1]
    labels = [label for path in paths.values() for label, _ in path]
    cells = [shown(cell) for cell in bundle.release.columns[column]]
    for row in rows:
        cells[row] = draw.choice(labels)
    bundle.release.columns[column] = cells
    bundle.release.types.pop(column, None)
    claimed(draw, bundle)


def costs(draw: Draw, bundle: Bundle) -> None:
    """Change what the nodes of a column cost, and cost, prices and scale to fit."""
    ladders, facts = bundle.parts["ladders.parquet"], bundle.facts
    column = column_of(draw, bundle)
    mine = pl.col("column") == column
    times, by = draw.choice([0, 1, 2, 3]), draw.choice([0, 1])
    every = draw.random() < 0.3
    new = pl.when((mine | every) & (pl.col("cost") > 0)).then(pl.col("cost") * times + by)
    bundle.parts["ladders.parquet"] = ladders.with_columns(
        new.otherwise(pl.col("cost")).alias("cost")
    )
    if draw.random() < 0.5:
        rows = bundle.parts["rows.parquet"]
        bundle.parts["rows.parquet"] = rows.with_columns(pl.col("price") * max(1, times))
    if draw.random() < 0.4:
        facts["scale"] *= max(1, times)
    claimed(draw, bundle)


def relabelled(draw: Draw, bundle: Bundle) -> None:
    """Call a node of a hierarchy otherwise, in the release as well."""
    ladders = bundle.parts["ladders.parquet"]
    at = draw.randrange(ladders.height)
    column, _, level, old, _ = ladders.row(at)
    labels = ladders.filter(pl.col("column") == column)["label"].to_list()
    new = draw.choice([*labels, "new", "", " ", None, "*", "a\rb", "\u200b", "x,y", f"{old}\0"])
    here = (pl.col("column") == column) & pl.col("label").eq_missing(pl.lit(old, pl.String))
    if draw.random() < 0.5:
        here &= pl.col("level") == level
    change = pl.when(here).then(pl.lit(new, pl.String)).otherwise(pl.col("label")).alias("label")
    bundle.parts["ladders.parquet"] = ladders.with_columns(change)
    cells = [new if shown(cell) == old else shown(cell) for cell in bundle.release.columns[column]]
    if draw.random() < 0.8:
        bundle.release.columns[column] = cells
        bundle.release.types.pop(column, None)
    if new is not None and old == bundle.facts.get("star") and draw.random() < 0.5:
        bundle.facts["star"] = new
    claimed(draw, bundle)


def level_gone(draw: Draw, bundle: Bundle) -> None:
    """Take a level out of a hierarchy, or have it twice; name the hierarchy or not."""
    ladders = bundle.parts["ladders.parquet"]
    column = column_of(draw, bundle)
    mine = pl.col("column") == column
    top = int(ladders.filter(mine)["level"].max())  # type: ignore[arg-type]
    at = draw.randrange(top + 1)
    above = mine & (pl.col("level") > at)
    if draw.random() < 0.5:
        ladders = ladders.filter(~(mine & (pl.col("level") == at)))
        step = -1
    else:
        twice, step = ladders.filter(mine & (pl.col("level") == at)), 1
        ladders = pl.concat([ladders, twice.with_columns(pl.col("level") + 1 + 2**20)])
    level = pl.when(above & (pl.col("level") < 2**20)).then(pl.col("level") + step)
    level = level.when(pl.col("level") > 2**20).then(pl.col("level") - 2**20)
    bundle.parts["ladders.parquet"] = ladders.with_columns(
        level.otherwise(pl.col("level")).alias("level")
    )
    if draw.random() < 0.5:
        bundle.facts["hierarchies"].setdefault(column, {"origin": "rule", "sha256": None})
    claimed(draw, bundle)


def same_name(draw: Draw, bundle: Bundle) -> None:
    """Call two nodes of a hierarchy alike, at one cost."""
    ladders = bundle.parts["ladders.parquet"]
    column = column_of(draw, bundle)
    mine = ladders.filter((pl.col("column") == column) & (pl.col("level") > 0))
    one, two = mine.row(draw.randrange(mine.height)), mine.row(draw.randrange(mine.height))
    at = (
        (pl.col("column") == column)
        & (pl.col("level") == one[2])
        & pl.col("label").eq_missing(one[3])
    )
    new = [pl.lit(two[3]).alias("label"), pl.lit(two[4]).alias("cost")]
    bundle.parts["ladders.parquet"] = ladders.with_columns(
        pl.when(at).then(n).otherwise(pl.col(n.meta.output_name())).alias(n.meta.output_name())
        for n in new
    )
    cells = bundle.release.columns[column]
    bundle.release.columns[column] = [
        two[3] if shown(cell) == one[3] else shown(cell) for cell in cells
    ]
    bundle.release.types.pop(column, None)
    claimed(draw, bundle)


def two_costs(draw: Draw, bundle: Bundle) -> None:
    """Have a node stand on two levels, at two costs; or have costs fall towards the root."""
    ladders = bundle.parts["ladders.parquet"]
    column = column_of(draw, bundle)
    mine, level = pl.col("column") == column, pl.col("level")
    top = ladders.filter(mine)["level"].max()
    if draw.random() < 0.6:
        root = ladders.filter(mine & (level == top))
        more = root.with_columns(level + 1, pl.col("cost") + draw.choice([-1, 1, 5]))
        bundle.parts["ladders.parquet"] = pl.concat([ladders, more])
    else:
        at = draw.randrange(1, int(top) + 1)  # type: ignore[arg-type]
        cost = (
            pl.when(mine & (level == at))
            .then(draw.choice([0, 1, 9, 10**7]))
            .otherwise(pl.col("cost"))
        )
        bundle.parts["ladders.parquet"] = ladders.with_columns(cost.alias("cost"))
    claimed(draw, bundle)


def doubled(draw: Draw, bundle: Bundle) -> None:
    """Release one original row twice, and another one not at all."""
    a, b = draw.sample(range(bundle.release.height), 2)
    for cells in bundle.release.columns.values():
        cells[a] = cells[b]
    rows = bundle.parts["rows.parquet"]
    origin = rows["original"].to_list()
    origin[a] = origin[b]
    bundle.parts["rows.parquet"] = rows.with_columns(pl.Series("original", origin, dtype=pl.Int64))
    claimed(draw, bundle)


def other_people(draw: Draw, bundle: Bundle) -> None:
    """Count people by another column, or not at all."""
    models, roles = bundle.facts["models"], bundle.facts["roles"]
    people = [m for m in models if m["model"] == "people"]
    if not people:
        whose = draw.choice(["id", "more", "note", "b"])
        models.append({"model": "people", "k": 2, "columns": [whose]})
    elif draw.random() < 0.3 and len(models) > 1:
        models.remove(people[0])
        bundle.facts["pricing"] = []
    else:
        people[0]["columns"] = draw.choice(
            [["id"], ["more"], ["id", "more"], ["more", "id"], ["note"], ["s"], ["b"]]
        )
    if any("note" in model.get("columns", ()) for model in models):
        for table in (bundle.original, bundle.release):
            table.columns["note"] = [cell or "nobody" for cell in table.columns["note"]]
    if draw.random() < 0.2:
        roles["keep"].remove("note")
        roles["id"].append("note")
        bundle.release.columns.pop("note")
    (split if draw.random() < 0.5 else claimed)(draw, bundle)


def other_secret(draw: Draw, bundle: Bundle) -> None:
    """Swap the sensitive column with another: in the models, the roles, or the release's cells."""
    pair = draw.choice([("s", "u"), ("s", "note"), ("s", "c"), ("u", "note")])
    swap = {pair[0]: pair[1], pair[1]: pair[0]}
    facts = bundle.facts
    if draw.random() < 0.6:
        for one in [*facts["models"], *facts["pricing"]]:
            if "column" in one:
                one["column"] = swap.get(one["column"], one["column"])
            if "columns" in one:
                one["columns"] = [swap.get(c, c) for c in one["columns"]]
    if draw.random() < 0.4:
        for names in facts["roles"].values():
            names[:] = [swap.get(c, c) for c in names]
    if draw.random() < 0.3:
        columns = bundle.release.columns
        columns[pair[0]], columns[pair[1]] = columns[pair[1]], columns[pair[0]]
    split(draw, bundle)


def left_out(draw: Draw, bundle: Bundle) -> None:
    """Leave out a row, in release and proof alike, and count it or not; or take one back."""
    facts, rows = bundle.facts, bundle.parts["rows.parquet"]
    keep = list(range(rows.height))
    for _ in range(draw.randrange(1, 4)):
        if len(keep) > 1:
            keep.remove(draw.choice(keep))
    bundle.parts["rows.parquet"] = rows[keep]
    bundle.release.take(keep)
    out = bundle.original.height - len(keep)
    facts["suppressed_rows"] = draw.choice([out, out, out, 0])
    facts["suppress_rows"] = draw.choice([out, out, 100, facts["suppress_rows"]])
    if draw.random() < 0.3:
        more = draw.choice([("distinct", 3), ("distinct", 9), ("frequency", 2), ("frequency", 3)])
        facts["models"].append({"model": more[0], "l": more[1], "column": "s"})
    claimed(draw, bundle)


def swapped(draw: Draw, bundle: Bundle) -> None:
    """Swap cells of two released rows: of one column, or all but one."""
    a, b = draw.randrange(bundle.release.height), draw.randrange(bundle.release.height)
    names = list(bundle.release.columns)
    some = [draw.choice(names)] if draw.random() < 0.6 else draw.sample(names, len(names) - 1)
    for name in some:
        cells = bundle.release.columns[name]
        cells[a], cells[b] = cells[b], cells[a]
    claimed(draw, bundle)


def grouped(draw: Draw, bundle: Bundle) -> None:
    """Part the columns into groups, each with the prices of all, or a share of them."""
    qi, rows = bundle.facts["roles"]["qi"], bundle.parts["rows.parquet"]
    cut = draw.randrange(len(qi) + 1)
    bundle.facts["groups"] = (
        [qi[:cut], qi[cut:]] if draw.random() < 0.5 else [qi[: cut + 1], qi[cut:]]
    )
    part = draw.choice([1, 2, 3])
    shares = [
        (pl.col("price") // part).alias("price"),
        (pl.col("price") - pl.col("price") // part).alias("price_1"),
    ]
    bundle.parts["rows.parquet"] = rows.with_columns(*shares)
    bundle.parts["sets.parquet"] = bundle.parts["sets.parquet"].clear()
    claimed(draw, bundle)


def rules_gone(draw: Draw, bundle: Bundle) -> None:
    """Have the prices hold by another rule, or for all classes of a size."""
    facts = bundle.facts
    facts["pricing"] = [] if draw.random() < 0.4 else [*facts["pricing"], new_rule(draw, bundle)]
    facts["price_k"] = draw.choice([1, 2, 3, facts["price_k"], facts["price_k"] + 1])
    claimed(draw, bundle)


CHANGES: dict[str, Change] = {
    "claims": claimed,
    "class parted": split,
    "other classes": regrouped,
    "line ends in cells": broken_lines,
    "another root": another_root,
    "lower k": lower_k,
    "quasi-identifier published": published,
    "coarser": coarser,
    "another label": finer,
    "other costs": costs,
    "relabelled": relabelled,
    "level gone or twice": level_gone,
    "two nodes alike": same_name,
    "two costs": two_costs,
    "a row twice": doubled,
    "other people": other_people,
    "other sensitive column": other_secret,
    "rows left out": left_out,
    "cells swapped": swapped,
    "groups of columns": grouped,
    "other pricing": rules_gone,
}
