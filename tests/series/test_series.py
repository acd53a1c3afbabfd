"""Tests of releases that follow others, against an attacker who intersects them all."""

import json
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.cli.republish import in_words
from incrowd.errors import InputError, NoLawfulReleaseError, OutOfScopeError, VerificationError
from incrowd.hierarchy import Prefix
from incrowd.series.checked import require_lawful
from incrowd.series.history import Person, seal_of

VALUES = "stuv"
ASKED: dict[str, Any] = {"person": "pid", "sensitive": "s", "qi": ["x", "y"], "seed": 1}
State = dict[str, tuple[str, str, str]]


@st.composite
def series(draw: st.DrawFn) -> tuple[list[State], int, int]:
    """A few people who come, go, return and change, over a few releases; m and k."""
    cells = st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), st.sampled_from(VALUES))
    of = [draw(cells) for _ in range(8)]
    states = []
    for _ in range(draw(st.integers(1, 4))):
        here = draw(st.sets(st.integers(0, 7), min_size=1, max_size=7))
        for who in draw(st.sets(st.sampled_from(sorted(here)), max_size=2)):
            x, y, value = draw(cells)
            of[who] = (x, y, value if draw(st.booleans()) else of[who][2])
        states.append({f"P{who}": of[who] for who in sorted(here)})
    m = draw(st.integers(1, 3))
    return states, m, draw(st.integers(1, m))


def frame_of(state: State) -> pl.DataFrame:
    rows = [(key, *cells) for key, cells in state.items()]
    return pl.DataFrame(rows, schema=["pid", "x", "y", "s"], orient="row")


def fewest(state: State, signatures: dict[str, frozenset[str]], m: int) -> int:
    """The fewest counterfeits by brute force over all ways to part the people into classes."""
    keys = sorted(state)
    best: dict[int, int] = {0: 0}
    for mask in range(1, 1 << len(keys)):
        first, best[mask] = mask & -mask, 10**6
        rest = mask ^ first
        part = rest
        while True:
            members = [k for i, k in enumerate(keys) if (part | first) >> i & 1]
            values = {state[key][2] for key in members}
            known = {signatures[key] for key in members if key in signatures}
            if len(values) == len(members) and len(known) <= 1:
                signature = next(iter(known), None)
                if signature is None or values <= signature:
                    size = max(m, len(values)) if signature is None else len(signature)
                    cost = size - len(values) + best[rest ^ part]
                    best[mask] = min(best[mask], cost)
            if not part:
                break
            part = (part - 1) & rest
    return best[(1 << len(keys)) - 1]


def cheapest(state: State, signatures: dict[str, frozenset[str]], m: int, most: int) -> int:
    """The least stars with at most ``most`` counterfeits, by brute force over all partitions."""
    keys = sorted(state)
    best: dict[int, dict[int, int]] = {0: {0: 0}}
    for mask in range(1, 1 << len(keys)):
        first, best[mask] = mask & -mask, {}
        rest = mask ^ first
        part = rest
        while True:
            members = [k for i, k in enumerate(keys) if (part | first) >> i & 1]
            values = {state[key][2] for key in members}
            known = {signatures[key] for key in members if key in signatures}
            signature = next(iter(known), None)
            fits = signature is None or values <= signature
            if len(values) == len(members) and len(known) <= 1 and fits:
                size = max(m, len(values)) if signature is None else len(signature)
                cells = [[state[key][j] for key in members] for j in (0, 1)]
                apart = [len({*column}) > 1 for column in cells]
                for fakes, cost in best[rest ^ part].items():
                    now, at = cost + len(members) * sum(apart), fakes + size - len(values)
                    if at <= most:
                        best[mask][at] = min(best[mask].get(at, now), now)
            if not part:
                break
            part = (part - 1) & rest
    return min(best[(1 << len(keys)) - 1].values())


