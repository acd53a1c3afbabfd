"""Tests of releases by patterns: the mechanism by enumeration, and what users do with it."""

import json
import re
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import crossed
from incrowd.cli import cli
from incrowd.codebooks.delta import Asked, exact_delta
from incrowd.codebooks.patterns import NONE, Patterns, made_of
from incrowd.codebooks.release import kept, labels_of, released
from incrowd.errors import InputError
from incrowd.hierarchy.spec import parse
from incrowd.policy import Policy
from incrowd.run import entropy
from incrowd.tables.files import open_table

PATTERNS = pl.DataFrame({"age": ["30-39", "30-39", "*", "44"], "sex": ["f", "*", "m", "f"]})
HEADLESS = PATTERNS.rename({"age": "30-39", "sex": "m"})
AGES = {"age": "interval:10"}


def people(rows: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [str(i) for i in range(rows)],
            "age": rng.integers(30, 50, rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["x", "y"], rows),
        }
    ).cast(pl.String)


def test_the_first_pattern_that_a_row_matches():
    """Tests values, labels, stars, missing cells, and rows that match nothing."""
    frame = pl.DataFrame(
        {"age": ["34", "34", "44", "44", None, "44x"], "sex": ["f", "m", "m", "f", "m", "f"]}
    )
    known = Patterns.of(PATTERNS)
    found = known.of_rows(open_table(frame), {"age": parse("interval:10")})
    assert found.tolist() == [0, 1, 2, 3, 2, NONE]
    missing = Patterns.of(pl.DataFrame({"age": [None, "*"], "sex": ["m", "*"]}))
    assert missing.of_rows(open_table(frame), {}).tolist() == [1, 1, 1, 1, 0, 1]


def test_a_row_is_labelled_by_itself(tmp_path):
    """Tests that no other row has a say, be its cells fractions, odd, or unknown to a hierarchy."""
    (tmp_path / "jobs.csv").write_text("nurse;health;*\npilot;travel;*\n;none;*\n")
    patterns = Patterns.of(
        pl.DataFrame({"age": ["30-39", "[30.0,40.0)", "*"], "job": ["health", "health", "none"]})
    )
    sources = {"age": parse("interval:10"), "job": parse(str(tmp_path / "jobs.csv"))}
    cells = list(product(["34", "34.5", "x", None, "*"], ["nurse", "cook", "health", None, ""]))
    frame = pl.DataFrame(cells, schema=["age", "job"], orient="row")
    together = patterns.of_rows(open_table(frame), sources)
    alone = [
        int(patterns.of_rows(open_table(frame[i : i + 1]), sources)[0]) for i in range(len(cells))
    ]
    assert together.tolist() == alone
    assert {0, 1, 2, NONE} == set(alone)


def law(frame: pl.DataFrame, patterns: Patterns, k: int, share: Fraction) -> dict:
    """Probability of each release (a multiset of rows), over all samples."""
    source = open_table(frame)
    number = patterns.of_rows(source, {"age": parse("interval:10")})
    labels = labels_of(source, ("ill",), number)
    roles = Policy(qi=patterns.columns, keep="ill").roles(source.columns)
    found: dict = defaultdict(Fraction)
    for coins in product((False, True), repeat=frame.height):
        rows = np.flatnonzero(kept(labels, np.array(coins, bool), k))
        texts = released(source, patterns, roles, number, rows)
        chance = Fraction(1)
        for coin in coins:
            chance *= share if coin else 1 - share
        found[frozenset(Counter(texts.rows()).items())] += chance
    assert sum(found.values()) == 1
    return found


@pytest.mark.parametrize(("k", "share"), crossed([1, 2, 3], [Fraction(1, 2), Fraction(1, 5)]))
def test_no_sample_tells_more_than_delta(k: int, share: Fraction):
    """Tests the mechanism on tables with and without each row, by adding up all samples."""
    patterns, epsilon = Patterns.of(PATTERNS), Fraction(1, 2)
    factor = Fraction(exact_e(epsilon))
    delta = Fraction(exact_delta(Asked(k, share, epsilon)))
    worst = Fraction(0)
    for seed in range(2):
        frame = people(6, seed).drop("name")
        alike = pl.concat([frame[:2], *[frame[2:3]] * (k + 1)])
        for table in (frame, alike):
            whole = law(table, patterns, k, share)
            for i in range(0, table.height, 2):
                less = law(pl.concat([table[:i], table[i + 1 :]]), patterns, k, share)
                for one, two in ((whole, less), (less, whole)):
                    found = sum(max(Fraction(0), p - factor * two[r]) for r, p in one.items())
                    assert found <= delta
                    worst = max(worst, found)
    assert worst > delta / 3  # not far off


