"""Tests of adding rows to an earlier release: it stays, classes grow, nobody could pay less."""

import itertools
import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from gains import dealt, fits, told
from incrowd.cli import cli
from incrowd.existing.of_table import ExtendedRelease
from incrowd.hierarchy.file import HierarchyRows
from partings import partitions

QI = ["a", "b"]
Row = tuple[str, ...]


def extend(new: pl.DataFrame, earlier: Any, k: int = 2, **asked: Any) -> ExtendedRelease:
    """The release of ``new`` beside ``earlier``."""
    release = ic.anonymize(new, k, existing=earlier, **asked)
    assert isinstance(release, ExtendedRelease)
    return release


def stars(rows: list[Row]) -> int:
    """Cost of a class."""
    return len(rows) * sum(len(set(column)) > 1 for column in zip(*rows, strict=True))


def optimum(new: list[Row], published: set[Row], k: int) -> int | None:
    """The least number of new stars, by trying everything; None when nothing is lawful."""

    def join(row: Row) -> int | None:
        costs = [
            sum(label == "*" and cell != "*" for cell, label in zip(row, labels, strict=True))
            for labels in published
            if all(label in (cell, "*") for cell, label in zip(row, labels, strict=True))
        ]
        return min(costs, default=None)

    joins = [join(row) for row in new]
    best = None
    for alone in itertools.chain.from_iterable(
        itertools.combinations(range(len(new)), size) for size in range(len(new) + 1)
    ):
        rest = [joins[i] for i in range(len(new)) if i not in alone]
        if any(cost is None for cost in rest):
            continue
        base = sum(cost for cost in rest if cost is not None)
        for blocks in partitions(list(alone), k):
            cost = base + sum(stars([new[i] for i in block]) for block in blocks)
            best = cost if best is None else min(best, cost)
    return best


cells = st.sampled_from(["x", "y", "z"])
rows_of = st.lists(st.tuples(cells, cells), min_size=1, max_size=5)
labels = st.sampled_from(["x", "y", "*"])


@settings(max_examples=few(60))
@given(rows_of, st.sets(st.tuples(labels, labels), min_size=1, max_size=3), st.sampled_from([2, 3]))
def test_against_everything(new: list[Row], published: set[Row], k: int) -> None:
    """Tests bound ≤ optimum ≤ cost, and refusal exactly when nothing is lawful."""
    earlier_rows = sorted(published) * k
    earlier = pl.DataFrame(earlier_rows, schema=QI, orient="row")
    frame = pl.DataFrame(new, schema=QI, orient="row")
    best = optimum(new, published, k)
    if best is None:
        with pytest.raises(ic.NoLawfulReleaseError, match="hold them back"):
            extend(frame, earlier, k)
        return
    release = extend(frame, earlier, k)
    union = [tuple(map(str, row)) for row in release.data.rows()]
    assert union[: len(earlier_rows)] == earlier_rows
    added = union[len(earlier_rows) :]
    assert len(added) == len(new)
    for row, out in zip(new, added, strict=True):
        assert all(label in (cell, "*") for cell, label in zip(row, out, strict=True))
    assert min(Counter(union).values()) >= k
    changed = sum(
        c != d for r, s in zip(new, added, strict=True) for c, d in zip(r, s, strict=True)
    )
    assert changed == release.cost == release.changed_cells
    assert release.lower_bound <= best <= release.cost
    assert release.cost <= best + 4


def test_near_the_optimum() -> None:
    """Small tables mostly end at the optimum: 2 % above it in all."""
    rng, paid, least = random.Random(5), 0, 0
    for _ in range(90):
        new = [(rng.choice("xyz"), rng.choice("xyz")) for _ in range(rng.randint(1, 5))]
        published = {(rng.choice("xy*"), rng.choice("xy*")) for _ in range(rng.randint(1, 3))}
        k = rng.choice([2, 3])
        best = optimum(new, published, k)
        if best is not None:
            earlier = pl.DataFrame(sorted(published) * k, schema=QI, orient="row")
            paid += extend(pl.DataFrame(new, schema=QI, orient="row"), earlier, k).cost
            least += best
    assert least > 0
    assert paid <= 1.02 * least


