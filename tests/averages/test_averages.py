"""Releases that publish averages, against their definitions."""

import random
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from statistics import mean, median

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from averages.plain import cost, optimum
from dial import crossed, few
from incrowd.averages.catalog import METHODS
from incrowd.errors import HierarchyError, InputError, NoLawfulReleaseError, VerificationError
from incrowd.hierarchy.averages import Averages, average_text
from incrowd.hierarchy.spec import parse

KINDS = ("mean", "median", "centroid")


def classes_in(release):
    """The rows of each class that the search formed."""
    found = {}
    for row, number in enumerate(release.averaged.classes.tolist()):
        found.setdefault(number, []).append(row)
    return list(found.values())


def averaged(table, k, kinds, **more):
    """A release of a table of which all columns are averaged."""
    return ic.anonymize(pl.DataFrame(table), k, hierarchies=dict(kinds), **more)


def random_table(rng, columns, rows):
    """A small table with ties."""
    width = rng.choice([3, 8, 40])
    return {f"q{j}": [rng.randrange(-width, width) for _ in range(rows)] for j in range(columns)}


@pytest.mark.parametrize(("kind", "k"), crossed(KINDS, [1, 2, 3, 4]))
def test_one_column_is_the_optimum(kind, k):
    """Tests against all partitions that the shortest path finds the cheapest classes."""
    rng = random.Random(f"{kind}{k}")
    for _ in range(few(12)):
        table = random_table(rng, 1, rng.randrange(k, 9))
        release = averaged(table, k, {"q0": kind})
        best = optimum(table, {"q0": kind}, {}, k)
        assert release.status == "optimal" and release.method == "hansen-mukherjee"
        assert release.cost_units == release.bound_units == int(best * release.scale)
        assert cost(table, {"q0": kind}, {}, classes_in(release)) == best


@pytest.mark.parametrize(
    ("method", "kinds"),
    crossed(
        ["auto", *(method.id for method in METHODS)],
        [("mean", "mean"), ("centroid", "centroid", "mean"), ("median", "mean")],
    ),
)
def test_several_columns(method, kinds):
    """Tests against all partitions that costs are right, and no bound is above the optimum."""
    rng = random.Random(f"{method}{kinds}")
    for _ in range(few(4, 2)):
        k = rng.choice([2, 3])
        table = random_table(rng, len(kinds), rng.randrange(k, 8))
        asked = dict(zip(table, kinds, strict=True))
        weights = {"q0": rng.choice([1, "0.5", 2])}
        if method == "hansen-mukherjee" and sum(len({*c}) > 1 for c in table.values()) > 1:
            with pytest.raises(InputError, match="several averaged columns vary"):
                averaged(table, k, asked, method=method)
            continue
        release = averaged(table, k, asked, method=method, weights=weights)
        best = optimum(table, asked, weights, k)
        assert release.bound_units <= int(best * release.scale) <= release.cost_units
        assert int(cost(table, asked, weights, classes_in(release)) * release.scale) == (
            release.cost_units
        )
        assert min(map(len, classes_in(release))) >= k and release.smallest_class >= k
        assert release.verify()


def test_the_search_finds_small_optima():
    """Tests that moves between classes end in the cheapest ones of nearly all small tables."""
    rng, missed = random.Random(3), 0
    for _ in range(few(13, 6)):
        table = random_table(rng, 2, 8)
        asked = dict.fromkeys(table, "mean")
        release = averaged(table, 3, asked)
        missed += release.cost_units > int(optimum(table, asked, {}, 3) * release.scale)
    assert missed <= few(13, 6) // 6


def test_the_search_beats_its_start():
    """Tests on more rows that it is below MDAV and V-MDAV, and that a seed repeats it."""
    rng = np.random.default_rng(5)
    table = {f"q{j}": rng.normal(size=120).round(3).tolist() for j in range(3)}
    asked = dict.fromkeys(table, "mean")
    costs = {m: averaged(table, 4, asked, method=m, seed=1).cost_units for m in ("mdav", "v-mdav")}
    first, again = (averaged(table, 4, asked, seed=1) for _ in range(2))
    assert first.cost_units < 0.95 * min(costs.values())
    assert (first.averaged.classes == again.averaged.classes).all()
    assert 0 < first.bound_units < first.cost_units


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("digits", [None, 0, 1, -1])
def test_cells_are_the_average_rounded(kind, digits):
    """Tests each published cell against its definition, halves away from zero."""
    rng = random.Random(kind)
    table = {"q0": [Decimal(rng.randrange(-300, 300)) / 10 for _ in range(11)]}
    rule = kind if digits is None else f"{kind}:digits={digits}"
    release = averaged({"q0": [str(x) for x in table["q0"]]}, 3, {"q0": rule})
    places = 1 if digits is None else digits
    for one in classes_in(release):
        cells = [table["q0"][row] for row in one]
        exact = median(cells) if kind == "median" else mean(map(Fraction, cells))
        steps = Fraction(exact) * Fraction(10) ** places
        near = Decimal(steps.numerator) / Decimal(steps.denominator)
        wanted = near.quantize(Decimal(1), ROUND_HALF_UP) / Decimal(10) ** places
        for row in one:
            assert Decimal(release.data["q0"][row]) == wanted


