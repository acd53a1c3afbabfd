"""Tests of reading source problems, and of the command that writes tables and side files."""

import csv
import json
import subprocess
import sys
from fractions import Fraction
from io import StringIO

import numpy as np
import pytest
from click.testing import CliRunner

from incrowd.cli.instance import instance
from incrowd.errors import InputError
from incrowd.instances import FAMILIES, find, make, read
from incrowd.instances.cnf import Cnf
from incrowd.instances.graph import Graph
from incrowd.instances.matching import Triples
from incrowd.instances.plain import PlainTable

IDS = """
three-dimensional-matching one-in-three-sat triangles-or-stars ternary-triangles edge-cliques
two-diversity-triangles three-diversity-triangles disjoint-diversity-triangles clique
cubic-vertex-cover two-column-sat closeness-lift bisection padding half-clique any-clique
closeness-matching closeness-matching-half distance-twins two-factor-tight
"""
NAMES = [family.id for family in FAMILIES]
WITH_SOURCE = [family.id for family in FAMILIES if family.file_format]


def run(*arguments: str, given: str | None = None):
    return CliRunner().invoke(instance, list(arguments), input=given)


def test_all_families():
    """Tests that the tuple holds all families and each says what it is."""
    assert IDS.split() == NAMES
    for family in FAMILIES:
        assert family.source and family.problem and family.equation
        assert family.file_format in ("edge list", "DIMACS CNF", "triples", "CSV", "")


@pytest.mark.parametrize("name", WITH_SOURCE)
def test_source_text_round_trips(name):
    """Tests that a problem written down and read back is the same problem."""
    for planted in (True, False):
        family, _ = make(name, 4, planted)
        of_table = {o.name for o in family.options if o.of_table}
        again = read(name, family.text(), **{n: getattr(family, n) for n in of_table})
        assert again.text() == family.text()
        assert again.to_table().rows == family.to_table().rows
        best, same = family.solve_source(), again.solve_source()
        assert (best is None) == (same is None)
        if best is not None and same is not None:
            assert family.cost_of(best) == again.cost_of(same)


@pytest.mark.parametrize("name", NAMES)
def test_seeds(name):
    """Tests that one seed gives one problem, and that seeds matter where anything is random."""
    tables = [make(name, seed)[0].to_table() for seed in (1, 1, 2)]
    assert (tables[0].codes == tables[1].codes).all()
    texts = {make(name, seed)[0].text() for seed in range(6)}
    assert len(texts) > 1 or name in ("distance-twins", "two-factor-tight")


@pytest.mark.parametrize("name", NAMES)
def test_command_writes_both_files(name, tmp_path):
    """Tests that the files hold the table, its roles and the planted optimum."""
    out = tmp_path / "hard.csv"
    result = run(name, "-o", str(out))
    assert result.exit_code == 0, result.output
    rows = list(csv.reader(StringIO(out.read_text(encoding="utf-8"))))
    told = json.loads((tmp_path / "hard.json").read_text(encoding="utf-8"))
    table = make(name, 0)[0].to_table()
    assert rows[0] == told["roles"]["quasi_identifiers"] + told["roles"]["sensitive"]
    assert rows[1:] == list(table.cells())
    assert len(set(rows[0])) == len(rows[0])
    assert told["rows"] == len(rows) - 1 == len(told["row_meaning"])
    assert told["instance"] == name and told["equation"] == find(name).equation
    assert told["model"]["kind"] == table.model.kind and told["k"] == table.model.k
    planted = told["planted"]
    classes = [np.array(group) for group in planted["classes"]]
    cells = np.array(rows[1:])[:, : len(table.columns)]
    stars = sum(len(g) * int((cells[g] != cells[g[0]]).any(axis=0).sum()) for g in classes)
    assert stars == planted["optimum"]


