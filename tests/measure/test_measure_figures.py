"""Tests of measure(): hand calculations on the papers' tables, naive definitions, all frames."""

import json
from fractions import Fraction
from math import inf, log

import naive_measure as naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.errors import InputError
from incrowd.measures import Measure, measure
from incrowd.privacy.metric import Metric

F = Fraction
CONSTRUCTORS = [pd.DataFrame, pl.DataFrame, pa.table, lambda data: pl.DataFrame(data).lazy()]

# Liang and Yuan 2012, Tables 2 (3-anonymous) and 3 (2-diverse) of their Table 1.
DISEASE = ["viral", "heart", "heart", "cancer", "viral", "viral", "heart", "cancer"] + [
    "cancer"
] * 2
TABLE_2 = {
    "zip": ["98***"] * 3 + ["9****"] * 4 + ["970**"] * 3,
    "age": ["3*"] * 3 + ["**"] * 7,
    "education": ["*"] * 3 + ["Bachelor"] * 4 + ["*"] * 3,
    "disease": DISEASE,
}
GROUPS_3 = {1: "a", 2: "a", 3: "b", 5: "b", 8: "b", 9: "b", 4: "c", 6: "c", 7: "d", 10: "d"}
TABLE_3 = {"group": [GROUPS_3[i] for i in range(1, 11)], "disease": DISEASE}


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_liang_yuan_table_2(constructor) -> None:
    """Tests every figure of a 3-anonymous table with a homogeneous class, worked out by hand."""
    found = measure(constructor(TABLE_2), ["zip", "age", "education"], "disease")
    assert (found.rows, found.k, found.classes, found.unique_rows) == (10, 3, 3, 0)
    assert found.histogram == {3: 2, 4: 1}
    assert (found.largest_class, found.average_class) == (4, pytest.approx(10 / 3))
    assert [column.stars for column in found.columns] == [0, 0, 6]
    assert found.risk is not None
    assert found.risk.prosecutor_highest == F(1, 3)
    assert found.risk.rows_at_highest == 6
    assert found.risk.marketer == pytest.approx(0.3)
    (disease,) = found.sensitive
    assert (disease.distinct_l, disease.frequency_l, disease.entropy_l) == (1, 1, 1)
    assert disease.recursive_c == {2: inf, 3: inf, 4: inf, 5: inf}
    assert disease.alpha == 1
    assert disease.t_equal == F(6, 10)  # the cancer class: 1 − 0.4
    assert disease.t_ordered is None  # words have no order of their own
    assert disease.beta == F(3, 2)  # cancer: (1 − 0.4)/0.4
    assert disease.enhanced_beta == inf  # 1.5 is above −ln 0.4
    assert disease.delta == inf


def test_liang_yuan_table_3() -> None:
    """Tests the paper's own statement: 2-diverse by frequency, yet 0.4 from the table."""
    found = measure(pl.DataFrame(TABLE_3), "group", "disease")
    assert found.k == 2
    (disease,) = found.sensitive
    assert (disease.distinct_l, disease.frequency_l) == (2, 2)
    assert disease.entropy_l == pytest.approx(2)
    assert disease.t_equal == F(2, 5)
    assert disease.recursive_c[2] == 1
    assert disease.alpha == F(1, 2)


def test_a_spread_class() -> None:
    """Tests finite β and δ by hand: shares 1/2, 1/4, 1/4 against 3/8, 3/8, 2/8, and so on."""
    values = ["a", "a", "b", "c", "a", "b", "b", "c"]
    data = {"q": ["x"] * 4 + ["y"] * 4, "s": values}
    (found,) = measure(pd.DataFrame(data), "q", "s").sensitive
    assert found.beta == F(1, 3)
    assert found.enhanced_beta == F(1, 3)
    assert found.delta == pytest.approx(log(3 / 2))  # b: 1/4 against 3/8
    assert found.t_equal == F(1, 8)
    assert found.recursive_c == {2: 1, 3: 2, 4: inf, 5: inf}


def test_order_hierarchy_and_metric(tmp_path) -> None:
    """Tests t over ranks, a hierarchy and a metric on the t-closeness paper's salaries."""
    salaries = ["3000", "4000", "5000", "6000", "11000", "8000", "7000", "9000", "10000"]
    data = pl.DataFrame({"q": [1] * 3 + [2] * 3 + [3] * 3, "salary": salaries})
    tree = tmp_path / "salary.csv"
    tree.write_text("".join(f"{s};{'low' if int(s) < 6000 else 'high'};*\n" for s in salaries))
    line = {(a, b): abs(int(a) - int(b)) for a in salaries for b in salaries if a < b}
    (found,) = measure(
        data, "q", "salary", hierarchies={"salary": tree}, metrics={"salary": line}
    ).sensitive
    assert found.t_ordered == F(375, 1000)  # numbers by size, not by text
    assert found.t_metric == F(375, 1000)  # the salaries are equally spaced
    assert found.t_hierarchical == F(2, 3)  # all low: two thirds must cross at distance 1
    backwards = sorted(salaries, key=int, reverse=True)
    again = measure(data, "q", "salary", orders={"salary": backwards}).sensitive[0]
    assert again.t_ordered == F(375, 1000)


