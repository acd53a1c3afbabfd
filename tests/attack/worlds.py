"""Tables of people, and scenes made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.attacks.reading import Tables, scene_of
from incrowd.attacks.scene import Scene
from incrowd.policy import Policy
from incrowd.tables.files import open_table


def drawn(
    rows: int, seed: int, widths: Sequence[int] = (2, 3, 4, 8), secrets: int = 3
) -> pl.DataFrame:
    """People with independent columns a, b, … of so many values, and an independent secret s."""
    rng = np.random.default_rng(seed)
    columns = {chr(97 + j): rng.integers(0, width, rows) for j, width in enumerate(widths)}
    return pl.DataFrame({**columns, "s": rng.integers(0, secrets, rows)}).cast(pl.String)


def scene(
    release: pl.DataFrame,
    original: pl.DataFrame,
    people: pl.DataFrame | None = None,
    **policy: Any,
) -> Scene:
    """Return the scene of a release, without asking whether the people are others."""
    asked = Policy(**policy)
    before = open_table(original)
    roles = asked.roles(before.columns)
    others = None if people is None else open_table(people)
    return scene_of(
        Tables(
            release=open_table(release), original=before, people=others, policy=asked, roles=roles
        )
    )


def starred(frame: pl.DataFrame, stars: Mapping[int, Sequence[str]]) -> pl.DataFrame:
    """Return a table with stars in some columns of some rows."""
    columns = {name: frame[name].to_list() for name in frame.columns}
    for row, names in stars.items():
        for name in names:
            columns[name][row] = "*"
    return pl.DataFrame(columns)


def swapped(found: Scene, seed: int) -> Scene:
    """Deal members and others out anew: whoever was in the table, nobody can tell now."""
    others = found.strangers
    both = replace(
        found.members,
        codes=np.vstack([found.members.codes, others.codes]),
        secrets=np.vstack([found.members.secrets, others.secrets]),
        place=np.zeros(len(found.members) + len(others), np.int64),
    )
    order = np.random.default_rng(seed).permutation(len(both))
    half = len(found.members)
    return replace(found, members=both.chosen(order[:half]), others=both.chosen(order[half:]))