def test_leaves_the_whole_for_a_part() -> None:
    """Two rows join, so that three are left as they are, where all together would pay in full."""
    new = [("x", "z"), ("z", "x"), ("z", "z"), ("z", "z"), ("z", "z")]
    earlier = pl.DataFrame([("*", "*")] * 3, schema=QI, orient="row")
    assert extend(pl.DataFrame(new, schema=QI, orient="row"), earlier, 3).cost == 4


def least_with_ranges(
    new: list[tuple[int, str]], published: set[tuple[str, str]], k: int
) -> Fraction | None:
    """The least cost with ages as ranges and jobs as stars, by trying everything."""
    at = [tuple(map(int, age.split("-"))) for age, _ in published if "-" in age]
    every = [x for both in at for x in both] + [age for age, _ in new]
    width = max(max(every) - min(every), 1)

    def placed(x: int) -> int:
        return (2 * 10**6 * (x - min(every)) + width) // (2 * width)

    def join(row: tuple[int, str]) -> Fraction | None:
        costs = []
        for age, job in published:
            low, high = (age if "-" in age else f"{age}-{age}").split("-") if age != "*" else "aa"
            if job not in (row[1], "*") or (age != "*" and not int(low) <= row[0] <= int(high)):
                continue
            lost = 10**6 if age == "*" else placed(int(high)) - placed(int(low))
            costs.append(Fraction(lost, 10**6) + (job == "*"))
        return min(costs, default=None)

    def together(rows: list[tuple[int, str]]) -> Fraction:
        ages = [age for age, _ in rows]
        lost = Fraction(placed(max(ages)) - placed(min(ages)), 10**6)
        return len(rows) * (lost + (len({job for _, job in rows}) > 1))

    joins, best = [join(row) for row in new], None
    for chosen in itertools.product([False, True], repeat=len(new)):
        if any(joins[i] is None for i, joined in enumerate(chosen) if joined):
            continue
        paid = sum(
            (joins[i] or Fraction(0) for i, joined in enumerate(chosen) if joined), Fraction(0)
        )
        rest = [i for i, joined in enumerate(chosen) if not joined]
        for blocks in partitions(rest, k):
            cost = paid + sum(together([new[i] for i in block]) for block in blocks)
            best = cost if best is None or cost < best else best
    return best


def test_ranges_against_everything() -> None:
    """Tests joins of earlier ranges, values and stars, bounds, truth, and costs near the least."""
    rng, paid, least, joined, texts = random.Random(3), Fraction(0), Fraction(0), 0, set()
    for _ in range(45):
        new = [(rng.randint(20, 40), rng.choice("xy")) for _ in range(rng.randint(1, 5))]
        ages = ["*", "25", "18-30", "25-33", "30-44", "22-26"]
        published = {(rng.choice(ages), rng.choice("xy*")) for _ in range(rng.randint(1, 4))}
        k = rng.choice([2, 3])
        best = least_with_ranges(new, published, k)
        earlier = pl.DataFrame(sorted(published) * k, schema=["age", "b"], orient="row")
        table = pl.DataFrame(new, schema=["age", "b"], orient="row")
        asked: dict[str, Any] = {"hierarchies": {"age": "range"}, "order": "keep"}
        if best is None:
            with pytest.raises(ic.NoLawfulReleaseError):
                extend(table, earlier, k, **asked)
            continue
        release = extend(table, earlier, k, **asked)
        assert release.verify()
        assert release.data.rows()[: earlier.height] == earlier.rows()
        added = release.data.rows()[earlier.height :]
        assert min(Counter(map(tuple, release.data.rows())).values()) >= k
        for (age, job), (shown, other) in zip(new, added, strict=True):
            low, _, high = shown.partition("-")
            assert shown == "*" or int(low) <= age <= int(high or low)
            assert other in (job, "*")
        cost = Fraction(str(release.cost)).limit_denominator(10**6)
        assert float(release.lower_bound) <= best + Fraction(1, 10**9) and best <= cost
        paid, least, joined = paid + cost, least + best, joined + release.joined
        texts |= {shown for shown, _ in added}
    assert joined and texts & {"18-30", "25-33", "30-44", "22-26"} and texts - {*ages}
    assert paid <= Fraction(102, 100) * least


