"""Prices raised as long as the checker takes them: what it takes has to be true."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import polars as pl
from parquet_forger import BOOL, I32, LIST, STRUCT, with_footer

from forging.averaged import dearest
from forging.bundle import Bundle
from forging.facts import Change
from forging.meaning import grouped, rules_gone
from forging.mending import mend, starred
from incrowd.checker import costs
from incrowd.checker.verify import check

Draw = random.Random


@contextmanager
def ladders_once() -> Iterator[None]:
    """Validate equal ladders once meanwhile, however that is done now: prices alone climb."""
    whole, known = costs.validated, dict[Any, pl.DataFrame]()

    def validated(ladder: pl.DataFrame, column: str) -> pl.DataFrame:
        key = column, *ladder.schema.items(), *ladder.rows()
        if key not in known:
            known[key] = whole(ladder, column)
        return known[key]

    with patch.object(costs, "validated", validated):
        yield


@ladders_once()
def climbing(draw: Draw, bundle: Bundle) -> None:
    """Raise prices as long as the checker takes them, in a release that leaves room for any bound.

    Now and then under other rules, in groups of columns, beside odd sets, or by sets of rows.
    """
    starred(bundle, range(bundle.release.height))
    in_twelfths(bundle)
    start: list[Callable[[Draw, Bundle], Any]] = [
        rules_gone, grouped, seeded, more_rules, by_rows,
    ]  # fmt: skip
    draw.choice(start)(draw, bundle)
    mend(bundle)
    bundle.facts["bound"] = 0
    unit, rows = bundle.facts["quantum"], range(bundle.parts["rows.parquet"].height)
    names = [c for c in bundle.parts["rows.parquet"].columns if c.startswith("price")]
    best = believed(bundle)
    if best is None:  # begin at nothing, less what odd sets lift
        part, sets = bundle.parts["rows.parquet"], bundle.parts["sets.parquet"]
        lift = [sum(w for row, w in sets.select("row", "weight").rows() if row == i) for i in rows]
        nothing = [pl.Series(c, [-one for one in lift], dtype=pl.Int64) for c in names]
        bundle.parts["rows.parquet"] = part.with_columns(nothing)
        best = believed(bundle)
    for step in (4 * unit, 2 * unit, unit, unit // 2, unit // 4, unit // 12):
        for row in draw.sample(rows, len(rows)):
            tried, column = bundle.copy(), draw.choice(names)
            more = pl.Series([step * (i == row) for i in rows], dtype=pl.Int64)
            part = tried.parts["rows.parquet"].with_columns(pl.col(column) + more)
            tried.parts["rows.parquet"] = part
            found = believed(tried)
            if found is not None and best is not None and found >= best:
                best, bundle.parts["rows.parquet"] = found, part
    bundle.facts["bound"] = max(0, min(best or 0, bundle.facts["cost"]))


def more_rules(draw: Draw, bundle: Bundle) -> None:
    """Have t-closeness priced by size of class, and patterns charged; others stay as they are."""
    one = next((m for m in bundle.facts["models"] if m.get("distance") == "equal"), None)
    if one is not None:
        known: dict[str, Any] = {"t": one["t"], "column": one["column"]}
        rules = [{"rule": "closeness", **known}]
        rules += [{"rule": "sizes", "sizes": draw.choice([1, 3, 64]), **known}]
        rules += [{"rule": "once", **known}]
        bundle.facts["pricing"] = draw.sample(rules, draw.randrange(1, 4))


def in_twelfths(bundle: Bundle) -> None:
    """Have the quantum be a multiple of twelve."""
    if bundle.facts["quantum"] % 12:
        bundle.facts["quantum"] *= 12
        for part, names in (("rows.parquet", "^price.*$"), ("sets.parquet", "^weight$")):
            bundle.parts[part] = bundle.parts[part].with_columns(pl.col(names) * 12)


def seeded(draw: Draw, bundle: Bundle) -> None:
    """Begin with an odd set; or two of them in turns, said to be sorted."""
    rows, unit = bundle.parts["rows.parquet"], bundle.facts["quantum"]
    size = draw.choice([n for n in range(1, rows.height + 1) if n % 2])
    weight = unit * draw.choice([2, 3, 4, 6]) // 12
    sets = [(0, row) for row in draw.sample(range(rows.height), size)]
    if draw.random() < 0.5:
        again = [(1, row) for row in draw.sample(range(rows.height), size)]
        sets = [one for pair in zip(sets, again, strict=True) for one in pair]
        bundle.edits.append(("sets.parquet", sorted_lie))
    facts = {"set": [one for one, _ in sets], "row": [row for _, row in sets]}
    facts |= {"weight": [weight] * len(sets), "modulus": [2] * len(sets)}
    bundle.parts["sets.parquet"] = pl.DataFrame(facts, schema=bundle.parts["sets.parquet"].schema)
    held = [sum(row == i for _, row in sets) for i in range(rows.height)]
    price = pl.Series("price", [p - weight * n for p, n in zip(rows["price"], held, strict=True)])
    bundle.parts["rows.parquet"] = rows.with_columns(price)
    bundle.facts["pricing"], bundle.facts["groups"] = [], []


def by_rows(_: Draw, bundle: Bundle) -> None:
    """Ask for sets of rows."""
    bundle.facts |= {"search": "rows", "pricing": []}
    bundle.parts["sets.parquet"] = bundle.parts["sets.parquet"].clear()


def sorted_lie(data: bytes) -> bytes:
    """Say of a part that its first column is sorted."""
    claim = (LIST, (STRUCT, [{1: (I32, 0), 2: (BOOL, False), 3: (BOOL, False)}]))
    return with_footer(data, lambda facts: [g.__setitem__(4, claim) for g in facts[4][1][1]])


def believed(bundle: Bundle) -> int | None:
    """Return what the checker says that the prices prove; None where it rejects the proof."""
    with TemporaryDirectory() as folder:
        verdict = check(*bundle.save(Path(folder)))
    return verdict.facts["proven"] if verdict.accepted else None


CHANGES: dict[str, Change] = {
    "prices as high as believed": climbing,
    "averages: prices as high as believed": ladders_once()(dearest(believed)),
}
