"""``verify``, ``bound``, ``methods``, ``demo``, ``version``."""

import json
import sys

import pytest
from click.testing import CliRunner

from incrowd.cli import cli
from incrowd.cli.options import split_names, split_pairs
from incrowd.cli.progress import Line
from incrowd.errors import InputError, MissingExtraError
from incrowd.run.events import Event
from incrowd.tables import samples as data


def incrowd(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table and its release, and the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,x\n1,y\n2,z\n2,z\n")
    assert incrowd("anonymize", "t.csv", "-o", "o.csv", "-k", 2).exit_code == 0
    return tmp_path


def test_verify(folder):
    """Tests yes and no, in words and as JSON."""
    yes = incrowd("verify", "o.csv", "--original", "t.csv", "-k", 2)
    assert (yes.exit_code, yes.stdout) == (0, "")
    assert yes.stderr.startswith("yes: 4 rows in 2 classes")
    no = incrowd("verify", "o.csv", "--original", "t.csv", "-k", 3, "--json")
    assert no.exit_code == 1
    record = json.loads(no.stdout)
    assert (record["lawful"], record["smallest_class"], record["k"]) == (False, 2, 3)
    assert no.stderr.startswith("incrowd: no: the smallest class has 2 rows")
    assert incrowd("verify", "t.csv", "--original", "t.csv", "-k", 2).exit_code == 1


def test_verify_against_a_shorter_original(folder):
    """Tests that rows too many are called so, and not rows left out, fewer than none."""
    asked = ("anonymize", "t.csv", "-o", "o.csv", "-k", 2, "--proof", "o.proof")
    assert incrowd(*asked).exit_code == 0
    (folder / "t.csv").write_bytes(b"a,b\n1,x\n")
    no = incrowd("verify", "o.csv", "--original", "t.csv", "--proof", "o.proof")
    assert no.exit_code == 1
    assert no.stderr.startswith("incrowd: no: the release has 3 more rows than the original")


def test_bound(folder):
    """Tests that the bound is proven: at most the optimum, which is 2 here."""
    done = incrowd("bound", "t.csv", "-k", 2, "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert 0 < record["lower_bound"] <= 2
    assert (record["rows"], record["cells"], record["models"]) == (4, 8, ["2-anonymity"])
    plain = incrowd("bound", "t.csv", "-k", 2)
    assert plain.stdout.strip() == str(record["lower_bound"])
    too_large = incrowd("bound", "t.csv", "-k", 9)
    assert (too_large.exit_code, too_large.stdout) == (1, "")
    assert incrowd("bound", "t.csv", "-k", 1).stdout.strip() == "0"


def test_an_interrupted_bound(folder, monkeypatch):
    """Tests that the bound known by then is told, and that there might have been more."""

    def interrupted(problem, context):
        context.stop.interrupt()
        return 1

    monkeypatch.setattr("incrowd.cli.bound.price_bound", interrupted)
    done = incrowd("bound", "t.csv", "-k", 2, "--json")
    assert (done.exit_code, json.loads(done.stdout)["lower_bound"]) == (130, 1)
    assert done.stderr == "interrupted; more time may prove more\n"


def test_bound_of_sensitive_models(folder):
    """Tests that models are listed and an unlawful table is explained as by ``anonymize``."""
    (folder / "s.csv").write_text("a,illness\nx,flu\nx,cold\ny,flu\ny,cold\n")
    asked = ("s.csv", "-k", 2, "--sensitive", "illness", "--l")
    bound = json.loads(incrowd("bound", *asked, 2, "--json").stdout)
    release = json.loads(incrowd("anonymize", *asked, 2, "-o", "r.csv", "--json").stdout)
    assert bound["models"] == release["models"] == ["2-anonymity", "distinct 2-diversity"]
    near = [*asked[:-1], "--t", "0.5"]
    bound = json.loads(incrowd("bound", *near, "--json").stdout)
    points = json.loads(incrowd("frontier", *near, "--json", "-q").stdout)
    closeness = "0.5-closeness (equal distance) of 'illness'"
    assert bound["models"] == points["models"] == ["2-anonymity", closeness]
    for command in (("bound",), ("frontier",), ("anonymize", "-o", "r.csv")):
        done = incrowd(*command, *asked, 3)
        assert done.exit_code == 1 and "for 'illness' the table attains 2" in done.stderr


def test_methods():
    """Tests that every solver of the catalog is listed with its guarantee and source."""
    from incrowd.solvers.catalog import SOLVERS

    record = json.loads(incrowd("methods", "--json").stdout)
    assert [m["id"] for m in record["methods"]] == [solver.id for solver in SOLVERS]
    plain = incrowd("methods").stdout
    for solver in SOLVERS:
        assert solver.id in plain and solver.source in plain


def test_version():
    """Tests that both ways say the same."""
    assert incrowd("version").stdout == incrowd("--version").stdout


def test_all_commands_load():
    """Tests that each command that is listed can be shown."""
    from incrowd.cli.group import COMMANDS

    shown = incrowd("--help").stdout
    for name in COMMANDS:
        if f"\n  {name} " in shown:
            assert incrowd(name, "--help").exit_code == 0, name


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        ("exact", "finds the optimum"),
        ("none", "no guarantee"),
        ("none; the gap is proven", "no guarantee, but the gap is proven"),
        ("2k − 1", "at most 2k − 1 times the optimum"),
    ],
)
def test_guarantees_in_words(guarantee, words):
    """Tests that no method is said to promise more than it does."""
    from incrowd.cli.methods import guarantee_in_words

    assert guarantee_in_words(guarantee) == words


