"""Tests of pseudonyms, and of rows of a person that stay linked by them."""

import csv
import hashlib
import hmac
import io
import json
import threading
from itertools import permutations, product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.errors import InputError, NoLawfulReleaseError, OutOfScopeError
from incrowd.proof.prove import prove
from incrowd.tables.key_file import key_in
from test_people import forged


@st.composite
def histories(draw: st.DrawFn) -> tuple[pl.DataFrame, int]:
    """Few people with one to three rows, and a k that each number of rows can keep."""
    k = draw(st.integers(1, 2))
    sizes = [n for n in (1, 2, 3) for _ in range(draw(st.sampled_from([0, k, k + 1][: 4 - n])))]
    sizes = sizes or [1] * k
    rows = [
        (f"P{who}", draw(st.sampled_from("ab")), draw(st.sampled_from("ab")))
        for who, n in enumerate(sizes)
        for _ in range(n)
    ]
    order = draw(st.permutations(range(len(rows))))
    return pl.DataFrame([rows[i] for i in order], schema=["pid", "x", "y"], orient="row"), k


def records(released: pl.DataFrame) -> dict[tuple[Any, ...], int]:
    """How many people share each record, counted from the definition."""
    of: dict[str, list[tuple[str, str]]] = {}
    for who, *cells in released.select("pid", "x", "y").rows():
        of.setdefault(who, []).append(tuple(cells))
    found: dict[tuple[Any, ...], int] = {}
    for rows in of.values():
        record = tuple(sorted(rows))
        found[record] = found.get(record, 0) + 1
    return found


def cheapest(people: list[list[tuple[str, str]]]) -> int:
    """Fewest stars with which these people share a record, over all ways to pair their rows."""
    first, *others = people
    best = 10**9
    for turned in product(*(permutations(rows) for rows in others)):
        places = zip(first, *turned, strict=True)
        stars = sum(len({*column}) > 1 for place in places for column in zip(*place, strict=True))
        best = min(best, stars * len(people))
    return best


def least(frame: pl.DataFrame, k: int) -> int:
    """The optimum by brute force over all partitions of the people."""
    of: dict[str, list[tuple[str, str]]] = {}
    for who, *cells in frame.rows():
        of.setdefault(who, []).append(tuple(cells))
    people = list(of.values())
    best: dict[int, int] = {0: 0}
    for mask in range(1, 1 << len(people)):
        best[mask] = 10**9
        part = mask
        while part:
            chosen = [rows for i, rows in enumerate(people) if part >> i & 1]
            if len(chosen) >= k and len({*map(len, chosen)}) == 1:
                best[mask] = min(best[mask], best[mask ^ part] + cheapest(chosen))
            part = (part - 1) & mask
    return best[(1 << len(people)) - 1]


@settings(max_examples=few(25), deadline=None)
@given(histories())
def test_records_are_shared_and_bounds_hold(given_) -> None:
    """Tests law, cost and bound against the definition and the optimum by brute force."""
    frame, k = given_
    release = ic.anonymize(frame, k=k, person="pid", pseudonym="pid", qi=["x", "y"])
    assert min(records(release.data).values()) >= k
    best = least(frame, k)
    assert release.lower_bound <= best <= release.cost
    assert release.verify()
    pairs = {*zip(frame["pid"], release.data["pid"], strict=True)}
    assert len(pairs) == frame["pid"].n_unique() == release.data["pid"].n_unique()
    if frame.height == frame["pid"].n_unique():  # a record is a row: the optimum is found
        assert release.lower_bound == best == release.cost