@pytest.mark.parametrize("rule", ["range", "range:round=5,most=15", "range:show={low} to {high}"])
def test_ranges_join_ranges(rule: str, tmp_path: Path) -> None:
    """Tests from the command line that a later half joins an earlier one, and is held back."""
    rng = random.Random(1)
    rows = [(rng.randint(20, 60), rng.choice("xy"), rng.choice("fgh")) for _ in range(40)]
    table = pl.DataFrame(rows, schema=["age", "job", "ill"], orient="row")
    files = [tmp_path / name for name in ("first.csv", "new.csv", "out.csv", "both.csv")]
    table[:25].write_csv(files[0])
    table[25:].write_csv(files[1])
    asked = ["-k", "3", "-q", "--order", "keep", "--sensitive", "ill", "--hierarchy", f"age={rule}"]
    run = CliRunner().invoke
    made = run(cli, ["anonymize", str(files[0]), "-o", str(files[2]), *asked])
    assert made.exit_code == 0, made.output
    done = run(
        cli, ["anonymize", str(files[1]), "-o", str(files[3]), "--existing", str(files[2]), *asked]
    )
    assert done.exit_code == 0, done.output
    before, after = (pl.read_csv(file, infer_schema=False) for file in files[2:])
    assert after[:25].equals(before)
    assert after.group_by("age", "job").len()["len"].min() >= 3
    assert {*after["age"][25:]} & {age for age in before["age"] if not age.isdecimal()}
    held = extend(table[25:], before, 3, sensitive="ill", hierarchies={"age": rule}, hold_back=True)
    assert held.verify() and not any("class gained" in text for text in held.warnings)


def test_marks_of_missing_values_beside_ranges() -> None:
    """Tests that ``NA`` and an empty cell join stars alone, and that ranges are joined beside."""
    earlier = pl.DataFrame({"x": ["20-30", "20-30", "*", "*"]})
    new = pl.DataFrame({"x": ["25", "NA", None]})
    release = extend(new, earlier, 2, hierarchies={"x": "range"}, na="NA", order="keep")
    assert release.data["x"].to_list()[4:] == ["20-30", "*", "*"]
    assert release.cost == 3 and release.verify()


@pytest.mark.parametrize(("shown", "new"), [("1", "01"), ("2020-02-03", "2020-02-03 12:00")])
def test_a_class_of_one_value_holds_it_as_it_is_written_now(shown: str, new: str) -> None:
    """Tests that an interval of one value is joined at no cost by the value in another writing."""
    earlier = pl.DataFrame({"x": [shown, shown, "*", "*"]})
    more = {"hierarchies": {"x": "range"}, "na": "-1", "order": "keep"}
    release = extend(pl.DataFrame({"x": [new]}), earlier, 2, **more)
    assert release.data["x"].to_list()[4:] == [shown] and release.verify()
    assert release.cost == release.lower_bound == 0


PEOPLE = pl.DataFrame(
    {
        "age": [34, 36, 38, 35, 51, 58, 52, 57],
        "zip": ["91326", "91327", "91330", "91331", "95954", "95960", "95962", "95963"],
        "illness": ["flu", "cold", "flu", "gout", "flu", "cold", "gout", "flu"],
    }
)
HIERARCHIES = {"age": "interval:5,10,20", "zip": "prefix:1,2,3"}
ASKED: dict[str, Any] = {"sensitive": "illness", "hierarchies": HIERARCHIES}


def test_hierarchies_and_frames() -> None:
    """Tests that rows join what covers them at the least cost, and the type of the frame."""
    earlier = ic.anonymize(PEOPLE, 4, **ASKED).data
    new = pl.DataFrame({"age": [33, 59], "zip": ["91329", "95961"], "illness": ["flu", "gout"]})
    release = extend(new, earlier, 4, **ASKED)
    assert release.joined == 2
    assert release.data.height == 10
    assert release.data.rows()[:8] == earlier.rows()
    assert release.classes == len(set(earlier.select("age", "zip").rows()))
    assert release.verify()
    pandas = ic.anonymize(new.to_pandas(), 4, existing=earlier.to_pandas(), **ASKED)
    assert pandas.data.to_numpy().tolist() == [list(row) for row in release.data.rows()]


