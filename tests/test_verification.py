"""Releases against originals, in any order, without a proof."""

import itertools
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd._api import release_of
from incrowd.cli import cli
from incrowd.hierarchy.file import HierarchyRows
from incrowd.policy import Policy
from incrowd.published.assigned import Rings
from incrowd.published.verification import verify_release
from incrowd.tables import from_native
from tables import Sorter


def verdict(original, released, **given):
    """Verify one frame against another."""
    return verify_release(from_native(original), from_native(released), Policy(**given))


@pytest.mark.parametrize(
    ("cells", "other"),
    [([[1], [2], [], None], [3]), ([{"x": 1}, {"x": 2}, {"x": 2}, None], {"x": 3}),
     ([b"1", b"2", b"", None], b"3")],
)  # fmt: skip
def test_kept_columns_without_a_text_form(cells, other):
    """Tests lists, structs and bytes in another order, changed, and of another type."""
    frame = pl.DataFrame({"a": ["1", "2", "1", "2"], "kept": cells})
    given = {"k": 2, "qi": "a", "keep": "kept"}
    assert verdict(frame, frame[[3, 0, 2, 1]], **given).lawful
    swapped = frame.with_columns(pl.Series("a", ["2", "1", "1", "2"]))
    assert "no released row of their own" in verdict(frame, swapped, **given).reasons[0]
    for changed in (pl.Series("kept", [other, *cells[1:]]), pl.Series("kept", list("abcd"))):
        found = verdict(frame, frame.with_columns(changed), **given)
        assert "'kept' are not the original ones" in found.reasons[0]
    frame = frame.with_columns(pl.Series("kept", [cells[0], cells[0], cells[1], None]))
    assert verdict(frame, frame, **given).lawful


def lawful_by_force(original, released, ladder, qi):
    """Whether some order of the released rows makes every cell lawful."""
    for order in itertools.permutations(range(len(released))):
        pairs = zip(original, (released[i] for i in order), strict=True)
        if all(
            new in ladder[old] if j < qi else new == old
            for before, after in pairs
            for j, (old, new) in enumerate(zip(before, after, strict=True))
        ):
            return True
    return False


LADDER = {
    **{leaf: (leaf, "low", "*") for leaf in ("1", "2")},
    **{leaf: (leaf, "high", "*") for leaf in ("3",)},
}


@settings(max_examples=few(150), deadline=None)
@given(st.data())
def test_against_brute_force(data):
    """Tests the answer on small tables that are often nearly right."""
    rows = data.draw(st.integers(1, 5))
    leaf = st.sampled_from(["1", "2", "3"])
    row = st.tuples(leaf, leaf, st.sampled_from(["p", "q"]))
    original = data.draw(st.lists(row, min_size=rows, max_size=rows))
    released = []
    for a, b, s in data.draw(st.permutations(original)):
        up = [data.draw(st.sampled_from(LADDER[x])) for x in (a, b)]
        released.append([*up, s])
    if data.draw(st.booleans()):  # spoil one cell
        i, j = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, 2))
        released[i][j] = data.draw(st.sampled_from(["1", "3", "low", "*"] if j < 2 else ["p", "q"]))
    names = ["a", "b", "s"]
    before = pl.DataFrame(original, names, orient="row")
    after = pl.DataFrame(released, names, orient="row")
    from incrowd.hierarchy.file import HierarchyRows

    tree = HierarchyRows([LADDER[x] for x in ("1", "2", "3")])
    found = verdict(before, after, k=1, keep="s", hierarchies={"a": tree, "b": tree})
    assert found.lawful == lawful_by_force(original, released, LADDER, 2)


PEOPLE = pl.DataFrame(
    {
        "name": ["A", "B", "C", "D"],
        "age": ["30", "30", "40", None],
        "zip": ["1", "1", "2", "2"],
        "ill": ["x", "y", "x", "y"],
    }
)
GIVEN = {"k": 2, "id": "name", "keep": "ill"}


def made(**more):
    """A lawful release of the people."""
    policy = Policy(**GIVEN, order="shuffle", method=Sorter(), **more)
    return release_of(from_native(PEOPLE), policy).data


NUMBERS = ("1", "2", "3", "3.0", "7")
SPANS = {"1-2": (1, 2), "1-3": (1, 3), "2-3": (2, 3), "2-7": (2, 7), "1-7": (1, 7), "3-7": (3, 7)}


