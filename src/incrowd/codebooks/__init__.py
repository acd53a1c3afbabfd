"""Releases by a list of patterns that was fixed without the table: differential privacy.

Each row is sampled by a coin and published as the first pattern that it matches; patterns with
fewer than k rows are left out.

delta.py      (ε, δ) of k, the sample's share and ε
patterns.py   the list of patterns, and the pattern of each row
chosen.py     a list of patterns chosen for a table of other people
release.py    codebook(): from a table to its release
statement.py  what may be said in public
verified.py   a release against its statement

The theorems are in docs/explanation/codebook.md.
"""

from typing import TYPE_CHECKING

from incrowd.run.late import importer

if TYPE_CHECKING:
    from incrowd.codebooks.chosen import Chosen as Chosen
    from incrowd.codebooks.chosen import patterns_for as patterns_for
    from incrowd.codebooks.delta import Asked as Asked
    from incrowd.codebooks.delta import delta_of as delta_of
    from incrowd.codebooks.delta import least_k as least_k
    from incrowd.codebooks.delta import of_delta as of_delta
    from incrowd.codebooks.patterns import Patterns as Patterns
    from incrowd.codebooks.patterns import made_of as made_of
    from incrowd.codebooks.release import CodebookRelease as CodebookRelease
    from incrowd.codebooks.release import codebook as codebook

_HOME = {
    "Asked": "incrowd.codebooks.delta",
    "Chosen": "incrowd.codebooks.chosen",
    "CodebookRelease": "incrowd.codebooks.release",
    "Patterns": "incrowd.codebooks.patterns",
    "codebook": "incrowd.codebooks.release",
    "delta_of": "incrowd.codebooks.delta",
    "least_k": "incrowd.codebooks.delta",
    "made_of": "incrowd.codebooks.patterns",
    "of_delta": "incrowd.codebooks.delta",
    "patterns_for": "incrowd.codebooks.chosen",
}

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = importer(__name__, _HOME)
