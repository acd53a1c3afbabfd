"""Tests of composition: two releases whose classes meet in one value."""

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from attack.worlds import drawn
from incrowd.errors import InputError
from incrowd.policy import Policy

FRAME = pl.DataFrame(
    {
        "a": list("xxyy") * 10,
        "b": list("1212") * 10,
        "s": ["f", "g", "h", "f"] * 10,
    }
)
BY_A = FRAME.with_columns(b=pl.lit("*"))  # x: f, g; y: f, h
BY_B = FRAME.with_columns(a=pl.lit("*"))  # 1: f, h; 2: f, g


def test_planted():
    """Tests that x1 and y2 meet in f, x2 in f and g, y1 in f and h: half is disclosed."""
    (found,) = ic.attack(BY_A, FRAME, other=BY_B, k=2, sensitive="s", attacks="composition")
    assert (found.outcome.attack.success, found.outcome.attack.tries) == (20, 40)
    assert found.outcome.more == {"classes_known": 0.5}
    assert found.outcome.control.success == 0
    assert found.risk == 0.5


def test_the_same_release_twice():
    """Tests that nothing is gained."""
    (found,) = ic.attack(BY_A, FRAME, other=BY_A, k=2, sensitive="s", attacks="composition")
    assert found.outcome.attack.success == 0


def test_a_release_of_some_of_them_in_another_order():
    """Tests two releases of overlapping people, given as values, against sets by hand."""
    frame = drawn(300, 1, secrets=12)
    one = ic.anonymize(frame, k=3, sensitive="s", order="shuffle")
    two = ic.anonymize(frame, k=4, sensitive="s", order="shuffle")
    (found,) = ic.attack(one, other=two, attacks="composition")
    names = ["a", "b", "c", "d"]
    sets = []
    for release in (one, two):
        cells = release.data[np.argsort(release.edit.order)]
        table = cells.select(names)
        of = cells.group_by(names).agg(pl.col("s").unique().alias("v"))
        sets.append(table.join(of, on=names, how="left", maintain_order="left")["v"].to_list())
    alone = [set(a) & set(b) == {s} for a, b, s in zip(*sets, frame["s"], strict=True)]
    assert found.outcome.more["classes_known"] == pytest.approx(np.mean(alone))
    assert not found.approximate
    assert found.outcome.attack.tries == 300


@pytest.mark.parametrize("way", ["some people", "rows deleted", "rows deleted before"])
def test_two_releases_of_different_rows(way):
    """Tests a second release of other rows than the first, against sets by hand."""
    frame = drawn(60, 1, secrets=12).with_columns(who=pl.int_range(60).cast(pl.String))
    asked = {"k": 3, "sensitive": "s", "id": "who"}
    fewer = asked | {"delete_rows": "price=2,most=15"}
    one = ic.anonymize(frame, **fewer if way == "rows deleted before" else asked)
    some = frame[5:50] if way == "some people" else frame
    two = ic.anonymize(some, **fewer if way == "rows deleted" else asked | {"method": "mondrian"})
    assert one.rows != two.rows
    held = []
    for release in (one, two):
        whose = release.source.encode("who")
        cells = release.data.with_columns(who=pl.Series([whose.values[x] for x in whose.codes]))
        of = pl.col("s").unique().over(["a", "b", "c", "d"], mapping_strategy="join")
        held.append(dict(cells.select("who", of).rows()))
    truth = dict(frame.select("who", "s").rows())
    met = [who for who in truth if who in held[0] and who in held[1]]
    alone = [{*held[0][who]} & {*held[1][who]} == {truth[who]} for who in met]
    (found,) = ic.attack(one, other=two, attacks="composition")
    assert found.outcome.more["classes_known"] == pytest.approx(np.mean(alone))
    assert not found.approximate and found.outcome.attack.tries == len(met)