def test_journalist_by_hand() -> None:
    """Tests F people behind each class: stars stand for any value, missing for itself."""
    table = pl.DataFrame(
        {"a": ["1", "1", "*", "*", "2", None], "b": ["x", "x", "y", "y", "z", "z"]}
    )
    people = pl.DataFrame(
        {"a": ["1", "1", "1", "1", "2", "9", None, None], "b": [*list("xxxxyy"), "z", "y"]}
    )
    found = measure(table, ["a", "b"], population=people).risk
    assert found is not None
    # classes: (1,x) 2 rows of 4 people; (*,y) 2 of 3; (2,z) 1 of none; (missing,z) 1 of 1
    assert found.journalist_highest == 1
    assert found.uncovered_rows == 1
    assert found.marketer == pytest.approx((2 / 4 + 2 / 3 + 1 + 1) / 6)


cells = st.sampled_from(["a", "b", "*", None])
tables = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=12)


@settings(max_examples=few(80), deadline=None)
@given(rows=tables, data=st.data())
def test_against_naive(rows: list[tuple], data: st.DataObject) -> None:
    """Tests classes, subsets, risks and the plain figures of one attribute against definitions."""
    secret = data.draw(st.lists(st.sampled_from("pqr"), min_size=len(rows), max_size=len(rows)))
    population = data.draw(tables)
    frame = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row").with_columns(
        pl.Series("s", secret)
    )
    frame = frame.with_columns(pl.col("x", "y", "z").cast(pl.String))
    everyone = pl.DataFrame(population, schema=dict.fromkeys("xyz", pl.String), orient="row")
    found = measure(frame, ["x", "y", "z"], "s", subsets=3, population=everyone)
    parts = naive.classes(rows)
    sizes = [len(part) for part in parts]
    assert (found.k, found.classes, found.unique_rows) == (min(sizes), len(sizes), sizes.count(1))
    assert {s.columns: (s.unique_rows, s.smallest_class, s.classes) for s in found.subsets} == {
        tuple("xyz"[j] for j in chosen): figures
        for chosen, figures in naive.unique_by_subset(rows, 3).items()
    }
    crowd = [max(naive.people(rows[part[0]], population), len(part)) for part in parts]
    assert found.risk is not None
    assert found.risk.journalist_highest == F(1, min(crowd))
    marketer = sum(len(part) / f for part, f in zip(parts, crowd, strict=True)) / len(rows)
    assert found.risk.marketer == pytest.approx(marketer)
    groups = [[secret[i] for i in part] for part in parts]
    (figures,) = found.sensitive
    assert figures.distinct_l == min(len(set(g)) for g in groups)
    assert figures.alpha == max(F(g.count(v), len(g)) for g in groups for v in g)
    assert figures.beta == max(naive.beta(g, secret) for g in groups)
    assert figures.t_equal == max(naive.total_variation(g, secret) for g in groups)


def test_disjoint_over_several_attributes() -> None:
    """Tests that attributes which are diverse one by one need not be together."""
    rows = [("0", "0"), ("0", "1"), ("1", "0")]  # (0,1) and (1,0) differ, (0,0) has no mate
    frame = pl.DataFrame(rows, schema=["s", "t"], orient="row").with_columns(q=pl.lit("x"))
    found = measure(frame, "q", ["s", "t"])
    assert [one.distinct_l for one in found.sensitive] == [2, 2]
    assert found.disjoint_l == 1
    both = pl.concat([frame, pl.DataFrame({"s": ["1"], "t": ["1"], "q": ["x"]})])
    assert measure(both, "q", ["s", "t"]).disjoint_l == 2


def test_entropy_loss_by_hand() -> None:
    """Tests that a starred cell loses −log₂ of its value's share, in any order of the rows."""
    original = pl.DataFrame({"a": ["x", "x", "y", "z"]})
    release = pl.DataFrame({"a": ["z", "x", "*", "*"]})
    (column,) = measure(release, "a", original=original).columns
    assert column.stars == 2
    assert column.entropy_loss == pytest.approx(1 + 2)  # an x of share 1/2, the y of 1/4
    assert column.entropy_loss_fraction == pytest.approx(3 / (4 * 1.5))
    stranger = pl.DataFrame({"a": ["z", "z", "*", "*"]})  # more z than there were
    assert measure(stranger, "a", original=original).columns[0].entropy_loss is None


