"""Tests from a release on disk to its proof, its statement and the checker's verdict."""

import datetime
import io
import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd._api import anonymize
from incrowd.checker.verify import Verdict, check
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.hierarchy import HierarchyRows, Intervals
from incrowd.privacy.base import Group
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.model import Model
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.proof import prove as proof_of
from incrowd.proof.prove import origins, prove, write_statement
from incrowd.proof.statement import public_models
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context, Outcome, Scope

ROWS = 60
DAYS = datetime.date(2000, 1, 1), datetime.date(1999, 12, 31)
SCOPE = Scope()


@dataclass(frozen=True)
class Halves:
    """Two classes, so that nothing depends on what the real solvers find."""

    id: str = "halves"
    guarantee: str = "none"
    scope: Scope = SCOPE
    source: str = "this test"

    def refuse(self, problem: Problem) -> str | None:
        """Serve all."""
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Cut the copies in two."""
        classes = np.arange(problem.instance.rows) >= problem.instance.rows // 2
        return Outcome(Solution.of(problem.instance, classes))


def table() -> pl.DataFrame:
    """Awkward cells of many types."""
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "zip; code": [f"{z:03}" for z in rng.integers(0, 30, ROWS)],
            "age": pl.Series([None if a == 0 else int(a) for a in rng.integers(0, 9, ROWS)]),
            "odd": rng.choice(['a"b', "", "x;y", "two\nlines", "=1+1", "-3"], ROWS).tolist(),
            "weight": rng.choice([1.0, 2.5, 1e20, -0.0], ROWS),
            "whole": rng.choice([1.0, 2.0], ROWS),
            "born": [DAYS[d] for d in rng.integers(0, 2, ROWS)],
            "yes": rng.choice([True, False], ROWS),
            "ill": rng.choice(["flu", "cold", "none"], ROWS).tolist(),
            "name": [f"person {i}" for i in range(ROWS)],
            "score": rng.choice([0.0, -0.0, 0.5], ROWS),
        }
    )


def proven(folder: Path, form: str, out: str, **options: Any) -> tuple[Verdict, list[Path]]:
    """Anonymize a file, write release, proof and statement, check them."""
    paths = [folder / f"out.{out}", folder / f"in.{form}", folder / "p.proof", folder / "p.json"]
    if form == "csv":
        table().write_csv(paths[1], separator=";")
    elif form == "parquet":
        table().write_parquet(paths[1])
    else:
        table().write_ipc(paths[1])
    roles: dict[str, Any] = {"id": "name", "keep": "score", "sensitive": "ill"}
    release = anonymize(
        str(paths[1]), 4, **roles, method=Halves(), order="shuffle",
        hierarchies={"zip; code": "prefix:1,2"}, weights={"age": 2}, **options,
    )  # fmt: skip
    release.write(paths[0])
    facts = prove(release, paths[1], paths[0], paths[2])
    with paths[3].open("wb") as file:
        write_statement(facts, paths[2], file)
    return check(*paths[:3], statement=paths[3]), paths


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Release, original, proof and statement, all honest."""
    verdict, paths = proven(tmp_path_factory.mktemp("honest"), "csv", "csv")
    assert verdict.accepted
    return paths


FORMATS = ["csv-csv", "csv-parquet", "parquet-csv", "parquet-parquet", "arrow-csv", "arrow-arrow"]


@pytest.mark.parametrize(
    ("form", "out"),
    [tuple(pair.split("-")) for pair in FORMATS],
)
def test_formats(form: str, out: str, tmp_path: Path) -> None:
    """Tests that an honest release is accepted whatever its format and its original's."""
    verdict, paths = proven(tmp_path, form, out)
    assert verdict.accepted, verdict
    assert 0 < verdict.facts["bound"] <= verdict.facts["cost"]
    if form == out != "csv":  # a kept −0.0 stays one
        read = pl.read_parquet if out == "parquet" else pl.read_ipc
        new, old = (np.signbit(read(path)["score"].to_numpy()).sum() for path in paths[:2])
        assert new == old > 0