@settings(max_examples=few(15), deadline=None)
@given(given_=histories(), several=st.booleans())
def test_the_law_without_a_pseudonym(given_, several, tmp_path_factory) -> None:
    """Tests law and bound against brute force, and that the checker counts records itself."""
    frame, k = given_
    path: Path = tmp_path_factory.mktemp("linked")
    named = frame.with_columns(also=pl.col("pid")) if several else frame
    named.write_csv(path / "in.csv")
    person = ["pid", "also"] if several else ["pid"]
    release = ic.anonymize(path / "in.csv", k=k, person=person, linked_rows=True)
    assert release.columns == 2
    assert release.data.columns == ["x", "y"]
    shown = release.data.with_columns(pid=frame["pid"])
    assert min(records(shown).values()) >= k
    best = least(frame, k)
    assert release.lower_bound <= best <= release.cost
    files = [path / name for name in ("out.csv", "in.csv", "p.proof")]
    release.write(files[0], lambda at: prove(release, files[1], at, files[2]) and None)
    verdict = check(*files)
    assert verdict.accepted, verdict.reason
    stated = {"model": "people", "k": k, "columns": person, "linked": True}
    assert stated in verdict.facts["models"]


def test_linked_rows_by_name(folder: Path) -> None:
    """Tests the command, what verify says of it, and the release that is lawful without it."""
    done = run(f"{ASKED} --linked-rows --order keep -q")
    assert done.exit_code == 0, done.output
    ask = "verify out.csv --original in.csv --person pid --sensitive s -k 2"
    assert run(f"{ask} --proof p.proof --linked-rows").exit_code == 0
    assert "--proof" in run(f"{ask} --linked-rows").stderr
    assert run(f"{ASKED} -q").exit_code == 0
    done = run(f"{ask} --proof p.proof --linked-rows")
    assert done.exit_code == 1
    assert "all rows of a person together are shared" in done.output
    (folder / "policy.toml").write_text(
        'person = "pid"\nsensitive = "s"\nlinked_rows = true\nk = 2\n'
    )
    release = ic.anonymize("in.csv", policy="policy.toml")
    assert min(records_of(release, "x").values()) >= 2


def records_of(release: Any, column: str) -> dict[tuple[Any, ...], int]:
    """How many people share each record of one column, in a release in the table's order."""
    found: dict[str, list[Any]] = {}
    for who, cell in zip(pl.read_csv("in.csv")["pid"], release.data[column], strict=True):
        found.setdefault(who, []).append(cell)
    kinds = [tuple(sorted(cells)) for cells in found.values()]
    return {kind: kinds.count(kind) for kind in kinds}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"person": ()}, "linked_rows goes with person"),
        ({"sensitive": "s", "id": (), "l": 2}, "linked_rows or a pseudonym"),
        ({"fixed": "x"}, "linked_rows is not served with fixed"),
        ({"caps": {"x": 0.5}}, "linked_rows is not served with caps"),
        ({"veil": 0.1}, "linked_rows is not served with veil"),
        ({"constant_alike": True}, "constant_alike is not served with linked_rows"),
        ({"linked_rows": 1}, "linked_rows must be true or false"),
        ({"k": 3}, "a number of rows that fewer than 3 people have"),
        ({"id": (), "keep": ["s", "pid"]}, "named both keep and person"),
    ],
)
def test_what_linked_rows_refuse(folder: Path, more, words) -> None:
    given_ = {"k": 2, "person": "pid", "id": "s", "linked_rows": True} | more
    with pytest.raises((InputError, NoLawfulReleaseError), match=words):
        ic.anonymize("in.csv", **given_)
    with pytest.raises((InputError, OutOfScopeError), match="frontier"):
        ic.frontier("in.csv", [2], person="pid", id="s", linked_rows=True)


ROWS = "pid,x,s\nP1,a,f\nP1,b,f\nP2,b,f\nP2,b,m\nP3,c,m\nP4,c,m\n"
ASKED = "anonymize in.csv -o out.csv -k 2 --person pid --sensitive s --proof p.proof"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(ROWS)
    return tmp_path


def run(words: str) -> Any:
    return CliRunner().invoke(cli, words.split())


