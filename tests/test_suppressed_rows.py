"""Tests of dropping rows from a table that breaks the model as a whole."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd import anonymize
from incrowd.cli import cli
from incrowd.encoding.suppressed_rows import fewest_dropped
from incrowd.errors import InputError, NoLawfulReleaseError
from incrowd.policy import Policy
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Group
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.published.verification import verify_release
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
