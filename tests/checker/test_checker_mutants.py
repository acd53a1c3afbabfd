"""Forged proofs by the hundred: none is believed that is false, and none breaks the checker."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("networkx")

from forging.bases import RECIPES, made
from forging.bundle import Bundle
from forging.run import forged
from forging.sabotage import CLIMB, HOLES

EACH = 2
"""Forgeries of each honest proof; ``benchmarks/forgeries.py`` makes thousands."""
TRIES = 60
QUICK = ["only patterns of values", "charges are free"]
"""Of the holes that climbing prices find; ``benchmarks/forgeries.py`` opens all of them."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Bundle]:
    """Makes honest proofs, each once: forgeries are made of copies."""
    return cache(lambda name, seed: made(name, seed, tmp_path_factory.mktemp("honest")))


@pytest.mark.parametrize("name", RECIPES)
def test_no_forgery_is_believed(
    name: str, honest: Callable[[str, int], Bundle], tmp_path: Path
) -> None:
    """Tests changes of JSON, tables, meaning and bytes, with all hashes mended, by brute force."""
    base = honest(name, 1)
    for seed in range(EACH):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found = forged(base, seed, folder)
        assert not found.faults, (name, seed, found)


@pytest.mark.parametrize("hole", [name for name in HOLES if HOLES[name].change != CLIMB] + QUICK)
def test_the_forger_finds_a_hole(
    hole: str, honest: Callable[[str, int], Bundle], tmp_path: Path
) -> None:
    """Tests that forgeries are worth something: a checker with a hole in it believes one soon."""
    opened, base, change = HOLES[hole]
    bundle, tries = honest(base, int(change == CLIMB)), []  # tables on which it is soon
    with ExitStack() as stack:
        for one in opened():
            stack.enter_context(one)
        while len(tries) < TRIES and not (tries and tries[-1].faults):
            tries.append(forged(bundle, len(tries), tmp_path, change))
    assert tries[-1].faults
    whole = forged(bundle, len(tries) - 1, tmp_path, change)
    assert not whole.faults, whole
