"""Proofs of releases of tables without rows, under every kind of option."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic

ASKED: list[dict[str, Any]] = [
    {"k": 3},
    {"k": 3, "sensitive": "c", "l": 2},
    {"k": 3, "person": "c"},
    {"k": 3, "person": "c", "linked_rows": True},
    {"k": 3, "veil": 0.5},
    {"k": 3, "linked": [["a", "b"]], "caps": {"c": 0.5}},
    {"k": 3, "hierarchies": {"a": "range"}},
    {"k": 3, "hierarchies": {"a": "mean", "b": "median"}},
    {"k": 3, "delete_rows": "price=1,most=2"},
    {"protect": ["a,b:3"]},
    {"protect": ["a,b:3", "c:2"], "hierarchies": {"a": "interval:5"}},
    {"protect": ["a,b:1", "c:1"], "k": 4},
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda one: "-".join(one))
def test_the_proof_is_accepted(asked: dict[str, Any], tmp_path: Path) -> None:
    """Tests that the proof of nothing is accepted, also when it is held against what was asked."""
    original, released, proof = (tmp_path / name for name in ("i.csv", "o.csv", "p"))
    pl.DataFrame(schema=dict.fromkeys("abc", pl.String)).write_csv(original)
    release = ic.anonymize(original, **asked)
    assert release.cost == release.lower_bound == release.rows == 0
    release.write_proven(released, proof, original=original)
    answer = ic.verify(released, original, proof, **asked)
    assert answer, answer.reasons
