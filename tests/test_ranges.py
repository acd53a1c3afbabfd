"""Tests of ranges from end to end: cells, files, proofs, bad input, and who refuses them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import HierarchyError, InputError, OutOfScopeError

ROWS = 24


def people(rows: int = ROWS, seed: int = 0) -> pl.DataFrame:
    """A small table with an age, a day, a school and a secret."""
    rng = np.random.default_rng(seed)
    days = [f"2021-{m:02}-{d:02}" for m, d in rng.integers(1, 13, (rows, 2))]
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "day": days,
            "school": rng.choice(["none", "primary", "college"], rows),
            "secret": rng.choice(["f", "g", "h"], rows),
        }
    )


def released(table: pl.DataFrame, k: int = 3, **asked: Any) -> ic.Release:
    """A release in the original's order, age and school as quasi-identifiers unless asked."""
    asked = {"qi": ["age", "school"], "keep": ["day"], "sensitive": "secret"} | asked
    return ic.anonymize(table, k, seed=1, order="keep", **asked)


def test_each_class_shows_its_least_and_greatest_value() -> None:
    """Tests the cells of a release: the smallest interval of each class, or the value."""
    table = people()
    release = released(table, hierarchies={"age": "range"})
    both = release.data.with_columns(old=table["age"].cast(pl.Int64))
    for _, group in both.group_by("age", "school"):
        assert len(group) >= 3
        shown, low, high = group["age"][0], group["old"].min(), group["old"].max()
        assert shown == (str(low) if low == high else f"{low}-{high}")
    assert release.verify()
    width = table["age"].max() - table["age"].min()  # type: ignore[operator]
    ends = [[int(x) for x in cell.split("-")] for cell in release.data["age"]]
    lost = sum((each[-1] - each[0]) / width for each in ends)
    stars = int((release.data["school"] == "*").sum())
    assert float(release.cost) == pytest.approx(lost + stars, abs=ROWS * 1e-6)


def test_rounded_ends_and_the_widest_range() -> None:
    """Tests that ends are multiples of five, and no range is wider than asked."""
    table = people(60)
    release = released(table, hierarchies={"age": "range:round=5,most=15"})
    kinds = set()
    for old, cell in zip(table["age"], release.data["age"], strict=True):
        if cell == "*" or "-" not in cell:
            kinds.add("star" if cell == "*" else "value")
            assert cell in ("*", str(old))
            continue
        low, high = map(int, cell.split("-"))
        assert low <= old <= high and not low % 5 and not high % 5 and high - low <= 15
        kinds.add("range")
    assert "range" in kinds
    assert release.verify()


def test_dates_and_listed_values(tmp_path: Path) -> None:
    """Tests days, and schools in the order of a file."""
    order = tmp_path / "order.txt"
    order.write_text("none\nprimary\ncollege\n")
    rules = {"day": "range:most=90", "school": f"range:order={order}"}
    table = people(40)
    release = released(table, qi=["day", "school"], keep=["age"], hierarchies=rules)
    place = {"none": 0, "primary": 1, "college": 2}
    for old, cell in zip(table["day"], release.data["day"], strict=True):
        low, _, high = cell.partition("..")
        assert cell == "*" or low <= old <= (high or low)
    for old, cell in zip(table["school"], release.data["school"], strict=True):
        low, _, high = cell.partition("..")
        assert cell == "*" or place[low] <= place[old] <= place[high or low]
    assert release.verify()


SHOWN = ["{low} to {high}", "[{low}, {high}]", "from {low} up to {high}", "{low}e{high}x"]