def test_command_reads_a_source_and_prints(tmp_path):
    """Tests standard input and output, --about, --json, and that nothing is claimed as planted."""
    side = tmp_path / "side.json"
    result = run(
        "half-clique", "--c", "3/8", "--from", "-", "-o", "-", "--about", str(side),
        given="1 2\n2 3\n3 4\n4 5\n5 6\n1 3\n",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "e1,e2,e3,e4,e5,e6"
    told = json.loads(side.read_text(encoding="utf-8"))
    assert told["planted"] is None and told["seed"] is None and told["threshold"] == 8 * 6 - 9
    assert told["parameters"] == {"c": "3/8"}
    result = run("closeness-lift", "-k", "2", "-o", str(tmp_path / "a.csv"), "--json", "--random")
    told = json.loads(result.stdout)
    assert told["model"] == {
        "kind": "t-closeness", "t": "4/5", "t_number": 0.8, "distance": "equal",
    }  # fmt: skip
    assert told["planted"] is None


def test_command_keeps_the_metric(tmp_path):
    """Tests that the side file holds the ground distance of closeness-matching-half."""
    result = run("closeness-matching-half", "-o", str(tmp_path / "a.csv"), "--json", "--t", "0.4")
    told = json.loads(result.stdout)
    assert told["model"]["distance"][0] == [0, 1, 1, 0.5]
    assert told["sensitive_values"] == ["1", "2", "3", "4"]
    assert told["rows"] == 75


@pytest.mark.parametrize(
    "arguments",
    [
        ("half-click", "-o", "x.csv"),  # unknown family
        ("clique",),  # no output
        ("clique", "-o", "x.csv", "--c", "1/3"),  # a parameter of another family
        ("half-clique", "-o", "x.csv", "--c", "one third"),  # no number
    ],
)
def test_command_usage_errors(arguments):
    """Tests that bad usage exits with 2."""
    assert run(*arguments).exit_code == 2


def test_command_suggests():
    """Tests the hint for a misspelt family."""
    assert "did you mean 'half-clique'?" in run("halfclique", "-o", "x.csv").output


@pytest.mark.parametrize(
    "arguments",
    [
        ("clique", "--h", "1"),  # the group of zeros would be a class by itself
        ("clique", "--vertices", "4", "--edges", "9"),  # more edges than pairs
        ("half-clique", "--c", "1/2"),  # outside the theorem
        ("padding", "--c", "2/5"),  # outside the theorem
        ("padding", "--rows", "7"),  # odd
        ("bisection", "--vertices", "5"),  # odd
        ("closeness-matching", "--t", "1/3"),  # outside the theorem
        ("closeness-matching-half", "--t", "1/2"),  # outside the theorem
        ("closeness-matching-half", "--side", "1", "--triples", "2"),  # more triples than there are
        ("cubic-vertex-cover", "--vertices", "7"),  # odd
        ("closeness-lift", "--rows", "2"),  # fewer rows than k
        ("ternary-triangles", "--vertices", "4", "--parts", "5"),  # no room
        ("one-in-three-sat", "--variables", "2"),  # clauses need three
        ("distance-twins", "-k", "30"),  # 2^30 columns
        ("clique", "--from", "missing.txt"),  # no such file
        ("clique", "--from", "-", "--random"),  # both at once
        ("bisection", "--json", "-o", "-"),  # standard output twice
        ("bisection", "--about", "x.csv"),  # both files in one
        ("bisection", "-o", "no/such/folder/x.csv"),
    ],
)
def test_command_input_errors(arguments, tmp_path, monkeypatch):
    """Tests that values out of range raise InputError and leave no file behind."""
    monkeypatch.chdir(tmp_path)
    output = () if "-o" in arguments else ("-o", "x.csv")
    result = run(*arguments, *output)
    assert isinstance(result.exception, InputError), result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bisection", "1 2 3"),  # three names
        ("bisection", "1 1"),  # a loop
        ("bisection", "1 2\n2 1"),  # twice
        ("bisection", "1 2\n3"),  # odd
        ("clique", "1\n2"),  # no edge
        ("triangles-or-stars", "1 2\n2 3"),  # too few rows for one class
        ("two-diversity-triangles", "1 2\n1 3\n1 4\n2 3\n2 4\n3 4"),  # K4 has no three sides
        ("cubic-vertex-cover", "1 2\n2 3\n1 3"),  # not cubic
        ("one-in-three-sat", "p cnf 3 1\n1 2 0"),  # two literals
        ("one-in-three-sat", "p cnf 3 1\n1 2 -2 0"),  # two variables
        ("one-in-three-sat", "p cnf 3 1\n1 2 3"),  # no closing 0
        ("one-in-three-sat", "p sat 3 1\n1 2 3 0"),  # another format
        ("one-in-three-sat", "1 b 3 0"),  # no number
        ("one-in-three-sat", ""),  # nothing
        ("three-dimensional-matching", "a x"),  # two names
        ("three-dimensional-matching", "a x p\na x p"),  # twice
        ("three-dimensional-matching", "a x p\na x q\na y p\na y q"),  # a is in four
        ("three-dimensional-matching", "a - -"),  # no triple
        ("closeness-matching", "a x p\nb x p"),  # sets of two sizes
        ("padding", "q1,q2\n1,2\n1\n1,1\n2,2"),  # ragged
        ("padding", "q1,q2"),  # no row
        ("closeness-lift", "q1\n1\n2"),  # fewer rows than k
        ("distance-twins", "anything"),  # nothing to read
    ],
)
def test_bad_sources(name, text):
    """Tests that a malformed or unfitting source is refused with InputError."""
    with pytest.raises(InputError):
        read(name, text)


