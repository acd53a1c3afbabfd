"""The scikit-learn transformer: scikit-learn's own checks, and what it promises."""

from collections import Counter
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import incrowd as ic
from dial import few
from incrowd.sklearn.anonymizer import Anonymizer

PEOPLE = pd.DataFrame(
    {
        "age": [34, 36, 38, 35, 51, 58, 52, 57, 33, 34],
        "zip": [
            "91326",
            "91327",
            "91330",
            "95953",
            "95954",
            "95960",
            "95962",
            "95963",
            "91331",
            "91326",
        ],
        "sex": ["f", "m", "f", "m", "f", "m", None, "f", "m", "f"],
    }
)
RULES = {"age": "interval:5,10,20", "zip": "prefix:1,2,3"}


def smallest(rows: Any) -> int:
    """Rows of the smallest class, NaN equal to NaN."""
    return min(Counter(tuple(map(str, row)) for row in np.asarray(rows)).values())


@parametrize_with_checks([Anonymizer(method="mondrian")])
def test_what_scikit_learn_asks(estimator: Any, check: Any) -> None:
    """Tests the transformer against scikit-learn's contract; a fast method, the rest is alike."""
    check(estimator)


@pytest.mark.parametrize("method", ["auto", "mondrian", "forest"])
def test_the_fitted_table_is_k_anonymous(method: str) -> None:
    """Tests both ways to transform the fitted table, in any order."""
    made = Anonymizer(k=3, method=method)
    out = made.fit_transform(PEOPLE)
    again = made.transform(PEOPLE)
    assert smallest(out) >= 3
    pd.testing.assert_frame_equal(pd.DataFrame(out), pd.DataFrame(again))
    backwards = made.transform(PEOPLE[::-1])
    pd.testing.assert_frame_equal(pd.DataFrame(out), pd.DataFrame(backwards[::-1]))
    assert made.cost_ >= made.release_.lower_bound


def test_classes_that_read_alike_are_learnt_once() -> None:
    """Tests that of all classes with the same labels the cheapest alone is kept, and is enough."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.integers(0, 40, 60), "b": rng.choice(list("xyz"), 60)})
    for rules in ({}, {"a": "interval:5,10"}, {"a": "range:round=5"}):
        made = Anonymizer(k=4, hierarchies=rules, method="mondrian" if not rules else "auto")
        made.fit(table)
        learnt = [one for some in made._patterns.patterns.values() for found in some.values()
                  for one in found]  # fmt: skip
        places = {(one.labels, tuple(sorted(one.ends.items()))) for one in learnt}
        assert len(learnt) == len(places), rules
        shown = set(made._patterns.seen.values())
        assert {one.labels for one in learnt} == shown


def test_types() -> None:
    """Tests that numbers stay numbers where they can, names are kept, pandas comes back."""
    made = Anonymizer(k=2, hierarchies=RULES).set_output(transform="pandas")
    out = made.fit_transform(PEOPLE)
    assert list(out.columns) == list(made.get_feature_names_out()) == ["age", "zip", "sex"]
    assert {cell for cell in out["age"] if "-" in cell}
    plain = Anonymizer(k=2).fit_transform(PEOPLE[["age"]].to_numpy())
    assert plain.dtype == float
    assert np.isnan(plain).sum() == 8  # only 34 occurs twice
    mixed = Anonymizer(k=2).fit_transform(PEOPLE[["age", "sex"]])
    assert mixed.dtype == object


def test_rows_that_were_not_seen() -> None:
    """Tests that a new row gets the cheapest learnt pattern that covers it, else stars."""
    frame = pd.DataFrame({"age": [31, 32, 33, 34, 51, 52], "sex": ["f", "f", "f", "f", "m", "m"]})
    made = Anonymizer(k=2, hierarchies={"age": "interval:5,10"}).fit(frame)
    new = pd.DataFrame({"age": [30, 53, 70, 37], "sex": ["f", "m", "m", "x"]})
    assert made.transform(new).tolist() == [
        ["30-34", "f"],
        ["50-54", "m"],
        ["*", "*"],
        ["*", "*"],
    ]
    alone = [made.transform(new.iloc[[i]]).tolist()[0] for i in range(4)]
    assert alone == made.transform(new).tolist()


def test_new_values_do_not_change_the_labels() -> None:
    """Tests that a number with decimals is not forced into intervals of whole numbers."""
    made = Anonymizer(k=2, hierarchies={"x0": "interval:5"}).fit([[1], [2], [7], [8]])
    assert made.transform([[1], [3], [8]]).tolist() == [["0-4"], ["0-4"], ["5-9"]]
    assert made.transform([[2.5], [3.0]]).tolist() == [["*"], ["0-4"]]


def test_ranges_of_seen_and_new_rows() -> None:
    """Tests that a class shows its ends, and that a new value between them is released so."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": rng.integers(20, 60, 40), "sex": rng.choice(["f", "m"], 40)})
    for rule in ("range", "range:round=5", "range:most=6"):
        made = Anonymizer(k=4, hierarchies={"age": rule})
        out = made.fit_transform(table)
        assert smallest(out) >= 4
        ends = {}
        for age, sex in out.tolist():
            if "-" in str(age):
                ends[age, sex] = tuple(map(int, age.split("-")))
        assert ends
        new = pd.DataFrame({"age": [*range(18, 63), 20.5], "sex": "f"})
        seen = {tuple(row) for row in table.astype(str).to_numpy().tolist()}
        for (age, sex), (shown, kept) in zip(new.to_numpy(), made.transform(new), strict=True):
            if (f"{age:g}", sex) in seen:
                continue
            held = [key for key, (low, high) in ends.items() if low <= age <= high]
            if "-" in str(shown):
                assert (shown, kept) in held
            elif str(shown) != "*":
                assert float(shown) == age
            else:
                assert not [key for key in held if key[1] == sex]
        assert smallest(np.vstack([out, made.transform(table)])) >= 4


