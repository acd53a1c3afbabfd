"""Tests of adding rows beside fixed columns: nobody could pay less, and no fixed cell changes."""

import contextlib
import itertools
import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.existing.join import LostRowsError
from partings import partitions

COLUMNS = ["a", "b", "f"]
Row = tuple[str, ...]


def join(row: Row, published: set[Row]) -> int | None:
    """The fewest stars that a row pays in a published class which shows its fixed value."""
    costs = [
        sum(label == "*" for label in labels)
        for labels in published
        if labels[2] == row[2]
        and all(label in (cell, "*") for cell, label in zip(row, labels, strict=True))
    ]
    return min(costs, default=None)


def stars(rows: list[Row]) -> int | None:
    """Cost of a class; None where it would hide the fixed column."""
    varied = [len(set(column)) > 1 for column in zip(*rows, strict=True)]
    return None if varied[2] else len(rows) * sum(varied)


def optimum(new: list[Row], published: set[Row], k: int) -> int | None:
    """The least number of new stars over all ways to join and to part the others, or None."""
    joins = [join(row, published) for row in new]
    found = []
    places = range(len(new))
    for alone in itertools.chain.from_iterable(
        itertools.combinations(places, size) for size in range(len(new) + 1)
    ):
        rest = [joins[i] for i in places if i not in alone]
        for blocks in partitions(list(alone), k):
            paid = [*rest, *(stars([new[i] for i in block]) for block in blocks)]
            if None not in paid:
                found.append(sum(cost for cost in paid if cost is not None))
    return min(found, default=None)


cells, labels = st.sampled_from(["x", "y"]), st.sampled_from(["x", "y", "*"])


@settings(max_examples=few(30), deadline=None)
@given(
    st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6),
    st.sets(st.tuples(labels, labels, labels), min_size=1, max_size=3),
)
def test_against_everything(new: list[Row], published: set[Row]) -> None:
    """Tests bound ≤ optimum ≤ cost, and refusal exactly where nothing is lawful."""
    earlier = pl.DataFrame(sorted(published) * 2, schema=COLUMNS, orient="row")
    frame = pl.DataFrame(new, schema=COLUMNS, orient="row")
    best = optimum(new, published, 2)
    if best is None:
        with pytest.raises(ic.NoLawfulReleaseError, match="alike in the fixed 'f'"):
            ic.anonymize(frame, 2, existing=earlier, fixed="f")
        with contextlib.suppress(ic.NoLawfulReleaseError):  # all rows are held back
            release = ic.anonymize(frame, 2, existing=earlier, fixed="f", hold_back=True)
            kept = [row for i, row in enumerate(new) if i not in release.held.tolist()]
            least = optimum(kept, published, 2)
            assert least is not None and release.lower_bound <= least <= release.cost
        return
    release = ic.anonymize(frame, 2, existing=earlier, fixed="f")
    assert release.verify() and release.lower_bound <= best <= release.cost
    assert release.data[earlier.height :]["f"].equals(frame["f"])
    assert release.cost == int((release.data[earlier.height :] == "*").sum_horizontal().sum())


JANUARY = "id,f,a,s\n" + "".join(f"{i},{'NS'[i % 2]},{30 + i // 4},{i % 3}\n" for i in range(12))
FEBRUARY = "id,f,a,s\n" + "".join(f"{i},{'NS'[i % 2]},{30 + i % 7},{i % 3}\n" for i in range(9))


def test_proof_and_hold_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the command line: proven together with the earlier rows, some rows held back."""
    monkeypatch.chdir(tmp_path)
    Path("jan.csv").write_text(JANUARY)
    Path("feb.csv").write_text(FEBRUARY)
    asked = "-k 2 --id id --sensitive s --fixed f --hierarchy a=interval:2,4"
    earlier = "--existing r1.csv --existing-original jan.csv --existing-proof r1.proof"
    for line in (
        f"anonymize jan.csv -o r1.csv {asked} --proof r1.proof -q",
        f"anonymize feb.csv -o r2.csv {asked} {earlier} --proof r2.proof --joined all.csv "
        "--hold-back --held-back held.csv -q",
        f"verify r2.csv --original all.csv {asked} --proof r2.proof",
        f"verify r2.csv --original all.csv {asked}",
    ):
        done = CliRunner().invoke(cli, line.split())
        assert done.exit_code == 0, done.output
    held = pl.read_csv("held.csv").height
    assert pl.read_csv("r2.csv").height == 21 - held


def test_the_error_travels() -> None:
    """Tests that it comes whole out of another process."""
    error = pickle.loads(pickle.dumps(LostRowsError(np.array([3]), "lost")))
    assert (
        isinstance(error, LostRowsError) and str(error) == "lost" and error.copies.tolist() == [3]
    )


@pytest.mark.parametrize(("k", "fixed", "new"), [(3, (), "NW"), (2, "f", "NWN")])
def test_rows_that_fit_nowhere_are_named_and_held_back(k: int, fixed: str, new: str) -> None:
    """Tests their numbers in the message, and a release of the others."""
    earlier = pl.DataFrame({"f": ["N"] * 3, "a": ["1"] * 3, "s": [*"xyz"]})
    place = ["1" if f == "N" else "7" for f in new]
    frame = pl.DataFrame({"f": [*new], "a": place, "s": [*"xzy"][: len(new)]})
    asked = {"keep": "s", "existing": earlier, "fixed": fixed}
    with pytest.raises(ic.NoLawfulReleaseError, match=r"hold-back.*\(row 2 of the new ones\)$"):
        ic.anonymize(frame, k, **asked)
    release = ic.anonymize(frame, k, **asked, hold_back=True)
    assert release.verify() and release.held.tolist() == [1]
    assert release.data.height == 3 + len(new) - 1 and release.cost == 0


def test_a_number_in_two_writings() -> None:
    """Tests that a fixed value joins the class that reads like it, an interval as that may be."""
    earlier = pl.DataFrame({"a": ["*", "*"], "f": ["1", "1"]})
    new = pl.DataFrame({"a": ["c", "c", "c"], "f": ["1", "1.0", "1.0"]})
    asked = {"hierarchies": {"f": "range"}, "fixed": "f", "order": "keep"}
    release = ic.anonymize(new, 2, existing=earlier, **asked)
    assert release.data["f"].to_list()[2:] == new["f"].to_list()
    assert release.cost == release.lower_bound == 1 and release.verify()
