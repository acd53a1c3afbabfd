"""The public statement from the command line: written with a proof, held against it."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli

TABLE = "age,sex,zip\n" + "\n".join(
    f"{30 + i % 4},{'fm'[i % 2]},{91000 + 7 * i % 50}" for i in range(24)
)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with a table, its release, the proof and the statement."""
    (tmp_path / "in.csv").write_text(TABLE + "\n", encoding="utf-8")
    (tmp_path / "age.csv").write_text(
        "\n".join(f"{a};{a // 2 * 2}+;*" for a in range(30, 34)), encoding="utf-8"
    )
    assert run(tmp_path, "anonymize in.csv -o out.csv -k 3 --hierarchy age=age.csv "
               "--proof out.proof --statement out.json -q") == 0  # fmt: skip
    return tmp_path


def run(folder: Path, words: str) -> int:
    """Run incrowd on files of a folder; return the exit code."""
    given = [
        f"age={folder / 'age.csv'}" if w == "age=age.csv"
        else str(folder / w) if (folder / w).suffix in {".csv", ".proof", ".json"} else w
        for w in words.split()
    ]  # fmt: skip
    result = CliRunner().invoke(cli, given)
    return result.exit_code


VERIFY = "verify out.csv --original in.csv --proof out.proof -q"


def test_statement_tells_no_cell_and_no_seed(made: Path) -> None:
    """Tests that the statement holds the cost and the bound, and neither values nor the seed."""
    text = (made / "out.json").read_text(encoding="utf-8")
    stated = json.loads(text)
    assert {"cost", "bound"} <= set(stated)
    assert "seed" not in text
    assert not any(str(91000 + 7 * i % 50) in text for i in range(24))


def test_statement_does_not_tell_which_guess_is_right(made: Path) -> None:
    """Tests that no hash of the original or of a hierarchy's file, which lists values, is in it."""
    text = (made / "out.json").read_text(encoding="utf-8")
    for name in ("in.csv", "age.csv"):
        data = (made / name).read_bytes()
        assert sha256(data).hexdigest() not in text
    told = json.loads(text)["hierarchies"]["age"]
    assert (told["origin"], len(told["commitment"])) == ("age.csv", 64)
    told["commitment"] = sha256((made / "age.csv").read_bytes()).hexdigest()
    other = json.loads(text) | {"hierarchies": {"age": told}}
    (made / "out.json").write_text(json.dumps(other), encoding="utf-8")
    assert run(made, f"{VERIFY} --statement out.json") == 1


def test_statement_is_held_against_the_proof(made: Path) -> None:
    """Tests that the written statement passes, and one with another cost does not."""
    assert run(made, f"{VERIFY} --statement out.json --hierarchy age=age.csv") == 0
    stated = json.loads((made / "out.json").read_text(encoding="utf-8"))
    stated["cost"] += 1
    (made / "out.json").write_text(json.dumps(stated), encoding="utf-8")
    assert run(made, f"{VERIFY} --statement out.json") == 1


def test_another_hierarchy_file_is_noticed(made: Path) -> None:
    """Tests that a proof made with one hierarchy file does not pass with another."""
    text = (made / "age.csv").read_text(encoding="utf-8")
    (made / "age.csv").write_text(text.replace("30+", "30ff"), encoding="utf-8")
    assert run(made, f"{VERIFY} --hierarchy age=age.csv") == 1


@pytest.mark.parametrize(("k", "code"), [(2, 0), (3, 0), (4, 1)])
def test_a_k_is_held_against_the_proof(made: Path, k: int, code: int) -> None:
    """Tests that a proof of 3-anonymity is no answer to who asks for 4."""
    assert run(made, f"{VERIFY} -k {k}") == code


@pytest.mark.parametrize(
    "words",
    [
        "anonymize in.csv -o out.csv -k 3 --statement out.json -q",  # no proof to state
        "anonymize in.csv -o out.csv -k 3 --proof out.proof --statement out.csv -q",  # clash
        "verify out.csv --original in.csv --statement out.json -q",
    ],
)
def test_statement_without_its_proof_is_refused(made: Path, words: str) -> None:
    """Tests that a statement needs a proof and a file of its own."""
    assert run(made, words) == 2