def test_keys_are_private_and_pseudonyms_stable(folder: Path) -> None:
    """Tests the file, what follows from it and from nothing else, and the table kept apart."""
    done = run(f"{ASKED} --pseudonym pid=key --pseudonym-table who.csv --seed 1 --json")
    assert done.exit_code == 0, done.output
    assert "are the same in every release with this key" in done.stderr
    assert (folder / "key").stat().st_mode & 0o777 == 0o600
    assert (folder / "who.csv").stat().st_mode & 0o777 == 0o600
    key = bytes.fromhex((folder / "key").read_text())
    table = [*csv.DictReader(io.StringIO((folder / "who.csv").read_text()))]
    for row in table:
        mac = hmac.new(key, b"incrowd pseudonym " + row["value"].encode(), hashlib.sha256)
        assert row["pseudonym"] == "p" + mac.hexdigest()[:32]
    assert {row["value"] for row in table} == {"P1", "P2", "P3", "P4"}
    first = {*pl.read_csv(folder / "out.csv")["pid"]}
    assert first == {row["pseudonym"] for row in table}
    again = {*ic.anonymize("in.csv", 2, person="pid", id="s", pseudonym={"pid": "key"}).data["pid"]}
    assert again == first
    alone = [ic.anonymize("in.csv", 2, person="pid", id="s", pseudonym="pid", seed=1) for _ in "ab"]
    assert len({*first, *alone[0].data["pid"], *alone[1].data["pid"]}) == 12
    assert "P1" not in (folder / "out.csv").read_text()


def test_keys_that_are_none(folder: Path) -> None:
    """Tests a key that others may open, a file that is no key, and one that cannot be made."""
    asked = {"k": 2, "person": "pid", "id": "s"}
    (folder / "key").write_text("00" * 32)
    (folder / "key").chmod(0o644)
    with pytest.raises(InputError, match="others than its owner"):
        ic.anonymize("in.csv", **asked, pseudonym={"pid": "key"})
    for text in ("00" * 31, "zz" * 32, ""):
        (folder / "key").write_text(text)
        (folder / "key").chmod(0o600)
        with pytest.raises(InputError, match="not a key of 32 bytes"):
            ic.anonymize("in.csv", **asked, pseudonym={"pid": "key"})
    maker = threading.Timer(0.1, (folder / "key").write_text, ["00" * 32])
    maker.start()  # another run, which has opened the file and not yet written it
    assert key_in("key") == bytes(32)
    (folder / "key").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        ic.anonymize("in.csv", **asked, pseudonym={"pid": "nowhere/key"})
    done = run(f"{ASKED} --pseudonym pid=in.csv")
    assert done.exit_code == 2
    assert (folder / "in.csv").read_text() == ROWS
    done = run(f"{ASKED} --pseudonym pid=key --pseudonym-table key")
    assert done.exit_code == 2
    assert (folder / "key").read_text() == ""


def test_the_checker_holds_what_is_linked(folder: Path) -> None:
    """Tests honest proofs, and those of releases that link rows, or of other pseudonyms."""
    assert run(f"{ASKED} --pseudonym pid").exit_code == 0
    done = run("verify out.csv --original in.csv --proof p.proof --pseudonym pid --person pid")
    assert done.exit_code == 0, done.output
    assert "all their rows together" in done.stderr
    rows = {"model": "k-anonymity", "k": 2}
    people = {"model": "people", "k": 2, "columns": ["pid"]}
    assert forged(folder, models=[rows, people | {"linked": True}]).accepted
    for wrong in (people, people | {"linked": False}, people | {"linked": 1}):
        assert not forged(folder, models=[rows, wrong]).accepted
    assert not forged(folder, models=[rows]).accepted
    lines = (folder / "out.csv").read_text().splitlines()
    shown = [line.split(",")[0] for line in lines]
    mine = next(name for name in shown if shown.count(name) == 2)
    other = next(name for name in shown[1:] if name != mine)
    at = shown.index(mine)
    for text in ("P1", "", "p" + "0" * 31, "p" + "0" * 32, other):
        moved = [*lines[:at], lines[at].replace(mine, text), *lines[at + 1 :]]
        (folder / "out.csv").write_text("\n".join(moved) + "\n")
        sha = hashlib.sha256((folder / "out.csv").read_bytes()).hexdigest()
        verdict = forged(folder, release={"sha256": sha}, models=[rows, people | {"linked": True}])
        assert not verdict.accepted, text
        assert "pseudonym" in str(verdict.reason)


