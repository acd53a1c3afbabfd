"""A release tells neither the order of its table's rows nor that of people's names.

Searches break ties by numbers.  Rows that are equal in all that a search looks at are dealt by lot.
"""

import random
from collections import Counter
from typing import Any

import polars as pl
import pytest

import incrowd as ic

ROWS = 24


def table(seed: int) -> list[tuple[str, ...]]:
    """Rows of which many are equal but for what tells them apart; names in their order."""
    draw = random.Random(seed)
    return [
        (draw.choice("ab"), draw.choice("xyz"), f"note {i:02}", f"name {i:02}") for i in range(ROWS)
    ]


def frame(rows: list[tuple[str, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["a", "b", "note", "name"], orient="row")


def later_and_earlier(rows: list[tuple[str, ...]], release: ic.Release) -> tuple[int, int]:
    """Of two equal rows with other cells, how often the later one is the starred one, and not."""
    stars = {row[2]: row[:2].count("*") for row in release.data.select("a", "b", "note").rows()}
    found = [0, 0]
    for i, one in enumerate(rows):
        for other in rows[i + 1 :]:
            if one[:2] == other[:2] and one[2] in stars and other[2] in stars:
                found[0] += stars[other[2]] > stars[one[2]]
                found[1] += stars[other[2]] < stars[one[2]]
    return found[0], found[1]


CASES: dict[str, dict[str, Any]] = {
    "shuffled": {"id": "name", "keep": "note", "order": "shuffle"},
    "in the order of the table": {"id": "name", "keep": "note"},
    "by a seed": {"id": "name", "keep": "note", "order": "shuffle", "seed": 3},
    "people linked": {"person": "name", "keep": "note", "linked_rows": True},
    "people alike": {"person": "name", "keep": "note", "constant_alike": True},
}


@pytest.mark.parametrize("name", CASES)
def test_of_equal_rows_no_place_or_name_tells_the_starred_one(name: str) -> None:
    """Tests that the later one is starred sometimes, and sometimes the earlier one."""
    later = earlier = 0
    for seed in range(40):
        rows = table(seed)
        shown = rows[:]
        if "person" in CASES[name]:  # there by name, in whatever order rows stand
            random.Random(seed).shuffle(shown)
        release = ic.anonymize(frame(shown), 5, **CASES[name])
        one, other = later_and_earlier(rows, release)
        later, earlier = later + one, earlier + other
        if later and earlier and seed > 3:
            break
    assert later and earlier


def test_of_equal_rows_no_place_tells_the_deleted_one() -> None:
    """Tests rows that are deleted, and those that are left out for a model."""
    places: dict[str, list[int]] = {"deleted": [], "left out": []}
    cells = [*["ax"] * 5, *["by"] * 5, *["cz"] * 4]
    for seed in range(10):
        rows = [(*cell, f"{seed} note {i:02}", "") for i, cell in enumerate(cells)]
        asked: Any = {"id": "name", "keep": "note", "order": "shuffle"}
        kept = ic.anonymize(frame(rows), 5, delete_rows="price=0.5,most=2", **asked)
        gone = [i for i, row in enumerate(rows) if row[2] not in set(kept.data["note"])]
        assert len(gone) == 2
        places["deleted"].append(gone[0] % 5)
        many = [("a", "x", row[2], "f" if i < 20 else "g") for i, row in enumerate(table(seed))]
        asked = {"sensitive": "name", "l": 2, "l_kind": "frequency", "suppress_rows": 16}
        few = ic.anonymize(frame(many), 2, keep="note", seed=seed, **asked)
        left = [i for i in range(20) if many[i][2] not in set(few.data["note"])]
        places["left out"].append(left[0])
    for found in places.values():
        assert len({*found}) > 1


def test_averages_do_not_depend_on_the_order_of_rows() -> None:
    """Tests classes, published averages and costs."""
    draw = random.Random(1)
    rows = [(str(draw.randint(0, 40)), str(draw.randint(0, 40))) for _ in range(40)]
    found = []
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        data = pl.DataFrame(rows, schema=["a", "b"], orient="row")
        release = ic.anonymize(data, 3, hierarchies={"a": "centroid", "b": "centroid"})
        found.append((release.cost, Counter(release.data.rows())))
    assert found[0] == found[1] == found[2]


def test_the_same_call_gives_the_same_rows() -> None:
    """Tests that lots are the same where the order is kept or a seed is given."""
    for asked in ({}, {"order": "shuffle", "seed": 2}):
        one, other = (
            ic.anonymize(frame(table(5)), 5, id="name", keep="note", **asked).data.rows()
            for _ in range(2)
        )
        assert one == other
