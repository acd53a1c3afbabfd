"""Changes of what a proof says of rows that are deleted, and of whose the others are."""

import random

import polars as pl

from forging.bundle import Bundle
from forging.facts import Change
from forging.meaning import claimed, split

Draw = random.Random


def deleted_otherwise(draw: Draw, bundle: Bundle) -> None:
    """Delete a row more or less, another one, at another price, or more of them perhaps."""
    facts, rows = bundle.facts, bundle.parts["rows.parquet"]
    stated = facts.setdefault("delete_rows", {"price": facts["scale"], "most": 0})
    gone, released = facts.setdefault("deleted_rows", 0), bundle.release.height
    if draw.random() < 0.4:
        stated["price"] = draw.choice([0, 1, facts["scale"], stated["price"] - 1, 2**60])
    if draw.random() < 0.4:
        stated["most"] = draw.choice([0, gone, gone + 1, 7, 2**70])
    if released > 1 and draw.random() < 0.6:
        bundle.release.take(list(range(released - 1)))
        facts["deleted_rows"] = gone + draw.choice([1, 1, 1, 0])
        stated["most"] = max(stated["most"], draw.choice([stated["most"], gone + 1]))
    if draw.random() < 0.3:
        order = list(range(rows.height))
        a, b = draw.sample(order, 2)
        order[a], order[b] = order[b], order[a]
        bundle.parts["rows.parquet"] = rows.with_columns(rows["original"][order])
    claimed(draw, bundle)


def people_otherwise(draw: Draw, bundle: Bundle) -> None:
    """Say something else of people: of rows of nobody, linked rows, constant columns, values."""
    facts, models = bundle.facts, bundle.facts["models"]
    people = [m for m in models if m["model"] == "people"]
    one = draw.choice(people) if people and draw.random() < 0.8 else {}
    if not one:
        one |= {
            "model": "people",
            "k": draw.choice([1, 2]),
            "columns": [draw.choice(["id", "more"])],
        }
        models.append(one)
    said = {"missing": ("own", "drop"), "linked": (True,), "alike": (True,), "whole": (True,)}
    said |= {"k": (1, 2, 3), "once": (True,)}
    for name in draw.sample(sorted(said), draw.choice([1, 1, 2])):
        for model in models if name == "once" else [one]:
            if name in model and name != "k":
                del model[name]
            elif name != "once" or "column" in model:
                model[name] = draw.choice(said[name])
    if draw.random() < 0.3:
        cells = bundle.original.columns["id"]
        at = draw.randrange(len(cells))
        cells[at] = draw.choice([None, "", cells[at - 1]])
    if draw.random() < 0.5:
        facts["pricing"] = []
    (split if draw.random() < 0.4 else claimed)(draw, bundle)


def other_pseudonyms(draw: Draw, bundle: Bundle) -> None:
    """Publish whose rows are: under pseudonyms that are none, or link rows of several people."""
    roles, columns = bundle.facts["roles"], bundle.release.columns
    if "id" not in columns:
        names = ["id", *columns]
        cells = [f"p{draw.getrandbits(128):032x}" for _ in range(bundle.release.height)]
        wanted = [c for c in bundle.original.columns if c in names]
        bundle.release.columns = {c: cells if c == "id" else columns[c] for c in wanted}
        roles["id"].remove("id")
        roles["pseudonym"] = [*roles.get("pseudonym", []), "id"]
    cells = bundle.release.columns["id"]
    at, other = draw.randrange(len(cells)), draw.randrange(len(cells))
    if draw.random() < 0.7:
        cells[at] = draw.choice(
            [cells[other], None, "p" + "0" * 32, "p0", cells[at], "P" + "0" * 32]
        )
    if draw.random() < 0.3:
        rest = [m for m in bundle.facts["models"] if m["model"] != "people"]
        bundle.facts |= {"models": rest or [{"model": "k-anonymity", "k": 1}], "pricing": []}
        bundle.facts |= {"price_k": 1, "bound": 0}
        rows = bundle.parts["rows.parquet"]
        bundle.parts["rows.parquet"] = rows.with_columns(pl.lit(0, pl.Int64).alias("price"))
    claimed(draw, bundle)


CHANGES: dict[str, Change] = {
    "deleted rows": deleted_otherwise,
    "people otherwise": people_otherwise,
    "pseudonyms": other_pseudonyms,
}