def test_star_and_models(tmp_path: Path) -> None:
    """Tests another mark of suppression, and a sensitive model."""
    verdict, _ = proven(tmp_path, "csv", "csv", star="#", models=[DistinctDiversity(2)])
    assert verdict.accepted, verdict
    assert {"model": "distinct", "l": 2, "column": "ill"} in verdict.facts["models"]


class Foreign(Model):
    """A model of somebody else, which every class obeys."""

    name, closed_under_union = "something else", True

    def smallest_class(self, table: Group) -> int:
        """One row will do."""
        return 1

    def lawful(self, group: Group, table: Group) -> bool:
        """Whatever."""
        return True


def test_model_that_the_checker_lacks(tmp_path: Path) -> None:
    """Tests that the proof names a model that nobody can check, beside what it proves."""
    verdict, _ = proven(tmp_path, "csv", "csv", models=[Foreign()])
    assert verdict.accepted, verdict
    assert verdict.facts["unchecked"] == ["something else"]
    assert all(model["model"] == "k-anonymity" for model in verdict.facts["models"])


@pytest.mark.parametrize("safe", [True, False])
def test_spreadsheet_safe(safe: bool, tmp_path: Path) -> None:
    """Tests that the apostrophes of a spreadsheet-safe release are told to the checker."""
    source, out, proof = (tmp_path / n for n in ("in.csv", "out.csv", "x.proof"))
    source.write_text("a,ill\n=1+1,@x\n=1+1,-5\n-3,=2\n-3,'-4\n")
    release = anonymize(str(source), 2, sensitive="ill", method=Halves())
    release.write(out)
    cells = {"=1+1": "'=1+1", "@x": "'@x", "=2": "'=2"}
    text = out.read_text()
    for cell, quoted in cells.items():
        assert cell in text
        text = text.replace(cell, quoted)
    out.write_text(text)
    prove(release, source, out, proof, spreadsheet_safe=safe)
    assert check(out, source, proof).accepted == safe


def test_spreadsheet_safe_cells_are_all_marked(tmp_path: Path) -> None:
    """Tests a class of which one row is published without the apostrophe, told apart by that."""
    source, out, proof = (tmp_path / n for n in ("in.csv", "out.csv", "x.proof"))
    source.write_text("a,ill\n=x,1\n=x,2\n=x,1\n=x,2\n")
    release = anonymize(str(source), 2, sensitive="ill", method=Halves())
    release.write(out)
    for text, accepted in (("'=x", True), ("=x", False)):
        last = out.read_text().replace("'=x", "=x").replace("=x", "'=x", 3)
        out.write_text(last.replace("\n=x", f"\n{text}"))
        prove(release, source, out, proof, spreadsheet_safe=True)
        assert check(out, source, proof).accepted == accepted


@pytest.mark.parametrize("quoted", ["1", '"1"'])
def test_carriage_returns_within_a_line_are_part_of_the_cell(quoted: str, tmp_path: Path) -> None:
    """Tests that rows which differ by one are not one class, at the ends of lines neither."""
    source, out, proof = (tmp_path / n for n in ("in.csv", "out.csv", "x.proof"))
    source.write_bytes(f"a,b\nx,1\nx,2\nx,{quoted}\nx,2\n".encode())
    release = anonymize(str(source), 2, keep="b", method=Halves())
    release.write(out)
    honest = out.read_bytes()
    for changed, accepted in (
        (honest, True),
        (honest.replace(b"\n", b"\r\n"), True),
        (honest.replace(b"2\n", b"2\r\n"), False),
        (honest.replace(b"x,2", b"x\r,2", 1), False),
    ):
        out.write_bytes(changed)
        prove(release, source, out, proof)
        assert check(out, source, proof).accepted == accepted
    source.write_bytes(f"a,b\nx\r,1\nx\r,2\nx,{quoted}\nx,2\n".encode())
    release = anonymize(str(source), 2, keep="b", method=Halves())
    release.write(out)
    prove(release, source, out, proof)
    assert out.read_bytes().count(b'"x\r"') == 2  # quoted: others read 4 rows, too
    assert check(out, source, proof).accepted
    out.write_bytes(out.read_bytes().replace(b'"x\r"', b"x\r"))
    prove(release, source, out, proof)
    told = check(out, source, proof)
    assert not told.accepted and "line ends within a cell" in str(told.reason)