def test_rows_are_linked_as_far_as_people_are_counted(folder: Path) -> None:
    """Tests a proof that counts people in classes, and says of linked rows that one shares them."""
    assert run(f"{ASKED} --pseudonym pid").exit_code == 0
    people = {"model": "people", "k": 2, "columns": ["pid"]}
    linked = people | {"linked": True}
    assert forged(folder, models=[linked]).accepted
    assert forged(folder, models=[people, linked]).accepted
    verdict = forged(folder, models=[people, linked | {"k": 1}])
    assert "link rows" in str(verdict.reason)


def test_without_a_proof_pseudonyms_are_looked_at(folder: Path) -> None:
    """Tests releases that show names, or say anything else, where pseudonyms are asked for."""
    (folder / "in.csv").write_text("visit,x,s\nV1,a,f\nV2,a,m\nV3,b,f\n,b,m\n")
    asked = "-k 2 --sensitive s --pseudonym visit --qi x"
    assert run(f"anonymize in.csv -o out.csv {asked}").exit_code == 0
    done = run(f"verify out.csv --original in.csv {asked}")
    assert done.exit_code == 0
    assert "key is secret" in done.stderr
    lines = (folder / "out.csv").read_text().splitlines()
    first, other = (
        line.split(",")[0] for line in [line for line in lines[1:] if line[0] == "p"][:2]
    )
    at = next(i for i, line in enumerate(lines) if line.startswith(first))
    for text in ("V1", "", '""', other, first[:-1], first.upper()):
        moved = [*lines[:at], text + lines[at].removeprefix(first), *lines[at + 1 :]]
        (folder / "out.csv").write_text("\n".join(moved) + "\n")
        assert run(f"verify out.csv --original in.csv {asked}").exit_code == 1, text


def test_a_pseudonym_of_one_of_several_columns_is_rejected(folder: Path) -> None:
    """Tests people told apart by two columns, of which one alone links rows of several."""
    lines = ["h,pid,x", "A,1,a", "B,1,b", "A,2,a", "B,2,b"]
    (folder / "in.csv").write_text("\n".join(lines) + "\n")
    words = "anonymize in.csv -o out.csv -k 2 --person pid --pseudonym pid --id h --proof p.proof"
    assert run(words).exit_code == 0
    rows = {"model": "k-anonymity", "k": 2}
    people = {"model": "people", "k": 2, "columns": ["pid"], "linked": True}
    assert forged(folder, models=[rows, people]).accepted
    two = people | {"columns": ["h", "pid"]}
    verdict = forged(folder, models=[rows, two], pricing=[])
    assert "link rows" in str(verdict.reason)  # of A and B, who are several people


def test_records_of_one_person_are_rejected(folder: Path) -> None:
    """Tests a release of lawful rows in which nobody shares all rows with another person."""
    asked = ASKED.replace("-k 2", "-k 1")
    assert run(f"{asked} --pseudonym pid").exit_code == 0
    rows = {"model": "k-anonymity", "k": 1}
    people = {"model": "people", "k": 2, "columns": ["pid"], "linked": True}
    assert not forged(folder, models=[rows, people]).accepted
    frame = pl.DataFrame({"pid": list("AABBCCDD"), "x": list("abbccdda")})  # a ring
    frame.write_csv("in.csv")
    plain = ic.anonymize("in.csv", k=2, person="pid")
    assert plain.cost == 0  # two people in every class, but no record is that of two
    assert ic.anonymize("in.csv", k=2, person="pid", pseudonym="pid").cost > 0


