"""The front door from Python."""

import signal
import threading

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.cli.summary import summary
from incrowd.run.stop import Stop, interruptible
from incrowd.tables import from_native, read, texts
from tables import Sorter, csv_bytes, parsed, smallest_class, tables

PEOPLE = {
    "name": ["Ann", "Bob", "Cy", "Di", "Ed", "Flo"],
    "age": [34, 34, 36, 36, 61, 34],
    "zip": ["01234", "01234", "01235", None, "99999", "01234"],
    "diagnosis": ["flu", "flu", "cold", "flu", None, "cold"],
}


def cells(frame):
    """Any frame as columns of text."""
    return texts(from_native(frame)).to_dict(as_series=False)


def test_the_main_job(constructor):
    """Tests the call of the README on frames of every library."""
    frame = constructor(PEOPLE)
    release = ic.anonymize(frame, k=2, qi=["age", "zip"], sensitive="diagnosis", id="name")
    assert type(release.data) is type(frame)
    out, before = cells(release.data), cells(frame)
    assert list(out) == ["age", "zip", "diagnosis"]
    assert out["diagnosis"] == before["diagnosis"]
    for name in ("age", "zip"):
        assert all(b in (a, "*") for a, b in zip(before[name], out[name], strict=True))
    rows = list(zip(out["age"], out["zip"], strict=True))
    assert smallest_class(rows) == release.smallest_class >= 2
    stars = sum(a != b for n in ("age", "zip") for a, b in zip(before[n], out[n], strict=True))
    assert stars == release.cost == release.changed_cells == sum(release.changed.values())
    assert release.classes == len(set(rows))
    assert (release.rows, release.columns, release.cells, release.k) == (6, 2, 12, 2)
    assert release.lower_bound <= release.cost
    assert (release.status == "optimal") == (release.lower_bound == release.cost)
    assert release.cost_fraction == release.cost / 12
    assert release.verify()
    assert release.seconds >= 0
    assert "2-anonymity" in repr(release)
    warned = f"{len(release.warnings)} warning{'s' * (len(release.warnings) > 1)} in .warnings>"
    assert repr(release).endswith(warned if release.warnings else f"{release.status}>")
    for part in ("6 in", "2-anonymity", "age", "zip"):
        assert part in summary(release)


def test_no_frame_changes_under_our_hands(constructor):
    """Tests that the original is what it was."""
    frame = constructor(PEOPLE)
    before = cells(frame)
    ic.anonymize(frame, k=3, id="name")
    assert cells(frame) == before