def test_hierarchies_in_memory_are_named_by_kind() -> None:
    """Tests that the statement, which says where they come from, lists none of their rows."""
    rows = HierarchyRows((("Ada", "woman", "*"), ("Ben", "man", "*")))
    found = origins({"who": rows, "age": Intervals((Decimal(5),)), "zip": "prefix:1"})
    told = {column: known["origin"] for column, known in found.items()}
    assert told == {"who": "HierarchyRows", "age": "interval:5", "zip": "prefix:1"}


def test_hierarchies_longer_than_a_name_are_proven(tmp_path: Path) -> None:
    """Tests a hierarchy in memory and a rule, both longer than a file's name may be."""
    original, release, proof = (tmp_path / name for name in ("in.csv", "out.csv", "out.proof"))
    numbers = [*map(str, range(100, 160))]
    pl.DataFrame({"made": numbers, "ruled": numbers}).write_csv(original)
    rows = HierarchyRows([(n, n[:2], "*") for n in numbers])
    bands = f"bands:{','.join(str(n) for n in range(100, 180))}+/100,130,160+"
    assert len(bands) > 255 < len(str(rows))
    hierarchies = {"made": rows, "ruled": bands}
    found = anonymize(str(original), 5, hierarchies=hierarchies, method=Halves())
    found.write_proven(release, proof, original=original)
    assert ic.verify(release, original, proof=proof, hierarchies=hierarchies).lawful
    options = [f"--hierarchy=ruled={bands}", "-k", "5", "-o", str(release), "--proof", str(proof)]
    told = CliRunner().invoke(cli, ["anonymize", str(original), "--method", "mondrian", *options])
    assert told.exit_code == 0, told.output


def test_statement_tells_how_many_values_are_guarded() -> None:
    """Tests that a model which guards some values only does not read like one that guards all."""
    model = {"model": "alpha-k", "alpha": "1/5", "k": 2, "column": "d", "values": ["flu", None]}
    assert public_models([model]) == [model | {"values": 2}]


def test_statement_tells_no_secret(tmp_path: Path) -> None:
    """Tests that no cell, no seed and no plain hash of the original stands in the statement."""
    _, paths = proven(tmp_path, "csv", "csv", seed=987654321)
    text = paths[3].read_text()
    stated = json.loads(text)
    assert "seed" not in text and "987654321" not in text and "person" not in text
    from incrowd.proof.writing import sha256_of

    assert sha256_of(paths[1]) not in text
    assert stated["cost"] >= stated["bound"]
    again, others = proven(tmp_path, "csv", "csv")
    assert again.accepted
    other = json.loads(others[3].read_text())
    assert other["original_commitment"] != stated["original_commitment"]  # a fresh salt


CHANGES = {"cost": 1, "bound": 1, "gap": -0.01, "scale": 1, "version": 1}


@pytest.mark.parametrize("name", [*CHANGES, "models", "optimal", "release_sha256", "extra"])
def test_forged_statements_are_rejected(name: str, honest: list[Path], tmp_path: Path) -> None:
    """Tests that each line of the statement is held against the proof."""
    stated = json.loads(honest[3].read_text())
    stated[name] = stated[name] + CHANGES[name] if name in CHANGES else "other"
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(stated))
    verdict = check(*honest[:3], statement=forged)
    assert not verdict.accepted and name in str(verdict.reason)


def test_a_statement_that_says_two_things_is_rejected(honest: list[Path], tmp_path: Path) -> None:
    """Tests a key that stands twice: whoever reads the first sees another bound."""
    forged = tmp_path / "forged.json"
    forged.write_text(honest[3].read_text().replace('"bound":', '"bound": 10, "bound":'))
    assert "no JSON" in str(check(*honest[:3], statement=forged).reason)