@settings(max_examples=few(20), deadline=None)
@given(series(), st.sampled_from([None, 0.5]))
def test_who_intersects_all_releases_learns_no_value(given_, weight) -> None:
    """Tests m-invariance, company, truth and the number of counterfeits on what is published."""
    states, m, k = given_
    signatures: dict[str, frozenset[str]] = {}
    value_of: dict[str, str] = {}
    seen: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder) / "history"
        for state in states:
            frame, asked = frame_of(state), {"m": m, "k": k, "counterfeit_weight": weight}
            kept = {
                key: cells
                for key, cells in state.items()
                if value_of.get(key, cells[2]) == cells[2]
            }
            known = {cells[2] for cells in kept.values()} | {
                v for s in signatures.values() for v in s
            }
            if len(known) < m and kept:
                with pytest.raises(NoLawfulReleaseError):
                    ic.republish(frame, history, **asked, all_new=True, **ASKED)
                return
            release = ic.republish(frame, history, **asked, all_new=True, **ASKED)
            release.write(Path(folder) / "out.csv", history)
            keys = frame["pid"].to_list()
            published = set()
            for one in release.classes:
                here = frozenset(keys[row] for row in one.values() if row >= 0)
                for value, row in one.items():
                    if row >= 0:
                        assert state[keys[row]][2] == value == kept[keys[row]][2]
                        seen.setdefault(keys[row], []).append((frozenset(one), here))
                published |= here
            for key in published:
                sets, people = zip(*seen[key], strict=True)
                assert len(frozenset.intersection(*sets)) >= m
                assert len({*sets}) == 1
                assert len(frozenset.intersection(*people)) >= k
            assert release.withheld["changed"] == len(state) - len(kept)
            assert len(published) + sum(release.withheld.values()) == len(state)
            least = fewest(kept, signatures, m)
            assert release.fewest <= least
            if k == 1:
                assert published == set(kept)
                assert release.counterfeits >= least
                if weight is None:
                    assert release.counterfeits == release.fewest == least
            here_now = {key: state[key] for key in published}
            found = cheapest(here_now, signatures, m, release.counterfeits)
            assert release.lower_bound <= found <= release.cost
            for key in published:
                signatures.setdefault(key, seen[key][-1][0])
                value_of[key] = state[key][2]
            written = pl.read_csv(Path(folder) / "out.csv", infer_schema=False)
            require_published(release, written, state, keys)


def test_bounds_are_near_where_there_is_little_to_choose() -> None:
    """Tests the bound of survivors alone: of each signature all ways to put them together."""
    rng = np.random.default_rng(3)
    keys = [f"P{i}" for i in range(48)]
    state = {k: (*rng.choice(list("abcde"), 2), VALUES[i % 3]) for i, k in enumerate(keys)}
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder) / "history"
        first = ic.republish(frame_of(state), history, m=3, **ASKED)
        first.write(Path(folder) / "out.csv", history)
        assert first.gap <= 0.02
        then = ic.republish(frame_of(state), history, m=3, **ASKED)
        assert 0 < then.lower_bound <= then.cost
        assert then.gap <= 0.05
        fewer = {k: state[k] for k in keys[:33]}
        later = ic.republish(frame_of(fewer), history, m=3, **ASKED)
        assert 0 < later.lower_bound <= later.cost


def require_published(release: Any, written: pl.DataFrame, state: State, keys: list[str]) -> None:
    """Hold the written file against the classes."""
    shown = Counter(written.select("x", "y", "s", "counterfeits").rows())
    expected: Counter[tuple[str, ...]] = Counter()
    stars = 0
    for one in release.classes:
        real = [state[keys[row]][:2] for row in one.values() if row >= 0]
        label = ["*" if len({*cells}) > 1 else cells[0] for cells in zip(*real, strict=True)]
        stars += label.count("*") * len(real)
        for value in one:
            expected[*label, value, str(len(one) - len(real))] += 1
    assert shown == expected
    assert release.cost == stars
    if written.height:
        assert written["class"].n_unique() == len(release.classes)


