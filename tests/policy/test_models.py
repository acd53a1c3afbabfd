"""l, t and distances asked for by name."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.measures.orders import natural_order

FRAME = pl.DataFrame(
    {
        "a": ["1", "1", "2", "2", "3", "3"],
        "s": ["x", "x", "y", "x", "z", "y"],
        "n": [1, 5, 2, 9, 1, 3],
    }
)

ASKED = [
    # parameters, name of the model
    ({"l": 2}, "distinct 2-diversity"),
    ({"l": "2", "l_kind": "frequency"}, "frequency 2-diversity"),
    ({"l": 1.5, "l_kind": "entropy"}, "entropy 1.5-diversity"),
    ({"l": 2, "l_kind": "recursive", "c": 2}, "recursive (2, 2)-diversity"),
    ({"l": 3, "l_kind": "disjoint"}, "disjoint 3-diversity"),
    ({"t": "0.4"}, "0.4-closeness (equal distance) of 's'"),
]


@pytest.mark.parametrize(("asked", "name"), ASKED, ids=[case[1] for case in ASKED])
def test_models_by_name(asked, name):
    """Tests that each model is asked for and obeyed: the first class {x, x} cannot stay."""
    release = ic.anonymize(FRAME, k=2, sensitive="s", keep="n", **asked)
    assert release.models == ("2-anonymity", name)
    assert release.cost >= 4
    assert release.verify()
    again = ic.anonymize(FRAME, k=2, sensitive="s", keep="n", models=release.model.models[1:])
    assert again.cost == release.cost


def test_distances(tmp_path):
    """Tests ordered numbers, hierarchies, orders and metrics from files."""

    def cost(**asked):
        return ic.anonymize(FRAME, k=2, **asked).cost

    numbers = {"sensitive": "n", "keep": "s", "t": 0.25}
    assert cost(**numbers, distance="ordered") < cost(**numbers, distance="equal")
    words = {"sensitive": "s", "keep": "n", "t": 0.25}
    (tmp_path / "h.csv").write_text("x;some;*\ny;some;*\nz;other;*\n")
    (tmp_path / "order").write_text("x\ny\nz\n")
    (tmp_path / "metric").write_text("x;y;0\nx;z;1\ny;z;1\n")
    plain = cost(**words)
    assert cost(**words, distance="hierarchy", hierarchies={"s": tmp_path / "h.csv"}) <= plain
    assert cost(**words, distance=str(tmp_path / "order")) <= plain
    assert cost(**words, distance=str(tmp_path / "metric")) <= plain


NINE, TEN = "2020-01-01T09:00", "2020-01-01T10:00"
TIMES = [
    ([TEN + "+05:00", NINE + "+00:00"], (0, 1)),
    ([TEN.replace("T", " "), NINE], (1, 0)),
    ([TEN + ":00.5Z", TEN + ":00Z"], (1, 0)),
    (["0001-01-01T00:00+14:00", "0001-01-01T00:00-12:00"], (0, 1)),
    (["2020-02", "2020-01-31"], (1, 0)),
    ([TEN, TEN + ":00"], None),  # one time in two texts
    ([TEN + "Z", NINE], None),
    (["2020-13-01", "2020-12-01"], None),
    ([TEN + "+99:99", NINE + "+00:00"], None),  # there is no such zone
    ([TEN + "-05:60", NINE + "Z"], None),
    ([TEN + "-0530", TEN + "+05:30"], (1, 0)),
    (["1", "1.0"], None),
]


@pytest.mark.parametrize(("texts", "order"), TIMES)
def test_times_are_in_order_of_time(texts: list[str], order: tuple[int, ...] | None) -> None:
    """Tests that zones, spaces and parts of a second count, and no order is made of ties."""
    assert natural_order(texts) == order


def test_two_texts_of_one_number_have_no_order() -> None:
    """Tests that the message says what is wrong: these are numbers."""
    twice = pl.DataFrame({"a": ["1"] * 4, "n": ["1", "1.0", "2", "3"]})
    with pytest.raises(ic.InputError, match="two texts of 'n' are one number or one time"):
        ic.anonymize(twice, k=2, sensitive="n", t=0.5, distance="ordered")


BAD = [
    ({"l": 2, "sensitive": ()}, "name them with --sensitive"),
    ({"l": 2, "c": 2}, "recursive l-diversity takes c"),
    ({"l": 2, "l_kind": "recursive"}, "recursive l-diversity takes c"),
    ({"l": 2, "l_kind": "distnct"}, "did you mean 'distinct'"),
    ({"l": "x"}, "l must be a whole number"),
    ({"l": 0}, "l must be a whole number"),
    ({"models": {"alpha": 0.5, "values": []}}, "lists no value to guard"),
    ({"t": 2}, "t must be at most 1"),
    ({"t": 0.3, "distance": "orderd"}, "did you mean 'ordered'"),
    ({"t": 0.3, "distance": "ordered"}, "have no order that the table knows"),
    ({"t": 0.3, "method": "forest"}, r"not 0.3-closeness \(equal .* of 's'; use"),
    ({"models": "delta=9,on=s", "method": "pattern-milp"}, "of 's' is not linear in the rows"),
    ({"t": 0.3, "distance": "hierarchy"}, "needs a hierarchy of 's'"),
    ({"t": 0.3, "hierarchies": {"s": "prefix:1"}}, "'s', which is sensitive and published unch"),
    ({"hierarchies": {"s": "prefix:1"}}, "only t-closeness with --distance hierarchy looks at it"),
]


@pytest.mark.parametrize(("asked", "message"), BAD, ids=range(len(BAD)))
def test_refuses(asked, message):
    """Tests that a wrong or lacking parameter is named."""
    with pytest.raises(ic.InputError, match=message):
        ic.anonymize(FRAME.drop("n"), k=2, **{"sensitive": "s", **asked})


FAULTY = [
    ("x;y;1\nx;z;1\ny;z;5\n", "the metric of 's' breaks .* on line 3 is more than .* 1 and 2"),
    ("x;y;1\nx;z;1\n", "the metric of 's' lacks the distance of 1 pair"),
    ("x;y;1\nx;z;-1\ny;z;1\n", "line 2: the distance is not a number of 0 or more"),
    ("x;y;1\nx;z;1\ny;z;1\nz;z;1\n", "line 4: a value is at distance 0 from itself"),
    ("x\ny\n", "the order of 's' lacks 1 of"),
]


@pytest.mark.parametrize(("text", "message"), FAULTY, ids=range(len(FAULTY)))
def test_files_of_distances_are_named(tmp_path, text, message):
    """Tests that a fault in a file of distances names the file, and values as it writes them."""
    file = tmp_path / "far.csv"
    file.write_text(text)
    with pytest.raises(ic.InputError, match=f"far.csv(: |, ){message}"):
        ic.anonymize(FRAME.drop("n"), k=2, sensitive="s", t=0.3, distance=str(file))


@pytest.mark.parametrize("values", [[1, 2, None, 4, 5, 6], ["2020-01-01", None] * 3])
def test_missing_values_have_no_place_in_an_order(tmp_path, values):
    """Tests that the missing value is named as the reason, and that the advice works."""
    frame = FRAME.select("a").with_columns(pl.Series("s", values))
    asked = {"sensitive": "s", "t": 0.5}
    with pytest.raises(ic.InputError, match=r"'s' has missing values.* an empty line"):
        ic.anonymize(frame, k=2, distance="ordered", **asked)
    file = tmp_path / "order"
    file.write_text("\n".join(["", *sorted({str(v) for v in values if v is not None})]) + "\n")
    assert ic.anonymize(frame, k=2, distance=str(file), **asked).verify()


def test_no_release_at_all():
    """Tests that a table which breaks the model as a whole is refused."""
    with pytest.raises(ic.NoLawfulReleaseError, match="distinct 5-diversity"):
        ic.anonymize(FRAME, k=2, sensitive="s", keep="n", l=5)


@settings(max_examples=few(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("12"), st.sampled_from("xyz")), min_size=2, max_size=7))
def test_diversity_counted_on_the_release(rows):
    """Tests that every class of the released frame holds two values."""
    frame = pl.DataFrame(rows, ["a", "s"], orient="row")
    if frame["s"].n_unique() < 2:
        return
    release = ic.anonymize(frame, k=1, sensitive="s", l=2)
    kinds = release.data.group_by("a").agg(pl.col("s").n_unique())
    assert kinds["s"].min() >= 2
    assert release.data["s"].equals(frame["s"])
