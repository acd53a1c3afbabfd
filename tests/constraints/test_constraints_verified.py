"""Releases that break their constraints are caught, before writing and by ``verify``."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.constraints.plan import plan_of
from incrowd.encoding.encoded import coded
from incrowd.published.verification import verify_release
from incrowd.tables import from_native

FRAME = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
        "city": ["a", "a", "b", "b", "a", "a", "b", "b"],
        "zip": ["1", "2", "3", "3", "1", "1", "4", "5"],
        "age": ["30", "31", "30", "31", "40", "40", "41", "42"],
        "ill": ["x", "y", "x", "y", "x", "y", "x", "y"],
    }
)
ASKED = {"k": 2, "sensitive": ["ill"]}

BROKEN = [
    # what the release is made with, what it is held against, part of the reason
    ({}, {"fixed": ["age"]}, "are not the original ones"),
    ({}, {"linked": [["city", "zip"]]}, "'city', 'zip' were not suppressed together in"),
    ({}, {"caps": {"age": "1/8"}}, "cells of column 'age' were changed"),
    ({}, {"caps": [{"column": "ill", "value": "x", "share": 0}]}, "cells of the rows with 'ill'"),
    ({}, {"caps": [{"column": "sex", "value": "f", "share": 0}]}, "cells of the rows with 'sex'"),
]


@pytest.mark.parametrize(("made", "held", "reason"), BROKEN, ids=[case[2] for case in BROKEN])
def test_caught(made: dict, held: dict, reason: str) -> None:
    """Tests that the re-check and ``verify`` refuse a release that ignores a constraint."""
    release = ic.anonymize(FRAME, **ASKED, **made)
    policy = ic.Policy(**ASKED, **held)
    verdict = verify_release(from_native(FRAME), from_native(release.data), policy)
    assert not verdict.lawful
    assert reason in " ".join(verdict.reasons)
    with pytest.raises(ic.VerificationError, match="the re-check of the release"):
        replace(release, policy=policy).verify()


KEPT = [
    {"fixed": ["sex"]},
    {"linked": [["city", "zip"]]},
    {"caps": {"age": "1/2"}},
    {"fixed": ["sex"], "linked": [["city", "zip"]], "caps": {"age": "3/4"}, "order": "shuffle"},
]


@pytest.mark.parametrize("held", KEPT, ids=range(len(KEPT)))
def test_accepted(held: dict) -> None:
    """Tests that a release made under constraints passes both, shuffled too."""
    release = ic.anonymize(FRAME, **ASKED, **held)
    assert release.verify()
    policy = ic.Policy(**ASKED, **held)
    assert verify_release(from_native(FRAME), from_native(release.data), policy).lawful


def test_subgroup_in_another_order() -> None:
    """Tests that a subgroup which cannot be told is said to be so, neither yes nor no."""
    held = {"caps": [{"column": "city", "value": "a", "share": 1}]}
    release = ic.anonymize(FRAME, **ASKED, **held, order="shuffle", seed=1)
    policy = ic.Policy(**ASKED, **held)
    told = "caps: the rows with 'city' = 'a' cannot be told in .* stand in another order"
    with pytest.raises(ic.InputError, match=told):
        verify_release(from_native(FRAME), from_native(release.data), policy)


REFUSED = [
    # constraints, part of the message, why
    ({"fixed": "ages"}, "fixed: no column is called 'ages'; did you mean 'age'?", "typo"),
    ({"fixed": "ill"}, "'ill' is not a quasi-identifier, so it is never changed anyway", "role"),
    ({"linked": ["city", "zip"]}, "linked takes a list of lists", "no list of lists"),
    ({"linked": [["city"]]}, "at least two columns", "alone"),
    ({"linked": [["city", "zip"], ["zip", "age"]]}, "'zip' is named twice", "twice"),
    ({"linked": [["sex", "zip"]], "fixed": "sex"}, "both fixed and linked", "contradiction"),
    (
        {
            "linked": [["city", "zip"]],
            "hierarchies": {"zip": "interval:2"},
            "caps": {"age": "1/2"},
        },
        "'zip' has a hierarchy, and caps are not served",
        "linked with a hierarchy, and capped",
    ),
    ({"caps": {"age": 2}}, "the share of 'age' must be at most 1", "share above 1"),
    ({"caps": {"agee": 0.1}}, "did you mean 'age'", "capped typo"),
    ({"caps": 0.1}, "caps takes column", "no caps"),
    ({"caps": [{"column": "age"}]}, "lacks its share", "no share"),
    ({"caps": [{"column": "age", "shar": 1}]}, "did you mean 'share'", "unknown name"),
    ({"caps": [{"column": "age", "share": 1}] * 2}, "is capped twice", "twice"),
    ({"caps": [{"column": "ill", "value": "z", "share": 1}]}, "no row is among", "nobody"),
]


@pytest.mark.parametrize(("held", "message", "why"), REFUSED, ids=[case[2] for case in REFUSED])
def test_refuses(held: dict, message: str, why: str) -> None:
    """Tests that a constraint which makes no sense is refused, naming the column."""
    with pytest.raises(ic.InputError) as caught:
        ic.anonymize(FRAME, **ASKED, **held)
    assert message in str(caught.value)


def test_small_groups_are_counted_not_shown() -> None:
    """Tests the refusal of a fixed column with a value that too few rows have."""
    with pytest.raises(ic.NoLawfulReleaseError) as caught:
        ic.anonymize(FRAME, 3, sensitive="ill", fixed=["zip"])
    message = str(caught.value)
    assert "fixed 'zip': 5 rows lie in 4 groups of equal values (of 5)" in message
    assert not any(f"'{value}'" in message for value in "12345")


def test_an_impossible_cap_is_proven_so() -> None:
    """Tests that a cap on a column of different values is refused, with the least reached."""
    frame = pl.DataFrame({"a": list("abcdefgh"), "b": ["x"] * 8})
    with pytest.raises(ic.NoLawfulReleaseError) as caught:
        ic.anonymize(frame, 2, caps={"a": 0.5})
    assert "at most 50.00% of the cells may change, every lawful release changes 100.00%" in str(
        caught.value
    )


def test_a_cap_that_is_not_met_tells_the_least_reached() -> None:
    """Tests a cap that no release meets, where counting single rows does not prove it."""
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["1", "2", "1", "2"]})
    with pytest.raises((ic.NoLawfulReleaseError, ic.StoppedError)) as caught:
        ic.anonymize(frame, 2, caps={"a": 0.25, "b": 0.25})
    assert "of column 'b' at most 25.00% of the cells may change" in str(caught.value)


def test_comparing_models_go_to_methods_that_compare_with_the_table() -> None:
    """Tests that a method which would compare with the group alone is refused."""
    with pytest.raises(ic.OutOfScopeError, match="'ill', which compares each class with the whole"):
        ic.anonymize(FRAME, 2, sensitive="ill", t=0.5, fixed="sex", method="subset-dp")


def test_a_budget_is_shared_by_the_groups() -> None:
    """Tests that with no time left every group still gets a lawful release."""
    release = ic.anonymize(FRAME, **ASKED, fixed="sex", time_limit=1e-9)
    assert release.verify()
    assert release.ended == "time limit"
    assert release.changed["sex"] == 0


@pytest.mark.parametrize("share", ["1/3", "33.3%"])
def test_capped_rows_by_number(share: str) -> None:
    """Tests the cells that a cap is a share of."""
    policy = ic.Policy(**ASKED, caps=[{"column": "city", "value": "a", "share": share}])
    limit = plan_of(coded(from_native(FRAME), policy), policy).limits[0]
    assert (limit.cells, limit.most) == (16, 5)


@pytest.mark.parametrize("held", [*KEPT, {"caps": {"age": 0}, "suppress_rows": 1}], ids=range(5))
def test_a_table_without_rows(held: dict) -> None:
    """Tests that constraints on nobody's cells are met."""
    release = ic.anonymize(FRAME.clear(), **ASKED, **held)
    assert release.verify() and (release.rows, release.status) == (0, "optimal")