def test_a_path(tmp_path):
    """Tests that a file can be given by its path; the release is a frame of text."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a;b\n01;x\n01;y\n")
    release = ic.anonymize(path, k=2)
    assert release.data.rows() == [("01", "*"), ("01", "*")]
    release.write(tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_bytes() == b"a;b\n01;*\n01;*\n"


@settings(max_examples=few(150), deadline=None)
@given(tables(max_rows=7), st.integers(1, 7), st.sampled_from(["keep", "shuffle"]), st.data())
def test_any_table(tmp_path_factory, table, k, order, data):
    """Tests, on the written bytes, that nobody is lost or invented and all are in a crowd."""
    header, rows = table
    k = min(k, len(rows))
    kept = data.draw(st.sampled_from([[], header[1:], header[1:2]]))
    folder = tmp_path_factory.mktemp("t")
    (folder / "t.csv").write_bytes(csv_bytes(header, rows))
    method = "auto" if data.draw(st.booleans()) else Sorter()
    source = read(folder / "t.csv", ",")
    policy = ic.Policy(k=k, keep=kept, order=order, method=method)
    from incrowd._api import release_of

    release = release_of(source, policy)
    release.write(folder / "o.csv")
    lines = parsed((folder / "o.csv").read_bytes())
    assert lines[0] == header
    place = release.edit.order.tolist() if order == "shuffle" else list(range(len(rows)))
    assert sorted(place) == list(range(len(rows)))
    qi = [j for j, name in enumerate(header) if name not in kept]
    stars = 0
    for origin, line in zip(place, lines[1:], strict=True):
        for j, (old, new) in enumerate(zip(rows[origin], line, strict=True)):
            stars += new == "*"
            assert new == (old or "") or (new == "*" and j in qi)
    again = texts(read(folder / "o.csv", ",")).rows()
    assert smallest_class([[row[j] for j in qi] for row in again]) >= k
    assert stars == release.cost


HARD = [
    # rows, k, stars at least needed, why
    ([["x"]], 1, 0, "one row"),
    ([[None], [None]], 2, 0, "all missing"),
    ([[None], [""]], 2, 2, "missing and empty text differ"),
    ([["x"], ["x"], ["y"]], 2, 3, "one column"),
    ([["1", "1"], ["01", "1"]], 2, 2, "01 is not 1"),
]


@pytest.mark.parametrize(("rows", "k", "stars", "why"), HARD, ids=[case[3] for case in HARD])
def test_small_tables(rows, k, stars, why):
    """Tests corners with a known optimum."""
    names = [f"c{j}" for j in range(len(rows[0]))]
    release = ic.anonymize(pl.DataFrame(rows, names, orient="row"), k=k)
    assert (release.cost, release.status) == (stars, "optimal"), why


def test_no_rows():
    """Tests that a table without rows has a release without rows, which is lawful."""
    frame = pl.DataFrame({"a": pl.Series([], dtype=pl.String)})
    release = ic.anonymize(frame, k=5)
    assert release.data.equals(frame)
    assert (release.rows, release.cost, release.gap, release.classes) == (0, 0, 0, 0)
    assert (release.smallest_class, release.status) == (0, "optimal")
    assert release.verify()
    assert "no rows" in summary(release)
    assert "no rows below its header" in release.warnings[0]


@pytest.mark.parametrize("distance", ["equal", "ordered", "apart"])
def test_no_rows_tell_what_was_asked(tmp_path, monkeypatch, distance):
    """Tests method and models of a table without rows, which has no values to be apart."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "apart").write_text("x;y;1\n")
    frame = pl.DataFrame(schema={"a": pl.String, "s": pl.String})
    asked = {"qi": "a", "sensitive": "s", "t": 0.2, "distance": distance}
    release = ic.anonymize(frame, k=2, method="sensitive-engine", **asked)
    assert (release.method, len(release.models)) == ("engine", 2)
    assert release.verify()
    assert ic.anonymize(frame, k=2, **asked).method == "auto"
    with pytest.raises(ic.InputError, match="no method is called 'engin'"):
        ic.anonymize(frame, k=2, method="engin", **asked)


@pytest.mark.parametrize("asked", [{"linked_rows": True}, {"pseudonym": "who"}], ids=str)
def test_people_of_a_table_without_rows(asked):
    """Tests that there is a release without rows where the rows of people stay linked, too."""
    frame = pl.DataFrame({"who": [], "a": []}, schema={"who": pl.String, "a": pl.Int64})
    release = ic.anonymize(frame, k=2, qi="a", person="who", **asked)
    assert release.data.height == release.cost == 0
    assert release.status == "optimal"


def test_k_larger_than_the_table():
    """Tests that the reason is told."""
    with pytest.raises(ic.NoLawfulReleaseError, match="k = 7 is larger than the table"):
        ic.anonymize(pl.DataFrame(PEOPLE), k=7)


def test_a_star_in_the_input():
    """Tests that the column is named, another mark offered and taken."""
    frame = pl.DataFrame({"a": ["*", "x", "y"], "b": ["*", "#", "z"]})
    with pytest.raises(ic.InputError, match=r"column 'a' has a cell equal to '\*'.*--star SYMBOL"):
        ic.anonymize(frame, k=3)
    with pytest.raises(ic.InputError, match="column 'b' has a cell equal to '#'"):
        ic.anonymize(frame, k=3, star="#")
    assert ic.anonymize(frame, k=3, star="?").data.rows() == [("?", "?")] * 3
    # in a column that is published as it is, a star means nothing
    assert ic.anonymize(frame, k=3, qi="b", keep="a", star="?").data["a"].to_list() == [
        "*",
        "x",
        "y",
    ]


