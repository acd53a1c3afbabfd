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

from dial import few

EACH = 2
"""Forgeries of each honest proof; ``benchmarks/forgeries.py`` makes thousands."""
TRIES = 60
SOON = {
    "a bound above what is proven": 10,
    "another cost": 15,
    "a label for two nodes": 27,
    "costs that fall": 12,
    "people by any column": 31,
    "rows of nobody": 21,
    "records of one person": 29,
    "columns vary that are said to be constant": 33,
    "more rows deleted than may be": 39,
    "more rows left out than the fewest": 10,
    "cells within quotes or not": 11,
    "columns of two roles": 25,
    "classes of any law": 10,
    "untrue cells": 22,
    "keys twice": 33,
}
"""Where to begin with holes that are found late; from 0, they are found too, but later."""
OPENED = [name for name in HOLES if HOLES[name].change != CLIMB]
OPENED += ["charges are free", "only patterns of values"][: few(2, 1)]
"""Climbing prices find many other holes; ``benchmarks/forgeries.py`` opens all of them."""


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


@pytest.mark.parametrize("hole", OPENED)
def test_the_forger_finds_a_hole(
    hole: str, honest: Callable[[str, int], Bundle], tmp_path: Path
) -> None:
    """Tests that forgeries are worth something: a checker with a hole in it believes one soon."""
    opened, base, change = HOLES[hole]
    bundle = honest(base, int(change == CLIMB))  # tables on which it is soon
    first = SOON.get(hole, 0)
    with ExitStack() as stack:
        for one in opened():
            stack.enter_context(one)
        tries = range(first, first + TRIES)
        found = next((s for s in tries if forged(bundle, s, tmp_path, change).faults), None)
    assert found is not None
    whole = forged(bundle, found, tmp_path, change)
    assert not whole.faults, whole