def exact_e(epsilon: Fraction) -> Fraction:
    from incrowd.checker.hockey import below_exponential

    return below_exponential(epsilon) + Fraction(1, 10**30)


def test_coins_are_exact():
    """Tests shares, and that the number on the border is decided by further bits."""
    found = entropy.tossed(100_000, Fraction(1, 3))
    assert found.mean() == pytest.approx(1 / 3, abs=0.01)
    assert entropy.tossed(3, Fraction(1)).all()
    assert not entropy.tossed(1000, Fraction(1, 2**80)).any()


def test_numbers_on_the_border(monkeypatch):
    """Tests that ties toss again with what is left of the probability."""
    drawn = iter([np.full(4, (1 << 64) // 3, np.uint64), np.array([0, 1, 2**62, 2**63], np.uint64)])
    monkeypatch.setattr(entropy, "numbers", lambda count: next(drawn))
    assert entropy.tossed(4, Fraction(1, 3)).tolist() == [True, True, True, False]


def test_columns_named_like_patterns_of_names():
    """Tests that changed cells of a column are counted whose name polars reads otherwise."""
    frame = pl.DataFrame({"^a$": ["x"] * 90, "b": ["y"] * 90})
    release = ic.codebook(frame, pl.DataFrame({"^a$": ["*"]}), 2, "1/2", keep="b", epsilon=1)
    assert release.changed == {"^a$": release.rows}


def test_a_release():
    """Tests k in all published columns, patterns, counts of what is left out, and frames."""
    frame = people(900)
    release = ic.codebook(
        frame, PATTERNS, 20, "1/2", keep="ill", id="name", hierarchies=AGES, epsilon=1
    )
    assert release.data.columns == ["age", "sex", "ill"]
    counts = Counter(release.data.rows())
    assert min(counts.values()) == release.smallest_class >= 20
    assert len(counts) == release.classes
    assert {row[:2] for row in counts} <= set(PATTERNS.rows())
    assert release.rows + release.unmatched + release.few == release.taken
    assert 350 < release.taken < 550
    assert release.stars == sum((release.data[c] == "*").sum() for c in ("age", "sex"))
    assert release.changed["age"] >= release.changed["sex"] > 0
    assert release.delta == 0.000108297
    assert type(ic.codebook(frame.to_pandas(), PATTERNS, id="name", keep="ill").data) is type(
        frame.to_pandas()
    )
    assert "differentially private" in repr(release)


def test_the_order_and_the_sample_are_fresh():
    frame = people(300).drop("name", "ill")
    one, two = (ic.codebook(frame, PATTERNS, 2, hierarchies=AGES) for _ in range(2))
    assert not one.data.equals(two.data)


def test_nothing_is_left_of_a_small_table():
    release = ic.codebook(people(5).drop("name", "ill"), PATTERNS, 20, hierarchies=AGES)
    assert (release.rows, release.classes, release.smallest_class) == (0, 0, 0)
    empty = ic.codebook(people(5).drop("name", "ill").clear(), PATTERNS, 20)
    assert (empty.rows, empty.taken) == (0, 0)


def test_an_identifier_that_repeats_is_warned_of():
    frame = people(30).with_columns(name=pl.lit("a"))
    release = ic.codebook(frame, PATTERNS, 2, id="name", keep="ill")
    assert "about one row" in release.warnings[0]
    frame = frame.with_columns(card=pl.lit(7))
    empty, both = ic.codebook(frame, PATTERNS, 31, id=["name", "card"], keep="ill").warnings
    assert "left out repeat ('name', 'card'): " in both and "no row is published" in empty
    assert ic.codebook(people(30), PATTERNS, 2, id="name", keep="ill").warnings == ()
    nameless = people(30).with_columns(name=pl.when(pl.col("sex") == "f").then("name"))
    release = ic.codebook(nameless, PATTERNS, 2, id="name", keep="ill")
    assert release.warnings == (), "rows without an identifier share none"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "no role"),
        ({"id": "name", "keep": "ill", "sample": 1}, "not everybody is taken"),
        ({"id": "nam", "keep": "ill"}, "nam"),
        ({"id": "name", "keep": "ill", "patterns": PATTERNS.clear()}, "no rows"),
        ({"id": "name", "keep": "ill", "patterns": PATTERNS.rename({"age": "years"})}, "years"),
        # the first line of a file without a header, of which no cell is named
        (
            {"id": "name", "keep": "ill", "patterns": HEADLESS},
            "^the patterns have no column of the ",
        ),
    ],
)
def test_what_is_refused(asked, words):
    with pytest.raises(InputError, match=words):
        ic.codebook(people(30), **{"patterns": PATTERNS, **asked})


