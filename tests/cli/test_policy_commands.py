"""``--policy``, ``--model``, constraints and ``incrowd init`` on the command line."""

import json

import pytest
from click.testing import CliRunner

from incrowd.cli import cli
from tables import parsed

ROWS = [f"n{i},{20 + i % 7},{10 + i % 3},{'fm'[i % 2]},{'xyz'[i % 3]}" for i in range(24)]
TABLE = "\n".join(["name,age,zip,sex,diagnosis", *ROWS]) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, and the working folder."""
    (tmp_path / "in.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def incrowd(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def released(folder, *arguments):
    """Run ``anonymize``; return its record and the released rows."""
    done = incrowd("anonymize", "in.csv", "-o", "o.csv", "--json", "-q", *arguments)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout), parsed((folder / "o.csv").read_bytes())


def test_a_first_policy_is_used_at_once(folder):
    """Tests init, anonymize and verify, one after the other."""
    done = incrowd("init", "in.csv", "-o", "p.toml", "-k", 3)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "5 columns: 3 qi, 1 sensitive, 1 id; check each guess" in done.stderr
    record, rows = released(folder, "--policy", "p.toml")
    assert (record["k"], rows[0]) == (3, ["age", "zip", "sex", "diagnosis"])
    done = incrowd("verify", "o.csv", "--original", "in.csv", "--policy", "p.toml")
    assert done.exit_code == 0
    done = incrowd("bound", "in.csv", "--policy", "p.toml")
    assert float(done.stdout) <= record["cost"]


def test_init_prints_and_refuses(folder):
    """Tests standard output, --json, and that no file is written over by accident."""
    printed = incrowd("init", "in.csv", "-q").stdout
    assert "qi = [" in printed and "n1" not in printed
    assert incrowd("init", "in.csv", "-o", "p.toml").exit_code == 0
    again = incrowd("init", "in.csv", "-o", "p.toml")
    assert (again.exit_code, "--force writes over it" in again.stderr) == (2, True)
    done = incrowd("init", "in.csv", "-o", "p.toml", "--force", "--json", "-q")
    record = json.loads(done.stdout)
    assert [c["role"] for c in record["columns"]] == ["id", "qi", "qi", "qi", "sensitive"]
    assert (folder / "p.toml").read_text() == printed
    assert incrowd("init", "in.csv", "-o", "in.csv").exit_code == 2
    assert incrowd("init", "in.csv", "--json").exit_code == 2
    (folder / "s.csv").write_text("name,income\nA,1\n")
    done = incrowd("init", "s.csv")
    assert (done.exit_code, done.stdout) == (2, "")


def test_a_table_with_stars(folder):
    """Tests that another mark is chosen where a cell is a star."""
    (folder / "s.csv").write_text("a,b\n*,1\n*,1\nx,2\nx,2\n")
    assert incrowd("init", "s.csv", "-o", "p.toml", "-k", 2).exit_code == 0
    done = incrowd("anonymize", "s.csv", "-o", "o.csv", "--policy", "p.toml")
    assert done.exit_code == 0, done.stderr


POLICY = """
k = 2
id = "name"
sensitive = "diagnosis"
seed = 5
order = "keep"
fixed = "sex"
[hierarchies]
age = "interval:2"
zip = "none"
[weights]
zip = 3
[caps]
age = 1
"""


def test_options_go_before_the_file(folder):
    """Tests which of the two is heard, option by option and column by column."""
    (folder / "p.toml").write_text(POLICY)
    record, rows = released(folder, "--policy", "p.toml")
    assert (record["k"], record["seed"]) == (2, 5)
    assert [row[3] for row in rows[1:]] == [line.rpartition(",")[2] for line in ROWS]  # in order
    assert [row[2] for row in rows[1:]] == [line.split(",")[3] for line in ROWS]  # fixed
    record, rows = released(folder, "--policy", "p.toml", "-k", 4, "--seed", 7)
    assert (record["k"], record["seed"]) == (4, 7)
    more = ("--hierarchy", "zip=prefix:1", "--hierarchy", "age=none", "--cap", "age=1", "-k", 9)
    record, rows = released(folder, "--policy", "p.toml", *more)
    assert {row[0] for row in rows[1:]} <= {*map(str, range(20, 27)), "*"}
    record, rows = released(folder, "--policy", "p.toml", "--order", "shuffle", "--seed", 1)
    assert [row[3] for row in rows[1:]] != [line.rpartition(",")[2] for line in ROWS]


def test_constraints_on_the_command_line(folder):
    """Tests --fixed, --linked and --cap, as verify sees them."""
    asked = ("--id", "name", "--sensitive", "diagnosis", "-k", 3, "--fixed", "sex", "--linked")
    asked = (*asked, "age,zip", "--cap", "diagnosis=x:0.9")
    _, rows = released(folder, *asked)
    assert all((row[0] == "*") == (row[1] == "*") for row in rows[1:])
    asked = [str(option) for option in asked]
    done = incrowd("verify", "o.csv", "--original", "in.csv", *asked)
    assert done.exit_code == 0, done.stderr
    torn = (folder / "o.csv").read_text().splitlines()
    star = next(i for i, row in enumerate(rows) if row[0] == "*")
    torn[star] = torn[star].replace("*,*", "*,10")
    (folder / "o.csv").write_text("\n".join(torn) + "\n")
    done = incrowd("verify", "o.csv", "--original", "in.csv", *asked)
    assert done.exit_code == 1


def test_models_with_their_own_parameters(folder):
    """Tests --model, repeated, and with a proof."""
    asked = ("--id", "name", "--sensitive", "diagnosis,sex", "-k", 2)
    asked = (*asked, "--model", "l=3,on=diagnosis", "--model", "l=2,kind=frequency,on=sex")
    record, _ = released(folder, *asked, "--proof", "o.proof")
    assert record["models"][1:] == [
        "distinct 3-diversity of 'diagnosis'",
        "frequency 2-diversity of 'sex'",
    ]
    done = incrowd("verify", "o.csv", "--original", "in.csv", "--proof", "o.proof")
    assert done.exit_code == 0, done.stderr


def test_a_proof_of_a_constrained_release(folder):
    """Tests that the independent checker accepts it, with a bound that is one."""
    asked = ("--id", "name", "--sensitive", "diagnosis", "-k", 3, "--fixed", "sex")
    asked = (*asked, "--linked", "age,zip", "--proof", "o.proof")
    record, _ = released(folder, *asked)
    done = incrowd("verify", "o.csv", "--original", "in.csv", "--proof", "o.proof", "--json")
    facts = json.loads(done.stdout)
    assert facts["lawful"], facts
    assert facts["bound"] <= record["lower_bound"] <= record["cost"] == facts["cost"]


ERRORS = [
    (["--cap", "age"], 2, "--cap 'age': expected COLUMN=…"),
    (["--cap", "age=x"], 2, "the share of 'age' must be a number"),
    (["--cap", "age=101%"], 2, "the share of 'age' in percent must be at most 100"),
    (["--veil", "age=0.5", "--veil", "age=10%"], 2, "is given two probabilities"),
    (["--fixed", "agee"], 2, "did you mean 'age'"),
    (["--model", "l=3,on=age"], 2, "on names 'age', which is not a sensitive column"),
    (["--policy", "x.toml"], 2, "x.toml: no such file"),
    (["--fixed", "age,zip,sex"], 1, "rows lie in"),
]


@pytest.mark.parametrize(("more", "code", "message"), ERRORS, ids=[case[2] for case in ERRORS])
def test_errors(folder, more, code, message):
    """Tests exit codes and texts; nothing is written."""
    asked = ("--id", "name", "--sensitive", "diagnosis", *more)
    done = incrowd("anonymize", "in.csv", "-o", "o.csv", *asked)
    assert done.exit_code == code
    assert message in done.stderr
    assert not (folder / "o.csv").exists()
