"""What may be said in public beside a release by fixed patterns: nothing that follows from rows.

How many rows the table has, and how many were left out, is not told: the theorem is about what is
published, and these are not.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incrowd.codebooks.delta import Asked
from incrowd.codebooks.patterns import Patterns
from incrowd.proof.writing import sha256_of
from incrowd.text.version import __version__

FORMAT, VERSION = "incrowd-codebook-statement", 1


def statement(
    asked: Asked,
    delta: float,
    known: Patterns,
    others: Sequence[str],
    paths: tuple[str | Path, str | Path],
) -> dict[str, Any]:
    """Return the statement of a release.

    Parameters
    ----------
    others: columns published as they are.
    paths: the written release, and the file of patterns.
    """
    release, patterns = map(sha256_of, paths)
    return {
        "format": FORMAT,
        "version": VERSION,
        "incrowd": __version__,
        "release_sha256": release,
        "patterns_sha256": patterns,
        "quasi_identifiers": list(known.columns),
        "star": known.star,
        "published_as_they_are": list(others),
        "k": asked.k,
        "sample": str(asked.sample),
        "epsilon": str(asked.epsilon),
        "delta": delta,
        "protects": "one row more or less in the table",
        "rows_left_out": f"by design: each row was taken with probability {asked.sample}; rows "
        f"that match no pattern, or that fewer than {asked.k} taken rows agree with, are left "
        "out. How many is not told",
        "rests_on": "patterns that were fixed without the table",
    }
