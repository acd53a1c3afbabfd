"""Tests of rows added to an earlier release, proven and reported on with the earlier originals."""

import html
import json
import random
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import few
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.existing.of_table import ExtendedRelease
from incrowd.existing.whole import WholeRelease, met_again
from incrowd.report.make import internal_report

RULES = {"age": "interval:10,20", "zip": "prefix:1,2"}
ASKED: dict[str, dict[str, Any]] = {
    "stars": {},
    "groups": {"hierarchies": RULES},
    "ranges": {"hierarchies": {"age": "range:round=5", "zip": "prefix:1"}},
    "values": {"l": 2, "hierarchies": RULES},
    "kept": {"order": "keep", "keep": "note", "sensitive": "illness"},
}


def table(seed: int, rows: int) -> pl.DataFrame:
    """Random patients."""
    rng = random.Random(seed)
    return pl.DataFrame(
        {
            "name": [f"person {seed}.{i}" for i in range(rows)],
            "age": [str(rng.randint(20, 59)) for _ in range(rows)],
            "zip": [rng.choice(["111", "112", "121", "211"]) for _ in range(rows)],
            "illness": [rng.choice(["flu", "gout", "asthma"]) for _ in range(rows)],
            "note": [str(i % 3) for i in range(rows)],
        }
    )


def made(folder: Path, seed: int, asked: dict[str, Any]) -> tuple[Path, Path, Path]:
    """The original, release and proof of an earlier release."""
    original, release, proof = (folder / name for name in ("one.csv", "one-out.csv", "one.proof"))
    table(seed, 24).write_csv(original)
    ic.anonymize(original, 3, **asked).write_proven(release, proof, original=original)
    return original, release, proof


@pytest.mark.parametrize("name", ASKED)
def test_a_proof_of_all_rows(name: str, tmp_path: Path) -> None:
    """Tests that the checker accepts the joined release, its cost counted cell by cell."""
    asked = {"id": "name", "sensitive": ["illness", "note"]} | ASKED[name]
    for seed in range(few(2, 1)):
        original, first, proof = made(tmp_path, seed, asked)
        new = tmp_path / "two.csv"
        table(seed + 100, 9).write_csv(new)
        release = ic.anonymize(new, 3, existing=first, seed=seed, **asked)
        assert isinstance(release, ExtendedRelease)
        whole = release.whole(original, proof)
        out, second, joined = (tmp_path / name for name in ("out.csv", "two.proof", "all.csv"))
        whole.write_original(joined)
        facts = whole.write_proven(out, second, original=joined)
        release.write(tmp_path / "alone.csv")
        assert out.read_bytes() == (tmp_path / "alone.csv").read_bytes()
        verdict = check(out, joined, second)
        assert verdict.accepted, verdict.reason
        assert facts["bound"] <= facts["cost"] == whole.cost_units
        assert (whole.rows, whole.earlier) == (33, 24)
        before, after = (
            pl.read_csv(joined, infer_schema=False),
            pl.read_csv(out, infer_schema=False),
        )
        assert before.height == after.height == 33
        if name == "stars":  # by a count of its own
            stars = sum(after[c].eq("*").sum() for c in ("age", "zip"))
            assert whole.cost == stars


@pytest.mark.usefixtures("undrawn")
def test_the_call_in_its_report_makes_it_again(tmp_path: Path) -> None:
    """Tests that it is a call with new rows and earlier ones: one with all rows makes another."""
    asked = {"id": "name", "sensitive": ["illness", "note"], "hierarchies": RULES, "seed": 1}
    original, first, proof = made(tmp_path, 1, asked)
    new = tmp_path / "two.csv"
    table(101, 9).write_csv(new)
    release = ic.anonymize(new, 3, existing=first, **asked)
    assert isinstance(release, ExtendedRelease)
    whole = release.whole(original, proof, first)
    page = html.unescape(internal_report(whole))
    (call,) = re.findall(r"incrowd\.anonymize\(\n.*?(?=</code>)", page, re.DOTALL)
    names = {"new_rows": new, "earlier_release": first, "earlier_original": original}
    again = eval(call, {"incrowd": ic, "earlier_proof": proof} | names)
    assert again.data.equals(whole.data)
    assert not ic.anonymize(pl.concat([table(1, 24), table(101, 9)]), 3, **asked).data.equals(
        whole.data
    )


