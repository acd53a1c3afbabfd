"""Texts that stand for missing values: read, kept from hierarchies, told, proven."""

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.errors import HierarchyError, InputError
from incrowd.hierarchy.spec import parse
from incrowd.measures.orders import ordered
from incrowd.policy import Policy
from incrowd.text.missing import EVERY, likely, marks_for, marks_of

ROWS = {
    "name": list("abcdefgh"),
    "age": ["34", "NA", "38", "51", "-99", "-99", "NA", "36"],
    "born": ["1990-01-02", "?", "1991-03-04", "?", "1990-05-06", "1991-01-01", "?", "1990-01-02"],
    "ill": ["flu", "gout", "NA", "flu", None, "gout", "flu", "gout"],
}
RULES = {"age": "interval:5,10", "born": "date"}
MARKS = {EVERY: ("NA",), "age": ("-99",), "born": ("?",)}


def incrowd(*arguments: Any) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with marks of missing values, in the working folder."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(ROWS).write_csv("t.csv")
    return "t.csv"


def test_forms() -> None:
    """Tests what is taken for marks, and for which columns."""
    assert marks_of(None) == () and marks_of("NA") == ("NA",) and marks_of(-99) == ("-99",)
    assert marks_of(["NA", "NA", -9]) == ("NA", "-9")
    assert marks_of({EVERY: "NA"}) == ("NA",)
    both = marks_of({EVERY: ["NA"], "a": ["-9", "NA"]})
    assert marks_for(both, "a") == ("NA", "-9") and marks_for(both, "b") == ("NA",)
    for wrong in ("", [""], True, 3j, {"a": b"x"}):
        with pytest.raises(InputError, match="na"):
            marks_of(wrong)
    with pytest.raises(InputError, match="did you mean 'age'"):
        Policy(na={"agee": ["NA"]}).roles(["age"])


@pytest.mark.parametrize(
    "rule", ["interval:5,10", "bands:0,40,60+", "prefix:1", "keep:1", "date:format=%y"]
)
def test_rules_leave_marks_alone(rule: str) -> None:
    """Tests that a mark stays as it is below the star, and that other values are as without it."""
    if rule.startswith("date"):
        rule, values = "date:year", ["1990-01-02", "1991-01-01"]
    else:
        values = ["34", "38", "51"]
    plain = parse(rule).build("c", values)
    source = Policy(hierarchies={"c": rule}, na=["-99", "NA"]).sources()["c"]
    found = source.build("c", [*values, "-99", None, "NA"])
    paths = {path[0]: path for path in map(found.path, range(len(found.leaves)))}
    for leaf in range(len(plain.leaves)):
        assert paths[plain.leaves[leaf]] == plain.path(leaf)
    for mark in ("-99", "NA", None):
        assert set(paths[mark]) == {mark, "*"}
    assert {type(text) for labels in found.labels for text in labels} == {str, type(None)}


def test_a_file_that_lists_a_mark_has_its_way(tmp_path: Path) -> None:
    """Tests a mark that the file knows, and one that it lacks."""
    file = tmp_path / "h"
    file.write_text("1;low;*\n2;low;*\nNA;none;*\n")
    found = Policy(hierarchies={"c": file}, na=["NA", "-9"]).sources()["c"]
    ladder = found.build("c", ["1", "2", "NA", "-9"])
    paths = {path[0]: path for path in map(ladder.path, range(4))}
    assert paths["NA"] == ("NA", "none", "*") and paths["-9"] == ("-9", "-9", "*")
    with pytest.raises(HierarchyError, match="1 value is not in the hierarchy"):
        parse(str(file)).build("c", ["1", "-9"])


def test_a_code_among_numbers_stays_where_it_is_named() -> None:
    """Tests that ages cut before are refused with the way out, and that it is one."""
    frame = pl.DataFrame({"age": ["34", "36", "90+", "90+"]})
    with pytest.raises(HierarchyError, match=r"is to stay as it is, such as 90\+ \(--na\)"):
        ic.anonymize(frame, 2, hierarchies={"age": "interval:10"})
    found = ic.anonymize(frame, 2, hierarchies={"age": "interval:10"}, na={"age": ["90+"]})
    assert found.data["age"].to_list() == ["30-39", "30-39", "90+", "90+"]


def test_a_way_out_of_nan() -> None:
    """Tests that a message names the option, and the words that stand for no number."""
    with pytest.raises(HierarchyError, match=r"NaN or inf: --na -inf,NaN takes them as missing"):
        parse("interval:5").build("c", ["1", "NaN", "-inf"])
    with pytest.raises(HierarchyError, match=r"form 'aa'.*\(--na\)"):
        parse("interval:5").build("c", ["1", "NA", "nan"])
    with pytest.raises(HierarchyError, match=r"\(--na\)"):
        parse("date").build("c", ["NA"])


def test_a_release_with_marks(table: str) -> None:
    """Tests command line, Python and policy file alike; marks stay, or become the star."""
    release = ic.anonymize(table, 2, id="name", sensitive="ill", hierarchies=RULES, na=MARKS)
    Path("p.toml").write_text(release.policy.toml())
    assert Policy.read("p.toml") == release.policy
    asked = ("--id", "name", "--sensitive", "ill", "--hierarchy", "age=interval:5,10")
    asked = (*asked, "--hierarchy", "born=date", "--na", "NA", "--na", "age=-99", "--na", "born=?")
    done = incrowd("anonymize", table, "-o", "o.csv", "-k", 2, "--order", "keep", *asked)
    assert done.exit_code == 0, done.output
    written = pl.read_csv("o.csv", infer_schema=False)
    assert written["age"].to_list() == release.data["age"].to_list()
    for name in ("age", "born"):
        for before, after in zip(ROWS[name], written[name], strict=True):
            if before in ("NA", "-99", "?"):
                assert after in (before, "*")
    command = shlex.split(release.policy.command(table, "o2.csv"))
    assert incrowd(*command[1:]).exit_code == 0
    assert Path("o2.csv").read_text() == Path("o.csv").read_text()
    checked = incrowd("verify", "o.csv", "--original", table, "-k", 2, *asked)
    assert checked.exit_code == 0, checked.output
    by_file = incrowd("verify", "o.csv", "--original", table, "--policy", "p.toml")
    assert by_file.exit_code == 0, by_file.output