def test_make_refuses_strangers():
    """Tests unknown families, parameters and types from Python."""
    with pytest.raises(InputError, match="did you mean 'clique'"):
        make("cliqe")
    with pytest.raises(InputError, match="no parameter"):
        make("clique", size=4)
    for value in (True, 2.5, "3"):
        with pytest.raises(InputError):
            make("clique", h=value)
    with pytest.raises(InputError):
        make("padding", c="a third")
    with pytest.raises(InputError):
        make("one-in-three-sat", literals="some")
    assert make("padding", c=Fraction(1, 4))[0].to_table().rows == 16


def test_no_partition_is_priced():
    """Tests that a release must hold each row once."""
    table = make("bisection", 0)[0].to_table()
    for broken in (((0, 1, 2, 3),), ((0, 1, 2, 3), (3, 4, 5, 6, 7)), ((), tuple(range(8)))):
        with pytest.raises(InputError):
            table.cost(broken)


def test_exhaustive_search_has_a_limit():
    """Tests that the plain solver refuses a table it could not finish."""
    with pytest.raises(InputError, match="at most"):
        make("closeness-lift", rows=40)[0].solve_source()


def test_texts():
    """Tests the readers on comments, commas, lone vertices and elements of no triple."""
    graph = Graph.parse("# three\n10 2\n2,1 # and one alone\n7\n")
    assert graph.vertices == ("1", "2", "7", "10") and graph.edges == ((1, 3), (0, 1))
    assert Graph.parse(graph.text()) == graph
    triples = Triples.parse("a x p\n- y -\na x q # same names, other sets: fine\n")
    assert triples.sizes == (1, 2, 2) and triples.triples == ((0, 1, 3), (0, 1, 4))
    assert Triples.parse(triples.text()) == triples
    formula = Cnf.parse("c two lines a clause\np cnf 5 1\n-1 2\n3 0\n")
    assert formula == Cnf(5, ((-1, 2, 3),)) and Cnf.parse(formula.text()) == formula
    table = PlainTable.parse('a,b\n"1,2",x\n3,y\n')
    assert table.cells == (("1,2", "x"), ("3", "y")) and PlainTable.parse(table.text()) == table


def test_padding_symbols_are_fresh():
    """Tests that the padding differs from every value, even from its usual names."""
    table = read("padding", "a\nλ1\nλ2\nx\ny\n").to_table()
    assert len(set(table.alphabet)) == len(table.alphabet) == 6


def test_instance_is_the_table():
    """Tests that the solvers' instance has the same rows, each copy under its own number."""
    for name in ("clique", "two-diversity-triangles", "three-dimensional-matching"):
        table = make(name, 0)[0].to_table()
        made, copy_of_row = table.to_instance()
        assert made.rows == table.rows and made.columns == len(table.columns)
        assert sorted(copy_of_row.tolist()) == list(range(table.rows))
        kind = made.copies[copy_of_row]
        for j in range(made.columns):
            codes = made.codes[kind, j]
            same = codes[:, None] == codes[None]
            assert (same == (table.codes[:, j][:, None] == table.codes[:, j][None])).all()
        if table.sensitive_columns:
            assert (made.sensitive_codes[kind] == table.sensitive).all()


def test_large_random_problems():
    """Tests the generators' path for sizes at which not every edge or triple is listed."""
    graph = make("triangles-or-stars", 0, False, vertices=300, parts=50)[0].graph
    assert len(graph.edges) == 150 == len(set(graph.edges))
    family, answer = make("three-dimensional-matching", 0, side=60, triples=100)
    held = [len(family.triples.holding[e]) for e in range(180)]
    assert len(family.triples.triples) == 100 and min(held) >= 1 and max(held) <= 3
    table = family.to_table()
    assert table.cost(family.source_to_solution(answer)) == family.cost_of(answer) == 26 * 180
    family, answer = make("cubic-vertex-cover", 0, vertices=100)
    cost = family.to_table().cost(family.source_to_solution(answer))
    assert cost == 6 * 100 + 3 * 50 + 11 * 150 + 9


def test_listing_families_is_light():
    """Tests that neither the families nor the command load solvers or frame libraries."""
    code = (
        "import sys, incrowd.cli.instance; assert 'numpy' not in sys.modules;"
        "import incrowd.instances as i; i.make('clique');"
        "print([m for m in ('numba','polars','scipy','pandas','networkx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