@settings(max_examples=few(150), deadline=None)
@given(st.data())
def test_ranges_against_brute_force(data):
    """Tests ranges no wider than 4, and a tree beside them, on small tables, often nearly right."""
    rows = data.draw(st.integers(2, 5))
    row = st.tuples(st.sampled_from(NUMBERS), st.sampled_from("123"), st.sampled_from("pq"))
    original = data.draw(st.lists(row, min_size=rows, max_size=rows))
    here = {float(a) for a, _, _ in original}
    wide = {name for name, (a, b) in SPANS.items() if b - a <= 4 and {a, b} <= here}

    def above(value: str) -> tuple[str, ...]:
        held = (name for name in wide if SPANS[name][0] <= float(value) <= SPANS[name][1])
        twice = {a for a, _, _ in original if float(a) == 3} == {"3", "3.0"}
        return (value, "*", *sorted(held), *(("3",) if twice and value == "3.0" else ()))

    released = []
    for a, b, s in data.draw(st.permutations(original)):
        up = [data.draw(st.sampled_from(above(a))), data.draw(st.sampled_from(LADDER[b]))]
        released.append([*up, s])
    if data.draw(st.booleans()):  # spoil one cell
        i = data.draw(st.integers(0, rows - 1))
        released[i][0] = data.draw(st.sampled_from([*NUMBERS, *SPANS, "*", "3-2"]))
    ladder = {"a": {a: above(a) for a in NUMBERS}, "b": LADDER}
    expected = any(
        all(
            new[0] in ladder["a"][old[0]] and new[1] in ladder["b"][old[1]] and new[2] == old[2]
            for old, new in zip(original, order, strict=True)
        )
        for order in itertools.permutations(released)
    )
    names = ["a", "b", "s"]
    groups = HierarchyRows(tuple(LADDER[leaf] for leaf in sorted({b for _, b, _ in original})))
    found = verdict(
        pl.DataFrame(original, names, orient="row"), pl.DataFrame(released, names, orient="row"),
        k=1, qi=["a", "b"], keep="s", hierarchies={"a": "range:most=4", "b": groups},
    )  # fmt: skip
    assert found.lawful == expected, found.reasons


def test_a_shuffled_release_with_ranges():
    """Tests five hundred rows in another order, and the same with a column moved on."""
    rng = np.random.default_rng(7)
    frame = pl.DataFrame(
        {"a": rng.integers(0, 90, 500), "b": rng.normal(size=500).round(2), "c": ["x", "y"] * 250}
    )
    asked = {"k": 4, "hierarchies": {"a": "range:round=5", "b": "range"}}
    release = release_of(from_native(frame), Policy(**asked, order="shuffle", method="mondrian"))
    assert verdict(frame, release.data, **asked).lawful
    wrong = release.data.with_columns(pl.col("a").shift(1).fill_null("0-5"))
    assert not verdict(frame, wrong, **asked).lawful


def test_yes():
    """Tests that what we release is accepted, with its figures."""
    found = verdict(PEOPLE, made(), **GIVEN)
    assert found.lawful
    assert (found.rows, found.smallest_class) == (4, 2)
    assert verdict(PEOPLE, made(star="#"), **GIVEN, star="#").lawful


def spoiled(column, row, value):
    """The release with one cell changed."""
    frame = made()
    cells = frame[column].to_list()
    cells[row] = value
    return frame.with_columns(pl.Series(column, cells))


NO = [
    (lambda: made().head(3), "the release has 3 rows, the original 4"),
    (lambda: made().drop("ill"), r"lacks the column 'ill' .*--id"),
    (lambda: made().with_columns(name=pl.lit("A")), "should not have: 'name'"),
    (lambda: spoiled("ill", 0, "SECRET"), "the columns 'ill' are not the original ones"),
    (lambda: spoiled("zip", 0, "SECRET"), "column 'zip', released row 1: the cell is neither"),
    (lambda: PEOPLE.drop("name"), r"smallest class has 1 row, fewer than k = 2 \(2 of 3 "),
    (
        lambda: pl.DataFrame({"age": ["40"] * 4, "zip": ["2"] * 4, "ill": ["x", "y", "x", "y"]}),
        "3 original rows have no released row of their own",
    ),
]


@pytest.mark.parametrize(("release", "reason"), NO, ids=[case[1][:20] for case in NO])
def test_no(release, reason):
    """Tests that each kind of fault is told, without the cell."""
    found = verdict(PEOPLE, release(), **GIVEN)
    assert not found.lawful
    text = "; ".join(found.reasons)
    assert "SECRET" not in text
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(text)