def test_patterns_of_a_release():
    """Tests their order: fewest stars, then most rows, and that repeated lines are idle."""
    rows = [("*", "f"), ("30-39", "f"), ("*", "m"), ("*", "m"), ("40-49", "*")]
    frame = pl.DataFrame(rows, schema=["age", "sex"], orient="row")
    found = made_of(open_table(frame), ("age", "sex"))
    assert found.cells[:2] == (("30-39", "f"), ("*", "m"))
    assert len(found.cells) == 4
    assert Patterns.of(frame).cells == (rows[0], rows[1], rows[2], rows[4])
    with pytest.raises(InputError, match="no rows"):
        made_of(open_table(frame.clear()), ("age", "sex"))


@pytest.fixture
def files(tmp_path):
    """A table, patterns, and what a release with its statement is asked for by."""
    people(900).write_csv(tmp_path / "t.csv")
    PATTERNS.write_csv(tmp_path / "p.csv")
    asked = ["codebook", "apply", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o.csv")]
    asked += ["--patterns", str(tmp_path / "p.csv"), "--id", "name", "--keep", "ill"]
    asked += ["--hierarchy", "age=interval:10", "--statement", str(tmp_path / "s.json")]
    checked = ["verify", str(tmp_path / "o.csv"), "--statement", str(tmp_path / "s.json")]
    return tmp_path, asked, [*checked, "--patterns", str(tmp_path / "p.csv")]


def test_command_line(files):
    """Tests summary, warning, statement, JSON and verification, with the original and without."""
    folder, asked, checked = files
    done = CliRunner().invoke(cli, [*asked, "--json"])
    assert (done.exit_code, done.exception) == (0, None)
    assert "(1, 0.000108297)-differentially private" in done.stderr
    assert "rows are left out by design" in done.stderr
    record = json.loads(done.stdout)
    assert record["rows"] + sum(record["left_out"].values()) == 900
    said = json.loads((folder / "s.json").read_text())
    assert (said["k"], said["sample"], said["delta"]) == (20, "1/2", 0.000108297)
    assert "by design" in said["rows_left_out"]
    found = CliRunner().invoke(cli, checked)
    assert (found.exit_code, "δ is at most 0.000108297" in found.stderr) == (0, True)
    whole = [*checked, "--original", str(folder / "t.csv"), "--hierarchy", "age=interval:10"]
    assert CliRunner().invoke(cli, whole).exit_code == 0


def test_the_statement_tells_of_no_row_that_is_left_out(files):
    """Tests that no number in it depends on the table."""
    folder, asked, _ = files
    CliRunner().invoke(cli, asked)
    said = json.loads((folder / "s.json").read_text())
    numbers = [x for x in said.values() if isinstance(x, int | float)]
    assert sorted(numbers) == [0.000108297, 1, 20]  # δ, the format's version, k


def test_verification_says_no(files):
    """Tests a smaller δ, another ε, other files, too few rows, strange rows, too many rows."""
    folder, asked, checked = files
    CliRunner().invoke(cli, asked)
    said, text = json.loads((folder / "s.json").read_text()), (folder / "o.csv").read_text()

    def verdict(change: dict, release: str = text, *more: str) -> str:
        (folder / "o.csv").write_text(release)
        sha = ic.codebooks.statement.sha256_of(folder / "o.csv")
        stated = json.dumps(said | {"release_sha256": sha} | change)
        (folder / "s.json").write_text(re.sub(r'"(-?1e999)"', r"\1", stated))
        done = CliRunner().invoke(cli, [*checked, *more])
        assert done.exit_code == ("no:" in done.stderr)
        return done.stderr

    assert "no:" not in verdict({})
    assert "more than claimed" in verdict({"delta": 1e-4})
    assert "more than claimed" in verdict({"epsilon": "1/2"})
    assert "another form" in verdict({"sample": "half"})
    assert "out of range" in verdict({"sample": "1"})
    assert "file of the release" in verdict({"release_sha256": "0"})
    assert "file of the patterns" in verdict({"patterns_sha256": "0"})
    assert "other columns" in verdict({"published_as_they_are": []})
    for change in ({"k": 20.9}, {"k": "20"}, {"delta": "0.5"}, {"epsilon": "1e-9999999"}):
        assert "another form" in verdict(change)
    for number in ("1e999", "-1e999"):  # beyond doubles
        assert "another form" in verdict({"delta": number})
    assert "another form" in verdict({"published_as_they_are": "ill"})
    for change in ({"star": ["*"]}, {"quasi_identifiers": ["sex"]}, {"protects": "each person"}):
        assert f"the statement's {next(iter(change))} is not" in verdict(change)
    assert "the statement's more is not" in verdict({"more": 1})
    for change in ({"epsilon": "100000"}, {"sample": f"1/{10**40}"}):
        assert "such a sample or epsilon" in verdict(change)
    assert "within 4000 rows" in verdict({"k": 10**6})
    header, first, *_ = text.splitlines()
    assert "1 different rows of the release stand there fewer" in verdict(
        {}, f"{header}\n{first}\n"
    )
    assert "not patterns of the file" in verdict({}, text + "33,f,x\n" * 20)
    original = ("--original", str(folder / "t.csv"), "--hierarchy", "age=interval:10")
    assert "of no row of the original" in verdict({}, text + f"{first}\n" * 900, *original)
    assert "of no row" in verdict({}, text, *original[:2])  # without the hierarchy


def test_forgeries_that_the_original_or_the_patterns_betray(files):
    """Tests rows of idle patterns, all rows or none of a kind taken, a column of another name."""
    folder, asked, checked = files
    CliRunner().invoke(cli, asked)
    said, text = json.loads((folder / "s.json").read_text()), (folder / "o.csv").read_text()
    rows = "age,sex\n*,m\n30-39,m\n*,f\n"
    original = ("--original", str(folder / "t.csv"), "--hierarchy", "age=interval:10")

    def verdict(release: str, change: dict, *more: str, patterns: str = rows) -> str:
        for name, held in (("o.csv", release), ("p.csv", patterns)):
            (folder / name).write_text(held)
        hashes = {
            f"{key}_sha256": ic.codebooks.statement.sha256_of(folder / name)
            for key, name in (("release", "o.csv"), ("patterns", "p.csv"))
        }
        (folder / "s.json").write_text(json.dumps(said | hashes | change))
        done = CliRunner().invoke(cli, [*checked, *more])
        assert done.exit_code == ("no:" in done.stderr), done.stderr
        return done.stderr

    header = "age,sex,ill\n"
    assert "no:" not in verdict(header + "*,m,x\n" * 30 + "*,f,x\n" * 20, {})
    assert "1 different rows of the release are patterns that an earlier one" in verdict(
        header + "30-39,m,x\n" * 30, {}
    )
    first = text.splitlines()[0]
    assert "the original lacks the column 'іll'" in verdict(
        text.replace(first, first.replace("ill", "іll")),
        {"published_as_they_are": ["іll"]},
        *original,
        patterns=PATTERNS.write_csv(),
    )
    whole = pl.read_csv(folder / "t.csv", infer_schema=False)
    stars = whole.with_columns(pl.lit("*").alias("age")).select(first.split(","))
    some = stars.with_row_index().filter(pl.col("index") % 2 == 0).drop("index")
    both = "age,sex\n*,m\n*,f\n"
    assert "no:" not in verdict(some.write_csv(), {}, *original, patterns=both)
    for forged in (stars, some.filter(pl.col("sex") == "f"), stars.clear()):
        assert "leave other numbers of rows" in verdict(
            forged.write_csv(), {}, *original, patterns=both
        )


def test_the_printed_delta_is_no_less_than_the_stated_one(files):
    """Tests a statement of many digits: rounded down, δ would be more than what is said."""
    folder, asked, checked = files
    CliRunner().invoke(cli, asked)
    said = json.loads((folder / "s.json").read_text())
    (folder / "s.json").write_text(json.dumps(said | {"delta": 0.00010829749}))
    done = CliRunner().invoke(cli, checked)
    assert (done.exit_code, "δ is at most 0.00010829749" in done.stderr) == (0, True)


def test_a_star_of_ones_own_is_left_open(files):
    """Tests that a text that reads like a value is named where it stands for a suppressed cell."""
    folder, asked, checked = files
    (folder / "p.csv").write_text("age,sex\n30-39,f\n44,m\n44,f\n44,44\n")
    assert CliRunner().invoke(cli, [*asked, "--star", "44", "-k", "5"]).exit_code == 0
    found = CliRunner().invoke(cli, checked)
    assert found.exit_code == 0, found.stderr
    assert "whether '44' in a cell is read as a suppressed one" in found.stderr


def test_verify_refuses_what_does_not_go_together(files):
    folder, asked, checked = files
    CliRunner().invoke(cli, asked)
    said = (folder / "s.json").read_text()
    for more, words in (
        (["-k", "3"], "--k does not go"),
        (["--proof", "p"], "no proof"),
        (["--statement", str(folder / "p.csv")], "not the statement"),
    ):
        done = CliRunner().invoke(cli, [*checked, *more])
        assert (done.exit_code, words in done.stderr) == (2, True), done.stderr
    twice, true = ('"k": 20', '"k": 50, "k": 20'), ('"version": 1', '"version": true')
    decimal = ('"version": 1', '"version": 1.0')
    for wrong in (*(said.replace(*pair) for pair in (twice, true, decimal)), "[" * 100_000):
        (folder / "s.json").write_text(wrong)
        done = CliRunner().invoke(cli, checked)
        assert (done.exit_code, "not the statement" in done.stderr) == (2, True), done.stderr
    for version, fine in (("2.5.1.dev3+g0a", True), ("Ada has f", False)):  # words of a row
        plain = json.loads(said)
        (folder / "s.json").write_text(json.dumps(plain | {"incrowd": version}))
        done = CliRunner().invoke(cli, checked)
        assert (done.exit_code, "incrowd is not" in done.stderr) == (int(not fine), not fine)
    done = CliRunner().invoke(cli, ["verify", str(folder / "o.csv")])
    assert (done.exit_code, "--original is needed" in done.stderr) == (2, True)
    done = CliRunner().invoke(cli, [*checked[:2], *checked[4:]])
    assert (done.exit_code, "goes with --statement" in done.stderr) == (2, True)


def test_make_and_delta(files):
    """Tests the two commands that need no table to protect."""
    folder, _, _ = files
    people(400, 2).drop("name", "ill").write_csv(folder / "others.csv")
    made = ["anonymize", str(folder / "others.csv"), "-o", str(folder / "r.csv"), "-k", "30", "-q"]
    CliRunner().invoke(cli, [*made, "--hierarchy", "age=interval:10"])
    done = CliRunner().invoke(
        cli, ["codebook", "make", str(folder / "r.csv"), "-o", str(folder / "made.csv")]
    )
    assert done.exit_code == 0
    patterns = pl.read_csv(folder / "made.csv", infer_schema=False).rows()
    assert set(patterns) == set(pl.read_csv(folder / "r.csv", infer_schema=False).rows())
    assert [row.count("*") for row in patterns] == sorted(row.count("*") for row in patterns)
    runs = {("-k", "20"): "0.000108297", ("--delta", "1e-6"): "35"}
    for words, answer in runs.items():
        assert CliRunner().invoke(cli, ["codebook", "delta", *words]).stdout.strip() == answer
    assert CliRunner().invoke(cli, ["codebook", "delta"]).exit_code == 2


def test_names_that_polars_reads_otherwise(tmp_path):
    """Tests columns called "", ``*`` and ``^a$``: in the release, and in patterns made of one."""
    names = ["", "*", "^a$"]
    frame = pl.DataFrame({name: ["1"] * 40 for name in names})
    release = ic.codebook(frame, pl.DataFrame({n: ["1"] for n in names[:2]}), 2, keep=["^a$"])
    assert release.data.columns == names and set(release.data.rows()) == {("1",) * 3}
    frame.write_parquet(tmp_path / "t.parquet")
    made = CliRunner().invoke(
        cli, ["codebook", "make", str(tmp_path / "t.parquet"), "-o", str(tmp_path / "p.csv")]
    )
    assert made.exit_code == 0 and (tmp_path / "p.csv").read_text().startswith('"",*,^a$\n')


def test_the_maker_is_told_of_a_statement_that_verify_refuses(tmp_path):
    """Tests the release's warnings, those of the command line, and what verify says."""
    people(40).write_csv(tmp_path / "in.csv")
    PATTERNS.write_csv(tmp_path / "p.csv")
    out, said = tmp_path / "out.csv", tmp_path / "s.json"
    words = ["codebook", "apply", tmp_path / "in.csv", "-o", out, "--patterns", tmp_path / "p.csv"]
    words += ["--sample", "0.999", "-k", "20", "--id", "name", "--keep", "ill", "--statement", said]
    done = CliRunner().invoke(cli, [*map(str, words), "--hierarchy", "age=interval:10"])
    assert done.exit_code == 0 and "verify --patterns will refuse" in done.stderr
    words = ["verify", out, "--patterns", tmp_path / "p.csv", "--statement", said]
    done = CliRunner().invoke(cli, [*map(str, words)])
    assert done.exit_code == 1 and "cannot be recomputed" in done.stderr
    done = CliRunner().invoke(cli, ["codebook", "delta", "-k", "20", "--sample", "0.999"])
    assert "verify --patterns will refuse" in done.stderr