def test_ranges_of_dates_and_of_missing_values() -> None:
    """Tests days, a missing value among them, and new ones of no place."""
    days = ["2021-03-01", "2021-03-04", "2021-03-09", "2021-05-01", "2021-05-20", None, None]
    table = pd.DataFrame({"day": np.array(days, object)})
    made = Anonymizer(k=2, hierarchies={"day": "range"})
    out = made.fit_transform(table)
    assert smallest(out) >= 2
    new = np.array([["2021-03-05"], ["2021-05-02"], ["soon"], [None]], object)
    found = [row[0] for row in made.transform(pd.DataFrame(new, columns=["day"]))]
    assert found[0].startswith("2021-03") and ".." in found[0]
    assert found[1] == "2021-05-01..2021-05-20" and found[2] == "*"
    assert found[3] in (None, "*")


def test_empty_text_and_missing_values_that_were_not_seen() -> None:
    """Tests that no pattern but stars covers a value that the column cannot place."""
    made = Anonymizer(k=2).fit(np.array([[""], [""], ["a"], ["a"]], dtype=object))
    assert made.transform(np.array([["b"], [None], [""]], dtype=object)).tolist() == [
        ["*"],
        ["*"],
        [""],
    ]


@settings(max_examples=few(25))
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=24),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5),
    st.integers(2, 4),
)
def test_fitted_and_new_rows_together(rows: list[Any], new: list[Any], k: int) -> None:
    """Tests the promise: with new rows added, all but fully suppressed rows stay k alike."""
    made = Anonymizer(k=k, method="k-member", star="?").fit(np.array(rows))
    both = made.transform(np.array([*rows, *new]))
    seen = Counter(map(str, both[: len(rows)]))
    assert min(seen.values()) >= k
    for row in both[len(rows) :]:
        assert np.isnan(row).all() or seen[str(row)] >= k


def test_copies_of_a_row_stay_together() -> None:
    """Tests a table whose best release splits the copies of a row: no function of rows could."""
    rows = np.array([[0, 0]] * 3 + [[0, 1]] + [[1, 0]])
    release = ic.anonymize(pd.DataFrame(rows, columns=["a", "b"]), k=2)
    made = Anonymizer(k=2)
    out = made.fit_transform(rows)
    assert smallest(out) >= 2
    assert len({str(row) for row in out[:3]}) == 1
    assert made.cost_ >= release.cost


def test_sensitive_target() -> None:
    """Tests that y is the sensitive attribute where l is asked for, and is needed then."""
    y = np.array(["flu", "flu", "asthma", "flu", "flu", "asthma", "flu", "flu", "asthma", "flu"])
    made = Anonymizer(k=2, l=2, hierarchies=RULES)
    out = made.fit_transform(PEOPLE, y)
    kinds: dict[str, set[str]] = {}
    for row, value in zip(out, y, strict=True):
        kinds.setdefault(str(row), set()).add(value)
    assert all(len(values) >= 2 for values in kinds.values())
    with pytest.raises(ValueError, match="requires y"):
        clone(made).fit(PEOPLE)


def test_a_feature_may_be_called_as_the_target_is_inside() -> None:
    """Tests that no feature's name is in the way of the sensitive attribute."""
    frame = pd.DataFrame({"sensitive value": [1, 1, 2, 2], "sensitive value_": [1, 1, 1, 1]})
    made = Anonymizer(k=2, l=2).fit(frame, ["a", "b", "a", "b"])
    assert (made.cost_, made.transform(frame).tolist()) == (0, frame.to_numpy().tolist())