def test_one_optimum_means_one_sum_of_rows():
    """Tests that means published finely keep the column's own mean."""
    table = {"q0": [1, 2, 4, 8, 16, 32, 64]}
    release = averaged(table, 2, {"q0": "mean:digits=9"})
    shown = [Fraction(text) for text in release.data["q0"]]
    assert abs(sum(shown) - sum(table["q0"])) < Fraction(1, 10**6)


def test_whole_numbers_beyond_doubles_are_exact():
    """Tests that 64-bit integers beyond 2^53 are told apart and averaged exactly."""
    base = 2**62
    table = {"q0": [base, base + 2, base + 1001, base + 1003]}
    release = averaged(table, 2, {"q0": "mean"})
    assert release.data["q0"].to_list() == [base + 1] * 2 + [base + 1002] * 2
    assert release.status == "optimal" and release.verify()


def test_zeros_are_one():
    """Tests that -0.0 and 0.0 are one number, published without a sign."""
    table = {"q0": ["-0.0", "0.0", "0", "5", "5.0", "5.00"]}
    release = averaged(table, 3, {"q0": "mean"})
    assert release.data["q0"].to_list() == ["0"] * 3 + ["5"] * 3
    assert release.cost == 0 and release.status == "optimal"
    assert average_text(Fraction(-1, 1000), 2) == "0"


def test_one_value_alone_stays():
    """Tests a column of one value: nothing changes, and nothing costs."""
    release = averaged({"q0": ["1.5"] * 5, "q1": ["x"] * 5}, 2, {"q0": "mean"})
    assert release.data["q0"].to_list() == ["1.5"] * 5
    assert release.cost == 0 and release.status == "optimal" and release.changed_cells == 0


def test_a_single_value_is_rounded_as_stated():
    """Tests that a class of equal cells shows them rounded too."""
    release = averaged({"q0": ["1.5"] * 3}, 2, {"q0": "mean:digits=0"})
    assert release.data["q0"].to_list() == ["2"] * 3


def test_missing_cells_stay_missing():
    """Tests that rows that lack the same cells are a table of their own."""
    table = {"q0": ["1", "2", None, None, "9", "8", "NA", "NA"]}
    release = averaged(table, 2, {"q0": "mean:digits=1"}, na=["NA"])
    assert release.data["q0"].to_list() == ["1.5", "1.5", None, None, "8.5", "8.5", "NA", "NA"]
    assert release.status == "optimal" and release.verify()
    with pytest.raises(NoLawfulReleaseError, match="2 rows lack 'q0' alone, fewer than k = 3"):
        averaged(table, 3, {"q0": "mean"}, na=["NA"])


@pytest.mark.parametrize("kind", [*KINDS, "range"])
@pytest.mark.parametrize("word", ["many", "nan", "NaN", "inf", "-Infinity", "1_000"])
def test_text_names_the_row(kind, word):
    """Tests that text, NaN and infinity name column, row and what is allowed; or are missing."""
    table = {"q0": ["3", "4", word, word, "5", "6"]}
    with pytest.raises(HierarchyError) as error:
        averaged(table, 2, {"q0": kind})
    text = str(error.value)
    assert "'q0'" in text and "row 3" in text and "allowed are numbers like 35" in text
    assert "--na" in text and (word.lower() in ("nan", "inf", "-infinity") or word not in text)
    release = averaged(table, 2, {"q0": kind}, na=[word])
    assert release.data["q0"].to_list()[2:4] == [word] * 2 and release.verify()


def test_what_is_too_long_or_unknown_is_told():
    """Tests what is said of long numbers, one row alone, unknown columns and methods."""
    for kind in (*KINDS, "range"):
        with pytest.raises(HierarchyError, match=r"in row 2; .*up to 60 digits"):
            averaged({"q0": ["1", "1e70", "2"]}, 2, {"q0": kind})
    with pytest.raises(NoLawfulReleaseError, match="1 row lacks 'q0' alone, fewer than k = 2"):
        averaged({"q0": [1, 2, None]}, 2, {"q0": "mean"})
    with pytest.raises(NoLawfulReleaseError, match="1 row lacks nothing, fewer than k = 2"):
        averaged({"q0": [1, None, None]}, 2, {"q0": "mean"})
    with pytest.raises(
        InputError, match=r"'q00', which is not among the quasi.*; did you mean 'q0'\?"
    ):
        averaged({"q0": [1, 2, 3]}, 2, {"q0": "mean", "q00": "mean"})
    with pytest.raises(InputError, match=r"average columns.*; did you mean 'mdav'"):
        averaged({"q0": [1, 2, 3]}, 2, {"q0": "mean"}, method="mdva")