def test_models_hold_for_grown_classes() -> None:
    """Tests that a row that would break diversity by frequency does not join."""
    earlier = pl.DataFrame({"a": ["x", "x", "*", "*"], "s": ["1", "2", "1", "2"]})
    new = pl.DataFrame({"a": ["x", "x"], "s": ["1", "2"]})
    release = extend(new, earlier, 2, sensitive="s", l=2, l_kind="frequency")
    held = release.data.group_by("a").agg(pl.col("s").value_counts())
    assert held.height == 2
    assert release.cost == 0
    lone = pl.DataFrame({"a": ["x"], "s": ["1"]})
    with pytest.raises(ic.NoLawfulReleaseError, match="hold them back"):
        extend(lone, earlier, 2, sensitive="s", l=2, l_kind="frequency")
    with pytest.raises(ic.OutOfScopeError, match="whole table"):
        extend(new, earlier, 2, sensitive="s", t=0.5)
    for method in ({"method": "forest"}, {"reductions": "none"}):
        with pytest.raises(ic.InputError, match="not served with existing"):
            extend(new, earlier, 2, sensitive="s", **method)


def test_models_name_the_column_they_look_at() -> None:
    """Tests the refusals of new rows and of an unlawful release, with two sensitive columns."""
    roles = {"sensitive": ["s", "u"], "models": "l=2,kind=frequency,on=u"}
    earlier = pl.DataFrame({"a": ["x"] * 2, "s": ["1"] * 2, "u": ["1", "2"]})
    lone = pl.DataFrame({"a": ["x"], "s": ["1"], "u": ["1"]})
    with pytest.raises(ic.NoLawfulReleaseError, match=r"frequency 2-diversity of 'u'.* hold them"):
        extend(lone, earlier, 2, **roles)
    with pytest.raises(ic.InputError, match=r"not lawful itself: .* frequency 2-diversity of 'u'"):
        extend(lone, earlier.with_columns(u=pl.lit("1")), 2, **roles)


def test_refusals() -> None:
    """Tests an earlier release that is none, other columns, and rows that fit nowhere."""
    new = pl.DataFrame({"a": ["x"], "b": ["y"]})
    with pytest.raises(ic.InputError, match="not lawful itself: 1 of its 1 classes"):
        extend(new, new, 2)
    with pytest.raises(ic.InputError, match="with 'b', which the earlier release lacks: rename"):
        extend(new, pl.DataFrame({"a": ["x", "x"]}), 2)
    with pytest.raises(ic.NoLawfulReleaseError, match="1 of the 1 new rows fit no published class"):
        extend(new, pl.DataFrame({"a": ["z", "z"], "b": ["y", "y"]}), 2)


def test_values_written_otherwise() -> None:
    """Tests that a changed type, blanks and case are told: each would count as another value."""
    earlier = pl.DataFrame({"a": [30] * 3, "b": ["x"] * 3, "s": ["flu", "gout", "flu"]})
    new = pl.DataFrame({"a": ["30.0"] * 3, "b": ["x"] * 3, "s": ["Flu", "gout", "ague"]})
    told = [
        line for line in extend(new, earlier, 3, sensitive="s").warnings if "of writing" in line
    ]
    assert [line[:14] for line in told] == ["1 value of 'a'", "1 value of 's'"]
    again = extend(new.with_columns(a=pl.lit("30"), s=pl.lit("flu")), earlier, 3, sensitive="s")
    assert not any("of writing" in line for line in again.warnings)


def test_helpers() -> None:
    """Tests that a row that fits nowhere takes a joining row along."""
    earlier = pl.DataFrame({"a": ["x"] * 3, "b": ["y"] * 3})
    new = pl.DataFrame({"a": ["x", "z", "x"], "b": ["y", "y", "y"]})
    release = extend(new, earlier, 2)
    assert (release.cost, release.joined) == (2, 1)