@pytest.mark.parametrize("show", SHOWN)
def test_a_template_writes_the_ends_and_is_read_back(show: str, tmp_path: Path) -> None:
    """Tests the cells against those without a template, the proof, and verification without one."""
    table, run = people(30), CliRunner()
    table.write_csv(tmp_path / "in.csv")
    plain = released(table, hierarchies={"age": "range:most=15"})
    rule = f"range:most=15,show={show}"
    roles = ["--qi", "age,school", "--sensitive", "secret", "--keep", "day", "--hierarchy"]
    out, proof = tmp_path / "out.csv", tmp_path / "out.proof"
    made = run.invoke(
        cli,
        ["anonymize", str(tmp_path / "in.csv"), "-o", str(out), "-k", "3", *roles, f"age={rule}",
         "--proof", str(proof), "--order", "keep", "--seed", "1"],
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    cells, ranges = pl.read_csv(out)["age"].cast(pl.String), 0
    for old, new in zip(plain.data["age"], cells, strict=True):
        low, hyphen, high = old.partition("-")
        ranges += bool(hyphen)
        assert new == (show.format(low=low, high=high) if hyphen else old)
    assert ranges
    asked = ["verify", str(out), "--original", str(tmp_path / "in.csv")]
    assert run.invoke(cli, [*asked, "--proof", str(proof)]).exit_code == 0
    proven = [*asked, "--proof", str(proof), "--hierarchy"]
    assert run.invoke(cli, [*proven, f"age={rule}"]).exit_code == 0
    assert run.invoke(cli, [*proven, "age=range:most=15"]).exit_code == 1
    assert run.invoke(cli, [*proven, f"age={rule}!"]).exit_code == 1
    without = [*asked, "-k", "3", *roles]
    assert run.invoke(cli, [*without, f"age={rule}"]).exit_code == 0
    assert run.invoke(cli, [*without, "age=range:most=15"]).exit_code == 1


@pytest.mark.parametrize(
    ("cells", "show", "said"),
    [
        ([1, 2], "{low}", "once each"),
        ([1, 2], "{high} to {low}", "once each"),
        ([1, 2], "{low} {mid} {high}", "no other braces"),
        ([1, 2], "{low}{high}", "nothing stands between"),
        ([1, 2], "{low}\n{high}", "does not print"),
        ([1, 12, 2, 32], "{low}2{high}", "two ranges may read alike"),  # 1 2 32, 12 2 2
        (["1", "5", "1e5"], "{low}e{high}", "reads like a range"),
        ([-2, 3], "{low}-{high}", "two ranges may read alike"),
    ],
)
def test_templates_that_are_none(cells: list[Any], show: str, said: str) -> None:
    """Tests that what can be read in two ways is refused, and no cell is told."""
    with pytest.raises(HierarchyError, match=said):
        ic.anonymize(
            pl.DataFrame({"x": cells}), 2, qi=["x"], hierarchies={"x": f"range:show={show}"}
        )


def test_listed_values_that_end_like_what_stands_between_want_a_template(tmp_path: Path) -> None:
    """Tests that ``a.`` and ``a`` are refused with two dots, and served with another text."""
    (tmp_path / "order.txt").write_text("a\na.\n.b\nb\n")
    table, rule = pl.DataFrame({"x": ["a", "a.", ".b", "b"]}), f"range:order={tmp_path}/order.txt"
    with pytest.raises(HierarchyError, match="read alike"):
        ic.anonymize(table, 2, qi=["x"], hierarchies={"x": rule})
    rules = {"x": f"{rule},show={{low}} to {{high}}"}
    release = ic.anonymize(table, 2, qi=["x"], hierarchies=rules, order="keep", seed=1)
    assert release.data["x"].to_list() == ["a to a.", "a to a.", ".b to b", ".b to b"]
    assert release.verify()


@pytest.mark.parametrize("rule", ["range", "range:round=5,most=20", "range:cost=values"])
def test_a_proof_is_accepted_and_says_what_was_asked(rule: str, tmp_path: Path) -> None:
    """Tests files, proof and statement, the options held against the proof, and a changed cell."""
    table, run = people(30), CliRunner()
    table.write_csv(tmp_path / "in.csv")
    out, proof = tmp_path / "out.csv", tmp_path / "out.proof"
    roles = ["--qi", "age,school", "--sensitive", "secret", "--keep", "day"]
    made = run.invoke(
        cli,
        ["anonymize", str(tmp_path / "in.csv"), "-o", str(out), "-k", "3", *roles,
         "--hierarchy", f"age={rule}", "--proof", str(proof)],
    )  # fmt: skip
    assert made.exit_code == 0, made.output

    def verified(path: Path, *more: str) -> int:
        asked = ["verify", str(path), "--original", str(tmp_path / "in.csv"), "--proof", str(proof)]
        return run.invoke(cli, [*asked, *more]).exit_code

    assert verified(out) == 0
    assert verified(out, "--hierarchy", f"age={rule}", "--cost", "level") == 0
    for other in ("range:most=3", "range:round=7", "none", "interval:5"):
        assert verified(out, "--hierarchy", f"age={other}") == 1
    assert verified(out, "--cost", "stars") == 1
    text = out.read_text().splitlines()
    row = next(i for i, line in enumerate(text) if i and "-" in line.split(",")[0])
    low, high = text[row].split(",")[0].split("-")
    for wrong in (f"{int(high) + 1}-{int(high) + 2}", f"{low}.0-{high}", f"{low}-{high}0"):
        forged = tmp_path / "forged.csv"
        lines = [line.replace(f"{low}-{high},", f"{wrong},") for line in text]
        forged.write_text("\n".join(lines) + "\n")
        assert verified(forged) == 1


TEXTS: list[tuple[list[str | None], str]] = [
    (["20", "30", "abc", "40"], "row 3"),  # text among numbers
    (["2021-01-02", "2021-01-03", "03/04/2021", None], "row 3"),  # mixed dates
    (["20", "2021-01-03", "30", "40"], "row 2"),  # numbers and a date
    (["1", "2", "inf", "nan"], "row 3"),  # no finite numbers
    (["1", "2", "3", "1e999"], "row 4"),  # too long
]


@pytest.mark.parametrize(("cells", "place"), TEXTS)
def test_values_without_a_place_are_named_by_row_alone(cells: list[Any], place: str) -> None:
    """Tests that the first row and what is allowed are said, and no cell is."""
    table = pl.DataFrame({"x": cells})
    with pytest.raises(HierarchyError) as error:
        ic.anonymize(table, 2, qi=["x"], hierarchies={"x": "range"})
    text = str(error.value)
    assert place in text and "numbers like 35" in text and "2021-03-15" in text
    wrong = cells[int(place.split()[1]) - 1]
    assert wrong in ("inf", "nan") or wrong not in text


@pytest.mark.parametrize("rule", ["round:5", "codes:<30,90+", "interval:5", "bands:0,30,60+"])
def test_rules_that_read_numbers_name_the_row(rule: str) -> None:
    """Tests that the first row and what is allowed are said, and no cell is."""
    table = pl.DataFrame({"x": ["20", "30", "abc", "40", "aba"]})
    with pytest.raises(HierarchyError, match=r"2 values are not numbers, the first in row 3") as e:
        ic.anonymize(table, 2, qi=["x"], hierarchies={"x": rule})
    assert "like 35" in str(e.value) and "ab" not in str(e.value)


@pytest.mark.parametrize("rule", ["range", "mean", "round:5"])
@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
def test_the_way_out_of_nan_and_infinity_is_one(rule: str, word: str) -> None:
    """Tests that the option which a message names makes them missing, of a frame of doubles."""
    table, rules = pl.DataFrame({"x": [1.0, float(word), 2.0, float(word)]}), {"x": rule}
    with pytest.raises(HierarchyError, match=r"in row 2.*--na") as error:
        ic.anonymize(table, 2, qi=["x"], hierarchies=rules)
    option = str(error.value).split("--na ")[1].split(")")[0].split(" ")[0]
    release = ic.anonymize(table, 2, qi=["x"], hierarchies=rules, na=[option], order="keep")
    shown = list(map(str, release.data["x"]))  # doubles where these are averages
    assert release.verify() and shown[1::2] == [word] * 2


def test_numbers_are_exact_and_missing_ones_stay_apart() -> None:
    """Tests integers beyond 2^53, both zeros, missing cells and NaN, one value, all different."""
    big = 2**60
    table = pl.DataFrame({"x": [big, big + 1, big + 10, big + 11]})
    cells = released(table, 2, qi=["x"], keep=[], sensitive=[], hierarchies={"x": "range"}).data[
        "x"
    ]
    assert cells.to_list() == [f"{big}-{big + 1}"] * 2 + [f"{big + 10}-{big + 11}"] * 2

    def shown(cells: Any, k: int = 2) -> tuple[list[Any], float]:
        table = pl.DataFrame({"x": cells})
        found = released(table, k, qi=["x"], keep=[], sensitive=[], hierarchies={"x": "range"})
        assert found.verify()
        return found.data["x"].to_list(), float(found.cost)

    assert shown(["-0.0", "0.0"]) == (["0", "0"], 0.0)
    assert shown([0.0, -0.0, 5.0, None, None, 5.5])[0][3:5] == [None, None]
    with pytest.raises(HierarchyError, match="in row 2"):
        shown([1.0, float("nan"), 2.0])
    assert shown(["1", "2", None, "4"], 4) == (["*"] * 4, 4.0)
    assert shown(["7", "7", "7"])[0] == ["7"] * 3
    cells, cost = shown(list(map(str, range(9))), 3)
    assert cost == pytest.approx(9 * 2 / 8) and len(set(cells)) == 3
    assert shown(["-5", "3"])[0] == ["-5..3"] * 2


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("range:roud=5", "did you mean 'round'"),
        ("range:round=0", "above 0"),
        ("range:most=-1", "above 0"),
        ("range:most=x", "not a number"),
        ("range:cost=stars", "width or values"),
        ("range:round=5,round=6", "not an option"),
        ("range:order=nowhere.txt", "no hierarchy file"),
    ],
)
def test_rules_that_are_none(rule: str, said: str) -> None:
    """Tests that what is wrong with a rule is said with what is allowed."""
    with pytest.raises(InputError, match=said):
        released(people(), hierarchies={"age": rule})


