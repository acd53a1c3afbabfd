"""Tests of patterns chosen for a table of other people: what is expected of them, and comes."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import crossed, few
from incrowd.cli import cli
from incrowd.codebooks import Patterns, made_of, patterns_for
from incrowd.codebooks.chosen import chances
from incrowd.codebooks.delta import Asked
from incrowd.errors import InputError, OutOfScopeError
from incrowd.hierarchy.spec import parse
from incrowd.tables.files import open_table


def people(rows: int, seed: int = 1, values: int = 4) -> pl.DataFrame:
    """Columns of which some values are frequent."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, values + 1)
    drawn = rng.choice(values, (rows, 3), p=share / share.sum())
    frame = pl.DataFrame({name: drawn[:, j].astype(str) for j, name in enumerate("abc")})
    return frame.with_columns(age=pl.Series(rng.integers(30, 50, rows)).cast(pl.String))


def expected(
    patterns: Patterns,
    table: pl.DataFrame,
    k: int,
    sample: float,
    levels: int = 1,
    beside: Sequence[str] = (),
) -> float:
    """The loss by its definition, row by row; ``age`` may have ``levels`` below a star."""
    published = chances(Asked.of(k, sample, 1), table.height)
    sources = {"age": parse("interval:10")} if levels > 1 else {}
    number = patterns.of_rows(open_table(table), sources).tolist()
    keys = list(zip(number, *(table[name].to_list() for name in beside), strict=True))
    alike, shown = Counter(keys), 0.0
    for key in keys:
        cells = patterns.cells[key[0]]
        hidden = sum(
            1 if cell == "*" else 0.5 if name == "age" and "-" in str(cell) else 0
            for name, cell in zip(patterns.columns, cells, strict=True)
        )
        shown += published[alike[key]] * (1 - hidden / len(cells))
    return 1 - shown / table.height


@pytest.mark.parametrize(("k", "sample"), [(1, 0.5), (3, 0.5), (20, 0.1), (5, 0.9)])
def test_the_chance_to_be_published(k: int, sample: float):
    """Tests it against the integral over the rate, which is Gamma, and Poisson counts."""
    # not at the top: the other workers import this file, too, and need none of it
    from scipy.integrate import quad
    from scipy.stats import gamma, poisson

    found = chances(Asked.of(k, sample, 1), 60)
    for alike in (0, 1, 7, 60):

        def at(rate: float, alike: int = alike) -> float:
            return gamma.pdf(rate, alike + 0.5) * poisson.sf(k - 2, rate * sample)

        assert found[alike] == pytest.approx(quad(at, 0, 200, limit=400, points=[1, 60])[0], 1e-4)
    assert (np.diff(found) >= 0).all()


def test_planted_groups():
    """Tests that three large groups become the patterns, and few others all stars."""
    frame = pl.DataFrame(
        [("x", "1")] * 90 + [("y", "2")] * 80 + [("z", "1")] * 70 + [("w", "3")], orient="row"
    )
    found = patterns_for(frame, 5)
    assert found.patterns.cells == (("x", "1"), ("y", "2"), ("z", "1"), ("*", "*"))
    assert found.loss == pytest.approx(1 / 241, 1e-3)


@pytest.mark.parametrize(("beside", "levels"), crossed([(), ("c",)], [1, 2]))
@pytest.mark.parametrize("seed", range(few(4, 2)))
def test_no_pattern_can_be_spared(seed: int, levels: int, beside: tuple[str, ...]):
    """Tests the loss that is told, and that it rises whatever one pattern is left out."""
    table, k, sample = people(300, seed), 3, 0.4
    hierarchies = {"age": "interval:10"} if levels > 1 else None
    found = patterns_for(table, k, sample, keep=beside, hierarchies=hierarchies)
    asked = table, k, sample, levels, beside
    assert found.loss == pytest.approx(expected(found.patterns, *asked))
    cells = found.patterns.cells
    assert len(cells) > 3
    assert set(cells[-1]) == {"*"}
    for i in range(len(cells) - 1):
        fewer = Patterns(found.patterns.columns, cells[:i] + cells[i + 1 :])
        assert expected(fewer, *asked) > found.loss - 1e-3  # sure ones are not tried


