"""The statement: what may be said in public beside a release.  It holds no cell and no seed."""

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.proof.writing import VERSION, sha256_of
from incrowd.text.marks import STAR
from incrowd.text.units import gap_of

BESIDE = "delete_rows", "deleted_rows", "averaged", "constraints"


def statement(
    facts: Mapping[str, Any], proof: str | Path, veil: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return the public statement of a proof.

    The original is named by a commitment, HMAC-SHA256(salt, hash of the file), not by its hash:
    where a release hides only a few cells, a bare hash would tell which guess at them is right.
    The hash of the proof file gives nothing away either, for the file holds the secret salt.

    Parameters
    ----------
    facts: the proof's JSON part; ``proof``: the proof file.
    veil: column → 1/q of a veiled release.  Then nothing is said of the bound, which depends on
        hidden cells; the cost can be counted in the release.
    """
    cost, bound = facts["cost"], facts["bound"]
    said = {"bound": bound, "gap": gap_of(cost, bound), "optimal": cost == bound}
    if veil is not None:
        said = {"veil": dict(veil)}
    return {
        "format": "incrowd-statement",
        "version": VERSION,
        "incrowd": facts["incrowd"],
        "release_sha256": facts["release"]["sha256"],
        "original_commitment": commitment(facts["salt"], facts["original"]["sha256"]),
        "proof_sha256": sha256_of(proof),
        "quasi_identifiers": list(facts["roles"]["qi"]),
        "models": public_models(facts["models"]),
        "hierarchies": public_hierarchies(facts),
        **({"unchecked": facts["unchecked"]} if "unchecked" in facts else {}),
        "scale": facts["scale"],
        "cost": cost,
        **said,
        "suppressed_rows": facts["suppressed_rows"],
        **{n: facts[n] for n in BESIDE if n in facts},
        **({"star": facts["star"]} if facts.get("star", STAR) != STAR else {}),
    }


def public_hierarchies(facts: Mapping[str, Any]) -> dict[str, dict[str, str | None]]:
    """Where the hierarchies come from, and commitments to their files in place of hashes.

    A file may list the values of the table, those among them that the release hides.
    """
    return {
        column: {
            "origin": known["origin"],
            "commitment": known["sha256"] and commitment(facts["salt"], known["sha256"]),
        }
        for column, known in facts["hierarchies"].items()
    }


def commitment(salt: str, sha256: str) -> str:
    """Return the commitment to a file, in hexadecimal."""
    return hmac.new(bytes.fromhex(salt), sha256.encode(), hashlib.sha256).hexdigest()


def public_models(models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The models without what they list of the table's values (an order, a matrix).

    Of values that alone are guarded the number is told: a model that guards few says less.
    """
    private = ("order", "levels", "matrix")
    return [
        {k: len(v) if k == "values" else v for k, v in model.items() if k not in private}
        for model in models
    ]