def test_a_star_among_the_labels(tmp_path):
    """Tests that the chosen mark may not be a label of a hierarchy either."""
    (tmp_path / "h.csv").write_text("1;low;*\n2;low;*\n3;high;*\n")
    frame = pl.DataFrame({"a": ["1", "2", "3"]})
    with pytest.raises(ic.InputError, match="a label of its hierarchy equals 'low'"):
        ic.anonymize(frame, k=2, hierarchies={"a": tmp_path / "h.csv"}, star="low")


def test_hierarchies_weights_and_costs(tmp_path):
    """Tests that a cell may become an ancestor, and what that costs."""
    (tmp_path / "h.csv").write_text("1;low;*\n2;low;*\n3;high;*\n4;high;*\n")
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "b": ["x"] * 4})
    given = {"hierarchies": {"a": str(tmp_path / "h.csv")}, "k": 2}
    release = ic.anonymize(frame, **given)
    assert release.data["a"].to_list() == ["low", "low", "high", "high"]
    assert release.data["b"].to_list() == ["x"] * 4
    assert (release.cost, release.changed_cells, release.cost_fraction) == (2, 4, 0.25)
    assert ic.anonymize(frame, **given, weights={"a": 3}).cost == 6
    assert ic.anonymize(frame, **given, cost="stars").cost == 4
    assert ic.anonymize(frame, **given, cost="ncp").cost == pytest.approx(4 / 3, abs=1e-5)
    with pytest.raises(ic.HierarchyError, match="did you mean 'a'"):
        ic.anonymize(frame, k=2, hierarchies={"aa": "prefix:1"})