def test_better_than_the_rows_of_a_release():
    table = people(600)
    asked = table, 4, 0.5
    chosen = patterns_for(*asked).loss
    for size in (8, 16, 24):
        release = open_table(ic.anonymize(table, size, time_limit=1).data)
        assert chosen < expected(made_of(release, release.columns), *asked)


def test_what_is_expected_comes():
    """Tests the loss on other people of the same kind: a little more, as the first were fitted."""
    found = patterns_for(people(500, 1), 4, 0.5, hierarchies={"age": "interval:10"})
    lost, left = [], []
    for seed in range(2, 32):
        release = ic.codebook(
            people(500, seed), found.patterns, 4, 0.5, hierarchies={"age": "interval:10"}
        )
        halves = sum(cell.count("-") for cell in release.data["age"])
        width, gone = 4, release.taken - release.rows
        lost.append((release.stars + halves / 2 + width * gone) / (width * release.taken))
        left.append(gone / release.taken)
    assert -0.02 < np.mean(lost) - found.loss < 0.07
    assert abs(np.mean(left) - found.left_out) < 0.05


def test_refusals():
    table = people(40)
    starred = table.with_columns(pl.lit("*").alias("b"))
    with pytest.raises(InputError, match="column 'b' has cells that read"):
        patterns_for(starred, 2)
    assert patterns_for(starred, 2, star="?").patterns.star == "?"
    with pytest.raises(InputError, match="no rows"):
        patterns_for(table.clear(), 2)
    with pytest.raises(InputError, match="k: expected"):
        patterns_for(table, 0)
    with pytest.raises(InputError, match="sample"):
        patterns_for(table, 2, 1)
    wide = pl.DataFrame({str(j): ["1", "2"] for j in range(17)})
    with pytest.raises(OutOfScopeError, match="131,072 choices"):
        patterns_for(wide, 2)


def test_missing_cells_and_few_rows():
    """Tests that a missing value is one value, and that one row alone becomes all stars."""
    frame = pl.DataFrame({"a": [None] * 50 + ["1"] * 50, "b": ["x"] * 100})
    assert patterns_for(frame, 2).patterns.cells == ((None, "x"), ("1", "x"), ("*", "*"))
    assert patterns_for(frame[:1], 2).patterns.cells == (("*", "*"),)


def test_command(tmp_path):
    """Tests that the command writes what Python finds, and what it says; and what it refuses."""
    table = people(300).with_columns(name=pl.arange(300, eager=True))
    table.write_csv(tmp_path / "others.csv")
    given = ["codebook", "make", str(tmp_path / "others.csv"), "-o", str(tmp_path / "p.csv")]
    roles = ["--id", "name", "--keep", "c"]
    asked = ["-k", "3", "--sample", "0.4", "--hierarchy", "age=interval:10"]
    done = CliRunner().invoke(cli, [*given, *roles, *asked])
    assert done.exit_code == 0, done.stderr
    found = patterns_for(table, 3, 0.4, id="name", keep="c", hierarchies={"age": "interval:10"})
    assert pl.read_csv(tmp_path / "p.csv", infer_schema=False).equals(found.patterns.frame())
    assert f"{found.loss:.1%} of the cells" in done.stderr
    assert Patterns.of(tmp_path / "p.csv").cells == found.patterns.cells
    done = CliRunner().invoke(cli, [*given, *roles, *asked, "-q"])
    assert (done.exit_code, done.output) == (0, "")
    for words in (asked[2:], asked[4:]):
        done = CliRunner().invoke(cli, [*given, *words])
        assert (done.exit_code, "go with -k" in done.stderr) == (2, True)
