"""Weighted figures and standard errors of internal reports, against plain Python."""

import itertools
import math
import random
import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.report.make import external_report, internal_report
from incrowd.report.sample import Sample, require_weights
from incrowd.report.use import mean_bounds
from incrowd.report.view import Inside
from incrowd.tables.native import from_native

pytestmark = pytest.mark.usefixtures("undrawn")


ROWS = 90


def survey():
    """People with two visits each, a survey weight, and rows that no weight counts."""
    rng = random.Random(3)
    age = [rng.randrange(20, 80) for _ in range(ROWS)]
    return pl.DataFrame(
        {
            "who": [f"P{i // 2}" for i in range(ROWS)],
            "age": age,
            "town": [rng.choice("abc") for _ in range(ROWS)],
            "pay": [a * 10 + rng.randrange(300) for a in age],
            "w": [None, 0.0, *(rng.randrange(1, 90) / 4 for _ in range(ROWS - 2))],
        }
    )


def lines(page):
    """Each line of each table: the cells behind its name, by caption and name."""
    found = {}
    for caption, body in re.findall(r"<caption>(.*?)</caption>(.*?)</table>", page, re.DOTALL):
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
            cells = [
                re.sub("<[^>]*>", "", c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
            ]
            found.setdefault((caption, cells[0]), cells[1:])
    return found


def number(text):
    return float(text.replace(",", "").removesuffix("%"))


def mean_of(x, w):
    return sum(a * b for a, b in zip(x, w, strict=True)) / sum(w)


def error_of(influence, whose):
    """With replacement, each person drawn whole: n/(n − 1) times the sum of squares."""
    by = {}
    for one, z in zip(whose, influence, strict=True):
        by[one] = by.get(one, 0) + z
    return math.sqrt(len(by) / (len(by) - 1) * sum(z * z for z in by.values()))


@pytest.mark.parametrize(
    ("person", "weighted", "rule"),
    [(False, False, "range"), (True, True, "range"), (False, True, "mean:digits=3")],
)
def test_every_figure_against_plain_python(person, weighted, rule):
    """Tests mean, variance, slope, shares and their errors, of rows and of people."""
    data = survey()
    asked = {"person": "who"} if person else {"id": "who"}
    keep = ["pay", "w"] if rule == "range" else ["pay", "w", "town"]
    release = ic.anonymize(data, 3, keep=keep, hierarchies={"age": rule}, seed=1, gap=0.9, **asked)
    inside = Inside(release=release, survey_weight="w" if weighted else None)
    page = internal_report(release, "r", inside)
    there = [i for i in range(ROWS) if not weighted or data["w"][i]]
    w = [data["w"][i] if weighted else 1 for i in there]
    whose = [data["who"][i] if person else i for i in there]
    age, pay = ([data[name][i] for i in there] for name in ("age", "pay"))

    def ends(i):
        cell = str(release.data["age"][i])
        if cell == "*":
            return min(age), max(age)
        return [float(x) for x in (cell.split("-") * 2)[:2]]

    low, high = zip(*map(ends, there), strict=True)
    middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    m, total = mean_of(age, w), sum(w)
    told = lines(page)
    found = told["Means, before and after", "age"]
    error = error_of([b * (a - m) / total for a, b in zip(age, w, strict=True)], whose)
    after = mean_of(middle, w)
    assert [*map(number, found[1:5])] == pytest.approx([m, after, after - m, error], rel=1e-4)
    if rule == "range":
        sure = [number(x) for x in found[5].split(" to ")]
        assert sure == pytest.approx([mean_of(low, w), mean_of(high, w)], rel=1e-5)
    v = mean_of([(a - m) ** 2 for a in age], w)
    found = told["Variances, before and after", "age"]
    error = error_of([b * ((a - m) ** 2 - v) / total for a, b in zip(age, w, strict=True)], whose)
    less = len(w) / (len(w) - 1)
    told_here = [number(found[1]), number(found[4])]
    assert told_here == pytest.approx([v * less, error * less], rel=1e-4)
    found = told["Slopes of least-squares lines (R²)", "pay on age"]
    mp = mean_of(pay, w)
    slope = mean_of([(a - m) * (p - mp) for a, p in zip(age, pay, strict=True)], w) / v
    rest = [p - mp - slope * (a - m) for a, p in zip(age, pay, strict=True)]
    z = [b * (a - m) * r / (v * total) for a, r, b in zip(age, rest, w, strict=True)]
    assert number(found[0].split(" ")[0]) == pytest.approx(slope, rel=1e-4)
    assert number(found[3]) == pytest.approx(error_of(z, whose), rel=1e-4)
    if "town" in keep:
        return
    what = "Shares of the weights" if weighted else "Rows"
    found = told[f"{what} by value, before and after", "a"]
    town = [data["town"][i] == "a" for i in there]
    p = mean_of(town, w)
    z = [b * (a - p) / total for a, b in zip(town, w, strict=True)]
    unit = 100 if weighted else ROWS
    after = mean_of([release.data["town"][i] == "a" for i in there], w)
    figures = [p * unit, after * unit, error_of(z, whose) * unit]
    assert [*map(number, found)] == pytest.approx(figures, abs=0.051)


def stratified(influence, whose, strata):
    """As ``error_of`` by stratum; of a stratum's only draw the mean is taken as 0."""
    total = 0
    for stratum in set(strata):
        by = {}
        for one, z, of in zip(whose, influence, strata, strict=True):
            if of == stratum:
                by[one] = by.get(one, 0) + z
        n, middle = len(by), sum(by.values()) / len(by)
        spread = sum((z - middle) ** 2 for z in by.values())
        total += n / (n - 1) * spread if n > 1 else sum(by.values()) ** 2
    return math.sqrt(total)


@pytest.mark.parametrize("person", [False, True])
def test_errors_by_strata_against_plain_python(person, tmp_path):
    """Tests the mean's error in the report, with a stratum of one draw; and the same bit by bit."""
    data = survey().with_columns(area=pl.Series(["n", "n", "lone", *"nsw" * 29]))
    data.write_csv(tmp_path / "in.csv")
    page = tmp_path / "i.html"
    asked = ["anonymize", str(tmp_path / "in.csv"), "-o", str(tmp_path / "o.csv"), "-q", "-k", "3"]
    asked += ["--person" if person else "--id", "who", "--keep", "w,pay,area,town"]
    asked += ["--hierarchy", "age=range", "--gap", "0.9", "--report-internal", str(page)]
    asked += ["--survey-weight", "w", "--survey-stratum", "area"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    there = [i for i in range(ROWS) if data["w"][i]]
    w, age, area = ([data[name][i] for i in there] for name in ("w", "age", "area"))
    whose = [data["who"][i] if person else i for i in there]
    m = mean_of(age, w)
    z = [b * (a - m) / sum(w) for a, b in zip(age, w, strict=True)]
    shown = page.read_text("utf-8")
    error = number(lines(shown)["Means, before and after", "age"][4])
    assert error == pytest.approx(stratified(z, whose, area), rel=1e-4)
    assert error != pytest.approx(error_of(z, whose), rel=1e-3)
    assert "drawn by strata: area." in re.sub("<[^>]*>", "", shown)


def test_strata_need_weights_and_a_column():
    """Tests that both are refused before the search, and that one stratum is none."""
    with pytest.raises(InputError, match="goes with survey_weight"):
        ic.Policy(survey_stratum="town")
    with pytest.raises(InputError, match=r"survey stratum: no column is called 'twon'.* 'town'"):
        ic.anonymize(survey(), 3, id="who", survey_weight="w", survey_stratum="twon")
    whole = Sample(np.array([1.0, 2, 4]), np.array([0, 1, 1]), np.array([1, 1, 1]))
    plain = Sample(whole.weights, whole.people).mean_error(np.array([3.0, 5, 9]))
    assert whole.mean_error(np.array([3.0, 5, 9])) == pytest.approx(plain)


def test_ranges_of_weights():
    """Tests that the weights are the released ones after, and that bounds of means hold."""
    data = survey().drop("who").with_columns(hours=pl.int_range(ROWS))
    release = ic.anonymize(
        data,
        3,
        sensitive="town",
        keep="hours",
        hierarchies=dict.fromkeys(["age", "pay", "w"], "range"),
        gap=0.9,
    )
    page = internal_report(release, "r", Inside(release=release, survey_weight="w"))
    assert "after by what is published, ranges by their midpoints" in page
    for name in ("age", "hours"):  # the kept column, too, has another mean by other weights
        found = lines(page)["Means, before and after", name]
        low, high = map(number, found[5].split(" to "))
        assert low <= number(found[1]) <= high and low <= number(found[2]) <= high
        assert number(found[1]) != number(found[2])
    assert lines(page)["Variances, before and after", "age"][5] == "–"
    star = f"{data['w'].min()}-{data['w'].max()}"
    both = zip(data["w"], release.data["w"], strict=True)
    cells = [cell.replace("*", star) for w, cell in both if w]
    ends = [[float(x) for x in (cell.split("-") * 2)[:2]] for cell in cells]
    before, after = data["w"].sum(), sum(sum(each) / 2 for each in ends)
    assert f"add up to {before:,.0f} before, and to {after:,.0f} after." in page
    means = [name for what, name in lines(page) if what.startswith(("Means", "Slopes"))]
    assert "age" in means and "w" not in means and "age on w" not in means


def test_bounds_of_weighted_means_against_all_corners():
    """Tests that they are met by the least and the greatest corner."""
    rng = random.Random(5)
    for _ in range(30):
        low, least = (np.array([rng.randrange(6) for _ in range(4)], float) for _ in range(2))
        high, most = (x + [rng.randrange(4) for _ in range(4)] for x in (low, least))
        corners = [
            mean_of(x, w)
            for x in itertools.product(*zip(low, high, strict=True))
            for w in itertools.product(*zip(least, most, strict=True))
            if sum(w)
        ]
        if corners:
            bounds = mean_bounds(low, high, least, most)
            assert bounds == pytest.approx((min(corners), max(corners)))


def test_missing_weights_count_nothing():
    """Tests empty cells, marks, and what statistics packages declare missing."""
    frame = pl.DataFrame({"q": list("aabb"), "w": [None, "-9", "missing 99 (refused)", "2,5"]})
    policy = ic.Policy(k=2, qi=["q"], keep=["w"], na=["-9"], decimal=",")
    assert require_weights(from_native(frame), policy, "w").tolist() == [0, 0, 0, 2.5]


def test_one_row_has_no_error():
    """Tests that nothing is divided by 0."""
    assert math.isnan(Sample(np.array([2.0, 0])).mean_error(np.array([1.0, 3])))
    alone = Sample(np.ones(2), np.zeros(2, np.int64))
    assert math.isnan(alone.mean_error(np.array([1.0, 3])))


@pytest.mark.parametrize(
    ("column", "told"),
    [("town", "no numbers"), ("no", "no column"), ("minus", "below 0"), ("nil", "above 0")],
)
def test_what_is_no_weight(column, told, tmp_path):
    """Tests that it is refused before the search, and names no cell."""
    data = survey().with_columns(minus=pl.lit(-3), nil=pl.lit(0))
    data.write_csv(tmp_path / "in.csv")
    asked = ["anonymize", str(tmp_path / "in.csv"), "-o", str(tmp_path / "o.csv"), "--id", "who"]
    asked += ["--report-internal", str(tmp_path / "i.html"), "--survey-weight", column]
    result = CliRunner().invoke(cli, [*asked, "-k", "2"])
    message = result.output
    assert result.exit_code == 2 and told in message and column in message and "-3" not in message
    assert not (tmp_path / "o.csv").exists()


def test_only_internal_reports_are_weighted(tmp_path):
    """Tests that the public page tells nothing of it, and that the option needs the other one."""
    release = ic.anonymize(survey(), 3, id="who", keep="w", hierarchies={"age": "range"}, gap=0.9)
    with pytest.raises(InputError, match="internal"):
        release.report(tmp_path / "r.html", survey_weight="w")
    page = external_report(release)
    assert "standard error" not in page and "Ranges count in bins by their midpoints" in page
    few = ic.anonymize(survey()[:12], 6, id="who", keep="w", hierarchies={"age": "range"}, gap=0.9)
    assert "Ranges count" not in external_report(few)  # each is told as it stands
    release.report(tmp_path / "i.html", True, survey_weight="w")
    assert "Figures are weighted by" in (tmp_path / "i.html").read_text("utf-8")
    asked = ["anonymize", "in.csv", "-o", "o.csv", "--survey-weight", "w"]
    assert "goes with --report-internal" in CliRunner().invoke(cli, asked).output


def test_a_policy_file_names_the_weights(tmp_path):
    """Tests that the report is weighted by the file's column, or by the one typed in its place."""
    data = survey().with_columns(v=pl.int_range(ROWS) % 7 + 1)
    data.write_csv(tmp_path / "in.csv")
    policy = ic.Policy(
        k=3, id="who", keep=["w", "v"], hierarchies={"age": "range"}, gap=0.9, survey_weight="w"
    )
    (tmp_path / "p.toml").write_text(policy.toml(), "utf-8")
    assert ic.Policy.read(tmp_path / "p.toml") == policy
    asked = ["anonymize", str(tmp_path / "in.csv"), "-o", str(tmp_path / "o.csv"), "-q"]
    asked += ["--policy", str(tmp_path / "p.toml")]
    page = tmp_path / "i.html"
    for typed, name in ([], "w"), (["--survey-weight", "v"], "v"):
        done = CliRunner().invoke(cli, [*asked, "--report-internal", str(page), *typed])
        assert done.exit_code == 0, done.output
        there = [i for i in range(ROWS) if data[name][i]]
        mean = mean_of([data["age"][i] for i in there], [data[name][i] for i in there])
        found = lines(page.read_text("utf-8"))["Means, before and after", "age"][1]
        assert number(found) == pytest.approx(mean, rel=1e-4)
    assert CliRunner().invoke(cli, asked).exit_code == 0  # without a report nothing is weighted
    assert "--survey-weight" not in policy.command("in.csv", "o.csv")
    spoken = policy.command("in.csv", "o.csv", "--report-internal", "i.html")
    assert "--survey-weight w" in spoken


def test_python_and_the_demo_refuse_before_the_search(tmp_path):
    """Tests a policy whose column is none, and no name at all."""
    with pytest.raises(InputError, match="survey weight 'town'"):
        ic.anonymize(survey(), 3, id="who", survey_weight="town")
    with pytest.raises(InputError, match="survey_weight must be the name"):
        ic.Policy(survey_weight=["w"])
    asked = ["demo", "--synthetic", "--report-internal", str(tmp_path / "i.html")]
    done = CliRunner().invoke(cli, [*asked, "--survey-weight", "nobody"])
    assert done.exit_code == 2 and "no column" in done.output and "searching" not in done.output