def test_labels_above_what_their_class_asks_for(tmp_path: Path) -> None:
    """Tests an earlier release whose cells were suppressed together."""
    asked = {"id": "name", "sensitive": ["illness", "note"]}
    original, first, proof = made(tmp_path, 1, asked | {"linked": [["age", "zip"]]})
    new = tmp_path / "two.csv"
    table(7, 6).write_csv(new)
    release = ic.anonymize(new, 3, existing=first, **asked)
    assert isinstance(release, ExtendedRelease)
    whole = release.whole(original, proof)
    released = whole.data
    assert whole.cost == sum(released[c].eq("*").sum() for c in ("age", "zip"))
    assert whole.verify()


def test_an_extended_release_is_extended_again(tmp_path: Path) -> None:
    """Tests a third delivery: the joined original and its proof are the next earlier ones."""
    asked = {"id": "name", "sensitive": "illness", "keep": "note", "hold_back": True}
    original, first, proof = made(tmp_path, 2, {n: x for n, x in asked.items() if n != "hold_back"})
    for turn in range(2):
        new = tmp_path / f"new{turn}.csv"
        table(turn + 50, 8).write_csv(new)
        release = ic.anonymize(new, 3, existing=first, **asked)
        assert isinstance(release, ExtendedRelease)
        whole = release.whole(original, proof)
        original, first, proof = (tmp_path / f"{turn}.{e}" for e in ("all.csv", "csv", "proof"))
        whole.write_original(original)
        whole.write_proven(first, proof, original=original)
        verdict = check(first, original, proof)
        assert verdict.accepted, verdict.reason
        assert verdict.facts["rows"] == whole.rows == release.table.rows


def test_what_does_not_go_together(tmp_path: Path) -> None:
    """Tests another original, another proof, another policy, and a proof of new rows alone."""
    asked = {"id": "name", "sensitive": ["illness", "note"], "hierarchies": RULES}
    original, first, proof = made(tmp_path, 3, asked)
    new = tmp_path / "two.csv"
    table(9, 6).write_csv(new)
    release = ic.anonymize(new, 3, existing=first, **asked)
    assert isinstance(release, ExtendedRelease)
    with pytest.raises(InputError, match="another original than this one"):
        release.whole(new, proof)
    with pytest.raises(InputError, match="the proof of the earlier release"):
        release.whole(original, original)
    other = pl.read_csv(original, infer_schema=False)
    swapped = other.with_columns(pl.col("age").shift(1, fill_value="20"))
    with pytest.raises(InputError, match="is not what its proof and its original say"):
        release.whole(ic.open_table(swapped), proof)
    with pytest.raises(InputError, match="which the earlier original"):
        release.whole(ic.open_table(other.drop("note")), proof)
    with pytest.raises(InputError, match="releases that leave rows out"):
        release.whole(ic.open_table(other.head(20)), proof)
    with pytest.raises(InputError, match="needs that one's original and proof"):
        release.write_proven(tmp_path / "a", tmp_path / "b", original=new)


@pytest.mark.usefixtures("undrawn")
def test_command_line(tmp_path: Path) -> None:
    """Tests proof, reports and metadata of all rows, and what they need."""
    asked = {"id": "name", "sensitive": ["illness", "note"], "hierarchies": RULES}
    original, first, proof = made(tmp_path, 4, asked)
    new = tmp_path / "two.csv"
    table(11, 9).write_csv(new)
    base = ["anonymize", str(new), "-o", str(tmp_path / "out.csv"), "-k", "3", "--id", "name"]
    base += ["--sensitive", "illness,note", "--existing", str(first)]
    for column, rule in RULES.items():
        base += ["--hierarchy", f"{column}={rule}"]
    names = ("two.proof", "all.csv", "a.html", "b.html", "m.json", "s.json")
    files = [str(tmp_path / name) for name in names]
    options = ("--proof", "--joined", "--report", "--report-internal", "--metadata", "--statement")
    outputs = [word for pair in zip(options, files, strict=True) for word in pair]
    earlier = ["--existing-original", str(original), "--existing-proof", str(proof)]
    for left_out, said in (
        ([*base, *outputs], "--existing-original FILE"),
        ([*base, *earlier, *outputs[:2]], "name a file for them with --joined"),
        ([*base, *earlier, *outputs[2:4]], "--joined goes with --proof"),
        ([*base[:-6], *earlier], "goes with --existing"),
    ):
        refused = CliRunner().invoke(cli, left_out)
        assert refused.exit_code == 2
        assert said in refused.output
    done = CliRunner().invoke(cli, [*base, *earlier, *outputs, "--json", "-q"])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["together"]["rows"] == 33
    assert record["together"]["lower_bound"] <= record["together"]["cost"]
    assert check(tmp_path / "out.csv", files[1], files[0], statement=files[5]).accepted
    for report in files[2:4]:
        assert "24 of the 33 rows were published before" in Path(report).read_text("utf-8")
    assert json.loads(Path(files[4]).read_text("utf-8"))


