"""What other programs do with incrowd: the page for R, the examples for dbt and Airflow.

R is found on the path.  dbt and Airflow want environments of their own, with incrowd in them:
INCROWD_DBT and INCROWD_AIRFLOW name the folders of their commands.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import incrowd

ROOT = Path(__file__).parents[2]
PACKAGES = str(Path(incrowd.__file__).parents[1])  # where the kernels of other tests are kept
EXAMPLES = ROOT / "examples"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)

COMMANDS = """
import sys
from airflow.__main__ import main

for words in ("db migrate", "dags reserialize", "dags test publish_visits"):
    sys.argv[1:] = words.split()
    main()
"""  # in one process: half of a command's time is what Airflow imports


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    """Run a program and return what it printed; its errors are in the message where it fails."""
    known = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=known | variables,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def program(variable: str, name: str) -> Path:
    """Return a program of an environment that a variable names; skip the test without one."""
    folder = os.environ.get(variable)
    if folder is None:
        pytest.skip(f"{variable} names no environment that has {name} and incrowd")
    return Path(folder) / name


def test_the_page_for_r(tmp_path: Path) -> None:
    """Tests that the page's code prints what stands below it."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R (Rscript) is not installed")
    if subprocess.run([rscript, "-e", "library(reticulate)"], capture_output=True).returncode:
        pytest.skip("R's package reticulate is not installed")
    code, expected = "", ""
    for kind, title, body in BLOCK.findall((ROOT / "docs/how-to/r.md").read_text("utf-8")):
        if title:
            (tmp_path / title).write_text(body, encoding="utf-8")
        code += body if kind == "r" else ""
        expected += body if kind == "text" else ""
    (tmp_path / "page.R").write_text(code, encoding="utf-8")
    here = {"RETICULATE_PYTHON": sys.executable, "PYTHONPATH": PACKAGES}
    assert run(rscript, "page.R", folder=tmp_path, **here).split() == expected.split()


def test_dbt(tmp_path: Path) -> None:
    """Tests that dbt builds the example: its seed, the release, and the tests of both."""
    dbt = program("INCROWD_DBT", "dbt")
    shutil.copytree(EXAMPLES / "dbt", tmp_path / "dbt")
    told = run(dbt, "build", "--profiles-dir", ".", folder=tmp_path / "dbt")
    assert "PASS=4 WARN=0 ERROR=0" in told
    with duckdb.connect(tmp_path / "dbt" / "hospital.duckdb", read_only=True) as database:
        rows = database.sql("select zip, diagnosis from release").fetchall()
    assert len(rows) == 8
    assert ("013**", "flu") in rows


def test_airflow(tmp_path: Path) -> None:
    """Tests one run of the workflow, and that what it logs has no name in it."""
    python = program("INCROWD_AIRFLOW", "python")
    with duckdb.connect(tmp_path / "hospital.duckdb") as database:
        patients = str(EXAMPLES / "dbt" / "seeds" / "patients.csv")
        database.sql(f"create table visits as from read_csv('{patients}', all_varchar=true)")
    asked = {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLES / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "HOSPITAL_TABLE": f"duckdb:///{tmp_path}/hospital.duckdb/visits",
        "HOSPITAL_RELEASE": f"duckdb:///{tmp_path}/open.duckdb/release",
    }
    told = run(python, "-c", COMMANDS, folder=tmp_path, **asked)
    assert "2-anonymous; cost 9" in told
    assert not re.search("Ada|Cleo|01326", told)
    with duckdb.connect(tmp_path / "open.duckdb", read_only=True) as database:
        assert len(database.sql("from release").fetchall()) == 8


def test_examples_of_the_page_are_those_of_the_files() -> None:
    """Tests that the page shows lines of the files, so that what is read is what is run."""
    page = (ROOT / "docs/how-to/elsewhere.md").read_text("utf-8")
    files = [path.read_text("utf-8") for path in EXAMPLES.rglob("*.*") if path.suffix != ".pyc"]
    there = {line.strip() for text in files for line in text.splitlines()}
    shown = {
        line.strip()
        for kind, _, body in BLOCK.findall(page)
        if kind in ("py", "jinja")
        for line in body.splitlines()
    }
    assert shown
    assert not {line for line in shown - there if "ic.anonymize(os.environ" not in line}