def test_costs_that_name_labels_do_not_serve_ranges(tmp_path: Path) -> None:
    """Tests that a list of costs is refused."""
    costs = tmp_path / "costs.csv"
    costs.write_text("*;1\n")
    with pytest.raises(HierarchyError, match="no labels"):
        released(people(), hierarchies={"age": "range"}, cost={"age": str(costs)})


def test_one_number_in_two_texts_does_not_go_with_stars() -> None:
    """Tests that the cost of changed cells is refused where a class cannot have one."""
    table, rules = pl.DataFrame({"x": ["7", "7.0", "8"]}), {"x": "range"}
    with pytest.raises(HierarchyError, match="several ways"):
        ic.anonymize(table, 3, qi=["x"], hierarchies=rules, cost="stars")


REFUSED: dict[str, Callable[..., Any]] = {
    "datafly": lambda t, **a: released(t, method="datafly", **a),
    "incognito": lambda t, **a: released(t, method="incognito", **a),
    "m-approximation": lambda t, **a: released(t, method="m-approximation", **a),
    "linked": lambda t, **a: released(t, linked=[["age", "school"]], **a),
    "veil": lambda t, **a: released(t, veil="0.1", **a),
    "distance": lambda t, **a: released(
        t,
        qi=["school"],
        keep=["day", "secret"],
        sensitive="age",
        t="0.9",
        distance="hierarchy",
        **a,
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_whoever_does_not_serve_ranges_says_so(what: str) -> None:
    """Tests that what is not served is refused with the column, or what else is wrong with it."""
    with pytest.raises(InputError) as error:
        REFUSED[what](people(), hierarchies={"age": "range"})
    assert "range" in str(error.value) or "hierarch" in str(error.value)


def test_a_widest_range_is_refused_where_it_breaks_a_theorem() -> None:
    """Tests that matching refuses it, and auto does not take matching then."""
    rules = {"age": "range:most=10"}
    with pytest.raises(OutOfScopeError, match="widest range"):
        released(people(), 2, method="simplex-matching", hierarchies=rules)
    assert released(people(60), 2, hierarchies=rules).method != "simplex-matching"


def test_verification_without_a_proof(tmp_path: Path) -> None:
    """Tests yes for a shuffled release, and no where ranges hold nobody of their rows."""
    table = people()
    table.write_csv(tmp_path / "in.csv")
    release = released(table, hierarchies={"age": "range"})
    release.data.sample(fraction=1, shuffle=True, seed=3).write_csv(tmp_path / "out.csv")
    asked = ["verify", str(tmp_path / "out.csv"), "--original", str(tmp_path / "in.csv"), "-k", "3",
             "--qi", "age,school", "--sensitive", "secret", "--keep", "day",
             "--hierarchy", "age=range"]  # fmt: skip
    assert CliRunner().invoke(cli, asked).exit_code == 0
    low, high = sorted({*table["age"].cast(pl.String)})[:2]
    wrong = release.data.with_columns(pl.lit(f"{low}-{high}").alias("age"))
    wrong.write_csv(tmp_path / "out.csv")
    found = CliRunner().invoke(cli, asked)
    assert found.exit_code == 1 and "original rows have no released row" in found.output


def test_measure_report_and_frontier_serve_ranges(tmp_path: Path) -> None:
    """Tests figures of a release with ranges against counts by hand."""
    table = people()
    rules = {"age": "range"}
    release = released(table, hierarchies=rules)
    found = ic.measure(release.data, qi=["age", "school"], original=table, hierarchies=rules)
    counts, cells = table["age"].to_list(), release.data["age"].to_list()
    bits = 0.0
    for old, cell in zip(counts, cells, strict=True):
        ends = [int(x) for x in cell.split("-")]
        inside = sum(ends[0] <= other <= ends[-1] for other in counts)
        bits += np.log2(inside / counts.count(old)) if len(ends) > 1 else 0.0
    age = next(column for column in found.columns if column.name == "age")
    assert age.entropy_loss == pytest.approx(bits)
    release.report(tmp_path / "report.html", internal=True)
    assert "Ranges count in bins by their midpoints" in (tmp_path / "report.html").read_text()
    points = ic.frontier(table, [2, 3], qi=["age", "school"], keep=["day"], sensitive="secret",
                         hierarchies=rules)  # fmt: skip
    assert [point.k for point in points.points] == [2, 3]
    assert all(point.lower_bound <= point.cost for point in points.points)


def test_a_policy_file_keeps_the_rule(tmp_path: Path) -> None:
    """Tests that the rule is written to a policy and read again."""
    table, policy = people(), tmp_path / "policy.toml"
    table.write_csv(tmp_path / "in.csv")
    policy.write_text(
        'k = 3\nqi = ["age", "school"]\nkeep = ["day"]\nsensitive = ["secret"]\n'
        '[hierarchies]\nage = "range:round=10"\n'
    )
    asked = ["anonymize", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"),
             "--policy", str(policy), "--json"]  # fmt: skip
    found = CliRunner().invoke(cli, asked)
    assert found.exit_code == 0, found.output
    cells = pl.read_csv(tmp_path / "out.csv")["age"].cast(pl.String).to_list()
    assert any(cell.endswith("0") and "-" in cell for cell in cells)
    assert json.loads(found.stdout)["cost"] > 0


def test_a_policy_file_finds_its_order(tmp_path: Path) -> None:
    """Tests that the file of an order is looked for beside the policy, from any folder."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "schools.txt").write_text("none\nprimary\ncollege\n")
    policy = tmp_path / "sub" / "policy.toml"
    policy.write_text(
        'k = 3\nqi = ["school"]\nkeep = ["day", "age"]\nsensitive = ["secret"]\n'
        '[hierarchies]\nschool = "range:most=1,order=schools.txt,show={low}, order={high}"\n'
    )
    source = ic.Policy.read(policy).sources()["school"]
    assert str(source) == "range:order=schools.txt,most=1,show={low}, order={high}"