def test_real_demo_data():
    """Tests the size of the table and that its codes are spelled out."""
    pytest.importorskip("causaldata", reason="needs the demo extra", exc_type=ImportError)
    frame = data.nhefs()
    assert frame.shape == (1566, 7)
    assert frame.select(data.QI).is_unique().sum() == 1050
    assert frame["income"].null_count() == 59
    assert set(frame["sex"]) == {"male", "female"}


def test_demo_without_its_package(monkeypatch):
    """Tests that the line to type is told, and that the other table needs nothing."""
    monkeypatch.setitem(sys.modules, "causaldata", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'--synthetic.*pip install "incrowd\[demo\]"'):
        data.nhefs()


def test_synthetic_data():
    """Tests that the table is the same for a seed, with missing values."""
    frame = data.synthetic(300, seed=3)
    assert frame.equals(data.synthetic(300, seed=3))
    assert not frame.equals(data.synthetic(300, seed=4))
    assert frame.columns == [*data.QI, *data.SENSITIVE]
    assert frame["income"].null_count() > 0


def test_demo(monkeypatch, tmp_path):
    """Tests the story on a table small enough for any machine."""
    small = data.synthetic(12, seed=1)
    monkeypatch.setattr(data, "synthetic", lambda: small)
    out = tmp_path / "o.csv"
    done = incrowd("demo", "--synthetic", "-k", 2, "-o", out)
    assert done.exit_code == 0, done.output
    for part in ("before", "after", "12 people", "2-anonymity", "incrowd anonymize people.csv"):
        assert part in done.stdout
    assert out.exists()
    record = json.loads(incrowd("demo", "--synthetic", "-k", 2, "--json").stdout)
    assert (record["rows"], record["columns"]) == (12, 6)


COLUMNS = ("a", "b", "a,b", " c", "d=e", "d")


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["a,b"], ["a,b"]),
        (["a", "b"], ["a", "b"]),
        (["b,a"], ["b", "a"]),
        (['"a,b",d'], ["a,b", "d"]),
        (["b, d"], ["b", "d"]),
        ([" c,a"], [" c", "a"]),
        ([" d,a"], ["d", "a"]),
        (["x,y"], ["x", "y"]),
        ([""], []),
    ],
)
def test_split_names(given, names):
    """Tests lists of names; unknown ones are passed on, for the roles to refuse."""
    assert split_names(given, COLUMNS) == names


def test_split_pairs():
    """Tests that the longest known name before a = counts."""
    assert split_pairs("--w", ["d=e=2", "a=x=y"], COLUMNS) == {"d=e": "2", "a": "x=y"}
    assert split_pairs("--w", ["d=2"], COLUMNS) == {"d": "2"}
    with pytest.raises(InputError, match="no column is called 'x'"):
        split_pairs("--w", ["x=1"], COLUMNS)


def test_progress_line():
    """Tests that what is known stays known, and that the gap and the time left are shown."""
    line = Line(60.0)
    assert str(line.after(Event("greedy"))).startswith("greedy · 0 s · 60 s left")
    shown = str(line.after(Event("search", cost=200, bound=150, share=0.25)))
    assert shown.startswith("search 25% · cost 200 · at least 150 · gap 25.00%")
    assert "cost 200 · at least 150" in str(line.after(Event("polish", bound=100)))


def test_progress_line_says_how_long_a_stage_takes(monkeypatch: pytest.MonkeyPatch):
    """Tests that it is guessed from the stage's own share, once there is something to go by."""
    now = [100.0]
    monkeypatch.setattr("incrowd.cli.progress.time.monotonic", lambda: now[0])
    line = Line(None)
    assert str(line.after(Event("prices", share=0.2))).startswith("prices 20% · 0 s")
    now[0] = 101.0
    assert str(line.after(Event("prices", share=0.4))).startswith("prices 40% · 1 s")
    now[0] = 104.0
    said = str(line.after(Event("prices", share=0.6)))
    assert said.startswith("prices 60% (about 4 s more)")  # .4 in 4 s since .2
    assert str(line.after(Event("annealing", share=0.1))).startswith("annealing 10% · 4 s")
