"""Forged proofs by the hundred: none is believed that is false, and none breaks the checker."""

from pathlib import Path

import pytest
from forging.bases import RECIPES, made
from forging.run import forged

EACH = 12
"""Forgeries of each honest proof; ``benchmarks/forgeries.py`` makes thousands."""


@pytest.mark.parametrize("name", RECIPES)
def test_no_forgery_is_believed(name: str, tmp_path: Path) -> None:
    """Tests changes of JSON, tables, meaning and bytes, with all hashes mended, by brute force."""
    base = made(name, 1, tmp_path)
    honest = tmp_path / "honest"
    honest.mkdir()
    for seed in range(EACH):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found = forged(base, seed, folder)
        assert not found.faults, (name, seed, found)