def test_hierarchy_file_can_be_held_against_the_proof(tmp_path: Path) -> None:
    """Tests a hierarchy from a file, all the way."""
    source, out, proof = (tmp_path / n for n in ("in.csv", "out.csv", "x.proof"))
    source.write_text("a\n1\n2\n\n4\n\n2\n")
    tree = tmp_path / "a.csv"
    tree.write_text("1;low;*\n2;low;*\n3;high;*\n4;high;*\n")
    release = anonymize(str(source), 2, hierarchies={"a": str(tree)}, method=Halves())
    release.write(out)
    facts = prove(release, source, out, proof)
    assert facts["hierarchies"]["a"]["origin"] == "a.csv"  # the bare name, no folder
    assert check(out, source, proof, {"a": tree}).accepted
    other = tmp_path / "b.csv"
    other.write_text("1;low;*\n2;high;*\n3;high;*\n4;high;*\n")
    assert not check(out, source, proof, {"a": other}).accepted


@pytest.mark.parametrize("text", ["a,b\n", "a,b\n1,2\n", 'a\n1\n\n""\n'])
def test_tiny_tables(text: str, tmp_path: Path) -> None:
    """Tests tables of no row, of one row, and of a missing cell beside an empty text."""
    source, out, proof = (tmp_path / n for n in ("in.csv", "out.csv", "x.proof"))
    source.write_text(text)
    release = anonymize(str(source), 1, method=Halves())
    release.write(out)
    prove(release, source, out, proof)
    assert check(out, source, proof).accepted


def test_writes_into_a_stream(tmp_path: Path) -> None:
    """Tests that the proof can go into an open file, for one that appears whole or not at all."""
    _, paths = proven(tmp_path, "csv", "csv")
    release = anonymize(
        str(paths[1]), 4, id="name", keep="score", sensitive="ill", method=Halves(),
        hierarchies={"zip; code": "prefix:1,2"}, weights={"age": 2},
    )  # fmt: skip
    release.write(paths[0])
    stream = io.BytesIO()
    prove(release, paths[1], paths[0], stream)
    paths[2].write_bytes(stream.getvalue())
    assert check(*paths[:3]).accepted


def test_missing_files_are_told_apart_from_rejection(tmp_path: Path) -> None:
    """Tests that a file that is not there is an error, not a verdict."""
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "a", tmp_path / "b", tmp_path / "c")


@pytest.mark.parametrize("cells", [[b"a", b"b", None], [[1], [2], [1]]], ids=["bytes", "lists"])
def test_sensitive_columns_without_text_are_refused(tmp_path: Path, cells: list) -> None:
    """Tests that no proof is written which the checker, who reads text, could make no sense of."""
    frame, paths = pl.DataFrame({"a": ["x"] * 3, "b": cells}), [tmp_path / "t", tmp_path / "r"]
    release = anonymize(frame, k=2, qi="a", sensitive="b", order="keep")
    for path in paths:
        frame.write_parquet(path)
    with pytest.raises(InputError, match=r"^column 'b' is of type .* no text form"):
        prove(release, *paths, tmp_path / "proof")


ALIKE = {"person": "pid", "constant_alike": True, "method": "mondrian"}


@pytest.mark.parametrize("asked", [{"delete_rows": "price=2"}, ALIKE])
def test_prices_that_only_a_proof_needs_are_sought_within_its_limit(
    asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests the searches beside that of an ordinary release, with all time and with none."""
    rng = np.random.default_rng(7)
    frame = pl.DataFrame({name: [f"{v}" for v in rng.integers(0, 4, 40)] for name in "abcd"})
    if "person" in asked:
        frame = pl.concat([frame, frame]).with_columns(pid=pl.Series([*range(40)] * 2))
    frame.write_csv(tmp_path / "in.csv")
    release = ic.anonymize(tmp_path / "in.csv", 2, **asked)
    bounds: list[int] = []

    def note(at: Path) -> None:
        bounds.append(prove(release, tmp_path / "in.csv", at, tmp_path / "p")["bound"])

    release.write(tmp_path / "out.csv", note)
    monkeypatch.setattr(proof_of, "Stop", lambda asked: Stop(0.0))
    release.write(tmp_path / "out.csv", note)
    assert bounds[0] > bounds[1]
