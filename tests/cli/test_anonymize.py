"""``incrowd anonymize``."""

import json
import re
import sys
from collections import Counter
from importlib import import_module

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.cli import cli
from tables import csv_bytes, parsed, smallest_class, tables

TABLE = b"name,age,zip,ill\nAnn,34,01234,flu\nBob,34,01234,cold\nCy,36,01235,flu\nDi,36,,\n"
COUNTS = [
    "rows",
    "columns",
    "cells",
    "changed",
    "k",
    "models",
    "cost",
    "cost_fraction",
    "lower_bound",
]
WORDS = [
    "gap",
    "status",
    "ended",
    "method",
    "classes",
    "smallest_class",
    "seconds",
    "seed",
    "output",
    "proof",
]
KEYS = COUNTS + WORDS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, and the working folder."""
    (tmp_path / "in.csv").write_bytes(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def incrowd(*arguments, **more):
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(a) for a in arguments], **more)


def listed(folder):
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_the_main_job(folder):
    """Tests roles, the summary, and the release counted from the file."""
    done = incrowd(
        "anonymize", "in.csv", "-o", "o.csv", "-k", 2, "--id", "name", "--sensitive", "ill",
        "--qi", "age,zip", "--order", "keep",
    )  # fmt: skip
    assert (done.exit_code, done.stdout) == (0, "")
    out = b"age,zip,ill\n34,01234,flu\n34,01234,cold\n36,*,flu\n36,*,\n"
    assert (folder / "o.csv").read_bytes() == out
    for part in ("4 in 2 classes", "2 of 8 cells", "zip", "written  o.csv", "optimal"):
        assert part in done.stderr
    assert incrowd("anonymize", "in.csv", "-o", "o.csv", "-k", 2, "--quiet").stderr == ""


UNHELD = [
    ("in.parquet", "o.csv", "", "o.csv: column 'kept' is of type List.*; or write .parquet or"),
    ("parts", "o", "", "o: column 'kept' is of type List.*; or write one file, .parquet or"),
    *(
        ("in.arrow", "o.arrow", option, f"{option.split()[0]}: column 'kept' is of type List")
        for option in ("--spreadsheet-safe", "--report r.html", "--metadata m.json")
    ),
]


@pytest.mark.parametrize(("table", "output", "option", "message"), UNHELD)
def test_what_no_output_holds_is_refused_before_the_search(
    folder, monkeypatch, table, output, option, message
):
    """Tests kept lists where text is needed; other outputs hold them."""
    frame = pl.DataFrame({"a": ["1", "2"] * 2, "kept": [[1], [2], [], None]})
    (folder / "parts").mkdir()
    for name in ("in.parquet", "parts/1.parquet", "parts/2.parquet"):
        frame.write_parquet(name)
    frame.write_ipc("in.arrow")
    asked = ("anonymize", table, "-k", 2, "--keep", "kept", "--order", "keep", "-q")
    assert incrowd(*asked, "-o", "held.parquet").exit_code == 0
    held = pl.read_parquet("held.parquet")
    assert held.equals(pl.concat([frame] * (2 if table == "parts" else 1)))
    monkeypatch.setattr(import_module("incrowd._api"), "release_of", None)  # would fail
    done = incrowd(*asked, "-o", output, *option.split())
    assert (done.exit_code, bool(re.match(f"incrowd: {message}", done.stderr))) == (2, True)
    frame.with_columns(kept=pl.Series([0, 1, 2**23, None]).cast(pl.Date)).write_parquet(
        "late.parquet"
    )
    done = incrowd("anonymize", "late.parquet", *asked[2:], "-o", "late.csv")
    assert (done.exit_code, "'kept' holds times that Python cannot" in done.stderr) == (2, True)


def test_k_of_one_protects_nobody(folder):
    """Tests that a release that hides nobody says so."""
    done = incrowd("anonymize", "in.csv", "-o", "o.csv", "-k", 1, "--keep", "name")
    assert done.exit_code == 0
    assert "with k = 1 nobody hides" in done.stderr


def test_json(folder):
    """Tests that one object with exactly the promised keys is printed, and nothing else."""
    done = incrowd("anonymize", "in.csv", "-o", "o.csv", "-k", 2, "--keep", "name", "--json")
    record = json.loads(done.stdout)
    assert "column 'name' is published unchanged" in record.pop("warnings")[0]
    assert list(record) == KEYS
    lines = parsed((folder / "o.csv").read_bytes())[1:]
    stars = sum(cell == "*" for line in lines for cell in line)
    expected = {"rows": 4, "columns": 3, "cells": 12, "k": 2, "models": ["2-anonymity"]}
    expected |= {"cost": stars, "cost_fraction": stars / 12, "seed": 0, "output": "o.csv"}
    expected |= {"classes": len({tuple(line[1:]) for line in lines}), "proof": None}
    assert {key: record[key] for key in expected} == expected
    assert record["smallest_class"] == smallest_class([line[1:] for line in lines])
    assert record["status"] in ("optimal", "feasible")


def test_shuffles_by_default(folder):
    """Tests that the order is new, follows from a seed where one is typed, and keeps the rows."""
    rows = [f"{i // 2},{i}" for i in range(14)]
    (folder / "t.csv").write_text("\n".join(["a,b", *rows]) + "\n")
    outs = []
    for *more, told in (["--seed", 1, 1], ["--seed", 1, 1], ["--seed", 2, 1], [0], [0], [0]):
        arguments = ("anonymize", "t.csv", "-o", "out", "-k", 2, "--keep", "b", "-q", *more)
        done = incrowd(*arguments)
        assert (done.exit_code, done.stderr.count("order of the rows follows")) == (0, told)
        outs.append(tuple((folder / "out").read_text().splitlines()))
    assert outs[0] == outs[1] != outs[2]
    assert outs[0][1:] != tuple(rows)
    assert len(set(outs[3:])) > 1  # all three alike: once in 14!² runs
    assert all(sorted(out[1:]) == sorted(rows) for out in outs)


ERRORS = [
    # arguments, exit code, part of the message, why
    (["in.csv", "-o", "o", "-k", "9"], 1, "k = 9 is larger than the table", "k too large"),
    (["in.csv", "-o", "o", "-k", "0"], 2, "k must be a whole number of at least 1", "k = 0"),
    (["in.csv", "-o", "o", "-k", "x"], 2, "'x' is not a whole number", "k no number"),
    (["in.csv"], 2, "Missing option '-o'", "no output"),
    (["in.csv", "-o", "in.csv"], 2, "is the input itself", "output is input"),
    (["in.csv", "-o", "./in.csv"], 2, "is the input itself", "the same by a detour"),
    (["in.csv", "-o", "o.csv.gz"], 2, "not written; write 'o.csv' and pack it", "packed output"),
    (["in.csv", "-o", "no/o"], 2, "folder 'no' does not exist", "no such folder"),
    (["in.csv", "-o", "."], 2, "is a folder", "output is a folder"),
    (["", "-o", "o.csv"], 2, "the name of the input is empty", "no input"),
    (["in.csv", "-o", ""], 2, "the name of an output is empty", "an empty output"),
    (["in.csv", "-o", "o.csv", "--proof", ""], 2, "name of an output is empty", "an empty proof"),
    (["im.csv", "-o", "o"], 2, "no such file; did you mean 'in.csv'?", "no such input"),
    (["in.csv", "-o", "o", "--qi", "aeg"], 2, "did you mean 'age'", "unknown column"),
    (["in.csv", "-o", "o", "--qi", "age"], 2, "3 columns have no role: 'name', 'zip'", "no role"),
    (["in.csv", "-o", "o", "--id", "age", "--keep", "age"], 2, "both id and keep", "two roles"),
    (["in.csv", "-o", "o", "--hierarchy", "age"], 2, "expected COLUMN=", "no ="),
    (["in.csv", "-o", "o", "--hierarchy", "agee=date"], 2, "did you mean 'age'", "its column"),
    (["in.csv", "-o", "o", "--hierarchy", "age=dat"], 2, "did you mean 'date'", "its rule"),
    (["in.csv", "-o", "o", "--weight", "age=x"], 2, "weight of column 'age'", "weight no number"),
    (["in.csv", "-o", "o", "--weight", "age=1", "--weight", "age=2"], 2, "named twice", "twice"),
    (["in.csv", "-o", "o", "--cost", "levle"], 2, "levle", "unknown cost"),
    (["in.csv", "-o", "o", "-k2", "--method", "subset"], 2, "no method is called 'sub", "method"),
    (["in.csv", "-o", "o", "--gap", "2"], 2, "gap must be a share from 0 to 1", "gap"),
    (["in.csv", "-o", "o", "--time-limit", "-1"], 2, "time_limit must be seconds", "time limit"),
    (["in.csv", "-o", "o", "--encoding", "uft8"], 2, "unknown encoding 'uft8'", "encoding"),
    (["in.csv", "-o", "o", "--delimiter", "::"], 2, "a delimiter is one ASCII", "delimiter"),
    (["in.csv", "-o", "o", "--order", "random"], 2, "'random' is not one of", "order"),
    (["in.csv", "-o", "o", "--oder", "keep"], 2, "No such option", "unknown option"),
    (["in.csv", "-o", "-", "--json"], 2, "both want standard output", "two for one pipe"),
    (["in.csv", "-o", "o", "--proof", "o"], 2, "name the same file", "proof is output"),
    (["in.csv", "-o", "o", "--proof", "in.csv"], 2, "is the input itself", "proof is input"),
    (["in.csv", "-o", "-", "--proof", "p"], 2, "--proof needs files", "proof of a pipe"),
    (["in.csv", "-o", "o", "--l-kind", "distinct"], 2, "--l-kind goes with --l, which", "no l"),
    (["in.csv", "-o", "o", "--c", "2"], 2, "c goes with l, which is not given", "c without l"),
    (["in.csv", "-o", "o", "--distance", "equal"], 2, "--distance goes with --t, which", "no t"),
    (["in.csv", "-o", "o", "--block-rows", "5"], 2, "--block-rows goes with", "no Spark"),
    (["in.csv", "-o", "o", "--scratch", "s"], 2, "--scratch goes with", "no Spark, no scratch"),
    (["in.csv", "-o", "o", "--star", ""], 2, "star, the mark", "no star"),
    (["in.csv", "-o", "o", "--star", "34"], 2, "'age' has a cell equal to '34'", "star occurs"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "part", "why"), ERRORS, ids=[e[3] for e in ERRORS])
def test_errors(folder, arguments, code, part, why):
    """Tests that a mistake is told in one line, with its code, and that nothing is written."""
    done = incrowd("anonymize", *arguments)
    assert part in done.stderr, why
    assert done.exit_code == code
    assert done.stderr.startswith("incrowd: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert listed(folder) == ["in.csv"]


def test_unknown_commands():
    """Tests that the nearest command is offered."""
    done = incrowd("anonymise")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "did you mean 'anonymize'" in done.stderr


SECRET = "SENTINEL"
LEAKS = [
    # file, arguments, why
    (f"a,b\n1,{SECRET}\n{SECRET}\n".encode(), [], "ragged"),
    (f'a,b\n1,"{SECRET}\n'.encode(), [], "open quote"),
    (f'a,b\n1,"x"{SECRET}\n'.encode(), [], "text behind a quote"),
    (f"a,b\n1,{SECRET}\xe9\n".encode("latin-1"), [], "not UTF-8"),
    (f"a,b\n{SECRET},*\n".encode(), [], "star"),
    (f"a,b\n{SECRET},x\n".encode(), ["-k", "3"], "k too large"),
    (f"a,b\n{SECRET},x\n".encode(), ["--qi", "a"], "no role"),
    (f"PAR1{SECRET}".encode(), [], "broken Parquet"),
    (f"a,b\n{SECRET},x\n{SECRET},y\n".encode(), ["--encoding", "ascii", "--star", "é"], "encode"),
]


@pytest.mark.parametrize(("data", "arguments", "why"), LEAKS, ids=[case[2] for case in LEAKS])
def test_no_message_quotes_a_cell(folder, data, arguments, why):
    """Tests that whoever reads the log learns no cell."""
    (folder / "t.csv").write_bytes(data)
    done = incrowd("anonymize", "t.csv", "-o", "o.csv", "-k", "2", *arguments)
    assert done.exit_code in (1, 2), why
    assert SECRET not in done.output
    assert listed(folder) == ["in.csv", "t.csv"]


def test_unexpected_errors_quote_nothing(folder, monkeypatch):
    """Tests that an error nobody foresaw tells its kind alone, and all with INCROWD_DEBUG=1."""

    def broken(*_):
        raise ValueError(SECRET)

    import_module("incrowd._api")
    monkeypatch.setattr(sys.modules["incrowd._api"], "solve", broken)
    done = incrowd("anonymize", "in.csv", "-o", "o.csv")
    assert done.exit_code == 2
    assert "ValueError" in done.stderr and SECRET not in done.output
    monkeypatch.setenv("INCROWD_DEBUG", "1")
    assert isinstance(incrowd("anonymize", "in.csv", "-o", "o.csv").exception, ValueError)
    assert listed(folder) == ["in.csv"]


def test_names_of_any_kind(folder):
    """Tests columns whose names need care on the command line."""
    header = ["a,b", "c=d", "k", " x ", "🙂", "", "line\nbreak"]
    (folder / "t.csv").write_bytes(csv_bytes(header, [["1"] * 7, ["2"] * 7]))
    done = incrowd(
        "anonymize", "t.csv", "-o", "o.csv", "-k", 2, "--qi", '"a,b",c=d,k', "--keep", " x ",
        "--keep", "", "--sensitive", "🙂", "--id", "line\nbreak", "--weight", "c=d=2",
        "--hierarchy", "a,b=interval:10", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    lines = parsed((folder / "o.csv").read_bytes())
    assert lines[0] == header[:-1]
    assert [row[1:3] for row in lines[1:]] == [["*", "*"]] * 2
    assert Counter(row[0] for row in lines[1:]).most_common(1)[0][1] == 2
    for cut in (("--qi", "a,b,k"), ("--protect", "a,b:2")):
        told = incrowd("anonymize", "t.csv", "-o", "o.csv", *cut).stderr
        assert """'a'""" in told and """stands in quotes: '"a,b"'""" in told


def test_spreadsheet_safe(folder):
    """Tests that cells which would run are marked and counted, and that verify knows."""
    (folder / "t.csv").write_bytes(b"a,b\n=1+1,@x\n=1+1,-5\n")
    given = ("--keep", "b", "-k", 2)
    plain = incrowd("anonymize", "t.csv", "-o", "p.csv", *given, "--order", "keep")
    assert (folder / "p.csv").read_bytes() == (folder / "t.csv").read_bytes(), plain.output
    safe = incrowd("anonymize", "t.csv", "-o", "s.csv", *given, "--spreadsheet-safe")
    assert "3 cells that a spreadsheet would run" in safe.stderr
    assert sorted((folder / "s.csv").read_text().split()) == ["'=1+1,'@x", "'=1+1,-5", "a,b"]
    check = ("verify", "s.csv", "--original", "t.csv", *given)
    assert incrowd(*check).exit_code == 1
    assert incrowd(*check, "--spreadsheet-safe").exit_code == 0


def test_other_formats(folder):
    """Tests Parquet in and out, with types kept where nothing changed."""
    frame = pl.DataFrame({"a": [1, 1, 2], "b": [0.5, 0.5, 0.5], "c": [None, "x", "y"]})
    frame.write_parquet(folder / "t.parquet")
    given = ("--keep", "c", "-k", 3, "--order", "keep")
    assert incrowd("anonymize", "t.parquet", "-o", "o.parquet", *given).exit_code == 0
    out = pl.read_parquet(folder / "o.parquet")
    assert out["a"].to_list() == ["*", "*", "*"]
    assert out.select("b", "c").equals(frame.select("b", "c"))
    assert incrowd("anonymize", "t.parquet", "-o", "o.csv", *given).exit_code == 0
    assert (folder / "o.csv").read_text() == "a,b,c\n*,0.5,\n*,0.5,x\n*,0.5,y\n"


def test_no_rows(folder):
    """Tests that a header alone gives a header alone."""
    (folder / "t.csv").write_bytes(b"a;b\r\n")
    done = incrowd("anonymize", "t.csv", "-o", "o.csv", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["rows"] == 0
    assert (folder / "o.csv").read_bytes() == b"a;b\r\n"
    assert "no rows" in done.stderr
    assert incrowd("anonymize", "t.csv", "-o", "o.csv", "--k", "2", "-q").exit_code == 0
    [warning] = json.loads(done.stdout)["warnings"]
    assert "look at the export or the query" in warning
    assert "no rows below its header" in incrowd("init", "t.csv").stderr


@settings(max_examples=few(60), deadline=None)
@given(tables(max_rows=6), st.sampled_from([";", "\t"]), st.integers(2, 3))
def test_any_table(tmp_path_factory, table, delimiter, k):
    """Tests random tables from the command line, verified by the command line."""
    header, rows = table
    folder = tmp_path_factory.mktemp("t")
    (folder / "t.csv").write_bytes(csv_bytes(header, rows, delimiter, "\r\n"))
    given = ("-k", k, "--delimiter", delimiter)
    done = incrowd("anonymize", folder / "t.csv", "-o", folder / "o.csv", *given)
    if len(rows) < k:
        assert done.exit_code == 1
        return
    assert done.exit_code == 0, done.output
    check = ("verify", folder / "o.csv", "--original", folder / "t.csv", *given)
    verdict = incrowd(*check)
    assert verdict.exit_code == 0, verdict.output
    out = (folder / "o.csv").read_bytes()
    assert out.split(b"\r\n")[0] == csv_bytes(header, [], delimiter, "\r\n").split(b"\r\n")[0]
    assert smallest_class(parsed(out, delimiter)[1:]) >= k


def test_models_of_sensitive_columns(folder):
    """Tests that l and t are asked for, obeyed in the file, and verified."""
    given = ("--qi", "age,zip", "--id", "name", "--sensitive", "ill", "-k", 2, "--l", 2)
    done = incrowd("anonymize", "in.csv", "-o", "o.csv", *given, "--json")
    assert json.loads(done.stdout)["models"] == ["2-anonymity", "distinct 2-diversity"]
    lines = parsed((folder / "o.csv").read_bytes())[1:]
    classes = {
        tuple(line[:2]): {other[2] for other in lines if other[:2] == line[:2]} for line in lines
    }
    assert min(map(len, classes.values())) >= 2
    check = ("verify", "o.csv", "--original", "in.csv", *given)
    assert incrowd(*check).exit_code == 0
    assert incrowd(*check, "--t", "0.0001").exit_code == 1
    none = incrowd("anonymize", "in.csv", "-o", "no.csv", *given[:-1], 9)
    assert none.exit_code == 1 and "9-diversity" in none.stderr


def test_proof(folder):
    """Tests that a proof is written beside the release and convinces the checker."""
    done = incrowd(
        "anonymize",
        "in.csv",
        "-o",
        "o.csv",
        "-k",
        2,
        "--id",
        "name",
        "--proof",
        "o.proof",
        "--json",
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["proof"] == "o.proof"
    check = ("verify", "o.csv", "--original", "in.csv", "--proof", "o.proof")
    assert incrowd(*check).exit_code == 0
    assert json.loads(incrowd(*check, "--json").stdout)["lawful"] is True
    (folder / "o.csv").write_bytes((folder / "o.csv").read_bytes().replace(b"34", b"36"))
    no = incrowd(*check)
    assert (no.exit_code, no.stderr[:12]) == (1, "incrowd: no:")
    wrong = incrowd("verify", "o.csv", "--original", "in.csv", "--proof", "nothing")
    assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("method", ["auto", "mondrian"])
def test_the_bound_that_a_proof_certifies_is_told(folder, method):
    """Tests that bound and verdict agree, or that the output says what the proof certifies."""
    rows = [
        f"{a},{b},{s}\n"
        for a, b, s in zip("112233112233", "121212333111", "xxyyzzxyzxyz", strict=True)
    ]
    (folder / "in.csv").write_text("a,b,ill\n" + "".join(rows))
    ask = ("anonymize", "in.csv", "-o", "o.csv", "-k", 2, "--sensitive", "ill", "--l", 2)
    done = incrowd(*ask, "--method", method, "--proof", "o.proof", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    check = ("verify", "o.csv", "--original", "in.csv", "--proof", "o.proof", "--json")
    verdict = json.loads(incrowd(*check).stdout)
    assert verdict["lawful"] is True
    certified = told.get("proof_bound", told["lower_bound"])
    assert certified == verdict["bound"] <= told["cost"]
    assert ("certifies" in done.stderr) == ("proof_bound" in told)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        *((name, "csv") for name in ("", "*", "^a$", "^a", "=")),
        *(("", "parquet"), ("^a$", "parquet"), ("*", "arrow"), ("^a", "arrow")),
    ],
)
def test_proofs_of_strange_names(folder, name, suffix):
    """Tests proofs of columns whose names mean something else to polars, in every role."""
    words = {name: ["x", "x", "y", "y"], "a": ["1", "1", "1", "2"], f"^{name}s$": list("fgfg")}
    if suffix == "csv":
        header, *lines = list(words), *zip(*words.values(), strict=True)
        (folder / "t.csv").write_text("".join(",".join(line) + "\n" for line in (header, *lines)))
    elif suffix == "parquet":
        pl.DataFrame(words).write_parquet(folder / "t.parquet")
    else:
        pl.DataFrame(words).write_ipc(folder / "t.arrow")
    table, out = f"t.{suffix}", f"o.{suffix}"
    for roles in (["--sensitive", f"^{name}s$", "--l", 2], ["--keep", name], ["--id", name]):
        asked = ("anonymize", table, "-o", out, "-k", 2, "--proof", "o.proof", *roles)
        done = incrowd(*asked)
        assert done.exit_code == 0, done.output
        done = incrowd("verify", out, "--original", table, "--proof", "o.proof")
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "asked",
    [
        ("--person", "^p$"),
        ("--person", "^p$", "--missing-person", "own"),
        ("--person", "^p$", "--constant-alike"),
        ("--person", "^p$", "--sensitive", "^b$", "--t", "0.9", "--proof", "o.proof"),
        ("--protect", "^a$,^b$:2", "--id", "^p$"),
    ],
)
def test_names_like_patterns_of_names(folder, asked):
    """Tests options that look at single columns, where polars takes a name for a pattern."""
    (folder / "t.csv").write_text("^a$,^b$,^p$\nx,1,s\nx,2,t\ny,1,u\ny,2,v\n")
    done = incrowd("anonymize", "t.csv", "-o", "o.csv", "-k", 2, *asked)
    assert done.exit_code == 0, done.output


def test_a_proof_of_blank_cells_between_carriage_returns(folder):
    """Tests that checker and reader see the same rows where a quote stands in such a file."""
    (folder / "t.csv").write_bytes('c0\ré\r\r"x""y"\r\r'.encode())
    done = incrowd("anonymize", "t.csv", "-o", "o.csv", "-k", 2, "--proof", "p", "--star", "#")
    assert done.exit_code == 0, done.output
    done = incrowd("verify", "o.csv", "--original", "t.csv", "--proof", "p")
    assert done.exit_code == 0, done.output
