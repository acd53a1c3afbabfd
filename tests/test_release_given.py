"""Functions that look at tables, given what ``anonymize`` returned in place of a frame."""

from pathlib import Path

import polars as pl
import pytest

import incrowd as ic

FRAME = pl.DataFrame(
    {
        "name": [f"n{i}" for i in range(8)],
        "born": [f"195{i}-03-01" for i in range(8)],
        "sex": ["f", "f", "m", "m"] * 2,
        "ill": ["flu", "gout"] * 4,
    }
)
DERIVED = ic.Policy(
    k=2, id="name", sensitive="ill", star="?", derive={"age": "years(born, 2020-01-01)"}
)


@pytest.fixture(scope="module")
def release() -> ic.Release:
    """A release with a star of its own, of which an age is derived."""
    return ic.anonymize(FRAME, policy=DERIVED)


def test_measure_takes_roles_and_star_of_a_release(release: ic.Release):
    """Tests that it is measured as its frame is with the same roles, and with others if given."""
    plain = ic.measure(release.data, qi=["age", "sex"], sensitive="ill", star="?")
    assert ic.measure(release) == plain
    assert plain.stars == release.changed_cells > 0
    assert ic.measure(release, sensitive="sex").qi == ("age",)
    assert ic.measure(release, qi=["ill"]).sensitive == ()


def test_measure_counts_no_rows_where_people_are_counted():
    """Tests that a k of rows is not told for one of people."""
    twice = pl.concat([FRAME, FRAME])
    release = ic.anonymize(twice, k=2, person="name", sensitive="ill", id="born")
    with pytest.raises(ic.InputError, match="fewest_people"):
        ic.measure(release)
    assert ic.measure(release.data, qi="sex").k == 8


def test_verify_takes_original_and_policy_of_a_release(release: ic.Release):
    """Tests yes and no, with what is derived, and that a frame alone is not enough."""
    for original in (None, FRAME):
        assert ic.verify(release, original)
    assert ic.verify(release.data, FRAME, policy=DERIVED)
    assert "fewer than k = 9" in ic.verify(release, k=9).reasons[0]
    assert not ic.verify(release, FRAME.with_columns(ill=pl.lit("flu")))
    with pytest.raises(ic.InputError, match="original, the table"):
        ic.verify(release.data, k=2)


def test_verify_says_what_only_a_proof_tells_of_averages():
    """Tests that the message names the column, the proof and what a release does without one."""
    release = ic.anonymize(FRAME.select(size=pl.int_range(8)), k=2, hierarchies={"size": "mean"})
    with pytest.raises(ic.OutOfScopeError, match=r"'size' show the average.*proof=.*verify\(\)"):
        ic.verify(release)
    assert release.verify()


def test_verify_knows_rows_left_out():
    """Tests a release of which rows are deleted: the original is the table with them."""
    frame = FRAME.with_columns(sex=pl.Series(["f"] * 7 + ["m"]))
    asked = {"k": 2, "id": ["name", "born"], "sensitive": "ill"}
    release = ic.anonymize(frame, **asked, delete_rows="price=1/2,most=1")
    assert release.rows == 7 and ic.verify(release)


def test_a_missing_file_is_an_input_error(tmp_path: Path):
    """Tests what is said of files beside a proof, as without one."""
    with pytest.raises(ic.InputError, match=r"r\.csv: no such file"):
        ic.verify(tmp_path / "r.csv", tmp_path / "t.csv", tmp_path / "t.proof")


def test_attack_refuses_what_a_release_knows(release: ic.Release):
    """Tests that options are not passed over in silence."""
    for asked in ({"k": 9}, {"sensitive": "sex"}, {"policy": DERIVED}):
        with pytest.raises(ic.InputError, match=f"a Release knows {next(iter(asked))}"):
            ic.attack(release, attacks="linkage", **asked)
    asked = {"attacks": "prosecutor", "policy": DERIVED}
    found = ic.attack(release.data, FRAME, **asked).found  # the age is derived here, too
    assert found == ic.attack(release, attacks="prosecutor").found


def test_an_earlier_release_is_taken_as_it_was_returned(release: ic.Release):
    """Tests that new rows join it, and that it is no table to anonymize again."""
    earlier = ic.anonymize(FRAME, k=2, id=["name", "born"], sensitive="ill")
    asked = {"k": 2, "id": ["name", "born"], "sensitive": "ill"}
    longer = ic.anonymize(FRAME, **asked, existing=earlier)
    assert len(longer.data) == 16
    with pytest.raises(ic.InputError, match="give it"):
        ic.verify(longer)
    with pytest.raises(ic.InputError, match=r"not Release; its \.data is a frame"):
        ic.anonymize(release)