def test_caps_are_of_released_cells(tmp_path: Path) -> None:
    """Tests caps where rows are left out: shares of the cells that are there, as with a proof.

    All eight ages are hidden, which are 80% of those of the ten original rows.
    """
    ages, ill = [str(age) for age in range(30, 40)], ["x"] * 6 + ["y"] * 4
    frame = pl.DataFrame({"age": ages, "sex": ["f"] * 10, "ill": ill})
    asked: dict[str, Any] = {
        "k": 2,
        "sensitive": ["ill"],
        "l": 2,
        "l_kind": "frequency",
        "suppress_rows": 2,
    }
    original, path, proof = (tmp_path / name for name in ("in.csv", "out.csv", "o.proof"))
    frame.write_csv(original)
    ic.anonymize(original, **asked).write_proven(path, proof, original=original)
    out = pl.read_csv(path)
    assert out["age"].to_list() == ["*"] * 8
    for cap, fine in (("0.8", False), ("1", True)):
        asked["caps"] = {"age": cap}
        assert [bool(ic.verify(path, original, *given, **asked)) for given in ([], [proof])] == [
            fine,
            fine,
        ]
    asked["caps"] = [{"column": "ill", "value": "x", "share": "0.45"}]  # of 12 cells it were 5
    answer = ic.verify(path, original, **asked)
    assert answer.reasons == (
        "4 of 8 cells of the rows with 'ill' = 'x' were changed, more than its cap allows",
    )
    asked["caps"] = [{"column": "sex", "value": "f", "share": "0.45"}]
    with pytest.raises(ic.InputError, match="lacks rows of the original"):
        ic.verify(path, original, **asked)


@pytest.mark.parametrize(("share", "lawful"), [("1/3", False), ("1/2", True)])
def test_cells_that_show_another_writing_are_changed(share: str, lawful: bool) -> None:
    """Tests numbers in two writings, of which a class shows one: it is a value of the column."""
    frame = pl.DataFrame({"age": ["1", "1.0"] * 3})
    policy = ic.Policy(k=2, hierarchies={"age": "range"}, caps={"age": share})
    shown = pl.DataFrame({"age": ["1"] * 6})
    verdict = verify_release(from_native(frame), from_native(shown), policy)
    assert verdict.lawful == lawful, verdict.reasons