@pytest.mark.parametrize("kind", [*KINDS, "range"])
def test_nan_of_frames_is_missing_or_refused(kind):
    """Tests polars' NaN, which is a value of its own, and null, which is missing."""
    table = {"q0": [1.0, 2.0, float("nan"), float("nan"), None, None]}
    with pytest.raises(HierarchyError, match="row 3"):
        averaged(table, 2, {"q0": kind})
    release = averaged(table, 2, {"q0": kind}, na=["nan"])
    assert release.verify() and release.data["q0"].to_list()[4:] == [None, None]


@pytest.mark.parametrize("kind", [*KINDS, "range"])
def test_all_values_different(kind):
    """Tests a column in which no value is twice: classes of k at least, lawful and verified."""
    release = averaged({"q0": [x * x for x in range(40)]}, 4, {"q0": kind})
    assert release.smallest_class >= 4 and release.status == "optimal" and release.verify()


def test_what_is_not_served_is_named():
    """Tests that averages do not silently become something else."""
    table = {"a": [1, 2, 3, 4], "b": ["x", "y", "x", "y"], "s": ["u", "v", "u", "v"]}
    asked = {"hierarchies": {"a": "mean"}}
    with pytest.raises(HierarchyError, match=r"'b' has several values and is not averaged"):
        ic.anonymize(pl.DataFrame(table), 2, qi=["a", "b"], keep=["s"], **asked)
    for more in (
        {"l": 2, "sensitive": ["s"]},
        {"veil": 0.1},
        {"fixed": ["a"]},
        {"caps": {"a": 0.5}},
        {"delete_rows": "most=1"},
        {"suppress_rows": 1},
        {"cost": "stars"},
    ):
        keep = {"keep": ["b", "s"]} if "sensitive" not in more else {"keep": ["b"]}
        name = next(iter(more))
        with pytest.raises(
            InputError, match=f"^column 'a', mean: {name} is not served by averages: "
        ):
            ic.anonymize(pl.DataFrame(table), 2, qi=["a"], **keep, **asked, **more)
    with pytest.raises(InputError, match="does not average columns"):
        ic.anonymize(pl.DataFrame(table), 2, qi=["a"], keep=["b", "s"], method="engine", **asked)
    with pytest.raises(InputError, match="hierarchy income=mean"):
        ic.anonymize(pl.DataFrame(table), 2, qi=["a"], keep=["b", "s"], method="mdav")
    with pytest.raises(HierarchyError, match="average of each class"):
        ic.frontier(pl.DataFrame(table), [2], qi=["a"], keep=["b", "s"], **asked)
    with pytest.raises(NoLawfulReleaseError, match="k = 9 is larger than the table"):
        ic.anonymize(pl.DataFrame(table), 9, qi=["a"], keep=["b", "s"], **asked)


@pytest.mark.parametrize(
    "text", ["mean:digits=x", "mean:digit=2", "median:3", "mean:digits=99", "mode"]
)
def test_rules_that_are_none(text):
    """Tests that a rule written otherwise is an error that says what is allowed."""
    with pytest.raises(HierarchyError, match=r"mean|digits"):
        parse(text)


def test_rules_are_written_as_read():
    """Tests both ways of writing a rule."""
    assert str(parse("mean")) == "mean" and str(parse("median: digits = 2")) == "median:digits=2"
    assert parse("mean:digits=-2") == Averages("mean", -2)


def test_a_changed_cell_is_found():
    """Tests that the re-check sees a cell that is no average, and a table without rows passes."""
    release = averaged({"q0": [1, 2, 3, 4]}, 2, {"q0": "mean:digits=1"})
    frame = release.data
    assert release.verify()
    object.__setattr__(release, "data", frame.with_columns(pl.Series("q0", [1.5, 1.5, 3.0, 3.0])))
    with pytest.raises(VerificationError, match=r"row 3, column 'q0'.*not its class's average"):
        release.verify()
    assert averaged({"q0": pl.Series([], dtype=pl.Int64)}, 2, {"q0": "mean"}).rows == 0


def test_the_report_says_so():
    """Tests that reports, warnings and the statement call averages what they are.

    The cost of {1, 2} and {3, 4} says that each has two neighbours; that of three pairs does not.
    """
    release = averaged({"q0": [1, 2, 3, 4]}, 2, {"q0": "mean:digits=1"})
    assert any("no longer true of the person" in warning for warning in release.warnings)
    told = "can work out these cells"
    assert told in release.warnings[-1]
    cells = ([1, 2, 3, 4, 5, 6], False), ([1, 1, 3, 4], True), ([1, 1, 2, 2], False)
    for numbers, warned in cells:
        found = averaged({"q0": numbers}, 2, {"q0": "mean:digits=1"}).warnings
        assert (told in found[-1]) == warned
    from incrowd.report.make import external_report, internal_report

    for page in (external_report(release), internal_report(release)):
        assert "averages of their class" in page and "mean, 1 decimal, of its class" in page
