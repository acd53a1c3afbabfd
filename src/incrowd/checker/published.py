"""What others can hold against a proof: the hierarchies' files and the public statement."""

import csv
import hashlib
import hmac
import io
import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import polars as pl

from incrowd.checker.files import Proof, is_release, read_json, same, sha256
from incrowd.checker.ladder import validated
from incrowd.checker.rejection import STATEMENT, RejectedError, require

BESIDE = "delete_rows", "deleted_rows", "averaged", "constraints"  # where the proof states them


def require_hierarchy(proof: Proof, column: str, data: bytes) -> None:
    """Reject a proof whose hierarchy of a column is not that of a file, hash and content."""
    hidden = column in proof.facts["roles"]["qi"]
    require(hidden, "the proof does not call it a quasi-identifier", column=column)
    stated = proof.facts["hierarchies"].get(column, {})
    other = {"range", "average"} & {*stated}  # its cells are none of a file's labels
    fine = stated.get("sha256") == sha256(data) and not other
    require(fine, "the hierarchy is not the file whose hash the proof states", column=column)
    ladder = proof.ladders.filter(pl.col("column") == column).drop("column")
    require_like_file(validated(ladder, column), data, column, stated.get("missing", ()))


def said_by(proof: Proof) -> dict[str, Any]:
    """Return what an accepted proof says, beside what the checker has counted."""
    facts = proof.facts
    cost, bound = facts["cost"], facts["bound"]
    return {
        **{name: facts[name] for name in ("cost", "bound", "scale")},
        "gap": gap_of(cost, bound),
        "optimal": cost == bound,
        "star": facts.get("star", "*"),
        "hierarchies": {
            column: known.get("origin") for column, known in facts["hierarchies"].items()
        },
        "spreadsheet_safe": facts.get("spreadsheet_safe") is True,
    }


def require_named(ladders: Mapping[str, pl.DataFrame], named: Mapping[str, Any], star: Any) -> None:
    """Reject a ladder beyond suppression of a column for which no hierarchy is named.

    And one whose root is not the star: hierarchies' files are compared below the root only.  And
    one that releases some values as an empty cell, which reads as a missing value, or as ``*``,
    which reads as a suppressed one: they are neither.
    """
    for column, ladder in ladders.items():
        roots = ladder.filter((pl.col("level") == pl.col("level").max()) & (pl.col("level") > 0))
        fine = isinstance(star, str) and set(roots["label"].to_list()) <= {star}
        require(fine, "the root of its hierarchy is not the star", column=column)
        nameless = pl.col("label").fill_null("").is_in([*{"", "*"} - {star}])
        nameless &= pl.col("label").ne_missing(pl.col("leaf"))
        fine = ladder.filter(nameless).is_empty()
        require(fine, "its hierarchy has a group without a name", column=column)
        flat = int(ladder["level"].n_unique()) <= 2
        require(flat or column in named, "the proof names no hierarchy for it", column=column)


