"""Changes of a proof's tables and of the two tables it speaks of: cells, rows, columns, types."""

import random
from collections.abc import Callable
from typing import Any

import polars as pl

from forging.bundle import Bundle, Table
from forging.facts import EDGES, Change, twin

Draw = random.Random
INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt32, pl.UInt64, pl.Int128]
TYPES = [
    *INTEGERS,
    pl.Float64,
    pl.Boolean,
    pl.String,
    pl.Null,
    pl.Decimal(20, 0),
    pl.Date,
    pl.Categorical,
]


def set_cell(frame: pl.DataFrame, column: str, row: int, value: Any) -> pl.DataFrame:
    """Return a table with one cell changed."""
    cells = frame[column].to_list()
    cells[row] = value
    try:
        return frame.with_columns(pl.Series(column, cells, dtype=frame.schema[column]))
    except (OverflowError, TypeError, pl.exceptions.PolarsError):  # no such number in this column
        return frame.with_columns(pl.Series(column, cells, strict=False))


def price(draw: Draw, bundle: Bundle) -> None:
    """Raise prices: of one row, of rows alike, of all; or take from one and give to another."""
    rows = bundle.parts["rows.parquet"]
    column = draw.choice([c for c in rows.columns if c.startswith("price")] or ["class"])
    cells, unit = rows[column].to_list(), max(1, bundle.facts.get("quantum", 1))
    at, to = draw.randrange(len(cells)), draw.randrange(len(cells))
    by = draw.choice([1, 1, 2, unit, unit // 2 + 1, unit * 3, draw.randrange(1, unit + 1)])
    choices: list[Callable[[], Any]] = [
        lambda: cells.__setitem__(at, cells[at] + by),
        lambda: cells.__setitem__(slice(None), [p + by for p in cells]),
        lambda: cells.__setitem__(slice(None), [p + by * (p == cells[at]) for p in list(cells)]),
        lambda: (cells.__setitem__(at, cells[at] + by), cells.__setitem__(to, cells[to] - by)),
        lambda: cells.__setitem__(at, draw.choice(EDGES[:7])),
        lambda: (cells.__setitem__(at, 2**62), cells.__setitem__(to, -(2**62))),
    ]
    draw.choice(choices)()
    rows = rows.with_columns(pl.Series(column, cells, dtype=pl.Int128))
    fits = all(-(2**63) <= p < 2**63 for p in cells)
    bundle.parts["rows.parquet"] = rows.cast({column: pl.Int64}) if fits else rows


def odd_sets(draw: Draw, bundle: Bundle) -> None:
    """Add an odd set; perhaps take from its rows what it lifts them by."""
    rows = bundle.parts["rows.parquet"]
    members = draw.sample(range(rows.height), draw.randrange(1, rows.height + 1))
    unit = bundle.facts["quantum"]
    weight = draw.choice(
        [1, unit, unit // 2, unit // 3, 2 * unit, draw.randrange(unit + 1), 2**50 - 1, 2**50, -1]
    )
    modulus = draw.choice([2, 2, 2, 3, 3, 4, 1, 0, -2, 2**20, len(members), len(members) - 1])
    old = bundle.parts["sets.parquet"]
    name = draw.choice([old.height, 0, -1, 2**40])
    facts = {"set": [name] * len(members), "row": members, "weight": weight, "modulus": modulus}
    bundle.parts["sets.parquet"] = pl.concat([old, pl.DataFrame(facts, schema=old.schema)])
    if draw.random() < 0.7:
        less = draw.choice([weight, weight // 2, weight // 2 + 1])
        cells = [p - less * (row in members) for row, p in enumerate(rows["price"].to_list())]
        bundle.parts["rows.parquet"] = rows.with_columns(pl.Series("price", cells, dtype=pl.Int64))
    if draw.random() < 0.8:
        bundle.facts["pricing"] = []
        bundle.facts["groups"] = []


def sets_cell(draw: Draw, bundle: Bundle) -> None:
    """Change one member of an odd set."""
    sets = bundle.parts["sets.parquet"]
    if not sets.height:
        return odd_sets(draw, bundle)
    column, row = draw.choice(sets.columns), draw.randrange(sets.height)
    value = sets[column][row] + draw.choice([1, -1, 2, *EDGES])
    bundle.parts["sets.parquet"] = set_cell(sets, column, row, value)
    return None


def row_map(draw: Draw, bundle: Bundle) -> None:
    """Change which original row or class a released row is said to be."""
    rows = bundle.parts["rows.parquet"]
    column = draw.choice(["original", "class"])
    cells = rows[column].to_list()
    at, to = draw.randrange(len(cells)), draw.randrange(len(cells))
    first, second = cells[at], cells[to]
    choices: list[Callable[[], Any]] = [
        lambda: (cells.__setitem__(at, second), cells.__setitem__(to, first)),
        lambda: cells.__setitem__(at, second),
        lambda: cells.__setitem__(at, draw.choice([-1, len(cells), *EDGES[:6]])),
    ]
    draw.choice(choices)()
    bundle.parts["rows.parquet"] = rows.with_columns(pl.Series(column, cells, dtype=pl.Int64))


def rung(draw: Draw, bundle: Bundle) -> None:
    """Change one rung of a ladder, or all that share its label."""
    ladders = bundle.parts["ladders.parquet"]
    at = draw.randrange(ladders.height)
    column = draw.choice(ladders.columns)
    value = ladders[column][at]
    others = ladders.filter(pl.col("column") == ladders["column"][at])
    label = draw.choice([*others["label"].to_list(), None, "", "*", "new", "new\r", "a,b"])
    new = {
        "column": draw.choice(["a", "b", "c", "s", twin(draw, str(ladders["column"][at]))]),
        "leaf": draw.choice([*others["leaf"].to_list(), None, "", twin(draw, str(value))]),
        "level": draw.choice([0, 1, 2, -1, 3, 2**40]),
        "label": draw.choice([label, twin(draw, str(value))]),
        "cost": draw.choice(
            [0, 1, ladders["cost"][at] + 1, ladders["cost"][at] - 1, 2**40, 2**40 - 1, 2**62]
        ),
    }[column]
    mine = pl.lit(True)
    if draw.random() < 0.6:  # the whole node
        mine = (pl.col("column") == ladders["column"][at]) & pl.col("label").eq_missing(
            pl.lit(ladders["label"][at], pl.String)
        )
        dtype = ladders.schema[column]
        ladders = ladders.with_columns(
            pl.when(mine).then(pl.lit(new, dtype)).otherwise(pl.col(column)).alias(column)
        )
    else:
        ladders = set_cell(ladders, column, at, new)
    bundle.parts["ladders.parquet"] = ladders


def rungs(draw: Draw, bundle: Bundle) -> None:
    """Leave out rungs or a level of a ladder, or have them twice, or in another order."""
    ladders = bundle.parts["ladders.parquet"]
    at = draw.randrange(ladders.height)
    here = (pl.col("column") == ladders["column"][at]) & (pl.col("level") == ladders["level"][at])
    shift = pl.when(pl.col("column") == ladders["column"][at]).then(pl.col("level") + 1)
    choices: list[Callable[[], pl.DataFrame]] = [
        lambda: pl.concat([ladders[:at], ladders[at + 1 :]]),
        lambda: pl.concat([ladders, ladders[at : at + 1]]),
        lambda: ladders.filter(~here),
        lambda: ladders.sample(fraction=1, shuffle=True, seed=draw.randrange(99)),
        lambda: ladders.filter(pl.col("column") != ladders["column"][at]),
        lambda: pl.concat(
            [
                ladders.filter(
                    (pl.col("column") == ladders["column"][at]) & (pl.col("level") == 0)
                ),
                ladders.with_columns(shift.otherwise(pl.col("level")).alias("level")),
            ]
        ),
    ]
    bundle.parts["ladders.parquet"] = draw.choice(choices)()


def part_shape(draw: Draw, bundle: Bundle) -> None:
    """Change a part's columns: names, order, types, missing cells, one more, rows."""
    name = draw.choice(list(bundle.parts))
    part = bundle.parts[name]
    column = draw.choice(part.columns)
    kind = draw.choice(TYPES)
    at = draw.randrange(part.height) if part.height else 0
    choices: list[Callable[[], pl.DataFrame]] = [
        lambda: part.rename({column: twin(draw, column)}),
        lambda: part.select(draw.sample(part.columns, part.width)),
        lambda: part.drop(column),
        lambda: part.with_columns(pl.lit(1).alias(draw.choice(["x", "price_1", "", column + " "]))),
        lambda: part.with_columns(pl.col(column).cast(kind, strict=False)),
        lambda: set_cell(part, column, at, None) if part.height else part,
        lambda: part[:-1],
        lambda: pl.concat([part, part]),
        lambda: part[::-1],
        lambda: part.sort(column),
        lambda: part.with_columns(pl.struct(column).alias(column)),
        lambda: part.with_columns(pl.concat_list(column).alias(column)),
    ]
    bundle.parts[name] = draw.choice(choices)()


def table_cell(draw: Draw, bundle: Bundle) -> None:
    """Change one cell of the release or the original: for another row's, for a look-alike."""
    table = bundle.table(draw.choice(["release", "release", "original"]))
    column = draw.choice(list(table.columns))
    cells = table.columns[column]
    at, value = draw.randrange(len(cells)), draw.choice([*cells, None])
    if table.types.get(column, "string") == "string" and draw.random() < 0.5:
        value = draw.choice(
            [twin(draw, str(cells[at])), "*", "", "low", f"'{cells[at]}", "a\rb", "x\ny"]
        )
    cells[at] = value


def table_rows(draw: Draw, bundle: Bundle) -> None:
    """Leave out rows, have them twice, or in another order; perhaps in the proof as well."""
    name = draw.choice(["release", "original"])
    rows = list(range(bundle.table(name).height))
    at, to = draw.randrange(len(rows)), draw.randrange(len(rows))
    exchanged = [to if i == at else at if i == to else i for i in rows]
    twice = [at if i == to else i for i in rows]
    fewer, mixed = rows[:at] + rows[at + 1 :], draw.sample(rows, len(rows))
    rows = draw.choice([fewer, [*rows, at], mixed, [], rows[:1], exchanged, twice])
    bundle.table(name).take(rows)
    if name == "release" and draw.random() < 0.6:
        part = bundle.parts["rows.parquet"]
        bundle.parts["rows.parquet"] = part[[row for row in rows if row < part.height]]


def table_columns(draw: Draw, bundle: Bundle) -> None:
    """Change columns of a table: names, order, one more, one fewer."""
    table = bundle.table(draw.choice(["release", "original"]))
    names = list(table.columns)
    column = draw.choice(names)
    if draw.random() < 0.3:
        names.remove(column)
    elif draw.random() < 0.4:
        draw.shuffle(names)
    elif draw.random() < 0.5:
        extra = draw.choice(["x", twin(draw, column), "", "id"])
        table.columns[extra] = list(table.columns[column])
        names = list(table.columns)
    else:
        new = twin(draw, column)
        table.columns = {new if n == column else n: c for n, c in table.columns.items()}
        return
    table.columns = {name: table.columns[name] for name in names}


def form(draw: Draw, bundle: Bundle) -> None:
    """Write a table in another form or dialect, and perhaps say so."""
    table: Table = bundle.table(draw.choice(["release", "original"]))
    if draw.random() < 0.3:
        table.form = (
            draw.choice(["csv", "parquet", "arrow", "stream"]) if not table.types else "arrow"
        )
        return
    name, value = draw.choice(
        [("delimiter", d) for d in ";\t|,\1"] + [("newline", n) for n in ("\r\n", "\r", "\n")]
        + [("encoding", e) for e in ("utf-16", "utf-8-sig", "utf-32-le", "utf-7", "cp1252")]
    )  # fmt: skip
    setattr(table, name, value)
    if draw.random() < 0.7:
        bundle.facts["csv"] = {**bundle.facts["csv"], name: value}
    if draw.random() < 0.6:  # both alike
        setattr(bundle.original, name, value)
        setattr(bundle.release, name, value)


CHANGES: dict[str, Change] = {
    "price": price,
    "odd sets": odd_sets,
    "member of an odd set": sets_cell,
    "row map": row_map,
    "rung": rung,
    "rungs": rungs,
    "shape of a part": part_shape,
    "cell of a table": table_cell,
    "rows of a table": table_rows,
    "columns of a table": table_columns,
    "form of a table": form,
}
