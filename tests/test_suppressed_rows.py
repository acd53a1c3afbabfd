"""Tests of dropping rows from a table that breaks the model as a whole."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd import anonymize
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.encoding.suppressed_rows import fewest_dropped
from incrowd.errors import InputError, NoLawfulReleaseError
from incrowd.policy import Policy
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.attribute import PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.once import Once
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.published.verification import verify_release
from incrowd.report.make import external_report, internal_report
from incrowd.report.metadata import descriptor
from incrowd.tables.files import open_table

MODELS: list[Model] = [
    FrequencyDiversity(2),
    FrequencyDiversity(3) & KAnonymity(3),
    EntropyDiversity("1.8"),
    RecursiveDiversity(1, 2),
    AlphaK("0.4", 2),
    AlphaK("0.3", 2, attribute=0, values=(0, 1)),
    FrequencyDiversity(2) & RecursiveDiversity("1.5", 2),
    DistinctDiversity(3),
]


def brute(model: Model, table: Group) -> int | None:
    """The fewest rows that leave a lawful table, by trying all subsets."""
    for dropped in range(table.rows):
        for out in combinations(range(table.rows), dropped):
            rest = Group(np.delete(table.values, out, axis=0), table.sizes)
            if model.lawful(rest, rest):
                return dropped
    return None


@settings(max_examples=few(60), deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.sampled_from(MODELS))
def test_fewest_of_one_attribute(values: list[int], model: Model) -> None:
    """Tests the number of dropped rows against all subsets, and that the rest is lawful."""
    table = Group(np.array(values, np.int32)[:, None], (4,))
    best = brute(model, table)
    if best is None:
        with pytest.raises(NoLawfulReleaseError):
            fewest_dropped(model, table, 8, np.zeros(len(values)))
        return
    dropped = fewest_dropped(model, table, best, np.zeros(len(values)))
    rest = Group(np.delete(table.values, dropped, axis=0), (4,))
    assert len(dropped) == best and model.lawful(rest, rest)
    if best:
        with pytest.raises(NoLawfulReleaseError, match="suppress-rows"):
            fewest_dropped(model, table, best - 1, np.zeros(len(values)))


COUNTED: list[PerAttribute] = [
    FrequencyDiversity(2, 0),
    RecursiveDiversity(2, 2, 0),
    RecursiveDiversity(3, 3, 0),
    AlphaK("0.4", 2, attribute=0),
    AlphaK("0.3", 1, attribute=0, values=(0, 1)),
]


@settings(max_examples=few(90), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=9),
    st.sampled_from(COUNTED),
)
def test_fewest_where_values_of_a_person_count_once(
    rows: list[tuple[int, int]], counted: PerAttribute
) -> None:
    """Tests the number of dropped rows against all subsets: a pair goes with all its rows."""
    pairs = sorted({*rows})
    values = np.array([(value, whose, pairs.index((whose, value))) for whose, value in rows])
    table = Group(values.astype(np.int32), (3, 4, len(pairs)))
    model = Once(counted, 2, np.array([value for _, value in pairs]))
    best = brute(model, table)
    if best is None:
        with pytest.raises(NoLawfulReleaseError):
            fewest_dropped(model, table, 9, np.zeros(len(rows)), pairs=[2])
        return
    dropped = fewest_dropped(model, table, best, np.zeros(len(rows)), pairs=[2])
    rest = Group(np.delete(table.values, dropped, axis=0), table.sizes)
    assert len(dropped) == best and model.lawful(rest, rest)


VISITS = "pid,a,s\n" + "".join(
    f"{who},{a},{s}\n"
    for who, a, s in [
        *[("A", "x", "flu")] * 3,
        *[("B", a, "flu") for a in "xy"],
        *[("C", a, s) for a, s in zip("xyz", ("flu", "flu", "gout"), strict=True)],
        *[("D", "y", "flu"), ("D", "z", "cold"), ("E", "z", "ok"), ("E", "y", "flu")],
    ]
)


def test_rows_left_out_where_people_are_counted(tmp_path: Path) -> None:
    """Tests release, proof and verdicts: 5 people with flu of 8 pairs, two of which have one row.

    Of A's three rows and B's two none goes, for D and E have flu in one row only.
    """
    table, out, proof = (tmp_path / name for name in ("in.csv", "out.csv", "out.proof"))
    table.write_text(VISITS)
    roles = ["-k", "2", "--person", "pid", "--sensitive", "s", "--l", "2", "--l-kind", "frequency"]
    asked = ["anonymize", str(table), "-o", str(out), *roles, "--proof", str(proof), "--json"]
    run = CliRunner().invoke(cli, [*asked, "--suppress-rows", "1"])
    assert run.exit_code == 1 and "more rows" in run.stderr and not out.exists()
    run = CliRunner().invoke(cli, [*asked, "--suppress-rows", "34%"])
    assert run.exit_code == 0 and json.loads(run.stdout)["suppressed_rows"] == 2
    assert pl.read_csv(out)["s"].value_counts(sort=True)["count"][0] == 7
    told = check(out, table, proof)
    assert told.accepted and told.facts["suppressed_rows"] == 2
    verify = ["verify", str(out), "--original", str(table), *roles, "--suppress-rows"]
    for most, code in (("2", 0), ("1", 1), ("17%", 0), ("16%", 1)):  # of twelve rows
        run = CliRunner().invoke(cli, [*verify, most, "--proof", str(proof)])
        assert run.exit_code == code, run.output


@pytest.mark.parametrize("most", ["-1", "1.5", "101%", "-1%", "many", "%", 1.0, True])
def test_how_many_may_be_left_out(most: Any) -> None:
    """Tests that neither a number of rows nor a part of them is refused in words."""
    with pytest.raises(InputError, match="suppress_rows must be a whole number of at least 0"):
        Policy(suppress_rows=most)


def test_rare_values_of_another_attribute_stay() -> None:
    """Tests that a row whose other value alone keeps the table lawful is not the one dropped."""
    table = Group(np.array([[0, 1], [0, 0], [1, 0], [1, 0], [0, 0]], np.int32), (2, 2))
    model = FrequencyDiversity(2, 0) & DistinctDiversity(2, 1)
    assert fewest_dropped(model, table, 1, np.arange(5.0)[::-1]).tolist() == [1]


def test_several_attributes_claim_nothing() -> None:
    """Tests that no release is said not to exist where rows were chosen one by one."""
    table = Group(np.array([[0, 1], [0, 0], [0, 0]], np.int32), (2, 2))
    model = FrequencyDiversity(2, 0) & DistinctDiversity(2, 1)
    with pytest.raises(NoLawfulReleaseError, match="no release was found that obeys"):
        fewest_dropped(model, table, 1, np.zeros(3))


FRAME = pl.DataFrame(
    {
        "a": ["x", "y"] * 5 + ["z"],
        "b": ["p", "q", "r"] * 3 + ["p", "q"],
        "s": ["flu"] * 8 + ["hiv", "cold", "ok"],
    }
)
ASKED = {"sensitive": "s", "l": 2, "l_kind": "frequency"}


def test_release_without_rows() -> None:
    """Tests a release of the rows that are kept: verified, counted, told apart by verify."""
    with pytest.raises(NoLawfulReleaseError, match=r"for .s. the table attains 1\.375"):
        anonymize(FRAME, 1, **ASKED)
    release = anonymize(FRAME, 1, **ASKED, suppress_rows=6, order="shuffle")
    assert release.verify() and release.suppressed_rows == 5
    assert release.data.height == release.rows == 6
    assert release.cost == release.changed_cells + 5 * 2
    policy = Policy(k=1, **ASKED, suppress_rows=6)
    assert verify_release(open_table(FRAME), open_table(release.data), policy).lawful
    policy = Policy(k=1, **ASKED, suppress_rows=4)
    assert not verify_release(open_table(FRAME), open_table(release.data), policy).lawful
    wrong = release.data.with_columns(pl.lit("x").alias("a"))
    policy = Policy(k=1, **ASKED, suppress_rows=6)
    assert not verify_release(open_table(FRAME), open_table(wrong), policy).lawful


def test_advice_that_helps() -> None:
    """Tests that more rows are not offered for dropping where too few rows are the fault."""
    for k, asked in ((12, {"sensitive": "s"}), (9, ASKED)):
        with pytest.raises(NoLawfulReleaseError, match="does not help; ask for less"):
            anonymize(FRAME, k, **asked, suppress_rows=6)
    with pytest.raises(NoLawfulReleaseError, match="let more rows be dropped"):
        anonymize(FRAME, 1, **ASKED, suppress_rows=4)


def test_a_table_without_rows() -> None:
    """Tests that what nobody is in breaks nothing, whatever may be left out of it."""
    release = anonymize(FRAME.clear(), 5, **ASKED, suppress_rows=3)
    assert release.verify() and (release.rows, release.suppressed_rows) == (0, 0)


@pytest.mark.parametrize(
    ("order", "tells"), [("keep", True), ("shuffle", False)], ids=["keep", "shuffle"]
)
def test_pandas_index(order: str, tells: bool) -> None:
    """Tests that rows which are kept keep their index too, unless their order must not be told."""
    frame = FRAME.to_pandas().set_index(pd.Index([f"row {i}" for i in range(FRAME.height)]))
    release = anonymize(frame, 1, **ASKED, suppress_rows=6, order=order)
    assert release.verify() and release.suppressed_rows == 5
    if not tells:
        assert release.data.index.tolist() == list(range(6))
        return
    assert set(release.data.index) < set(frame.index)
    assert release.data["s"].equals(frame.loc[release.data.index, "s"])


def test_lawful_table_loses_nothing() -> None:
    """Tests that nothing is dropped where nothing has to be."""
    release = anonymize(FRAME, 2, suppress_rows=9)
    assert release.suppressed_rows == 0 and release.rows == FRAME.height


def test_command_line(tmp_path: Path) -> None:
    """Tests the options: written without the rows, refused with --existing."""
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    FRAME.write_csv(table)
    given = ["-k", "1", "--sensitive", "s", "--l", "2", "--l-kind", "frequency"]
    given += ["--suppress-rows", "5"]
    run = CliRunner().invoke(cli, ["anonymize", str(table), "-o", str(out), *given, "--json"])
    assert run.exit_code == 0 and '"suppressed_rows": 5' in run.output
    assert len(pl.read_csv(out)) == 6
    run = CliRunner().invoke(cli, ["verify", str(out), "--original", str(table), *given])
    assert run.exit_code == 0
    asked = ["anonymize", str(table), "-o", str(out), *given, "--existing", str(out)]
    run = CliRunner().invoke(cli, asked)
    assert run.exit_code != 0
    assert isinstance(run.exception, InputError | SystemExit)


@pytest.mark.usefixtures("undrawn")
def test_reports_tell_of_rows_left_out(tmp_path: Path) -> None:
    """Tests that reports, metadata and figures count them, and say whose bound it is."""
    release = anonymize(FRAME, 1, **ASKED, suppress_rows=6)
    release.write(tmp_path / "out.csv")
    for text in (internal_report(release), external_report(release)):
        assert "5 rows were left out, because the table broke the model" in text
        assert "lawful release of the rows kept costs less" in text
    told = descriptor(release, tmp_path / "out.csv", tmp_path)["incrowd"]
    assert told["suppressed_rows"] == 5 == release.summary()["suppressed_rows"].item()
