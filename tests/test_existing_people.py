"""Tests rows of people that are added to an earlier release whose people nobody knows."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from gains import told
from incrowd.cli import cli
from incrowd.errors import InputError, NoLawfulReleaseError, OutOfScopeError

EARLIER = pl.DataFrame({"x": list("aabb"), "y": list("cccc"), "s": list("fmfm")})
rows_of = st.lists(
    st.tuples(*map(st.sampled_from, ("PQR", "abd", "ce", "fm"))), min_size=1, max_size=7
)


def frame_of(rows: list[tuple[str, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["pid", "x", "y", "s"], orient="row")


@settings(max_examples=few(40), deadline=None)
@given(rows=rows_of, l=st.integers(1, 2))
def test_classes_of_new_rows_alone_have_k_people(rows: list[tuple[str, ...]], l: int) -> None:  # noqa: E741
    """Tests earlier rows, truth, and the people of classes without an earlier row."""
    asked: dict[str, Any] = {"k": 2, "person": "pid", "sensitive": "s", "l": l, "order": "keep"}
    try:
        release = ic.anonymize(frame_of(rows), existing=EARLIER, **asked)
    except NoLawfulReleaseError:
        assert len({p for p, *_ in rows}) < 2 or l == 2
        return
    whole = release.data
    assert release.verify()
    assert whole[: EARLIER.height].equals(EARLIER)
    new = whole[EARLIER.height :].with_columns(pid=frame_of(rows)["pid"])
    for part in new.partition_by("x", "y"):
        key = part.select("x", "y").row(0)
        old = [one for one in EARLIER.rows() if one[:2] == key]
        assert old or part["pid"].n_unique() >= 2
        assert len({*part["s"], *(one[2] for one in old)}) >= l
    shown = zip(new.select("x", "y").rows(), rows, strict=True)
    assert all(a in (b, "*") for got, row in shown for a, b in zip(got, row[1:3], strict=True))
    assert (release.people, release.fewest_people) == (None, None)
    assert release.lower_bound <= release.cost


@pytest.mark.parametrize("kept", [["s"], []])
def test_nothing_need_be_sensitive(kept: list[str]) -> None:
    """Tests people of new rows where the models look at nothing else, and order by chance."""
    rows = [(*"Pacf",), (*"Pacm",), (*"Qbcf",), (*"Rbcm",), (*"Sdcm",), (*"Tdcm",)]
    release = ic.anonymize(
        frame_of(rows)[["pid", "x", "y", *kept]], k=2, person="pid", keep=kept, order="shuffle",
        existing=EARLIER[["x", "y", *kept]],
    )  # fmt: skip
    assert release.verify()
    assert release.data.height == EARLIER.height + len(rows)


def test_what_a_class_gains_is_counted_in_people(tmp_path: Path, monkeypatch) -> None:
    """Tests the caution, the command line, and models that ask who earlier people are."""
    monkeypatch.chdir(tmp_path)
    EARLIER.write_csv("old.csv")
    rows = [("P", "a", "c", "f"), ("P", "a", "c", "m"), ("Q", "b", "c", "f"), ("R", "b", "c", "m")]
    frame_of(rows).write_csv("new.csv")
    release = ic.anonymize("new.csv", k=2, person="pid", sensitive="s", existing="old.csv")
    assert any("1 of the 2" in text or "1 of 2" in text for text in release.warnings)
    words = "anonymize new.csv -o out.csv -k 2 --person pid --sensitive s --existing old.csv --json"
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code == 0, done.output
    assert pl.read_csv("out.csv").height == 8
    for more in ({"t": 0.3}, {"l": 2, "l_kind": "frequency"}):
        with pytest.raises(OutOfScopeError, match="whose earlier rows are"):
            ic.anonymize("new.csv", k=2, person="pid", sensitive="s", existing="old.csv", **more)
    with pytest.raises(OutOfScopeError, match="missing_person"):
        ic.anonymize(
            "new.csv", k=2, person="pid", sensitive="s", existing="old.csv", missing_person="drop"
        )


@pytest.mark.parametrize("binary", ["new rows", "the earlier release"])
@pytest.mark.parametrize("role", ["sensitive", "keep"])
def test_bytes_are_refused_before_the_search(
    binary: str, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that nothing is searched for rows that could not be joined with the earlier ones."""
    monkeypatch.setattr("incrowd.existing.of_table.joining_of", None)  # no search can begin
    old, new = (
        EARLIER.cast({"s": pl.Binary}) if side == binary else EARLIER
        for side in ("the earlier release", "new rows")
    )
    asked: dict[str, Any] = {role: "s"}
    where = "" if binary == "new rows" else "the earlier release: "
    with pytest.raises(InputError, match=f"^{where}column 's' is of type Binary"):
        ic.anonymize(new, 2, existing=old, **asked)


@settings(max_examples=30, deadline=None)
@example(rows=[(*"Pacf",), (*"Pacm",), (*"Qbcf",), (*"Rbcm",)])
@given(rows=rows_of)
def test_what_one_person_alone_brought_is_told(rows: list[tuple[str, ...]]) -> None:
    """Tests rows held back: of each class's gain, one value, or several values of one person."""
    asked: dict[str, Any] = {"k": 2, "person": "pid", "sensitive": "s", "order": "keep"}
    try:
        release = ic.anonymize(frame_of(rows), existing=EARLIER, **asked)
    except NoLawfulReleaseError:
        return
    which = told([row[1:3] for row in rows], release.data.rows(), [row[0] for row in rows])
    said = [text for text in release.warnings if "subtracts the earlier release" in text]
    words = f"'s' of {len(which):,} of {len(rows):,} new rows"
    assert [words in text for text in said] == [True] * bool(which)
    if len(which) < len(rows):
        later = ic.anonymize(frame_of(rows), existing=EARLIER, **asked, hold_back=True)
        assert later.held.tolist() == which
