"""Tests of ``incrowd measure`` as a program."""

import json
import re
from pathlib import Path

import pytest

from incrowd.cli.group import cli

TABLE = "zip;age;name;disease\n01;30;a;flu\n01;30;b;cold\n02;;c;flu\n02;;d;flu\n"


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A small file with leading zeros and missing cells."""
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return str(path)


def run(capfd, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    code = cli.main(["measure", *arguments], standalone_mode=False)
    out, err = capfd.readouterr()
    return code, out, err


def test_json(capfd, table: str) -> None:
    """Tests that one JSON object stands on standard output, and nothing else."""
    code, out, err = run(
        capfd, table, "--qi", "zip,age", "--sensitive", "disease", "--ignore", "name", "--json"
    )
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert (record["rows"], record["k"], record["qi"]) == (4, 2, ["zip", "age"])
    assert record["sensitive"][0]["distinct_l"] == 1


def test_for_people(capfd, table: str) -> None:
    """Tests the tables, and that columns not named count as quasi-identifiers."""
    code, out, _ = run(capfd, table, "--sensitive", "disease", "--subsets", "1")
    assert code == 0
    assert "1-anonymous: 4 rows" in out
    assert "name" in out
    assert "distinct l up to" in out


def test_a_column_without_a_name_is_seen(capfd, tmp_path: Path) -> None:
    """Tests row labels of a data frame that stand in a CSV file."""
    (tmp_path / "t.csv").write_text(",sex\n0,f\n1,m\n")
    assert re.search(r"(?m)^ +'' +2 ", run(capfd, str(tmp_path / "t.csv"))[1])


def test_require_k(capfd, table: str) -> None:
    """Tests that the exit code is 1 exactly when the table is not K-anonymous."""
    assert run(capfd, table, "--qi", "zip", "--ignore", "age", "--require-k", "2")[0] == 0
    code, out, err = run(capfd, table, "--qi", "zip,name", "--require-k", "2", "--json")
    assert code == 1
    assert json.loads(out)["k"] == 1
    assert "not 2-anonymous" in err
    Path(table).write_text("zip,name\n")
    code, out, _ = run(capfd, table, "--require-k", "2")
    assert code == 0 and "no rows below its header" in " ".join(out.split())


def test_files_beside_the_table(capfd, table: str, tmp_path: Path) -> None:
    """Tests an order, a metric, a hierarchy, an original and a population from files."""
    order, metric, tree = tmp_path / "order", tmp_path / "metric", tmp_path / "tree.csv"
    order.write_text("cold\nflu\n")
    metric.write_text("flu;cold;0.7\n")
    tree.write_text("flu;*\ncold;*\n")
    code, out, _ = run(
        capfd, table, "--qi", "zip,age", "--sensitive", "disease", "--json", "--original", table,
        "--population", table, "--order", f"disease={order}", "--metric", f"disease={metric}",
        "--hierarchy", f"disease={tree}", "--l", "2",
    )  # fmt: skip
    record = json.loads(out)
    (disease,) = record["sensitive"]
    assert code == 0
    distances = {disease[f"t_{name}"] for name in ("equal", "ordered", "hierarchical", "metric")}
    assert distances == {0.25}
    assert record["risk"]["journalist_highest"] == 0.5
    assert record["columns"][0]["entropy_loss"] == 0
    assert list(disease["recursive_c"]) == ["2"]


WRONG = [
    (["--qi", "zp"], "no column is called 'zp'; did you mean 'zip'"),
    (["--qi", "zip", "--l", "x"], "--l: expected whole numbers"),
    (["--ignore", "nam"], "--ignore: no column is called 'nam'; did you mean 'name'"),
    (["--sensitive", "disease", "--order", "disease=nowhere"], "nowhere: cannot be read"),
    (["--original", "nowhere.csv"], "nowhere.csv: no such file"),
    (["--subsets", "-1"], "subsets"),
    (["--qi", "zip", "--ignore", "zip"], "column 'zip' is to be measured and ignored"),
    (["--sensitive", "disease", "--ignore", "disease"], "'disease' is to be measured and ignored"),
    (["--l", "3"], "--l looks at sensitive columns"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_usage(capfd, table: str, arguments: list[str], message: str) -> None:
    """Tests that wrong usage ends with exit code 2 and one line that says what is wrong."""
    code, out, err = run(capfd, table, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_metric_file_with_two_answers(capfd, table: str, tmp_path: Path) -> None:
    """Tests that a pair with two distances is refused, with its line."""
    metric = tmp_path / "metric"
    metric.write_text("flu;cold;0.7\ncold;flu;0.6\n")
    code, _, err = run(capfd, table, "--sensitive", "disease", "--metric", f"disease={metric}")
    assert code == 2
    assert "line 2: this pair has another distance" in err
    metric.write_text("flu;cold\n")
    _, _, err = run(capfd, table, "--sensitive", "disease", "--metric", f"disease={metric}")
    assert "line 1: expected value;other value;distance" in err
