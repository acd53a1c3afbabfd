"""Tests that what Spark wrote is read back as a release of one machine, with its reports."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from click.testing import CliRunner
from tests.spark.test_spark_proof import place as place
from tests.spark.test_spark_proof import table, write

import incrowd as ic
import incrowd.spark
from dial import few
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.report.sample import require_survey
from incrowd.spark.front import column_of

ASKED = ["-k", "4", "--id", "id", "--sensitive", "illness", "-q"]


def run(*words: Any) -> Any:
    """Run the command line."""
    return CliRunner().invoke(cli, [*map(str, words)])


def read(path: Path) -> str:
    """Return a page without random names in pictures, and without its command and its times."""
    changing = r"-p[0-9a-f]{10}|(?<=seconds</th><td>)[0-9.]+|\d{4}-\d\d-\d\d \d\d:\d\d UTC"
    page = re.sub(changing, "", path.read_text("utf-8"))
    return "\n".join(line for line in page.splitlines() if "incrowd anonymize" not in line)


@pytest.mark.parametrize("form", ["parquet", "csv"][: few(2, least=1)])
def test_reports_are_those_of_one_machine(place: Path, form: str) -> None:
    """Tests a public report and an internal one, byte for byte, and warnings; no row has a twin."""
    source, here, there = (place / name / f"x.{form}" for name in ("in", "here", "there"))
    for path in (source, here, there):
        path.parent.mkdir()
    write(table().unique(["age", "a.b", "born"], maintain_order=True), source)
    scratch = ["--engine", "spark", "--scratch", place / "scratch"]
    reports = ["--report", place / "1.html", "--report-internal", place / "2.html"]
    done = run("anonymize", source, "-o", here, *ASKED, "--l", "2", *reports)
    assert done.exit_code == 0, done.output
    warned = re.findall("incrowd: warning: .*", done.stderr)
    assert warned
    reports = ["--report", place / "3.html", "--report-internal", place / "4.html"]
    done = run("anonymize", source, "-o", there, *ASKED, "--l", "2", *reports, *scratch)
    assert done.exit_code == 0, done.output
    assert re.findall("incrowd: warning: .*", done.stderr) == warned
    assert read(place / "1.html") == read(place / "3.html")
    assert read(place / "2.html") == read(place / "4.html")


def test_whole_from_python(spark: Any, tmp_path: Path) -> None:
    """Tests blocks: rows, cost and bound are Spark's, and the re-check is the independent one."""
    source, folder = tmp_path / "in.parquet", tmp_path / "out"
    write(table(3), source)
    frame = spark.read.parquet(str(source))
    asked: Any = {"id": "id", "sensitive": "illness", "scratch": str(tmp_path / "scratch")}
    found = incrowd.spark.release(frame, 4, whole=True, block_rows=40, **asked)
    found.data.write.parquet(str(folder))
    whole = incrowd.spark.whole(found, str(source), str(folder))
    assert (whole.cost, whole.lower_bound, whole.rows) == (found.cost, found.lower_bound, 160)
    assert whole.class_sizes.min() == found.smallest_class >= 4
    assert whole.changed == found.changed and whole.verify()
    found.unpersist()


def test_what_does_not_go_together(spark: Any, tmp_path: Path) -> None:
    """Tests a release made without ``whole``, and another table than it was made from."""
    source, folder = tmp_path / "in.parquet", tmp_path / "out"
    write(table(3), source)
    frame = spark.read.parquet(str(source))
    asked: Any = {"id": "id", "sensitive": "illness", "scratch": str(tmp_path / "scratch")}
    found = incrowd.spark.release(frame, 4, whole=True, **asked)
    found.data.write.parquet(str(folder))
    write(table(4), source)
    with pytest.raises(ic.VerificationError):
        incrowd.spark.whole(found, str(source), str(folder))
    plain = incrowd.spark.release(frame, 4, **asked)
    with pytest.raises(ic.InputError, match="whole=True"):
        incrowd.spark.whole(plain, str(source), str(folder))


def test_survey_weights_are_refused_before_the_search(spark: Any) -> None:
    """Tests texts and a column that is not there; numbers are taken, by a name with a dot."""
    frame = spark.createDataFrame([(i % 3, f"{i}.5", "x") for i in range(9)], ["age", "w.t", "no"])
    for name, told in (("no", "no numbers"), ("nobody", "no column")):
        with pytest.raises(InputError, match=told):
            incrowd.spark.release(frame, 3, qi="age", keep=["w.t", "no"], survey_weight=name)
    policy = ic.Policy(survey_weight="w.t")
    require_survey(policy, frame.columns, partial(column_of, frame))