def test_a_seed_makes_a_series_again(tmp_path: Path) -> None:
    """Tests that what the system draws orders what is published, and nothing that follows."""
    rng = np.random.default_rng(0)
    cells = [(f"P{i}", *rng.choice(list("abcd"), 2), VALUES[i % 4]) for i in range(90)]
    made = []
    for again in ("one", "two"):
        history = tmp_path / again
        for first in (0, 15, 30):
            here = {key: tuple(rest) for key, *rest in cells[first : first + 60]}
            release = ic.republish(frame_of(here), history, m=3, **ASKED)
            release.write(tmp_path / "out.csv", history)
        made.append((history.read_bytes(), release.cost, release.counterfeits))
    assert made[0] == made[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{'ab'[i % 2]},{VALUES[i % 4]}" for i in range(12)]
    (tmp_path / "1.csv").write_text("\n".join(["pid,x,s", *rows]) + "\n")
    later = [f"{i},{'ab'[i % 2]},{VALUES[i % 4]}" for i in range(3, 15)]
    (tmp_path / "2.csv").write_text("\n".join(["pid,x,s", *later]) + "\n")
    return tmp_path


WORDS = "--history h --person pid --sensitive s -m 3"


def run(words: str) -> Any:
    return CliRunner().invoke(cli, words.split())


def test_command_line(folder: Path) -> None:
    """Tests two releases, what is printed, and files that only their owner may open."""
    done = run(f"republish 1.csv -o o1.csv {WORDS} --json")
    first = json.loads(done.stdout)
    assert (first["release"], first["rows"], first["counterfeits"]) == (1, 12, 0)
    assert "the first of a new series" in done.stderr
    assert (folder / "h").stat().st_mode & 0o777 == 0o600
    done = run(f"republish 2.csv -o o2.csv {WORDS}")
    assert done.exit_code == 0, done.output
    assert "number 2 of its series" in done.stderr and "new series" not in done.stderr
    assert pl.read_csv("o2.csv").columns == ["x", "s", "class", "counterfeits"]
    before = (folder / "h").read_bytes()
    for words in (f"{WORDS} -m 2", f"{WORDS} -k 2", f"{WORDS} --qi s", f"{WORDS} -o h"):
        done = run(f"republish 2.csv -o o3.csv {words}")
        assert done.exit_code == 2, words
    assert run(f"republish 2.csv -o nowhere/o.csv {WORDS}").exit_code == 2
    assert (folder / "h").read_bytes() == before
    assert not (folder / "o3.csv").exists()


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_the_form_of_the_input_stays(folder: Path, encoding: str) -> None:
    """Tests semicolons, ends of lines and an encoding; a name may ask for another format."""
    rows = [f"{i};{'äß'[i % 2]};{VALUES[i % 4]}" for i in range(12)]
    (folder / "w.csv").write_bytes("\r\n".join(["pid;x;s", *rows, ""]).encode(encoding))
    words = f"republish w.csv {WORDS} --encoding {encoding}"
    assert run(f"{words} -o o.csv").exit_code == 0
    text = (folder / "o.csv").read_bytes().decode(encoding)
    header, *lines, end = text.split("\r\n")
    assert (header, len(lines), end) == ("x;s;class;counterfeits", 12, "")
    assert {line[0] for line in lines} <= set("äß*")
    assert run(f"{words.replace(' h ', ' g ')} -o o.parquet").exit_code == 0
    assert pl.read_parquet("o.parquet").schema["class"] == pl.Int64


def test_keys_are_written_as_they_were(folder: Path) -> None:
    """Tests keys of another type or form, people who are all new, and people twice."""
    assert run(f"republish 1.csv -o o1.csv {WORDS} -q").exit_code == 0
    table = pl.read_csv("2.csv", infer_schema=False)
    same = ic.republish(table.cast({"pid": pl.Int64}), "h", person="pid", sensitive="s")
    assert same.rows == 12
    for wrong in (
        table.with_columns(pl.col("pid").str.zfill(3)),
        table.with_columns(pl.col("pid") + ".0"),
        table.with_columns((" " + pl.col("pid")).alias("pid")),
    ):
        with pytest.raises(InputError, match="9 keys are those of people of earlier releases"):
            ic.republish(wrong, "h", person="pid", sensitive="s")
    other = table.with_columns(("Q" + pl.col("pid")).alias("pid"))
    with pytest.raises(InputError, match="none of the 12 people"):
        ic.republish(other, "h", person="pid", sensitive="s")
    assert ic.republish(other, "h", person="pid", sensitive="s", all_new=True).rows == 12
    with pytest.raises(InputError, match="no rows, and the history 12 people"):
        ic.republish(table.clear(), "h", person="pid", sensitive="s")
    assert not ic.republish(table.clear(), "h", person="pid", sensitive="s", all_new=True).rows
    twice = pl.concat([table, table.head(2)])
    with pytest.raises(InputError, match="2 people have several rows"):
        ic.republish(twice, "h", person="pid", sensitive="s")
    nameless = table.with_columns(
        pid=pl.when(pl.col("pid") == table["pid"][2]).then(None).otherwise("pid")
    )
    with pytest.raises(
        InputError, match=f"1 of {table.height} rows have no value .* leave"
    ) as told:
        ic.republish(nameless, "h", person="pid", sensitive="s")
    assert "missing-person" not in str(told.value)  # which is not served here


def test_columns_in_another_order(tmp_path: Path) -> None:
    """Tests that a table whose columns stand in another order than before is not refused."""
    table = frame_of({f"P{i}": ("ab"[i % 2], "b", VALUES[i % 3]) for i in range(6)})
    history = tmp_path / "h"
    ic.republish(table, history, **ASKED).write(tmp_path / "1.csv", history)
    asked = {**ASKED, "qi": ["y", "x"]}
    for moved in (table.select("s", "y", "x", "pid"), table):
        release = ic.republish(moved, history, **asked)
        assert (release.rows, release.counterfeits) == (6, 0)
    with pytest.raises(InputError, match=r"made with another qi \('x', 'y'; now 'z', 'y'\)"):
        ic.republish(table.rename({"x": "z"}), history, **{**ASKED, "qi": ["z", "y"]})


def test_what_was_said_of_cells_is_said_again(tmp_path: Path) -> None:
    """Tests that a release without a rule of the one before is refused, with another not."""
    rows = [(f"P{i}", str(1950 + i), "ab"[i % 2] * 2, VALUES[i % 3]) for i in range(6)]
    table = pl.DataFrame(rows, schema=["pid", "x", "y", "s"], orient="row")
    history, levels = tmp_path / "h", {"x": "interval:5,10", "y": Prefix((1,))}
    rules: dict[str, Any] = {"hierarchies": levels, "na": ["-9", "?"], "cost": "ncp"}
    ic.republish(table, history, **ASKED, **rules).write(tmp_path / "1.csv", history)
    said = "--hierarchy x=interval:5,10 --hierarchy 'y=(made in Python)' --cost ncp --na '-9,?'"
    with pytest.raises(InputError, match=re.escape(f"was made with {said}, and")):
        ic.republish(table, history, **ASKED)
    other: dict[str, Any] = {"hierarchies": {"x": "none", "y": "none"}, "na": "?", "cost": "stars"}
    ic.republish(table, history, **ASKED, **other).write(tmp_path / "2.csv", history)
    del other["hierarchies"]
    assert ic.republish(table, history, **ASKED, **other).rows == 6
    del other["cost"]
    with pytest.raises(InputError, match=r"--cost stars, .*\(--cost level for the usual cost\)"):
        ic.republish(table, history, **ASKED, **other)
    table.write_csv(tmp_path / "t.csv")
    words = ["republish", f"{tmp_path}/t.csv", "-o", f"{tmp_path}/3.csv", "--history", str(history)]
    words += ["--person", "pid", "--sensitive", "s", "--na", "?", "--cost", "level"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    del other["na"]
    with pytest.raises(InputError, match=r"made with --na '\?', and this"):
        ic.republish(table, history, **ASKED)


def test_bad_tables_and_histories(folder: Path) -> None:
    table = pl.read_csv("1.csv", infer_schema=False)
    missing = table.with_columns(s=pl.when(pl.col("pid") == "3").then(None).otherwise("s"))
    for wrong, given_, message in (
        (missing, {}, "1 row has no value in the sensitive column 's'"),
        (table.rename({"x": "class"}), {}, "'class' is a column that the release gets"),
        (table, {"k": 4}, "k = 4 is above m = 3"),
        (table, {"m": 0}, "m must be"),
        (table, {"counterfeit_weight": -1}, "weight of a counterfeit"),
        (table, {"person": ["pid", "x"]}, "one column that names people"),
        (table.drop("pid").with_columns(pid=None), {}, "12 of 12 rows .*or leave these rows out"),
    ):
        with pytest.raises(InputError, match=message):
            ic.republish(wrong, "h", **{"person": "pid", "sensitive": "s", **given_})
    for given_ in ({"keep": "x"}, {"fixed": "x"}, {"l": 2}, {"missing_person": "own"}):
        table_ = table.with_columns(z=pl.lit("1"))
        with pytest.raises(OutOfScopeError):
            ic.republish(table_, "h", person="pid", sensitive="s", **given_)
    with pytest.raises(NoLawfulReleaseError, match="4 sensitive values"):
        ic.republish(table, "h", person="pid", sensitive="s", m=5)
    assert run(f"republish 1.csv -o o.csv {WORDS} -q").exit_code == 0
    words = r"made with another m \(3, now 4\); all releases of a series"
    with pytest.raises(InputError, match=words):
        ic.republish(table, "h", person="pid", sensitive="s", m=4)
    plain = json.loads(Path("h").read_text())
    del plain["sha256"]
    for name, value in (
        ("format", "x"),
        ("people", {"1": ["s", ["t"], []]}),
        ("classes", [{"s": "?"}]),
        ("releases", [1]),
        ("version", True),
        ("version", 1.0),
        ("releases", {}),
        *(("people", plain["people"] | {"5": entry}) for entry in wrong_people(plain)),
    ):
        changed = plain | {name: value}
        Path("h").write_text(json.dumps(changed | {"sha256": seal_of(changed)}))
        with pytest.raises(InputError, match="not a history of incrowd republish"):
            ic.republish(table, "h", person="pid", sensitive="s")
    for wrong in ("{", "[" * 100_000):
        Path("h").write_text(wrong)
        with pytest.raises(InputError, match="not a history"):
            ic.republish(table, "h", person="pid", sensitive="s")


def wrong_people(plain: Any) -> list[Any]:
    """Return entries that are none: text in place of a list is a set of its characters."""
    value, signature, beside = plain["people"]["5"]
    texts = [value, "".join(signature), beside], [value, signature, "1"]
    return [*texts, [1, [1], beside], [value, [*signature, 1], beside]]


def test_values_written_otherwise_are_warned_of(folder: Path) -> None:
    """Tests a newcomer's value in other letters: a class would count it as another value."""
    assert run(f"republish 1.csv -o o1.csv {WORDS} -q").exit_code == 0
    table = pl.read_csv("1.csv", infer_schema=False)
    assert ic.republish(table, "h", person="pid", sensitive="s", m=3).warnings == ()
    new = table[:1].with_columns(pid=pl.lit("new"), s=" " + pl.col("s").str.to_uppercase())
    both = pl.concat([table, new])
    (told,) = ic.republish(both, "h", person="pid", sensitive="s", m=3).warnings
    assert told.startswith("1 value of 's' stands in the earlier release but for blanks, case")
    both.write_csv("2.csv")
    done = run(f"republish 2.csv -o o2.csv {WORDS} -q --json")
    assert json.loads(done.stdout)["warnings"][0] == told
    assert f"incrowd: warning: {told}" in done.stderr


def test_changes_and_company_are_named(folder: Path) -> None:
    """Tests who is withheld: a changed value until it is the old one, and who has no company."""
    assert run(f"republish 1.csv -o o1.csv {WORDS} -k 2 -q").exit_code == 0
    table = pl.read_csv("1.csv", infer_schema=False)
    changed = table.with_columns(s=pl.when(pl.col("pid") == "5").then(pl.lit("s")).otherwise("s"))
    done = ic.republish(changed, "h", person="pid", sensitive="s", k=2)
    assert (done.withheld["changed"], done.rows) == (1, 11)
    assert ic.republish(table, "h", person="pid", sensitive="s", k=2).rows == 12
    alone = ic.republish(table.filter(pl.col("pid") == "5"), "h", person="pid", sensitive="s", k=2)
    assert (alone.rows, alone.withheld["company"], len(alone.classes)) == (0, 1, 0)
    new = pl.DataFrame({"pid": ["5", "99"], "x": ["a", "a"], "s": ["t", "s"]})
    done = ic.republish(new, "h", person="pid", sensitive="s", k=2)
    assert (done.withheld["company"], done.withheld["newcomers"], done.rows) == (1, 1, 0)
    told = " ".join(in_words(done, "out.csv", "h").split())
    assert "withheld 1 person who stood in all classes with fewer than" in told
    assert "withheld 1 newcomer who would stand with fewer than" in told


def test_the_recheck_sees_what_is_wrong() -> None:
    """Tests classes that break each of the conditions."""
    people = {"A": Person("s", frozenset("st"), frozenset("B"))}
    values = {"A": "s", "B": "t", "C": "u"}
    require_lawful([{"s": "A", "t": "B"}], people, values, 2, 2)
    for classes, m, k in (
        ([{"s": "A", "u": "C"}], 2, 1),
        ([{"s": "A", "t": None}], 2, 2),
        ([{"t": "B"}], 2, 1),
        ([{"t": "C", "u": "B"}], 2, 1),
        ([{"t": "B", "u": None}, {"t": "B", "s": None}], 2, 1),
    ):
        with pytest.raises(VerificationError):
            require_lawful(classes, people, values, m, k)


@pytest.mark.parametrize("rule", ["range", "range:round=5,most=15,show={low} to {high}"])
def test_ranges(rule: str, tmp_path: Path) -> None:
    """Tests two releases whose classes show the interval of their people's ages."""
    ages = [(i * 7) % 41 for i in range(24)]
    history = tmp_path / "h"
    for first in (0, 6):
        rows = [(str(i), ages[i], VALUES[i % 4]) for i in range(first, first + 18)]
        table = pl.DataFrame(rows, schema=["pid", "x", "s"], orient="row")
        release = ic.republish(
            table,
            history,
            m=3,
            person="pid",
            sensitive="s",
            qi=["x"],
            seed=1,
            hierarchies={"x": rule},
        )
        release.write(tmp_path / "o.csv", history)
        shown = release.frame["x"].to_list()
        at = 0
        for one in release.classes:
            people = [rows[row][1] for row in one.values() if row >= 0]
            cells = {*shown[at : at + len(one)]}
            at += len(one)
            assert len(cells) == 1
            low, high = min(people), max(people)
            if rule != "range":
                low, high = low - low % 5, high + -high % 5
            text = f"{low}-{high}" if rule == "range" else f"{low} to {high}"
            wide = rule != "range" and high - low > 15
            assert cells == {"*" if wide else str(people[0]) if len({*people}) == 1 else text}


def test_names_that_polars_reads_otherwise(tmp_path: Path) -> None:
    """Tests columns called "", ``*`` and ``^a$``."""
    frame = pl.DataFrame({"": ["1", "2"], "*": ["3", "3"], "p": ["x", "y"], "^a$": ["u", "v"]})
    release = ic.republish(frame, tmp_path / "h", m=2, person="p", sensitive="^a$")
    assert release.data.columns[:3] == ["", "*", "^a$"]
    assert set(release.data["*"]) == {"3"} and set(release.data["^a$"]) == {"u", "v"}