def test_refusals() -> None:
    """Tests that what incrowd says of bad input comes as ValueError."""
    with pytest.raises(ValueError, match="k = 5 is larger than the table: n_samples = 2"):
        Anonymizer().fit([[1], [2]])
    with pytest.raises(ValueError, match="did you mean 'age'"):
        Anonymizer(k=2, hierarchies={"aeg": "interval:5"}).fit(PEOPLE)
    with pytest.raises(ValueError, match="stands for a suppressed cell"):
        Anonymizer(k=2).fit(np.array([["*"], ["a"]], dtype=object))


def test_in_a_pipeline() -> None:
    """Tests that a model can be trained behind it."""
    y = [0, 0, 1, 1, 1, 0, 1, 0, 1, 0]
    steps = (Anonymizer(k=2, hierarchies=RULES), OneHotEncoder(handle_unknown="ignore"))
    model = make_pipeline(*steps, DecisionTreeClassifier(random_state=0))
    assert len(model.fit(PEOPLE, y).predict(PEOPLE)) == len(PEOPLE)


def test_dates_and_booleans() -> None:
    """Tests dates under a rule, and that true and false are text in a mixed table."""
    frame = pd.DataFrame(
        {"born": pd.to_datetime(["1990-03-15", "1990-05-01", "1971-01-01", None]),
         "here": pd.array([True, True, True, True], dtype=object)}
    )  # fmt: skip
    out = Anonymizer(k=2, hierarchies={"born": "date:year"}).fit_transform(frame)
    assert out.tolist() == [["1990", "True"], ["1990", "True"], ["*", "True"], ["*", "True"]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dates_beside_numbers(frame: Any) -> None:
    """Tests that dates are dates beside numbers: pandas' ended the run, polars' were numbers."""
    days = [datetime(1990, 3, 15), datetime(1990, 5, 1), datetime(1971, 1, 1), None]
    people = frame({"born": days, "^a$": [1.0, 1.0, 2.0, 2.0]})
    made = Anonymizer(k=2, hierarchies={"born": "date:year"}).fit(people)
    shown = [["1990", 1.0], ["1990", 1.0], ["*", 2.0], ["*", 2.0]]
    assert made.transform(people).tolist() == shown
    assert made.transform(people[1:]).tolist() == shown[1:]


def test_features_of_one_name_and_too_few_targets() -> None:
    """Tests two messages that were those of other libraries."""
    with pytest.raises(ValueError, match="several features are called 'a'; give each a name"):
        Anonymizer(k=2).fit(pd.DataFrame([[1, 2], [1, 2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Anonymizer(k=2, l=2).fit([[1], [1], [1]], ["a", "b"])


def test_polars_output_has_types() -> None:
    """Tests that numbers beside text are numbers in a polars frame, suppressed ones NaN."""
    frame = pd.DataFrame({"n": [1, 1, 2, 2], "u": [1, 2, 3, 4], "s": list("xxyz"), "m": [None] * 4})
    made = Anonymizer(k=2)
    made.set_output(transform="polars")
    out: Any = made.fit_transform(frame)
    kinds = {"n": pl.Float64, "u": pl.Float64, "s": pl.String, "m": pl.Float64}
    assert dict(out.schema) == kinds
    assert out["n"].to_list() == [1, 1, 2, 2]
    assert out["u"].is_nan().all()
    assert out["s"].to_list() == ["x", "x", "*", "*"]


@pytest.mark.parametrize("k", ["3", 2.5, None])
def test_a_k_that_is_no_whole_number(k: Any) -> None:
    """Tests the message for a k of another type."""
    with pytest.raises(ValueError, match="k must be a whole number"):
        Anonymizer(k=k).fit([[1], [1], [1]])


def test_zeros_are_released_alike() -> None:
    """Tests that the sign of zero does not tell rows apart."""
    for beside in (1.0, "x"):
        rows = np.array([[0.0, beside], [-0.0, beside]], dtype=object if beside == "x" else float)
        out = Anonymizer(k=2).fit_transform(rows)
        assert len({str(zero) for zero in out[:, 0]}) == 1


@pytest.mark.parametrize("rule", ["mean", "median", "centroid"])
def test_averages_are_refused(rule: str) -> None:
    """Tests that averaged features are refused by name: they had become stars in silence."""
    with pytest.raises(ValueError, match="feature 'x0' is averaged"):
        Anonymizer(k=2, hierarchies={"x0": rule}).fit([[1.0], [2.0], [5.0], [6.0]])


@pytest.mark.parametrize("kind", [np.int64, object])
def test_whole_numbers_that_floats_do_not_tell_apart(kind: Any) -> None:
    """Tests that they are published to the last digit, as text, and others as numbers."""
    long = 2**53 + 1
    rows = np.array([[long, 1], [long, 1], [long - 1, 2], [long - 1, 2]], kind)
    out = Anonymizer(k=2).fit_transform(rows)
    assert out.tolist() == [[str(long), 1], [str(long), 1], [str(long - 1), 2], [str(long - 1), 2]]
    assert Anonymizer(k=2).fit_transform(np.full((2, 1), 2**53)).dtype == float
