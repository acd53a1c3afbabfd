"""Tests of lies about people: who they are, which rows they have, and which may be missing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from forged import forged
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.proof.writing import sha256_of

Facts = dict[str, Any]
PEOPLE = {"model": "people", "k": 2, "columns": ["pid"]}


def made(folder: Path, text: str, asked: str) -> tuple[Path, Path, Path]:
    """Write a table, its release and the proof."""
    paths = folder / "out.csv", folder / "in.csv", folder / "p.proof"
    paths[1].write_text(text)
    words = ["anonymize", str(paths[1]), "-o", str(paths[0]), "--proof", str(paths[2]), "-q"]
    done = CliRunner().invoke(cli, [*words, *asked.split()])
    assert done.exit_code == 0, done.output
    return paths


def reason_of(paths: tuple[Path, Path, Path], change: Callable[[Facts], None]) -> str:
    """Return why a proof is rejected whose facts are changed; nothing where it is not."""

    def both(facts: Facts, rows: pl.DataFrame) -> pl.DataFrame:
        change(facts)
        return rows

    return check(*paths[:2], forged(paths[2], both)).reason or ""


@pytest.mark.parametrize("nobody", ["", '""'])
def test_rows_of_nobody_are_no_people(tmp_path: Path, nobody: str) -> None:
    """Tests a class of two rows of which one says not whose it is, or one by empty text."""
    paths = made(tmp_path, f'pid,a\nA,x\n{nobody},x\nB,y\n"",y\n', "-k 2 --id pid")

    def counted(facts: Facts) -> None:
        facts["models"] = [*facts["models"], PEOPLE]

    assert "do not say whose they are" in reason_of(paths, counted)

    def own(facts: Facts) -> None:
        facts["models"] = [*facts["models"], PEOPLE | {"missing": "own"}]

    assert not reason_of(paths, own)


def test_values_of_nobody_do_not_count_once(tmp_path: Path) -> None:
    """Tests a value of four rows of nobody, taken for one of a single person."""
    rows = [("", "f")] * 4 + [("A", "g")] * 2
    text = "pid,a,s\n" + "".join(f"{pid},x,{s}\n" for pid, s in rows)
    paths = made(tmp_path, text, "-k 2 --id pid --sensitive s")
    model = {"model": "frequency", "l": 2, "column": "s", "once": True}

    def once(facts: Facts) -> None:
        facts["models"] = [*facts["models"], model, PEOPLE]

    assert "do not say whose they are" in reason_of(paths, once)


def test_no_row_is_left_out_for_values_that_count_once(tmp_path: Path) -> None:
    """Tests a table that is lawful as it stands, where each value of a person counts once."""
    rows = [("A", "f")] * 5 + [("B", "g"), ("C", "h")]
    text = "pid,a,s\n" + "".join(f"{pid},x,{s}\n" for pid, s in rows)
    asked = "-k 2 --person pid --sensitive s --model l=2,kind=frequency,on=s --order keep"
    paths = made(tmp_path, text, asked)
    paths[0].write_text("a,s\n" + "".join(f"x,{s}\n" for _, s in rows[2:]))

    def fewer(facts: Facts, rows: pl.DataFrame) -> pl.DataFrame:
        facts["release"]["sha256"] = sha256_of(paths[0])
        facts |= {"suppress_rows": 2, "suppressed_rows": 2, "cost": 2 * facts["scale"]}
        facts |= {"pricing": [], "price_k": 1, "bound": 0}
        return rows[2:].with_columns(pl.lit(0, pl.Int64).alias("price"))

    verdict = check(*paths[:2], forged(paths[2], fewer))
    assert "of a table that is lawful whole" in str(verdict.reason)


def test_columns_are_a_list_of_names(tmp_path: Path) -> None:
    """Tests a text that reads like one column, and names each of its letters."""
    rows = [("A", "1", "X"), ("A", "2", "X"), ("B", "1", "X"), ("B", "2", "X")]
    text = "i,d,id,a\n" + "".join(f"{i},{d},{x},u\n" for i, d, x in rows)
    paths = made(tmp_path, text, "-k 2 --person i,d --id id")

    def joined(facts: Facts) -> None:
        facts["models"] = [m | ({"columns": "id"} if "columns" in m else {})
                           for m in facts["models"]]  # fmt: skip

    assert "other keys" in reason_of(paths, joined)


def test_linked_rows_of_one_person_are_not_those_asked_for(tmp_path: Path) -> None:
    """Tests k people in every class, and beside them one who shares all rows with herself."""
    text = "id,a,b\n" + "".join(f"P{i},{i % 2},{j}\n" for i in range(10) for j in range(1 + i % 3))
    paths = made(tmp_path, text, "-k 3 --person id")

    def linked(facts: Facts, rows: pl.DataFrame) -> pl.DataFrame:
        alone = {"model": "people", "k": 1, "columns": ["id"], "linked": True}
        facts["models"] = [*facts["models"], alone]
        return rows

    words = ["verify", str(paths[0]), "--original", str(paths[1])]
    words += ["--proof", str(forged(paths[2], linked)), "--person", "id"]
    for asked, code in (("-k 3", 0), ("-k 3 --linked-rows", 1), ("-k 1 --linked-rows", 0),
                        ("--linked-rows", 1)):  # fmt: skip
        more = asked.split()
        done = CliRunner().invoke(cli, [*words, *more])
        assert done.exit_code == code, done.output
        assert ("all rows of a person together are shared" in done.output) == (code == 1)