def test_ranges_of_numbers_that_turned_negative_need_one_way_of_writing(tmp_path: Path) -> None:
    """Tests the message for ranges by two dots beside earlier ones, and that what it says helps."""
    old, first, proof = (tmp_path / name for name in ("old.csv", "first.csv", "first.proof"))
    pl.DataFrame({"x": ["1", "2", "8", "9"]}).write_csv(old)
    new = pl.DataFrame({"x": ["-5", "-4", "-3", "8"]})
    for rule in ("range", "range:show={low}..{high}"):
        asked = {"k": 2, "hierarchies": {"x": rule}}
        ic.anonymize(old, **asked).write_proven(first, proof, original=old)
        release = ic.anonymize(new, existing=first, **asked)
        assert isinstance(release, ExtendedRelease)
        if rule == "range":
            with pytest.raises(InputError, match="make both releases with --hierarchy 'x=range:sh"):
                release.whole(old, proof)
        else:
            assert release.whole(old, proof).rows == 8


def test_it_is_a_release_of_all_rows(tmp_path: Path) -> None:
    """Tests that its bound is one of all rows: it is not above what a release anew costs."""
    asked = {"id": "name", "sensitive": ["illness", "note"]}
    for seed in range(5):
        original, first, proof = made(tmp_path, seed, asked)
        new = tmp_path / "two.csv"
        table(seed + 30, 7).write_csv(new)
        release = ic.anonymize(new, 3, existing=first, **asked)
        assert isinstance(release, ExtendedRelease)
        whole = release.whole(original, proof)
        assert isinstance(whole, WholeRelease)
        anew = ic.anonymize(ic.open_table(whole.source.native()), 3, **asked)
        assert whole.lower_bound <= anew.cost <= whole.cost


def test_an_earlier_release_that_changed(tmp_path: Path) -> None:
    """Tests that coarser cells, lawful by themselves, are not taken for what was published."""
    asked = {"id": "name", "sensitive": ["illness", "note"], "hierarchies": RULES}
    original, first, proof = made(tmp_path, 6, asked)
    new, joined, again = (tmp_path / name for name in ("two.csv", "all.csv", "two.proof"))
    table(11, 6).write_csv(new)
    words = ["anonymize", str(new), "-o", str(tmp_path / "out.csv"), "-k", "3", "--id", "name"]
    words += ["--sensitive", "illness,note", "--existing", str(first), "--joined", str(joined)]
    words += [f"--hierarchy={name}={rule}" for name, rule in RULES.items()] + ["-q"]
    words += ["--existing-original", str(original), "--existing-proof", str(proof)]
    words += ["--proof", str(again)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    published = pl.read_csv(first, infer_schema=False)
    published.with_columns(age=pl.lit("*")).write_csv(first)
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2 and "is of another release than this one" in done.output


@pytest.mark.parametrize("role", ["person", "id"])
def test_people_of_both_deliveries_are_warned_of(role: str, tmp_path: Path) -> None:
    """Tests their count, with and without a proof, and that nobody else is taken for one."""
    asked: dict[str, Any] = {role: "name", "sensitive": ["illness", "note"]}
    original, first, proof = made(tmp_path, 4, asked)
    new, old = tmp_path / "two.csv", table(4, 24)
    pl.concat([table(11, 6), old[3:5], old[3:4]]).write_csv(new)
    release = ic.anonymize(new, 3, existing=first, **asked)
    assert isinstance(release, ExtendedRelease)
    whole = release.whole(original, proof)
    assert sum(text.startswith("2 people") for text in whole.warnings) == 1
    others = old.with_columns(name=pl.lit(None, pl.String) if role == "person" else "illness")
    found = met_again(ic.open_table(others), release.source, release.roles)
    assert found is None
    words = ["anonymize", str(new), "-o", str(tmp_path / "o.csv"), "-k3", f"--{role}=name", "-q"]
    words += ["--sensitive=illness,note", f"--existing={first}", "--json"]
    for more, said in (([], False), ([f"--existing-original={original}"], True)):
        done = CliRunner().invoke(cli, [*words, *more])
        assert done.exit_code == 0, done.output
        warned = json.loads(done.stdout)["warnings"]
        assert any("2 people" in text for text in warned) is said
        assert ("2 people" in done.stderr) is said
        assert "person 4." not in done.output
