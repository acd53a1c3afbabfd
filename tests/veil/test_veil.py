"""Tests of veiled releases as users make them."""

import json
import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.errors import InputError, NoLawfulReleaseError, OutOfScopeError
from incrowd.policy import Policy
from incrowd.policy.veil import by_column, veil_of
from incrowd.privacy.cautions import pairs_under_a_veil
from incrowd.report.make import internal_report
from incrowd.run import entropy
from incrowd.veil import coins


@pytest.fixture
def same_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins that fall alike in each run."""
    monkeypatch.setattr(entropy, "urandom", random.Random(1).randbytes)


def people(rows: int) -> pl.DataFrame:
    """People with four columns to be known by, and an illness."""
    rng = np.random.default_rng(rows)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 30, rows),
            "sex": rng.choice(["f", "m"], rows),
            "zip": rng.integers(0, 6, rows),
            "job": rng.choice(["a", "b", "c"], rows),
            "illness": rng.choice(["x", "y", "z"], rows),
        }
    ).cast(pl.String)


def test_a_veiled_release_is_lawful():
    """Tests k, l, the recount, both bounds, and that the veil hides about what it says."""
    frame = people(400)
    release = ic.anonymize(frame, k=4, l=2, sensitive="illness", veil=0.1)
    assert release.verify()
    found = ic.measure(release.data, sensitive="illness")
    assert found.k >= 4
    assert found.sensitive[0].distinct_l >= 2
    assert release.lower_bound <= release.veiled_bound <= release.cost
    assert release.method == "consistent"
    assert set(release.veil.factors.values()) == {10}


def test_coins_are_fresh():
    """Tests that the same seed gives other coins, and another order."""
    frame = people(200)
    one, two = (ic.anonymize(frame, k=3, veil=0.3, order="shuffle", seed=1) for _ in range(2))
    assert not one.data.equals(two.data)
    assert one.edit.order.tolist() != two.edit.order.tolist()
    assert sorted(one.edit.order.tolist()) == list(range(200))


def test_coins_fall_as_often_as_they_say():
    """Tests shares of tossed coins, the ends, and a fair order."""
    found = coins.tossed(100_000, [Fraction(1, 20), Fraction(0), Fraction(1), Fraction(1, 2)])
    assert found.mean(axis=0) == pytest.approx([0.05, 0, 1, 0.5], abs=0.01)
    first = [int(entropy.shuffled(4)[0]) for _ in range(4_000)]
    assert np.bincount(first) / 4_000 == pytest.approx([0.25] * 4, abs=0.04)


def test_columns_by_themselves():
    """Tests that a column without a veil loses what the method takes, and no factor is said."""
    frame = pl.DataFrame({"a": ["x"] * 300, "b": ["y"] * 300})
    release = ic.anonymize(frame, k=2, veil={"a": 0.5})
    assert release.veil.factors == {"a": 2}
    stars = (release.data == "*").sum().row(0)
    assert stars[1] == 2  # the rows that are set aside
    assert 100 < stars[0] < 200


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (0.05, {"": Fraction(1, 20)}),
        ("0.05", {"": Fraction(1, 20)}),
        ("1/3", {"": Fraction(1, 3)}),
        ("age=0.5, sex=1", {"age": Fraction(1, 2), "sex": Fraction(1)}),
        ({"age": "0.1"}, {"age": Fraction(1, 10)}),
        (None, None),
    ],
)
def test_reading(given, found):
    assert veil_of(given) == found
    assert Policy(veil=given).veil == found


@pytest.mark.parametrize(
    "given", [0, -1, 1.5, "x", "age=", "=0.1=", True, {}, "a=0.1,a=0.2", {"a": 0}]
)
def test_reading_refuses(given):
    with pytest.raises(InputError, match="veil"):
        veil_of(given)


def test_unknown_columns():
    assert by_column({"": Fraction(1, 4), "b": Fraction(1)}, ["a", "b"]) == {"a": 0.25, "b": 1}
    with pytest.raises(InputError, match="agee"):
        ic.anonymize(people(50), k=2, veil={"agee": 0.1})


REFUSED = [
    ({"t": 0.5, "sensitive": "illness"}, "unlawful by rows that join it"),
    ({"l": 2, "l_kind": "entropy", "sensitive": "illness"}, "unlawful by rows that join it"),
    ({"fixed": "sex"}, "fixed, linked and capped"),
    ({"method": "engine"}, "local search is none"),
    ({"method": "simplex-matching"}, "but for k = 2"),
    ({"method": "subset-dp"}, "13 rows at most"),
    ({"hierarchies": {"age": "interval:10"}}, "hierarchies"),
    ({"cost": "ncp"}, "this cost"),
    ({"suppress_rows": 3}, "which rows are left out"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED)
def test_where_the_theorem_does_not_hold(given, words):
    """Tests that it is refused, and the reason said."""
    with pytest.raises(OutOfScopeError, match=words):
        ic.anonymize(people(60), k=3, veil=0.1, **given)


def test_an_optimum_under_a_veil():
    """Tests a small table: the cheapest release of what the coins left, and what is said of it."""
    frame = people(12).drop("illness")
    for _ in range(few(5, 2)):
        release = ic.anonymize(frame, k=2, veil=0.1, method="subset-dp")
        assert release.verify()
        assert release.method == "subset-dp"
        assert release.veiled_bound == release.cost >= release.lower_bound
    with pytest.raises(NoLawfulReleaseError):
        ic.anonymize(frame, k=13, veil=0.1, method="subset-dp")


def test_the_best_for_pairs(same_coins):
    """Tests that k = 2 gets the optimum of what the coins left, unless another method is named."""
    frame = people(150).drop("illness")
    release = ic.anonymize(frame, k=2, veil=0.1, gap=0.5)
    assert release.verify()
    assert release.method == "simplex-matching"
    assert release.veiled_bound == release.cost >= release.lower_bound
    assert ic.anonymize(frame, k=2, veil=0.1, method="consistent").method == "consistent"
    assert ic.anonymize(frame, k=3, veil=0.1).method == "consistent"
    with pytest.raises(OutOfScopeError, match="not proven"):
        ic.anonymize(frame, k=2, veil=0.1, time_limit=1e-6)


def test_too_few_rows():
    with pytest.raises(NoLawfulReleaseError):
        ic.anonymize(people(4), k=5, veil=0.1)
    assert ic.anonymize(people(5), k=5, veil=0.1).changed_cells == 5 * 5
    assert ic.anonymize(people(5).clear(), k=5, veil=0.1).rows == 0


def test_others_refuse_a_veil():
    """Tests the ways that know no veil."""
    with pytest.raises(OutOfScopeError, match="veil is not served by frontier"):
        ic.frontier(people(60), [2, 3], policy=Policy(veil=0.1))
    earlier = ic.anonymize(people(60), k=3).data
    with pytest.raises(OutOfScopeError, match="earlier rows had none"):
        ic.anonymize(people(20), k=3, existing=earlier, veil=0.1)


def test_command_line(tmp_path):
    """Tests summary, JSON, proof and statement: of bounds the public learns nothing."""
    path = tmp_path / "t.csv"
    people(150).write_csv(path)
    asked = ["anonymize", str(path), "-o", str(tmp_path / "o.csv"), "-k", "3", "--veil", "0.25"]
    files = ["--proof", str(tmp_path / "p"), "--statement", str(tmp_path / "s.json")]
    done = CliRunner().invoke(cli, [*asked, *files])
    assert (done.exit_code, done.exception) == (0, None)
    assert "change by a factor of at most 4" in done.stderr
    said = json.loads((tmp_path / "s.json").read_text())
    assert said["veil"] == dict.fromkeys(people(1).columns, 4.0)
    assert not {"bound", "gap", "optimal"} & set(said)
    checked = ["verify", str(tmp_path / "o.csv"), "--original", str(path), *files[:2]]
    assert CliRunner().invoke(cli, checked).exit_code == 0
    held = CliRunner().invoke(cli, [*checked, *files[2:]])
    assert held.exit_code == 0, held.output
    assert "whether coins hid cells as the statement's veil says" in held.output
    column = next(iter(said["veil"]))
    for veil in ({}, [], 4.0, {"nobody": 4.0}, {column: 0.5}, {column: "4"}, {column: True}):
        (tmp_path / "s.json").write_text(json.dumps(said | {"veil": veil}))
        assert CliRunner().invoke(cli, [*checked, *files[2:]]).exit_code == 1, veil
    for more in ({"bound": 0}, {"optimal": True}, {"cost": said["cost"] + 1}):
        (tmp_path / "s.json").write_text(json.dumps(said | more))
        assert CliRunner().invoke(cli, [*checked, *files[2:]]).exit_code == 1, more
    record = json.loads(CliRunner().invoke(cli, [*asked, "--json", "-q"]).stdout)
    assert record["lower_bound"] <= record["veiled_lower_bound"] <= record["cost"]
    for public in ("--report", "--metadata"):
        refused = CliRunner().invoke(cli, [*asked, public, str(tmp_path / "r")])
        assert (refused.exit_code, "not with a veil" in refused.stderr) == (2, True)


def test_the_internal_report_makes_no_promise(same_coins):
    """Tests that it says that the same call makes another release, and a call that can be made."""
    release = ic.anonymize(people(60), k=2, veil=0.5)
    page = internal_report(release)
    each = ", ".join(f"<bdi>{name}</bdi> 2" for name in release.roles.qi)
    assert f"by a factor of at most {each}." in page
    assert "the same call makes another release" in page
    assert "veil=&#x27;1/2&#x27;" in page or "veil='1/2'" in page


def test_pairs_under_a_veil_are_warned_of(same_coins):
    """Tests that it names columns of two values that are no dearer than others, for k = 2 alone."""
    frame = people(60).drop("illness")
    (warning,) = ic.anonymize(frame, k=2, veil=0.5).warnings
    assert "columns with two values ('sex')" in warning and "--weight sex=3" in warning
    assert "--weight a=3 --weight 'zip code=3' the" in pairs_under_a_veil(["a", "zip code"])
    assert ic.anonymize(frame, k=2, veil=0.5, weights={"sex": 2}).warnings == ()
    assert ic.anonymize(frame, k=3, veil=0.5).warnings == ()
    assert ic.anonymize(frame.select("sex"), k=2, veil=0.5).warnings == ()


def test_dear_columns_are_hidden_by_coins(same_coins):
    """Tests that a dear column of two values is hidden less, and by about its coins."""
    frame = people(150).drop("illness")
    shares = [
        np.mean([ic.anonymize(frame, k=2, veil=0.05, weights={"sex": weight}).changed["sex"]
                 for _ in range(3)]) / 150
        for weight in (1, 3)
    ]  # fmt: skip
    assert shares[1] < shares[0]
    assert shares[1] < 0.16


def test_policy_file(tmp_path):
    """Tests both forms, and that a public report refuses."""
    path = tmp_path / "policy.toml"
    for text, factors in (("veil = 0.5", 5), ("[veil]\nage = 0.5", 1)):
        path.write_text(f"k = 2\n{text}\n")
        release = ic.anonymize(people(40), policy=path)
        assert list(release.veil.factors.values()) == [2] * factors
    with pytest.raises(OutOfScopeError, match="bound, which depends on hidden cells"):
        release.report(tmp_path / "r.html")