def test_entropy_loss_of_general_values() -> None:
    """Tests that a general value loses as much as its leaves leave open, given the hierarchy."""
    original = pl.DataFrame({"a": ["1", "2", "2", "11"]})
    release = pl.DataFrame({"a": ["[0, 10)", "[0, 10)", "[0, 10)", "11"]})
    label = _label(original)
    release = release.with_columns(pl.col("a").replace("[0, 10)", label))
    assert measure(release, "a", original=original).columns[0].entropy_loss is None
    (column,) = measure(release, "a", original=original, hierarchies={"a": "interval:10"}).columns
    expected = -np.log2(1 / 3) - 2 * np.log2(2 / 3)
    assert column.entropy_loss == pytest.approx(expected)


def _label(original: pl.DataFrame) -> str:
    from incrowd.hierarchy.build import build_trees
    from incrowd.hierarchy.spec import parse

    values = original["a"].unique().to_list()
    tree = build_trees({"a": values}, {"a": parse("interval:10")})[0][0]
    label = tree.labels[1][tree.node[1][tree.leaves.index("1")]]
    assert label is not None
    return label


def test_empty_and_single() -> None:
    """Tests a table without rows and one with a single row."""
    empty = measure(
        pl.DataFrame({"a": [], "s": []}, schema={"a": pl.String, "s": pl.String}), "a", "s"
    )
    assert (empty.k, empty.classes, empty.risk, empty.sensitive) == (0, 0, None, ())
    assert str(empty)
    one = measure(pl.DataFrame({"a": ["x"], "s": ["y"]}), "a", "s", subsets=2)
    assert (one.k, one.unique_rows) == (1, 1)
    assert one.sensitive[0].t_equal == 0
    assert one.sensitive[0].t_ordered is None


def test_record_is_json() -> None:
    """Tests that every figure survives JSON, infinite ones as null, and Inf never appears."""
    found = measure(pl.DataFrame(TABLE_2), ["zip", "age"], "disease", subsets=2)
    text = json.dumps(found.record(), allow_nan=False)
    back = json.loads(text)
    assert back["k"] == found.k
    assert back["sensitive"][0]["delta"] is None
    assert len(back["subsets"]) == 3


def test_printed_figures_are_never_too_good() -> None:
    """Tests that a printed t is one that the table obeys: rounded up, while l is rounded down."""
    from incrowd.text.units import down, up

    assert up(F(1, 3)) == "0.3334"
    assert down(F(5, 3)) == "1.6666"
    assert (up(F(1, 5)), down(F(2)), up(0.1 + 0.2)) == ("0.2", "2", "0.3")
    assert up(inf) == "none"
    text = str(measure(pl.DataFrame(TABLE_2), ["zip"], "disease", subsets=1))
    assert "3-anonymous" in text
    assert "zip" in text
    many = pl.DataFrame({f"illness{j:02}": [j, 2 * j] for j in range(12)})  # not all abreast
    text = str(measure(many.with_columns(q=1), "q", many.columns))
    assert all(name in text for name in many.columns) and text.count("disjoint l") == 1


BAD = [
    ({"qi": "zipp"}, "no column is called 'zipp'; did you mean 'zip'"),
    ({"qi": ["zip", "zip"]}, "named twice"),
    ({"qi": ["zip"], "sensitive": "zip"}, "both qi and sensitive"),
    ({"sensitive": ["zip", "age", "education", "disease"]}, "no column is a quasi-identifier"),
    ({"qi": "zip", "subsets": -1}, "subsets must be a whole number"),
    ({"qi": "zip", "sensitive": "disease", "recursive": [0]}, "l must be a whole number"),
    ({"qi": "zip", "sensitive": "disease", "orders": {"disease": ["viral"]}}, "lacks 2 of"),
    ({"qi": "zip", "sensitive": "disease", "orders": {"zip": []}}, "none of the measured"),
    ({"qi": "zip", "sensitive": "disease", "metrics": {"disease": {}}}, "lacks the distance of 3"),
    (
        {"qi": "zip", "sensitive": "disease", "metrics": {"disease": Metric.of([[0, 1], [1, 0]])}},
        "metric has 2 values",
    ),
    ({"qi": "zip", "population": pl.DataFrame({"a": [1]})}, "population: no column"),
    ({"qi": "zip", "original": pl.DataFrame({"a": [1]})}, "original: no column"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_arguments(arguments: dict, message: str) -> None:
    """Tests that wrong arguments are named, with the nearest fix."""
    with pytest.raises(InputError, match=message):
        measure(pl.DataFrame(TABLE_2), **arguments)


def test_public_name() -> None:
    """Tests that incrowd.measure is the function, also after its modules were imported."""
    import incrowd

    assert isinstance(incrowd.measure(pl.DataFrame(TABLE_2), ["zip"]), Measure)