def require_statement(text: bytes, proof: Proof, proof_sha256: str) -> dict[str, Any]:
    """Reject a statement that says anything else than the proof does.

    Of a veiled release it says the factors in place of bound and gap, which depend on hidden cells.
    Returned is what no proof can tell: the key ``veil`` with these factors, where they are stated.
    """
    try:
        stated = read_json(text)
    except ValueError:
        raise RejectedError("the statement is no JSON") from None
    facts = proof.facts
    salted = re.fullmatch(r"[0-9a-f]{64}", facts["salt"]) is not None  # others can be guessed
    require(salted, "the proof's salt is not one of 32 bytes")
    require(is_release(facts["incrowd"]), "the proof does not say which version wrote it")
    salt = bytes.fromhex(facts["salt"])
    private = ("order", "levels", "matrix")

    def commitment(sha256: str | None) -> str | None:
        return sha256 and hmac.new(salt, sha256.encode(), hashlib.sha256).hexdigest()

    hierarchies = {
        column: {"origin": known.get("origin"), "commitment": commitment(known.get("sha256"))}
        for column, known in facts["hierarchies"].items()
    }
    expected: dict[str, Any] = {
        "format": "incrowd-statement",
        "release_sha256": facts["release"]["sha256"],
        "original_commitment": commitment(facts["original"]["sha256"]),
        "proof_sha256": proof_sha256,
        "quasi_identifiers": facts["roles"]["qi"],
        "models": [
            {k: len(v) if k == "values" else v for k, v in m.items() if k not in private}
            for m in facts["models"]
        ],
        "hierarchies": hierarchies,
        **({"unchecked": facts["unchecked"]} if "unchecked" in facts else {}),
        "optimal": facts["cost"] == facts["bound"],
        "gap": gap_of(facts["cost"], facts["bound"]),
        "suppressed_rows": facts.get("suppressed_rows", 0),
        **{n: facts[n] for n in BESIDE if n in facts},
        **({"star": facts["star"]} if facts.get("star", "*") != "*" else {}),
        **{name: facts[name] for name in ("version", "incrowd", "scale", "cost", "bound")},
    }
    require(isinstance(stated, Mapping), "the statement is no JSON object")
    veil = {"veil": stated["veil"]} if "veil" in stated else {}
    if veil:
        require_factors(veil["veil"], facts["roles"]["qi"])
        silent = ("bound", "gap", "optimal")
        expected = {name: said for name, said in expected.items() if name not in silent} | veil
    for name in sorted({*expected, *stated}):
        both = name in stated and name in expected
        if not both or not same(stated[name], expected[name]):
            raise RejectedError(f"the statement's {name} is not the proof's", mistaken=STATEMENT)
    return veil


def require_factors(veil: Any, qi: Iterable[str]) -> None:
    """Reject factors that are none: of quasi-identifiers, each a number of 1 or more."""
    fine = isinstance(veil, Mapping) and bool(veil) and {*veil} <= {*qi}
    fine = fine and all(type(x) in (int, float) and 1 <= x < math.inf for x in veil.values())
    if not fine:
        no = "the statement's veil has no factor for each of some quasi-identifiers"
        raise RejectedError(no, mistaken=STATEMENT)


def gap_of(cost: int, bound: int) -> float:
    """Return (cost − bound) / cost as a double whose shortest decimal is no less than that."""
    near = (cost - bound) / cost if cost else 0.0
    return math.nextafter(near, 2.0) if Fraction(repr(near)) * cost < cost - bound else near


def require_like_file(
    ladder: pl.DataFrame, data: bytes, column: str, missing: Iterable[str] = ()
) -> None:
    """Reject a validated ladder that differs from its file, one line ``leaf;level1;…;*`` a leaf.

    Compared are the labels between leaf and root, repetitions left out; the root is called ``*`` in
    the file.  A missing value without a line (an empty leaf, or a text that the proof states to be
    ``missing``) may become the root only.
    """
    roots = ladder.filter(pl.col("level") == pl.col("level").max())["label"].to_list()
    paths = ladder.group_by("leaf").agg(pl.col("label").sort_by("level")).rows()
    text = data.decode("utf-8-sig", errors="replace")
    for delimiter in ";\t|,":
        lines: dict[str, list[str | None]] = {}
        for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            leaf, *labels = line or [""]
            lines.setdefault(leaf, _between(filter(None, labels), leaf, "*"))
        for leaf in ("", *missing):
            lines.setdefault(leaf, [])
        if all(_between(path, leaf, roots[0]) == lines.get(leaf or "") for leaf, path in paths):
            return
    require(False, "the hierarchy differs from its file", column=column)


def _between(labels: Iterable[str | None], leaf: str | None, root: str) -> list[str | None]:
    """Return the groups that a leaf is in, without itself and the root."""
    return list(dict.fromkeys(label for label in labels if label not in (leaf, root)))