def test_no_rows():
    """Tests that an empty release of an empty table is accepted."""
    empty = pl.DataFrame({"a": pl.Series([], dtype=pl.String)})
    assert verdict(empty, empty, k=5).lawful
    assert not verdict(pl.DataFrame({"a": ["1"] * 5}), empty, k=5).lawful


def test_a_thousand_rows():
    """Tests a shuffled release too large to guess, and one that lies."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({c: rng.integers(0, 4, 1000).astype(str) for c in "abcd"})
    policy = Policy(k=3, order="shuffle", seed=1, method=Sorter())
    released = release_of(from_native(frame), policy).data
    assert verdict(frame, released, k=3).lawful
    # more cells now say 1 than rows of the original do
    lie = released.with_columns(a=pl.col("a").replace("0", "1"))
    assert not verdict(frame, lie, k=1).lawful


def test_models_of_the_sensitive_column():
    """Tests that a class without enough values is found, and one with enough is not."""
    frame = pl.DataFrame({"a": ["1", "1", "2", "2"], "s": ["x", "y", "x", "x"]})
    assert verdict(frame, frame, k=2, sensitive="s").lawful
    found = verdict(frame, frame, k=2, sensitive="s", l=2)
    assert "1 of 2 classes break 2-anonymity and distinct 2-diversity" in found.reasons[0]
    starred = frame.with_columns(a=pl.lit("*"))
    assert verdict(frame, starred, k=2, sensitive="s", l=2, t=0).lawful
    assert not verdict(frame, frame, k=2, sensitive="s", t=0.1).lawful


@pytest.mark.parametrize(
    "changed",
    [
        {"a": ["2", "2", "1", "1"]},
        {"s": ["y", "y", "x", "x"], "t": ["y", "y", "x", "x"]},
        {"s": ["y", "y", "x", "x"], "t": ["x", "x", "y", "y"]},
        {"b": ["4", "4", "3", "3"]},
    ],
)
def test_whole_columns_that_change_places(changed):
    """Tests rows in their order, each column with its own values, but not beside each other."""
    frame = pl.DataFrame({"a": ["1", "1", "2", "2"], "b": ["3", "3", "4", "4"],
                          "s": ["x", "x", "y", "y"], "t": ["x", "x", "y", "y"]})  # fmt: skip
    given = {"k": 2, "qi": ["a", "b"], "keep": ["s", "t"]}
    assert verdict(frame, frame, **given).lawful
    assert not verdict(frame, frame.with_columns(**{c: pl.Series(changed[c]) for c in changed}),
                       **given).lawful  # fmt: skip
    first = frame.with_columns(s=pl.Series(["y", "y", "x", "x"]))
    other = frame.with_columns(t=pl.Series(["y", "y", "x", "x"]))
    assert not verdict(first, other, **given).lawful


def test_a_sensitive_value_that_the_original_lacks():
    """Tests that a value from nowhere gets an answer where a model looks at the column as well."""
    frame = pl.DataFrame({"a": ["1", "1", "2", "2"], "s": ["x", "y", "x", "y"]})
    changed = frame.with_columns(s=pl.Series(["x", "z", "x", "y"]))
    found = verdict(frame, changed, k=2, sensitive="s", l=2)
    assert found.reasons == ("the columns 's' are not the original ones",)


def test_rows_left_out_do_not_change_how_others_read(tmp_path: Path) -> None:
    """Tests that a release without the only fraction and the only time of day is not refused."""
    day = [datetime(2020, 1, i) for i in range(1, 5)]
    frame = pl.DataFrame(
        {
            "q": ["a", "a", "a", "a", "b"],
            "s": ["flu", "cold", "flu", "cold", "flu"],
            "x": [1.0, 2.0, 3.0, 4.0, 1.5],
            "t": [*day, datetime(2020, 1, 5, 10, 30)],
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    rows = ("--l", "2", "--l-kind", "frequency", "--suppress-rows", "2")
    for roles in (("--sensitive", "s", "--keep", "x,t"), ("--sensitive", "s")):
        for name in ("o.parquet", "o.csv"):
            files = (tmp_path / "t.parquet", tmp_path / name, tmp_path / "o.proof")
            made = ("anonymize", files[0], "-o", files[1], "--proof", files[2])
            assert run(*made, "-k", 1, *roles, *rows).exit_code == 0
            check = ("verify", files[1], "--original", files[0])
            for found in (run(*check, "-k", 1, *roles, *rows), run(*check, "--proof", files[2])):
                assert found.exit_code == 0, found.output


@pytest.mark.parametrize("asked", [{}, {"t": 0.1}, {"l": 2, "l_kind": "frequency"}], ids=str)
def test_no_more_rows_are_left_out_than_have_to_be(asked):
    """Tests rows that somebody would like to be gone: the others obey, and so did all of them."""
    values = "f" * 6 + "g" * 6
    frame = pl.DataFrame({"a": ["1"] * 12, "s": [*values]})
    given = {"k": 2, "sensitive": "s", "suppress_rows": 6, **asked}
    assert verdict(frame, frame, **given).lawful
    some = frame[[0, 1, 6, 7]] if asked.get("l") else frame[:6]
    (reason,) = verdict(frame, some, **given | {"suppress_rows": 8}).reasons
    assert "left out, where 0 would do" in reason
    uneven = pl.DataFrame({"a": ["1"] * 12, "s": [*"f" * 8, *"g" * 4]})
    given |= {"l": 2, "l_kind": "frequency", "suppress_rows": 6}
    assert verdict(uneven, uneven[4:], **given).lawful
    assert "6 rows of the original are left out, where 4" in str(
        verdict(uneven, uneven[5:11], **given).reasons
    )


@pytest.mark.parametrize("secrets", ["s", ["s", "u"]], ids=str)
def test_a_release_of_no_row(secrets):
    """Tests a header without rows where all may be left out: some rows could have been published.

    Of two sensitive columns the fewest are not known, but that there are fewer is.
    """
    frame = pl.DataFrame({"a": ["1"] * 8, "s": [*"fffgfffg"], "u": [*"xxxyyxxx"]})
    given = {"k": 2, "sensitive": secrets, "suppress_rows": 8, "l": 2, "l_kind": "frequency"}
    given |= {} if len(secrets) > 1 else {"keep": "u"}
    assert verdict(frame, frame[[0, 3, 4, 7]], **given).lawful
    (reason,) = verdict(frame, frame.clear(), **given).reasons
    assert "8 rows of the original are left out, where 4 would do" in reason
    alone = frame.select("a")
    assert "where 0 would do" in str(verdict(alone, alone.clear(), k=2, suppress_rows=8).reasons)
    few = verdict(alone, alone.clear(), k=9, suppress_rows=8)  # nothing else is lawful
    assert few.lawful and not few.rows


def run(*arguments: object) -> Result:
    """Run incrowd in this process."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_zeros_of_either_sign_are_counted_by_models(tmp_path):
    """Tests that a sensitive column of doubles, which is compared bit by bit, ends in no error."""
    table, path = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pl.DataFrame({"a": ["x", "y", "x", "y"], "f": [0.0, -0.0, 1.5, 0.0]}).write_parquet(table)
    ic.anonymize(table, 2, sensitive="f", l=2).write(path)
    asked = ["verify", str(path), "--original", str(table), "--sensitive", "f", "-k", "2", "--l"]
    assert CliRunner().invoke(cli, [*asked, "2"]).exit_code == 0
    told = CliRunner().invoke(cli, [*asked, "4"])
    assert told.exit_code in (1, 2) and "unexpected" not in told.stderr


@pytest.mark.parametrize("length", [2, 3, 4])
def test_rows_change_places_in_rings(length):
    """Tests a class of one person twice, where it takes a ring of so many rows to bring another."""
    rows = 2 * length
    origin, member = np.arange(rows), np.arange(rows) // 2
    whose = np.maximum(np.arange(rows) - 1, 0)  # the first two rows are one person's
    ring = [2 * n for n in range(length)]
    fits = {(row, row) for row in range(rows)}
    fits |= {(there, here) for here, there in zip(ring, [*ring[1:], 0], strict=True)}
    found = Rings(origin, member, whose, np.arange(rows), fits, np.arange(rows), 2).spread()
    assert sorted(found.tolist()) == [*range(rows)]
    assert {(int(row), place) for place, row in enumerate(found)} <= fits
    assert all(len({*whose[found[member == c]].tolist()}) == 2 for c in range(length))
    alone = Rings(
        origin, member, whose, np.arange(rows), fits - {(0, ring[-1])}, origin, 2
    ).spread()
    assert alone.tolist() == origin.tolist()  # no ring closes
