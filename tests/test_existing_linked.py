"""Tests of adding rows beside linked columns: nobody could pay less, and no link is torn."""

import contextlib
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.existing.of_table import ExtendedRelease
from partings import partitions

COLUMNS = ["a", "c", "b"]
Row = tuple[str, ...]
UP = [lambda cell: cell, lambda cell: cell[0] + "*", lambda _: "*"]
"""What column a shows at each level; b stands for itself below the star."""


def shown(row: Row, t: int, star: bool) -> Row:
    """What a row shows where its link is at level t, and c hidden or not."""
    return UP[t](row[0]), "*" if star else row[1], "*" if t == 2 else row[2]


def price(t: int, star: bool) -> Fraction:
    """What that costs: each column its level over the height of its hierarchy."""
    return Fraction(t, 2) + (t == 2) + star


def join(row: Row, published: set[Row]) -> Fraction | None:
    """The least that a row pays in a published class."""
    fits = [price(t, c) for t in range(3) for c in (False, True) if shown(row, t, c) in published]
    return min(fits, default=None)


def alone(rows: list[Row]) -> Fraction:
    """The least that a class of new rows costs."""
    alike = [
        price(t, c)
        for t in range(3)
        for c in (False, True)
        if len({shown(row, t, c) for row in rows}) == 1
    ]
    return len(rows) * min(alike)


def optimum(new: list[Row], published: set[Row], k: int) -> Fraction | None:
    """The least cost over all ways to join and to part the others, or None."""
    joins = [join(row, published) for row in new]
    places, found = range(len(new)), []
    for apart in chain.from_iterable(combinations(places, size) for size in range(len(new) + 1)):
        rest = [joins[i] for i in places if i not in apart]
        for blocks in partitions(list(apart), k):
            if None not in rest:
                base = sum((cost for cost in rest if cost is not None), Fraction(0))
                found.append(base + sum(alone([new[i] for i in block]) for block in blocks))
    return min(found, default=None)


cells = st.tuples(st.sampled_from(["x1", "x2", "y1"]), *[st.sampled_from(["x", "y"])] * 2)
labels = st.tuples(
    st.sampled_from(["x1", "x2", "x*", "*"]), *[st.sampled_from(["x", "y", "*"])] * 2
)


@settings(max_examples=few(40), deadline=None)
@given(st.lists(cells, min_size=1, max_size=6), st.sets(labels, min_size=1, max_size=3))
def test_against_everything(new: list[Row], published: set[Row]) -> None:
    """Tests bound ≤ optimum ≤ cost, and refusal exactly where nothing is lawful."""
    earlier = pl.DataFrame(sorted(published) * 2, schema=COLUMNS, orient="row")
    frame = pl.DataFrame(new, schema=COLUMNS, orient="row")
    asked = {"existing": earlier, "linked": [["a", "b"]], "hierarchies": {"a": "prefix:1"}}
    best = optimum(new, published, 2)
    if best is None:
        with pytest.raises(ic.NoLawfulReleaseError, match="fit no published class"):
            ic.anonymize(frame, 2, **asked)
        with contextlib.suppress(ic.NoLawfulReleaseError):  # all rows are held back
            release = ic.anonymize(frame, 2, **asked, hold_back=True)
            assert isinstance(release, ExtendedRelease)
            kept = [row for i, row in enumerate(new) if i not in release.held.tolist()]
            least = optimum(kept, published, 2)
            assert least is not None and release.lower_bound <= least <= release.cost
        return
    release = ic.anonymize(frame, 2, **asked)
    assert release.verify() and release.lower_bound <= best <= release.cost
    known = {shown(row, t, c): price(t, c) for row in new for t in (2, 1, 0) for c in (True, False)}
    assert release.cost == sum(known[row] for row in release.data[earlier.height :].rows())


JANUARY = "id,a,b,c,s\n" + "".join(
    f"{i},{10 + i // 2},{i // 3},{20 + i // 4},{i % 3}\n" for i in range(12)
)
FEBRUARY = "id,a,b,c,s\n" + "".join(
    f"{i},{11 + i % 7},{i % 4},{20 + i % 3},{i % 3}\n" for i in range(9)
)


def test_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the command line: proven together with the earlier rows, also beside a range."""
    monkeypatch.chdir(tmp_path)
    Path("jan.csv").write_text(JANUARY)
    Path("feb.csv").write_text(FEBRUARY)
    asked = "-k 2 --id id --sensitive s --linked a,b --hierarchy a=interval:2,4 --hierarchy c=range"
    earlier = "--existing r1.csv --existing-original jan.csv --existing-proof r1.proof"
    for line in (
        f"anonymize jan.csv -o r1.csv {asked} --proof r1.proof -q",
        f"anonymize feb.csv -o r2.csv {asked} {earlier} --proof r2.proof --joined all.csv -q",
        f"verify r2.csv --original all.csv {asked} --proof r2.proof",
        f"verify r2.csv --original all.csv {asked}",
    ):
        done = CliRunner().invoke(cli, line.split())
        assert done.exit_code == 0, done.output
    line = f"anonymize jan.csv -o r1.csv {asked.replace('--linked a,b ', '')} --proof r1.proof -q"
    assert CliRunner().invoke(cli, line.split()).exit_code == 0  # without the link, which it tears
    line = f"anonymize feb.csv -o r3.csv {asked} {earlier} --proof r3.proof --joined more.csv"
    done = CliRunner().invoke(cli, line.split())
    assert done.exit_code == 2 and "the earlier ones break a constraint" in done.stderr