def test_order():
    """Tests that a seed orders shuffled rows, that none does otherwise, and that rows are whole."""
    frame = pl.DataFrame({"a": [str(i // 2) for i in range(12)], "b": list(range(12))})
    given = {"k": 2, "qi": "a", "keep": "b"}
    assert ic.anonymize(frame, **given).data.equals(frame)
    once, again, other = (
        ic.anonymize(frame, **given, order="shuffle", seed=seed).data for seed in (1, 1, 2)
    )
    assert once.equals(again)
    assert not once.equals(frame) and not once.equals(other)
    assert once.sort("b").equals(frame)
    fresh = [ic.anonymize(frame, **given, order="shuffle") for _ in range(3)]
    assert all(release.verify() for release in fresh)
    orders = {tuple(release.data["b"].to_list()) for release in fresh}
    assert len(orders) > 1  # all three alike: once in 12!² runs
    assert [release.seed for release in fresh] == [0] * 3


def test_the_order_does_not_follow_from_the_seed_alone():
    """Tests that tables of as many rows go in other orders, even if one hidden cell differs."""

    def order(last: str) -> list[int]:
        frame = pl.DataFrame({"a": [*map(str, range(39)), last], "b": list(range(40))})
        release = ic.anonymize(frame, k=40, qi="a", keep="b", order="shuffle", seed=0)
        assert set(release.data["a"]) == {"*"}
        return release.data["b"].to_list()

    assert order("x") == order("x")
    assert order("x") != order("y")
    assert order("x") != np.random.default_rng([0, 0x0DE4]).permutation(40).tolist()


def test_an_order_without_a_seed_knows_nothing_of_the_table(monkeypatch):
    """Tests that it comes from the system's entropy alone, and is as good as that."""
    known = np.random.default_rng(5)
    given = [known.bytes(8 * 40) for _ in range(2)]
    orders = []
    for last, entropy in (("x", given[0]), ("y", given[0]), ("x", given[1])):
        frame = pl.DataFrame({"a": [*map(str, range(39)), last], "b": list(range(40))})
        monkeypatch.setattr("incrowd.run.entropy.urandom", lambda n, bytes_=entropy: bytes_[:n])
        release = ic.anonymize(frame, k=40, qi="a", keep="b", order="shuffle")
        orders.append(release.data["b"].to_list())
    assert orders[0] == orders[1] != orders[2]


def test_verify_sees_a_changed_release():
    """Tests that a release changed afterwards is refused, without quoting a cell."""
    import pandas as pd

    frame = pd.DataFrame(PEOPLE)
    for column, value in (("age", "SECRET"), ("zip", "01235"), ("diagnosis", "SECRET")):
        release = ic.anonymize(frame, k=2, qi=["age", "zip"], sensitive="diagnosis", id="name")
        release.data[column] = release.data[column].astype(object)
        release.data.loc[0, column] = value
        with pytest.raises(ic.VerificationError) as caught:
            release.verify()
        assert "SECRET" not in str(caught.value)


def test_a_result_that_lies_is_not_released():
    """Tests that the independent re-check stands between search and release."""
    from incrowd.release import Release

    frame = pl.DataFrame(PEOPLE)
    release = ic.anonymize(frame, k=2, id="name")
    for claim in ({"cost_units": release.cost_units - 1}, {"policy": ic.Policy(k=6)}):
        lie = Release(**{**vars_of(release), **claim})
        with pytest.raises(ic.VerificationError):
            _ = lie.class_of_row


def vars_of(release):
    """The fields of a release."""
    from dataclasses import fields

    return {field.name: getattr(release, field.name) for field in fields(release)}


def test_rows_in_another_order_cost_the_same():
    """Tests that the order of rows and columns and the names of values do not matter."""
    frame = pl.DataFrame(PEOPLE).drop("name")
    cost = ic.anonymize(frame, k=2).cost
    assert ic.anonymize(frame.reverse(), k=2).cost == cost
    assert ic.anonymize(frame.select(reversed(frame.columns)), k=2).cost == cost
    renamed = frame.with_columns(pl.col("zip").replace({"01234": "zzz"}))
    assert ic.anonymize(renamed, k=2).cost == cost


def test_progress_is_told():
    """Tests that the listener is called with events."""
    seen = []

    class Telling(Sorter):
        def run(self, problem, context):
            context.tell("sorting", cost=3, bound=1, share=0.5)
            return super().run(problem, context)

    ic.anonymize(pl.DataFrame(PEOPLE), k=2, method=Telling(), progress=seen.append)
    assert ic.Event("sorting", 3, 1, 0.5) in seen


def test_interrupt_takes_the_best_so_far():
    """Tests that the first Ctrl-C asks, the second raises, and the old handler comes back."""
    before = signal.getsignal(signal.SIGINT)

    class Interrupted(Sorter):
        def run(self, problem, context):
            signal.raise_signal(signal.SIGINT)
            assert context.stop.now()
            from dataclasses import replace

            return replace(super().run(problem, context), ended=context.stop.why())

    release = ic.anonymize(pl.DataFrame(PEOPLE), k=2, method=Interrupted())
    assert release.ended == "interrupted"
    assert "interrupted" in summary(release)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt), interruptible(Stop()):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_leave_signals_alone():
    """Tests that a call from a worker thread works."""
    found = []

    def work():
        found.append(ic.anonymize(pl.DataFrame(PEOPLE), k=2).rows)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [6]


def test_public_names():
    """Tests that every public name is there, and that functions stay functions."""
    for name in set(ic.__all__) - {"measure"}:
        assert getattr(ic, name) is not None
    import incrowd._api  # noqa: F401

    assert callable(ic.anonymize)
    assert set(ic.__all__) <= set(dir(ic))
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        _ = ic.anonymise


def test_writes_every_format(tmp_path):
    """Tests that a frame's release goes into CSV, Parquet and Arrow."""
    release = ic.anonymize(pl.DataFrame(PEOPLE), k=2, id="name", keep="diagnosis")
    for name in ("o.csv", "o.parquet", "o.arrow"):
        release.write(tmp_path / name)
        again = texts(read(tmp_path / name))
        assert again.equals(texts(release.table))
    assert parsed((tmp_path / "o.csv").read_bytes())[0] == ["age", "zip", "diagnosis"]