@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_who_looks_like_a_published_class_has_joined_it(order: str) -> None:
    """Tests that new rows with the labels of a published class are counted as its own."""
    earlier = pl.DataFrame({"a": ["*", "*"], "b": ["*", "*"]})
    new = pl.DataFrame({"a": list("abbbca"), "b": list("cabadc")})
    groups = HierarchyRows((("a", "X", "*"), ("b", "X", "*"), ("c", "Y", "*"), ("d", "Y", "*")))
    release = extend(new, earlier, 2, order=order, hierarchies={"b": groups})
    alike = release.data.filter(pl.all_horizontal(pl.all() == "*")).height - 2
    assert (release.classes, release.joined) == (3, alike) == (3, 2)


@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_command_line(order: str, tmp_path: Path) -> None:
    """Tests files: the union in the new file's form, the earlier rows as they were."""
    first, new, out, both = (tmp_path / n for n in ("first.csv", "new.csv", "out.csv", "both.csv"))
    first.write_text("name;age;job\nA;34;x\nB;36;x\nC;51;\nD;52;\n")
    new.write_text('name;age;job\nE;35;x\nF;51;"y;z"\nG;51;"y;z"\n')
    roles = ["--id", "name", "-k", "2", "-q", "--order", order]
    run = CliRunner().invoke
    assert run(cli, ["anonymize", str(first), "-o", str(out), *roles]).exit_code == 0
    done = run(cli, ["anonymize", str(new), "-o", str(both), "--existing", str(out), *roles])
    assert done.exit_code == 0, done.output
    before, after = out.read_text().splitlines(), both.read_text().splitlines()
    assert after[0] == "age;job"
    assert not Counter(before) - Counter(after)
    assert len(after) == len(before) + 3
    assert min(Counter(after[1:]).values()) >= 2
    assert '51;"y;z"' in after
    refused = run(
        cli,
        ["anonymize", str(new), "-o", str(both), "--existing", str(out), *roles, "--proof", "p"],
    )
    assert refused.exit_code == 2
    assert "--proof" in refused.output


def test_guarded_values_are_those_of_the_union() -> None:
    """Tests a guarded value whose number among the new rows is not that among all of them."""
    earlier = pl.DataFrame({"q": ["1"] * 4, "s": ["a", "a", "b", "z"]})
    new = pl.DataFrame({"q": ["1", "1", *"22222"], "s": [*"zyyzxxy"]})
    asked = {"k": 2, "sensitive": "s", "models": "alpha=0.5,values=z"}
    release = ic.anonymize(new, existing=earlier, **asked)
    assert release.verify()
    guarded = release.data["s"] == "z"
    for c in range(release.classes):
        member = release.class_of_row == c
        assert 2 * int(guarded.filter(pl.Series(member)).sum()) <= int(member.sum())


rows_with_values = st.lists(st.tuples(cells, cells, st.sampled_from("st")), min_size=1, max_size=6)
FORMERS = [("x", "y", "s"), ("x", "z", "t"), ("x", "z", "s"), *[("z", "y", "t")] * 3]


