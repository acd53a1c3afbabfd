"""Every method and every hard instance through the command line."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli
from incrowd.instances import FAMILIES
from incrowd.solvers.catalog import SOLVERS, has_reductions
from tables import parsed, smallest_class

ROWS = ("1xpu", "1ypv", "2zqu", "2zpw", "3xqv", "3zqu", "1xqw", "2xpu", "1zpv", "3yqw")
TABLE = "a,b,c,s\n" + "".join(",".join(row) + "\n" for row in ROWS)
ASKED = {
    "simplex-matching": ("-k", 2),
    "factor-1-2": ("-k", 2),
    "two-factor": ("-k", 3),
    "two-diversity": ("-k", 2, "--l", 2, "--l-kind", "frequency"),
    "closeness-milp": ("-k", 2, "--t", "0.5"),
}
THE_PAPERS = """
simplex-matching two-diversity split-recursion subset-dp kernel resolution-vectors pattern-milp
closeness-milp forest factor-1-2 two-factor m-approximation mondrian k-member datafly incognito
"""


def incrowd(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, and the working folder."""
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.id)
def test_every_method_runs(solver, folder):
    """Tests that each makes a lawful release of a small file, and claims no more than is so."""
    asked = ASKED.get(solver.id, ("-k", 3))
    columns = "a,b" if solver.id == "two-columns" else "a,b,c"
    roles = ("--qi", columns, "--keep", "c", "--sensitive", "s")
    roles = roles if solver.id == "two-columns" else ("--qi", columns, "--sensitive", "s")
    levels = ("--hierarchy", "a=interval:2") if solver.scope.hierarchies else ()
    more = (*levels, "--method", solver.id, "--json")
    done = incrowd("anonymize", "t.csv", "-o", "o.csv", *asked, *roles, *more)
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["method"] == solver.id
    header, *rows = parsed((folder / "o.csv").read_bytes())
    assert header == ["a", "b", "c", "s"] and len(rows) == len(ROWS)
    assert (
        smallest_class([row[: len(columns) // 2 + 1] for row in rows])
        == record["smallest_class"]
        >= asked[1]
    )
    assert 0 <= record["lower_bound"] <= record["cost"]
    if solver.guarantee == "exact":
        assert record["status"] == "optimal" and record["gap"] == 0


@pytest.mark.parametrize("kind", ["distinct", "disjoint"])
def test_two_diversity_takes_the_k_beside_it(kind, folder):
    """Tests that a k which the diversity implies is no second model, and is stated."""
    asked = ("-k", 1, "--l", 2, "--l-kind", kind, "--sensitive", "s", "--method", "two-diversity")
    done = incrowd("anonymize", "t.csv", "-o", "o.csv", *asked, "--proof", "p.proof", "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["method"] == "two-diversity" and record["status"] == "optimal"
    assert record["k"] == 1 and record["models"][0] == "1-anonymity" and len(record["models"]) == 2
    done = incrowd("verify", "o.csv", "--original", "t.csv", "--proof", "p.proof")
    assert done.exit_code == 0, done.output
    done = incrowd("anonymize", "t.csv", "-o", "q.csv", "-k", 3, *asked[2:])
    assert done.exit_code == 2 and not (folder / "q.csv").exists()


def test_listing():
    """Tests that all methods are listed with all that is declared of them."""
    record = {m["id"]: m for m in json.loads(incrowd("methods", "--json").stdout)["methods"]}
    assert {*THE_PAPERS.split(), "engine"} <= set(record)
    for method in record.values():
        assert method["guarantee"] and method["models"] and method["source"]
        assert isinstance(method["hierarchies"], bool) and isinstance(method["reductions"], bool)
        assert method["size_limit"] is None or method["size_limit"]
    for name in ("subset-dp", "pattern-milp", "resolution-vectors", "forest", "factor-1-2"):
        assert record[name]["size_limit"]
    for name in ("mondrian", "k-member", "datafly", "incognito"):
        assert record[name]["guarantee"] == "none"
    assert record["engine"]["aliases"] == ["sensitive-engine"]
    plain = incrowd("methods").stdout
    assert "engine, also sensitive-engine\n" in plain
    assert "mondrian\n    no guarantee; any closed under union" in plain


@pytest.mark.parametrize("solver", [s for s in SOLVERS if has_reductions(s)], ids=lambda s: s.id)
def test_reductions_do_not_change_an_optimum(solver, folder):
    """Tests that each level is taken and that exact methods cost the same under all."""
    costs = set()
    for level in ("paper", "all", "none"):
        done = incrowd(
            "anonymize", "t.csv", "-o", "o.csv", *ASKED.get(solver.id, ("-k", 3)),
            "--sensitive", "s", "--method", solver.id, "--reductions", level, "--json",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        costs.add(json.loads(done.stdout)["cost"])
    assert solver.guarantee != "exact" or len(costs) == 1


@pytest.mark.parametrize("name", ["auto", *(s.id for s in SOLVERS if not has_reductions(s))])
def test_reductions_are_refused_by_methods_without(name, folder):
    """Tests that the message names the methods that have them, and nothing is written."""
    done = incrowd("anonymize", "t.csv", "-o", "o.csv", "--method", name, "--reductions", "paper")
    assert done.exit_code == 2 and not (folder / "o.csv").exists()
    assert "the methods that have them are subset-dp, split-recursion, subset-" in done.stderr


def asked_by(told):
    """The command line's options for the model and the roles in an instance's side file."""
    model, roles = told["model"], told["roles"]
    options = ["-k", told["k"] or 1, "--qi", ",".join(roles["quasi_identifiers"])]
    if roles["sensitive"]:
        options += ["--sensitive", ",".join(roles["sensitive"])]
    if "l" in model:
        options += ["--l", model["l"], "--l-kind", model["l_kind"]]
    if "t" in model:
        options += ["--t", model["t"]]
        if model["distance"] != "equal":
            write_metric(told["sensitive_values"], model["distance"])
            options += ["--distance", "metric.csv"]
    return options


def write_metric(values, matrix):
    """Write a metric in the form that --distance reads."""
    with Path("metric.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        for i, a in enumerate(values):
            writer.writerows([a, b, matrix[i][j]] for j, b in enumerate(values) if i < j)


@pytest.mark.parametrize("name", [family.id for family in FAMILIES])
def test_every_instance_can_be_anonymized(name, folder):
    """Tests that roles and model of the side file are those of the planted optimum."""
    made = incrowd("instance", name, "-o", "hard.csv")
    assert made.exit_code == 0, made.output
    told = json.loads((folder / "hard.json").read_text(encoding="utf-8"))
    limit = ("--time-limit", 0.4, "--json")
    done = incrowd("anonymize", "hard.csv", "-o", "o.csv", *asked_by(told), *limit)
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["rows"] == told["rows"] and record["columns"] == told["columns"]
    assert record["lower_bound"] <= told["planted"]["optimum"] <= record["cost"]