def test_a_pseudonym_of_what_never_repeats_links_nothing(folder: Path) -> None:
    (folder / "in.csv").write_text("visit,x,s\nV1,a,f\nV2,a,m\nV3,b,f\nV4,b,m\n,b,m\n,b,f\n")
    words = "anonymize in.csv -o out.csv -k 2 --l 2 --sensitive s --pseudonym visit --proof p.proof"
    done = run(words)
    assert done.exit_code == 0, done.output
    released = pl.read_csv(folder / "out.csv")
    assert released["visit"].null_count() == 2
    assert released.columns == ["visit", "x", "s"]
    assert run("verify out.csv --original in.csv --proof p.proof").exit_code == 0


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"pseudonym": "pid"}, "2 values in several rows"),
        ({"pseudonym": "nobody"}, "nobody"),
        ({"pseudonym": "x"}, "x"),
        ({"pseudonym": "pid", "id": "pid"}, "both id and pseudonym"),
        ({"pseudonym": "pid", "person": ["pid", "s"]}, "make one column"),
        ({"pseudonym": "pid", "person": "pid", "sensitive": "s", "l": 2}, "only k is served"),
        ({"pseudonym": "pid", "person": "pid", "fixed": "x"}, "of the person is not served with"),
        ({"pseudonym": 3}, "pseudonym takes"),
    ],
)
def test_what_is_refused(given_, message):
    frame = pl.read_csv(ROWS.encode())
    with pytest.raises(InputError, match=message):
        ic.anonymize(frame, k=2, qi="x" if "s" in given_ else None, **given_)


def test_numbers_of_rows_that_show(folder: Path) -> None:
    """Tests that people with a number of rows of their own are counted, not shown."""
    with pytest.raises(
        NoLawfulReleaseError, match="4 people have a number of rows that fewer than 3"
    ):
        ic.anonymize("in.csv", 3, person="pid", pseudonym="pid")
    asked = {"k": 2, "person": "pid", "pseudonym": "pid", "id": "s"}
    with pytest.raises(OutOfScopeError, match="pseudonym"):
        ic.anonymize("in.csv", **asked, existing="in.csv")
    pytest.importorskip("matplotlib")
    for words in ("--report r.html", "--metadata m.json"):
        assert run(f"{ASKED} --pseudonym pid {words}").exit_code == 0
        assert "pseudonym" in (folder / words.split()[1]).read_text()
    assert run(f"{ASKED} --pseudonym-table t.csv").exit_code == 2
    assert not (folder / "t.csv").exists()


def test_a_policy_file_says_it(folder: Path) -> None:
    for text in ('pseudonym = "pid"\n', 'pseudonym = ["pid"]\n', '[pseudonym]\npid = "key"\n'):
        (folder / "p.toml").write_text(f'k = 2\nperson = "pid"\nid = "s"\n{text}')
        policy = ic.Policy.read("p.toml")
        assert ic.anonymize("in.csv", policy=policy).data["pid"].n_unique() == 4
        words = policy.command("in.csv", "out.csv")
        assert ("--pseudonym pid=key" if "key" in text else "--pseudonym pid ") in f"{words} "


@pytest.mark.parametrize("made", ["csv", "parquet", "arrow"])
def test_numbers_get_pseudonyms_in_every_form(tmp_path: Path, made: str) -> None:
    """Tests keys that are numbers, in all forms, with proofs; and that files hold no old order."""
    frame = pl.DataFrame({"pid": [7, 7, 8, 8, 9, 10], "x": list("aabbcc")})
    write = {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}
    write[made](tmp_path / f"in.{made}")
    key = str(tmp_path / "key")
    asked: dict[str, Any] = {"k": 2, "person": "pid", "pseudonym": {"pid": key}}
    release = ic.anonymize(tmp_path / f"in.{made}", **asked, order="shuffle")
    files = [tmp_path / f"out.{made}", tmp_path / f"in.{made}", tmp_path / "p.proof"]
    release.write(files[0], lambda at: prove(release, files[1], at, files[2]) and None)
    verdict = check(*files)
    assert verdict.accepted, verdict.reason
    texts = ic.anonymize(frame.cast(pl.String), **asked).data["pid"]
    assert {*texts} == {*release.data["pid"]}
    assert json.dumps(verdict.facts["roles"]["pseudonym"]) == '["pid"]'