@settings(max_examples=few(60))
@given(rows_with_values, st.sampled_from([2, 3]), st.sampled_from(["x* z*", "x* zy", "** zy"]))
def test_what_the_difference_tells(rows: list[Row], k: int, labels: str) -> None:
    """Tests counts and rows held back: as few as must be, and enough against three readers.

    They know who is new and, of a newcomer, the class; of all people, the quasi-identifiers; or
    of the newcomer alone.
    """
    shown = [labels[:2]] * 3 + [labels[3:]] * 3
    published = [(*cells, row[2]) for cells, row in zip(shown, FORMERS, strict=True)]
    earlier = pl.DataFrame(published, [*QI, "s"], orient="row")
    frame, new = pl.DataFrame(rows, [*QI, "s"], orient="row"), [row[:2] for row in rows]
    asked: dict[str, Any] = {"k": k, "sensitive": "s", "hold_back": True}
    try:
        release = extend(frame, earlier, k, sensitive="s")
    except ic.NoLawfulReleaseError:
        return  # rows that fit nowhere
    released = release.data.rows()
    which = told(new, released)
    said = [warning for warning in release.warnings if "subtracts the earlier release" in warning]
    assert len(said) == bool(which)
    assert all(f"'s' of {len(which):,} of {len(new):,} new rows" in warning for warning in said)
    if len(which) == len(new):
        with pytest.raises(ic.NoLawfulReleaseError, match="nothing is left"):
            extend(frame, earlier, **asked)
        return
    later = extend(frame, earlier, **asked)
    assert later.held.tolist() == which
    words = f"what their classes gain would tell 's' of {len(which):,}" if which else ""
    assert later.held_for == words
    kept = [i for i in range(len(new)) if i not in which]
    gained, left = [released[6 + i] for i in kept], [new[i] for i in kept]
    whole = [*earlier.rows(), *gained]
    assert later.data.rows() == whole
    assert later.verify() and later.lower_bound <= later.cost
    pairs = zip(left, gained, strict=True)
    assert later.cost == sum(a != b for row, got in pairs for a, b in zip(row, got, strict=False))
    assert not [warning for warning in later.warnings if "subtracts" in warning]
    everybody = [row[:2] for row in FORMERS] + left
    for i, row in enumerate(left):
        mine = gained[i][:2]
        views = (
            [{r[2] for r in rows if r[:2] == mine} for rows in (gained, whole)],
            [{r[2] for r in rows if fits(row, r[:2])} for rows in (gained, whole)],
            [dealt(left, gained, i), dealt(everybody, whole, 6 + i)],
        )
        assert all(len(pair) > 1 or len(alone) == 1 for pair, alone in views)


def test_names_that_polars_takes_for_patterns() -> None:
    """Tests quasi-identifiers called like all columns, and like those that begin with something."""
    frame = pl.DataFrame({"*": [*"1122"], "^.*$": [*"3344"], "s": [*"xyxy"]})
    assert extend(frame, frame, sensitive="s").joined == 4


def test_rows_held_back_wait_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the command line: rows held back as they were, private, and delivered later."""
    monkeypatch.chdir(tmp_path)
    Path("first.csv").write_text("age;job\n34;x\n34;y\n51;x\n51;y\n")
    Path("new.csv").write_text("age;job\n34;x\n51;y\n51;x\n")
    words = "-k 2 --qi age --sensitive job --existing first.csv -o both.csv --order keep"
    asked = words.split()
    run = CliRunner().invoke
    done = run(cli, ["anonymize", "new.csv", *asked, "--json"])
    assert "'job' of 1 of 3 new rows" in json.loads(done.stdout)["warnings"][-1]
    held = ["--hold-back", "--held-back", "rest.csv"]
    done = run(cli, ["anonymize", "new.csv", *asked, *held, "--json"])
    record = json.loads(done.stdout)
    assert (record["held_back"], record["rows"], record.get("warnings")) == ([1], 2, None)
    assert Path("rest.csv").read_text() == "age;job\n34;x\n"
    assert Path("rest.csv").stat().st_mode & 0o777 == 0o600
    assert Path("both.csv").read_text() == "age;job\n34;x\n34;y\n51;x\n51;y\n51;y\n51;x\n"
    alone = ["anonymize", "new.csv", "-o", "o.csv", "-k", "2"]
    for wrong in (held[:1], held[1:]):
        assert run(cli, [*alone, *wrong]).exit_code == 2


@pytest.mark.parametrize(
    "text", ['n\n"1"\n"1"\n', 'n,m\n"1",\n"1",\n', 'n;m\r\n"é";2\r\n"é";2\r\n']
)
def test_cells_stay_as_they_are_written(text: str, tmp_path: Path) -> None:
    """Tests that quotes which are not needed stand in the union as in both files."""
    new, earlier, out = (tmp_path / name for name in ("new.csv", "earlier.csv", "out.csv"))
    for path in (new, earlier):
        path.write_text(text, encoding="latin-1", newline="")
    more = ["-k", "2", "--existing", str(earlier), "--encoding", "latin-1", "-q"]
    done = CliRunner().invoke(cli, ["anonymize", str(new), "-o", str(out), *more])
    assert done.exit_code == 0, done.output
    end = "\r\n" if "\r" in text else "\n"
    header, *rows = text.split(end)[:-1]
    expected = end.join([header, *rows, *rows, ""])
    assert out.read_bytes().decode("latin-1") == expected