def test_proofs(table: str) -> None:
    """Tests that proofs name the marks, and that a verifier who asks for a hierarchy names them."""
    Path("age.csv").write_text("".join(f"{a};{a // 10}0s;*\n" for a in range(30, 60)))
    asked = ("--id", "name", "--sensitive", "ill", "--hierarchy", "born=date")
    made = (*asked, "--hierarchy", "age=age.csv", "--na", "NA,?", "--na", "age=-99")
    done = incrowd("anonymize", table, "-o", "o.csv", "-k", 2, *made, "--proof", "p")
    assert done.exit_code == 0, done.output
    verify = ("verify", "o.csv", "--original", table, "--proof", "p")
    for words in ((), made, ("--cost", "level")):
        done = incrowd(*verify, *words)
        assert done.exit_code == 0, (words, done.output)
    assert check("o.csv", table, "p", {"age": "age.csv"}).accepted
    for words in (asked, ("--hierarchy", "age=age.csv", "--na", "NA")):
        done = incrowd(*verify, *words)
        assert done.exit_code == 1 and "not said (--na)" in done.output, done.output


def test_measures_count_marks(table: str) -> None:
    """Tests the figures of missing cells, with and without marks, and the note on likely ones."""
    plain = ic.measure(table, qi=["age", "born"], sensitive="ill")
    assert [column.missing for column in plain.columns] == [0, 0]
    assert plain.sensitive[0].missing == 1
    assert any("'age', 'born'" in warning for warning in plain.warnings)
    told = ic.measure(table, qi=["age", "born"], sensitive="ill", na=MARKS)
    assert [column.missing for column in told.columns] == [4, 3]
    assert told.sensitive[0].missing == 2
    assert (told.k, told.classes, told.unique_rows) == (plain.k, plain.classes, plain.unique_rows)
    assert not any("--na" in warning for warning in told.warnings)
    done = incrowd("measure", table, "--ignore", "name", "--na", "NA", "--na", "age=-99", "--json")
    missing = {c["name"]: c["missing"] for c in json.loads(done.stdout)["columns"]}
    assert missing == {"age": 4, "born": 0, "ill": 2}


def test_no_order_has_a_place_for_marks() -> None:
    """Tests that −99 is not the least of numbers where it stands for a missing one."""
    frame = pl.DataFrame({"a": ["1"] * 4, "s": ["-99", "1", "2", "3"]})
    asked = {"qi": "a", "sensitive": "s", "t": 0.9, "distance": "ordered"}
    assert ic.anonymize(frame, 2, **asked).k == 2
    with pytest.raises(InputError, match="has missing values, and the table does not know"):
        ic.anonymize(frame, 2, na=["-99"], **asked)


def test_people_are_named_by_no_mark() -> None:
    """Tests that a row whose person is unknown is refused, also where a mark says so."""
    frame = pl.DataFrame({"a": ["1"] * 4, "p": ["x", "NA", "NA", "y"]})
    assert ic.anonymize(frame, 2, person="p").fewest_people == 3
    with pytest.raises(InputError, match="2 of 4 rows have no value"):
        ic.anonymize(frame, 2, person="p", na="NA")


def test_several_ways_of_missing_are_no_diversity(table: str) -> None:
    """Tests the caution where one class would count two ways of missing as two values."""
    asked = {"id": "name", "qi": ["age", "born"], "sensitive": "ill", "l": 2}
    release = ic.anonymize(table, 2, na=MARKS, hierarchies=RULES, **asked)
    assert any("written in 2 ways" in warning for warning in release.warnings)
    without = ic.anonymize(
        table, 2, hierarchies=RULES, na={"age": ["NA", "-99"], "born": "?"}, **asked
    )
    assert not any("ways" in warning for warning in without.warnings)


def test_what_looks_like_a_mark() -> None:
    """Tests words among numbers, codes below 0, and what is a value like others."""
    assert likely(["1", "2", "NA", None, "?"], ordered) == ("?", "NA")
    assert likely(["1", "2", "-99"], ordered) == ("-99",)
    assert likely(["1", "-2", "-99"], ordered) == ()
    assert likely(["red", "NA", "null"], ordered) == ("null",)
    assert likely(["NA", "DE", "FR"], ordered) == ()
    assert likely([], ordered) == likely([None], ordered) == ()


def test_init_proposes_marks(table: str) -> None:
    """Tests that the policy lists marks with hierarchies that fit beside them, and can be used."""
    rows = 40
    frame = pl.DataFrame(
        {
            "age": [str(20 + i) if i % 9 else "-99" for i in range(rows)],
            "job": ["nurse", "NA"] * (rows // 2),
            "pay": [str(100 * i) if i % 7 else "NaN" for i in range(rows)],
        }
    )
    frame.write_csv("s.csv")
    done = incrowd("init", "s.csv", "-k", 2, "--na", "job=NA", "-o", "p.toml")
    assert done.exit_code == 0, done.output
    policy = Policy.read("p.toml")
    assert policy.na == {"age": ("-99",), "job": ("NA",), "pay": ("NaN",)}
    assert set(policy.hierarchies) == {"age"} and policy.sensitive == ("pay",)
    assert ic.anonymize("s.csv", policy=policy).k == 2
