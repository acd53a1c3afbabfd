"""The proof file: everything an independent checker needs beside the two tables.

Format: docs/reference/proof-format.md.  A proof is private to the publisher: it holds the map
from released to original rows and the hierarchies restricted to the values of the table.
"""

import hashlib
import io
import json
import secrets
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.bounds.deletion import bound_of
from incrowd.bounds.prices import Prices
from incrowd.checker.both import hash_at
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.tree import STAR
from incrowd.policy.roles import Roles
from incrowd.problem.solution import Solution
from incrowd.published.ladders import ladder_of, stated
from incrowd.tables.addresses import workbook_of
from incrowd.tables.atomic import privately
from incrowd.tables.parts import are_parts, find
from incrowd.text.version import __version__

if TYPE_CHECKING:
    from incrowd.deletion.of_table import Deleted

VERSION = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What a proof is written from.

    Attributes
    ----------
    solution: the released one; its instance's trees bear the released labels.
    copy_of_row: int64, shape (rows,): the instance's copy that each original row became.
    order: int64, shape (rows,): original row of each released row, or None for the same order.
    classes: int64, shape (rows,): class of each released row, numbered by first appearance.
    roles: of the original's columns.
    models: the privacy models as plain data (``incrowd.privacy.model``).
    unchecked: names of those that the checker does not know, and a proof does not certify.
    prices, price_k: the certificate, and the size of class it is made for.
    pricing: the rules that the prices obey in place of that for k rows (``incrowd.proof.lawful``).
    csv: ``delimiter``, ``newline``, ``encoding`` of delimited files.
    hierarchies: column → origin (a rule, or a file's name) and ``sha256`` of that file.
    spreadsheet_safe: whether cells that a spreadsheet would run got an apostrophe.
    kept: int64, shape (rows,), rising: the original rows that are released; None for all.
    dropped, most_dropped, aside: rows left out, how many may be, and what they cost.
    proven: the bound where it is not that of the prices alone, in units of 1/scale.
    deleted: rows that were cheaper to delete; ``prices`` are then those of the whole table.
    fixed, linked: columns that stay as they are, lists of columns at one level in each row, where
        ``prices`` are those of such releases alone.
    caps: column → how many of its cells may change, where ``prices`` are of releases that obey;
        and what each changed cell costs on top there, in units of the prices, whose ``charge``
        holds what that comes to.
    """

    solution: Solution
    copy_of_row: NDArray[np.int64]
    order: NDArray[np.int64] | None
    classes: NDArray[np.int64]
    roles: Roles
    models: Sequence[Mapping[str, Any]]
    prices: Prices
    price_k: int
    pricing: Sequence[Mapping[str, Any]] = ()
    unchecked: Sequence[str] = ()
    csv: Mapping[str, str] = field(default_factory=dict)
    hierarchies: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    spreadsheet_safe: bool = False
    kept: NDArray[np.int64] | None = None
    dropped: int = 0
    most_dropped: int = 0
    aside: int = 0
    deleted: "Deleted | None" = None
    proven: int | None = None
    fixed: Sequence[str] = ()
    linked: Sequence[Sequence[str]] = ()
    caps: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def write_proof(
    file: str | Path | IO[bytes], evidence: Evidence, original: str | Path, release: str | Path
) -> dict[str, Any]:
    """Write the proof of a release; return its JSON part.

    Parameters
    ----------
    file: where to; a path or a binary stream.
    original, release: the two files as they stand on disk; their hashes enter the proof.
    """
    tables = {
        "rows.parquet": rows_table(evidence),
        "ladders.parquet": ladders_table(evidence),
        "sets.parquet": sets_table(evidence),
    }
    return seal(file, facts_of(evidence, original, release), tables)


def seal(
    file: str | Path | IO[bytes], facts: dict[str, Any], tables: Mapping[str, pl.DataFrame]
) -> dict[str, Any]:
    """Write tables with the JSON part, which gets their hashes and is returned."""
    parts = {name: _parquet(table) for name, table in tables.items()}
    facts["parts"] = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}
    pack(file, facts, parts)
    return facts


def facts_of(evidence: Evidence, original: str | Path, release: str | Path) -> dict[str, Any]:
    """Return the proof's JSON part without the hashes of the other parts."""
    instance = evidence.solution.instance
    gone, aside = evidence.deleted, evidence.aside
    if evidence.proven is not None:
        bound = evidence.proven
    elif gone is None:
        bound = max(0, evidence.prices.bound(instance.counts)) + aside
    else:
        bound, aside = bound_of(evidence.prices, gone.table.instance, gone.deletion), gone.units
    cost = evidence.solution.cost if instance.rows else 0
    sizes = [group.k for group in evidence.prices.groups]  # where they are priced for their own
    return {
        "format": "incrowd-proof",
        "version": VERSION,
        "incrowd": __version__,
        "original": {"sha256": hash_at(original)},
        "release": {"sha256": hash_at(release)},
        # Secret and fresh: it keeps the statement's hashes from telling guesses right.
        "salt": secrets.token_hex(32),
        "csv": dict(evidence.csv),
        "roles": {
            role: list(getattr(evidence.roles, role))
            for role in ("qi", "sensitive", "id", "keep", "pseudonym")
            if role != "pseudonym" or evidence.roles.pseudonym
        },
        "hierarchies": {column: dict(known) for column, known in evidence.hierarchies.items()}
        | ranges_stated(instance.trees, evidence.hierarchies),
        "star": next((tree.star for tree in instance.trees), STAR),
        "models": [dict(model) for model in evidence.models],
        **({"unchecked": list(evidence.unchecked)} if evidence.unchecked else {}),
        "scale": instance.scale,
        "quantum": evidence.prices.quantum,
        "price_k": evidence.price_k,
        "groups": [
            [instance.trees[j].column for j in group.columns] for group in evidence.prices.groups
        ],
        **({"group_k": sizes} if any(sizes) else {}),
        **({"search": "rows"} if evidence.prices.by_rows else {}),
        "pricing": [dict(rule) for rule in evidence.pricing],
        "cost": cost + aside,
        "bound": bound,
        "suppress_rows": evidence.most_dropped,
        "suppressed_rows": evidence.dropped,
        **({} if gone is None else deletions(gone)),
        **constraints(evidence),
        "spreadsheet_safe": evidence.spreadsheet_safe,
    }


def deletions(gone: "Deleted") -> dict[str, Any]:
    """Return what a proof says of deleted rows: what was asked, and how many they are."""
    deletion = gone.deletion
    asked = {"price": deletion.price, "most": deletion.limit(gone.table.instance.rows)}
    return {"delete_rows": asked, "deleted_rows": len(gone.rows)}


def constraints(evidence: Evidence) -> dict[str, Any]:
    """Return what a proof says of columns that its bound takes for fixed, linked or capped."""
    if not (evidence.fixed or evidence.linked or evidence.caps):
        return {}
    linked = [list(names) for names in evidence.linked]
    said = {"fixed": list(evidence.fixed), "linked": linked}
    if not evidence.caps:
        return {"constraints": said}
    most, price = ({name: both[i] for name, both in evidence.caps.items()} for i in (0, 1))
    return {"constraints": {**said, "caps": most}, "cap_prices": price}


def ranges_stated(
    families: Iterable[Family], known: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return what a proof says of columns with intervals: the rule in public words, and apart."""
    return {
        family.column: {
            **known.get(family.column, {}),
            "origin": family.rule["rule"],
            "sha256": None,
            "range": stated(family),
        }
        for family in families
        if isinstance(family, RangeFamily)
    }


def pack(
    file: str | Path | IO[bytes], facts: Mapping[str, Any], parts: Mapping[str, bytes]
) -> None:
    """Write the parts into one file, a ZIP without compression (Parquet is compressed).

    Nobody but its owner may open a file that is made here.
    """
    if isinstance(file, str | Path):
        with open(file, "wb", opener=privately) as made:
            pack(made, facts, parts)
        return
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        whole = {"proof.json": json.dumps(facts, indent=1, ensure_ascii=False).encode(), **parts}
        for name, data in whole.items():
            archive.writestr(zipfile.ZipInfo(name), data)


def rows_table(evidence: Evidence) -> pl.DataFrame:
    """One row per released row: the original row (from 0), the class, the price of each group.

    Deleted rows stand below, in the class −1.
    """
    rows = len(evidence.copy_of_row)
    order = np.arange(rows) if evidence.order is None else evidence.order
    distinct = evidence.solution.instance.copies[evidence.copy_of_row[order]]
    original = order if evidence.kept is None else evidence.kept[order]
    classes, gone = evidence.classes, evidence.deleted
    if gone is not None:
        original = np.append(original, gone.rows)
        classes = np.append(classes, np.full(len(gone.rows), -1))
        distinct = gone.table.distinct_of_row[original]
    prices = [group.price for group in evidence.prices.groups] or [evidence.prices.price]
    return pl.DataFrame(
        {
            "original": original.astype(np.int64),
            "class": classes.astype(np.int64),
            **{
                f"price_{n}" if n else "price": price[distinct].astype(np.int64)
                for n, price in enumerate(prices)
            },
        }
    )


def ladders_table(evidence: Evidence) -> pl.DataFrame:
    """All ladders, one below the other."""
    text = [("column", pl.String), ("leaf", pl.String), ("level", pl.Int64)]
    empty = pl.DataFrame(schema=dict([*text, ("label", pl.String), ("cost", pl.Int64)]))
    tables = [
        ladder_of(tree).select(pl.lit(tree.column).alias("column"), pl.all())
        for tree in evidence.solution.instance.trees
    ]
    return pl.concat([empty, *tables])


def sets_table(evidence: Evidence) -> pl.DataFrame:
    """One row per odd set and released row in it."""
    odd_sets = evidence.prices.odd_sets
    rows = len(evidence.copy_of_row)
    row_of_copy = np.empty(rows, np.int64)
    order = np.arange(rows) if evidence.order is None else evidence.order
    row_of_copy[evidence.copy_of_row[order]] = np.arange(rows)
    members = [row_of_copy[np.asarray(one.copies, np.int64)] for one in odd_sets]
    sizes = np.array([len(m) for m in members], np.int64)
    facts = {
        "set": range(len(members)),
        "weight": (int(one.weight) for one in odd_sets),
        "modulus": (one.modulus for one in odd_sets),
    }
    spread = {name: np.repeat(np.array(list(f), np.int64), sizes) for name, f in facts.items()}
    row = np.concatenate([np.zeros(0, np.int64), *members])
    return pl.DataFrame(spread | {"row": row}).select("set", "row", "weight", "modulus")


def sha256_of(path: str | Path) -> str:
    """Return the hash of a file, in hexadecimal; of a sheet that of its workbook.

    Of several files it is the hash of the lines ``HASH  NAME`` of each.
    """
    if are_parts(path):
        root, names = find(str(path))
        lines = "".join(f"{sha256_of(root / name)}  {name}\n" for name in names)
        return hashlib.sha256(lines.encode()).hexdigest()
    with Path(workbook_of(path)[0]).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _parquet(table: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    table.write_parquet(out, compression="zstd")
    return out.getvalue()
