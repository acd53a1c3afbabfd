"""Averages through the command line: releases, proofs, and what holds them against each other."""

import json
import shutil
import zipfile

import pytest
from click.testing import CliRunner

from dial import crossed
from incrowd.cli import cli

TABLE = "income,age,job\n" + "".join(
    f"{x * x % 97},{20 + 7 * x % 31},{'abc'[x % 3]}\n" for x in range(24)
)
ONE = ("--qi", "income", "--keep", "age,job", "--hierarchy", "income=mean:digits=1")
TWO = (
    "--qi",
    "income,age",
    "--keep",
    "job",
    "--hierarchy",
    "income=mean",
    "--hierarchy",
    "age=median",
)


def incrowd(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, and the working folder."""
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(asked, *more):
    """Make a release with proof and statement; return its record."""
    files = ("--proof", "p.proof", "--statement", "s.json", "--json")
    done = incrowd("anonymize", "t.csv", "-o", "o.csv", "-k", 3, *asked, *files, *more)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def verified(*more):
    """Verify the release by its proof."""
    return incrowd("verify", "o.csv", "--original", "t.csv", "--proof", "p.proof", *more)


@pytest.mark.parametrize(("asked", "order"), crossed([ONE, TWO], ["keep", "shuffle"]))
def test_release_and_proof(asked, order, folder):
    """Tests that a release is written, proved, stated and verified, also against what is said."""
    record = made(asked, "--order", order)
    assert record["averages"]["income"] == {"kind": "mean", "digits": int(asked is ONE)}
    assert record["smallest_class"] >= 3 and 0 < record["lower_bound"] <= record["cost"]
    assert (record["status"] == "optimal") == (asked is ONE)
    done = verified("--statement", "s.json", *asked, "-k", 3)
    assert done.exit_code == 0, done.output
    assert "the average of its class, rounded" in done.output
    stated = json.loads((folder / "s.json").read_text())
    assert stated["averaged"] == list(record["averages"])
    assert stated["hierarchies"]["income"]["origin"] == f"mean:digits={int(asked is ONE)}"
    assert (
        incrowd("measure", "o.csv", "--original", "t.csv", *asked[:2], "--ignore", "job").exit_code
        == 0
    )
    for other in ("income=median", "income=range", "income=mean:digits=5"):
        assert verified(*asked[:4], "--hierarchy", other).exit_code == 1
    assert verified("--weight", "income=2").exit_code == 1
    assert verified("--cost", "ncp").exit_code == 0  # averages have their own beside it
    assert verified("--cost", "ncp", "--weight", "income=2").exit_code == 1
    assert verified("--cost", "stars").exit_code == 1
    assert verified("-k", 4).exit_code == 1


def test_only_a_proof_tells_which_rows_are_averaged(folder):
    """Tests that verify without a proof says what it needs."""
    made(ONE)
    done = incrowd("verify", "o.csv", "--original", "t.csv", *ONE)
    assert done.exit_code == 2 and "(--proof" in done.output


def forged(change):
    """Change the JSON part of a proof, or its rows."""
    with zipfile.ZipFile("p.proof") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    facts = json.loads(parts["proof.json"])
    change(facts)
    parts["proof.json"] = json.dumps(facts).encode()
    with zipfile.ZipFile("p.proof", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def facts_changed(**new):
    """What puts other facts into a proof."""
    return lambda facts: facts.update(new)


def more_bound(facts):
    """A bound a little above what is proven."""
    facts["bound"] += 1
    facts["cost"] = max(facts["cost"], facts["bound"])


def other_digits(facts):
    """Another rounding."""
    facts["hierarchies"]["income"]["average"]["digits"] -= 1


@pytest.mark.parametrize("asked", [ONE, TWO])
@pytest.mark.parametrize(
    "change",
    [
        more_bound,
        other_digits,
        facts_changed(averaged=[]),
        facts_changed(cost=1),
        facts_changed(delete_rows={"price": 1, "most": 1}, deleted_rows=0),
        facts_changed(models=[{"model": "k-anonymity", "k": 9}]),
        lambda facts: facts["hierarchies"]["income"].pop("average"),
        lambda facts: facts["hierarchies"]["income"]["average"].update(kind="median"),
        lambda facts: facts["hierarchies"]["income"]["average"].update(kind="mode"),
    ],
)
def test_forged_proofs_are_rejected(asked, change, folder):
    """Tests that no other fact passes."""
    made(asked)
    forged(change)
    done = verified()
    assert done.exit_code == 1, done.output


def test_prices_are_held(folder):
    """Tests that prices in coarser units than stated are too high."""
    made(TWO)
    forged(facts_changed(quantum=1))
    done = verified()
    assert done.exit_code == 1 and "a row's price is too high" in done.output


def test_another_release_is_rejected(folder):
    """Tests that a cell which is no average is found by row and column."""
    made(ONE, "--order", "keep")
    lines = (folder / "o.csv").read_text().splitlines()
    first = lines[3].split(",")
    lines[3] = ",".join([str(float(first[0]) + 1), *first[1:]])
    shutil.copy("o.csv", "kept.csv")
    (folder / "o.csv").write_text("\n".join(lines) + "\n")
    done = verified()
    assert done.exit_code == 1 and "incrowd: no:" in done.output


def test_others_refuse_by_name(folder):
    """Tests that what does not serve averages names column and rule, and leaves nothing behind."""
    made(ONE)
    for command in (
        ("frontier", "t.csv", "-k", "2,3", *ONE),
        ("bound", "t.csv", "-k", 3, *ONE),
        ("anonymize", "t.csv", "-o", "x.csv", "--existing", "o.csv", "-k", 3, *ONE),
        ("anonymize", "t.csv", "-o", "x.csv", "-k", 3, "--veil", "0.1", *ONE),
        ("attack", "o.csv", "--original", "t.csv", "-k", 3, *ONE),
    ):
        done = incrowd(*command)
        assert done.exit_code == 2 and "'income'" in done.output, (command, done.output)
        assert "mean:digits=1" in done.output and not (folder / "x.csv").exists()


def test_methods_are_listed():
    """Tests that the methods that average stand beside the others."""
    record = json.loads(incrowd("methods", "--json").stdout)["averaging"]
    assert [m["id"] for m in record] == ["microaggregation", "hansen-mukherjee", "mdav", "v-mdav"]
    plain = incrowd("methods").stdout
    assert "hansen-mukherjee\n    finds the optimum; one averaged column\n" in plain


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "microaggregation", "hansen-mukherjee"])
def test_a_method_by_name(method, folder):
    """Tests that each method runs, and its release is bounded by the optimum of one column."""
    record = made(ONE, "--method", method)
    assert record["method"] == method
    best = made(ONE)
    assert record["lower_bound"] == best["cost"] <= record["cost"]


def test_rounding_and_codes_are_named_in_the_statement(folder):
    """Tests that deterministic changes are rules that proof and statement name."""
    rules = ("--hierarchy", "income=round:5,10", "--hierarchy", "age=codes:<25,45+")
    made(("--qi", "income,age", "--keep", "job", *rules))
    assert verified("--statement", "s.json", *rules).exit_code == 0
    assert verified("--hierarchy", "income=round:10").exit_code == 1
    stated = json.loads((folder / "s.json").read_text())["hierarchies"]
    assert {c: known["origin"] for c, known in stated.items()} == {
        "income": "round:5,10",
        "age": "codes:<25,45+",
    }


@pytest.mark.parametrize("beside", ["job=none", "job=range:round=5"])
@pytest.mark.parametrize("weight", ["0.5", "2"])
def test_costs_in_millionths_are_served(folder, beside, weight):
    """Tests that ncp, and a range of one value, leave release, cost and bound as they are."""
    head, *lines = TABLE.splitlines()
    (folder / "t.csv").write_text("\n".join([head, *(f"{line[:-1]}7" for line in lines), ""]))
    rules = ("--qi", "income,age,job", *TWO[4:], "--hierarchy", beside, "--weight", f"age={weight}")
    files = ("out.csv", "--original", "t.csv", "--proof", "p.proof")
    costs, texts = [], set()
    for cost in ("level", "ncp"):
        more = ("--cost", cost, "--order", "keep", "--json", *files[-2:])
        made = incrowd("anonymize", "t.csv", "-o", "out.csv", *rules, *more)
        assert made.exit_code == 0, made.stderr
        said = json.loads(made.stdout)
        costs.append((said["cost"], said["lower_bound"]))
        texts.add((folder / "out.csv").read_text())
        assert incrowd("verify", *files).exit_code == 0
    assert len(texts) == 1
    assert costs[0] == pytest.approx(costs[1], abs=1e-6)  # cut to the unit of each


def test_units_of_costs_are_those_that_verify_takes(folder):
    """Tests a weight by which costs in millionths of millionths were refused by verify alone."""
    more = ("--weight", "income=0.5", "--cost", "ncp")
    files = ("out.csv", "--original", "t.csv", "--proof", "p.proof")
    assert incrowd("anonymize", "t.csv", "-o", "out.csv", *files[-2:], *ONE, *more).exit_code == 0
    assert incrowd("verify", *files).exit_code == 0


@pytest.mark.parametrize("command", ["bound", "frontier", "attack", "republish"])
def test_who_refuses_averages_does_not_offer_them(command):
    """Tests that the help names no rule that the command refuses."""
    told = incrowd(command, "--help").stdout
    assert "range" in told and "mean" not in told