def test_whose_rows_are_found_by_a_matching():
    """Tests that a guess is called one: some of the people, of whom several are alike."""
    frame = drawn(60, 1, widths=(2, 2), secrets=3)
    one, two = (ic.anonymize(rows, k=3, sensitive="s") for rows in (frame, frame[5:50]))
    (found,) = ic.attack(one, other=two, attacks="composition")
    assert found.approximate


def bands(frame, width):
    """The frame with ages in bands of a width."""
    low = pl.col("age") // width * width
    return frame.with_columns(age=pl.format("{}-{}", low, low + width - 1))


def test_a_release_by_other_hierarchies(tmp_path):
    """Tests a second release with bands and columns of its own, against sets by hand."""
    rng = np.random.default_rng(5)
    drawn_of = {"age": rng.integers(0, 60, 36), "s": rng.integers(0, 25, 36).astype(str)}
    frame = pl.DataFrame({**drawn_of, "sex": ["f", "m"] * 18})
    mine, theirs = bands(frame.drop("sex"), 10), bands(frame, 15)
    sets = []
    for release, names in ((mine, ["age"]), (theirs, ["age", "sex"])):
        of = release.group_by(names).agg(pl.col("s").unique())
        held = release.select(names).join(of, on=names, how="left", maintain_order="left")
        sets.append([{*values} for values in held["s"]])
    alone = [a & b == {s} for a, b, s in zip(*sets, frame["s"], strict=True)]
    asked = {"sensitive": "s", "id": "sex", "hierarchies": {"age": "interval:5,10"}, "k": 1}
    second = Policy(sensitive=("s",), hierarchies={"age": "interval:15"}, k=1)
    (tmp_path / "theirs.toml").write_text(
        'sensitive = "s"\nk = 1\nhierarchies.age = "interval:15"\n'
    )
    for policy in (second, tmp_path / "theirs.toml"):
        (found,) = ic.attack(
            mine, frame, other=theirs, other_policy=policy, attacks="composition", **asked
        )
        assert found.outcome.attack.success == sum(alone)
        assert 0 < sum(alone) < 36
    refused = r"the other release, row 1, column 'age': .*--other-policy"
    with pytest.raises(InputError, match=refused):
        ic.attack(mine, frame, other=theirs, attacks="composition", **asked)


def test_a_release_that_was_made_otherwise():
    """Tests that a ``Release`` brings its own hierarchies."""
    ages = np.random.default_rng(5).integers(0, 60, 90)
    frame = pl.DataFrame({"age": ages, "s": (ages % 4).astype(str)})
    one, two = (
        ic.anonymize(frame, k=3, sensitive="s", hierarchies={"age": rule}, order="keep")
        for rule in ("interval:10", "range:round=15")
    )
    (found,) = ic.attack(one, other=two, attacks="composition")
    assert found.outcome.attack.tries == 90


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"other_policy": Policy()}, "of another release .*; none is given"),
        ({"other": "released", "other_policy": Policy()}, "a Release knows how it was made"),
        ({"other": FRAME, "other_policy": Policy(keep=("a",))}, "changes 's', which is sensitive"),
    ],
)
def test_policies_that_do_not_fit(given, said):
    """Tests what is refused of another release's policy."""
    release = ic.anonymize(FRAME, k=2, sensitive="s")
    own = {"other": release} if isinstance(given.get("other"), str) else {}
    with pytest.raises(InputError, match=said):
        ic.attack(release, **given | own)


def test_without_another_release():
    """Tests that it is left out, unless it is asked for by name."""
    release = ic.anonymize(drawn(60, 1), k=3, sensitive="s")
    with pytest.raises(InputError, match=r"composition: needs another release .*\(--other\)"):
        ic.attack(release, attacks="composition")
    with pytest.raises(InputError, match="the other release lacks the column 's'"):
        ic.attack(release, other=release.data.drop("s"), attacks="composition")
    with pytest.raises(InputError, match="none of the quasi-identifiers"):
        ic.attack(release, other=release.data.select("s"), attacks="composition")
