"""Tests of what a release warns its publisher of."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.published.cautions import values_by_class
from incrowd.report.make import external_report, internal_report

pytestmark = pytest.mark.usefixtures("undrawn")
VISITS = pl.DataFrame(
    {
        "pid": [f"P{i // 5}" for i in range(20)],
        "sex": [("f", "m")[i // 10] for i in range(20)],
        "zip": [f"1{i // 5}" for i in range(20)],
    }
)


def test_values_by_class_counts_different_codes():
    classes = np.array([0, 0, 1, 1, 1])
    assert values_by_class(classes, np.array([3, 3, 0, 1, 0])).tolist() == [1, 2]
    assert values_by_class(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []


def test_an_identifier_that_repeats_within_classes_is_warned_of():
    """Tests four patients of five visits each, every class one patient, in any order."""
    for order in ("keep", "shuffle"):
        release = ic.anonymize(VISITS, k=5, id="pid", order=order)
        (warning,) = release.warnings
        assert "'pid'" in warning
        assert "4 of 4 classes have fewer than 5" in warning
        assert "P0" not in warning


def test_people_of_one_household_in_a_class_are_warned_of():
    """Tests classes of five people each: of one home, of two, of five."""
    homes = [0] * 5 + [1, 1, 1, 2, 2] + [3, 4, 5, 6, 7] * 2
    frame = VISITS.with_columns(
        pid=pl.Series([f"P{i}" for i in range(20)]), home=pl.Series([f"H{h}" for h in homes])
    )
    (warning,) = ic.anonymize(frame, k=5, person="pid", id="home").warnings
    assert "in 2 of 4 classes there are fewer than 5 different ones (in 1 only one)" in warning
    assert "'home'" in warning and "--person home" in warning and "H0" not in warning
    alone = frame.with_columns(home=pl.Series([f"H{h}" for h in range(20)]))
    assert ic.anonymize(alone, k=5, person="pid", id="home").warnings == ()
    assert ic.anonymize(frame.drop("home"), k=5, person="pid").warnings == ()


def test_what_differs_within_people_is_no_household():
    """Tests the number of a visit, and a home that one of the people of several rows has left."""
    frame = pl.DataFrame({"who": [f"P{i // 2}" for i in range(20)], "sex": ["f"] * 20})
    visit = frame.with_columns(n=pl.Series([i % 2 for i in range(20)]))
    assert ic.anonymize(visit, k=3, person="who", id="n").warnings == ()
    moved = frame.with_columns(n=pl.Series([0, 1] + [0] * 18))
    (warning,) = ic.anonymize(moved, k=3, person="who", id="n").warnings
    assert "fewer than 3 different ones" in warning and "--person n" in warning


@pytest.mark.parametrize(
    ("codes", "rule", "part"),
    [
        ([1067, 1069, 95953], "prefix:2", "differ in length by a digit"),
        ([1067, None, 95953], "keep:2", "differ in length by a digit"),
        (["1067.0", None, "95953.0"], "keep:2", "have decimals"),  # what pandas writes of these
        (["01067", "01069", "95953"], "prefix:2", None),  # text, as it should be
        (["1067", "1069", "9595"], "prefix:2", None),  # codes of four digits
        (["1", "11", "12"], "keep:1", None),  # an outline's numbers
        ([1067, 1069, 95953], "interval:10", None),
    ],
)
def test_codes_that_lost_their_zeros_are_warned_of(codes, rule, part):
    """Tests codes read as numbers, and those that are as they were."""
    release = ic.anonymize(pd.DataFrame({"zip": codes * 2, "a": 1}), 2, hierarchies={"zip": rule})
    assert len(release.warnings) == (part is not None)
    assert all(part in each and "1067" not in each for each in release.warnings)


def test_an_identifier_of_different_values_is_not_warned_of():
    frame = VISITS.with_columns(pid=pl.Series([str(i) for i in range(20)]))
    assert ic.anonymize(frame, k=5, id="pid").warnings == ()
    assert ic.anonymize(VISITS.drop("pid"), k=5).warnings == ()
    (warning,) = ic.anonymize(frame.clear(), k=5, id="pid").warnings
    assert "no rows below its header" in warning


def test_rows_without_a_cell_are_warned_of():
    """Tests empty lines of a sheet among people, of whom one has a cell that is left out."""
    people = [("f", "10", "flu")] * 3 + [(None, None, None)] * 2
    frame = pl.DataFrame(people, orient="row", schema=["sex", "zip", "ill"])
    asked = {"k": 2, "sensitive": "ill"}
    (warning,) = ic.anonymize(frame, **asked).warnings
    assert warning.startswith("2 rows have no cell at all")
    (warning,) = ic.anonymize(frame[:4], **asked | {"k": 4}).warnings
    assert warning.startswith("1 row has no cell at all")
    named = frame.with_columns(pid=pl.Series([str(i) for i in range(5)]))
    assert ic.anonymize(named, **asked, id="pid").warnings == ()
    assert ic.anonymize(frame[:3], **asked).warnings == ()
    listed = frame.with_columns(more=pl.Series([[1]] * 5))
    assert ic.anonymize(listed, **asked, keep="more").warnings == ()


SHUFFLED = {"k": 5, "order": "shuffle"}


def test_an_order_that_a_seed_gives_is_warned_of():
    """Tests that the warning is of shuffled rows and of seeds that somebody chose, 0 too."""
    for asked in ({"seed": 0}, {"seed": 7}):
        (warning,) = ic.anonymize(VISITS, **SHUFFLED, **asked).warnings
        assert "order of the rows follows from the seed" in warning
        assert ic.anonymize(VISITS, **{**SHUFFLED, "order": "keep"}, **asked).warnings == ()
    assert ic.anonymize(VISITS, **SHUFFLED).warnings == ()
    both = ic.anonymize(VISITS, **SHUFFLED, id="pid", seed=1).warnings
    assert [word in text for text, word in zip(both, ("'pid'", "the seed"), strict=True)] == [1, 1]
    added = {"policy": ic.Policy(**SHUFFLED, seed=1), "existing": ic.anonymize(VISITS, k=5).data}
    (warning,) = ic.anonymize(VISITS, **added).warnings
    assert "the seed" in warning


def test_who_is_told_of_the_order(tmp_path):
    """Tests a seed in a policy file: standard error, JSON and internal report, not the public."""
    path = tmp_path / "visits.csv"
    VISITS.write_csv(path)
    (tmp_path / "p.toml").write_text("seed = 3\n")
    asked = ["anonymize", str(path), "-o", str(tmp_path / "o.csv"), "-q"]
    done = CliRunner().invoke(cli, [*asked, "--policy", str(tmp_path / "p.toml"), "--json"])
    assert "incrowd: warning: the order of the rows follows" in done.stderr
    assert "the order of the rows follows" in json.loads(done.stdout)["warnings"][0]
    assert "warnings" not in json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    release = ic.anonymize(VISITS, **SHUFFLED, seed=3)
    assert "order of the rows follows" in internal_report(release)
    assert "order of the rows follows" not in external_report(release)
    told = internal_report(ic.anonymize(VISITS, **SHUFFLED))
    assert "shuffled afresh" in told and "in another order of rows" in told


def test_the_publisher_reads_the_warning_and_the_public_does_not(tmp_path):
    """Tests the command line, its JSON, and both reports."""
    path = tmp_path / "visits.csv"
    VISITS.write_csv(path)
    asked = ["anonymize", str(path), "-o", str(tmp_path / "o.csv"), "--id", "pid", "-q"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0
    assert "incrowd: warning: rows of one class share values of 'pid'" in done.stderr
    record = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    assert "'pid'" in record["warnings"][0]
    release = ic.anonymize(VISITS, k=5, id="pid")
    assert "Rows are counted; if" in internal_report(release)
    assert "Rows are counted; if" not in external_report(release)


PAIRS = pl.DataFrame({"zip": ["1", "1", "2", "2", "3", "3"], "sex": list("fmffmm")})


def test_pairs_with_a_hidden_column_of_two_values_are_warned_of():
    """Tests that one pair hides a sex, and that its cells are counted; no cell is named."""
    (warning,) = ic.anonymize(PAIRS, k=2, fixed="zip").warnings
    assert warning.startswith("2 cells of columns with two values ('sex') are hidden")
    release = ic.anonymize(PAIRS, k=2, fixed="zip")
    assert ic.measure(release.data, original=PAIRS).warnings == (warning,)
    found = ic.measure(release.data)
    (shown,) = found.record()["warnings"]
    assert found.warnings == (shown,)
    assert shown.startswith("2 cells of columns that show two values ('sex') are hidden")
    assert "If there is no third value, a reader" in shown  # nobody can tell without the original
    assert "k = 3 or more makes that rarer" in " ".join(str(found).split())


def test_pairs_that_hide_a_whole_column_are_warned_of_beside_the_original():
    """Tests that how many values a column had is read where it can be: in the original."""
    table = pl.DataFrame({"zip": list("112233"), "sex": list("fmfmfm")})
    release = ic.anonymize(table, k=2, fixed="zip")
    assert ic.measure(release.data).warnings == ()
    assert ic.measure(release.data, original=table).warnings == release.warnings != ()


def test_larger_classes_and_columns_of_three_values_are_not_warned_of():
    three = pl.DataFrame({"zip": list("11223344"), "sex": list("fmnnmmff")})
    wide = pl.concat([PAIRS, PAIRS]).sort("zip", "sex")
    for frame, k in ((three, 2), (wide, 4)):
        release = ic.anonymize(frame, k=k, fixed="zip")
        assert "*" in release.data["sex"].to_list()
        assert release.warnings == ic.measure(release.data).warnings == ()


def test_diversity_is_no_limit_on_inference():
    """Tests that who asks for l-diversity is told, and who measures it."""
    frame = VISITS.with_columns(ill=pl.Series(list("fgh") * 6 + ["f", "g"])).drop("pid")
    release = ic.anonymize(frame, k=5, l=2, sensitive="ill")
    (warning,) = release.warnings
    assert "does not limit what can be inferred" in warning
    assert ic.measure(release.data, sensitive="ill").warnings == (warning,)
    assert ic.anonymize(frame, k=5, sensitive="ill").warnings == ()


def test_attacks_are_for_colleagues(tmp_path):
    """Tests that findings stand in the internal report, and are refused in the public one."""
    frame = pl.concat([VISITS.drop("pid")] * 3)
    release = ic.anonymize(frame, k=5)
    found = ic.attack(release, attacks="linkage")
    release.report(tmp_path / "i.html", internal=True, attacks=found)
    page = (tmp_path / "i.html").read_text(encoding="utf-8")
    assert "Attacks on this release" in page
    assert found["marketer"].outcome.says in page
    with pytest.raises(InputError, match="internal"):
        release.report(tmp_path / "e.html", attacks=found)
    assert not (tmp_path / "e.html").exists()


def test_attacks_in_the_internal_report_from_the_command_line(tmp_path):
    """Tests the option, and that it goes with the internal report alone."""
    path = tmp_path / "visits.csv"
    pl.concat([VISITS.drop("pid")] * 3).write_csv(path)
    asked = ["anonymize", str(path), "-o", str(tmp_path / "o.csv"), "-q", "--report-attacks"]
    done = CliRunner().invoke(cli, asked)
    assert (done.exit_code, "goes with --report-internal" in done.stderr) == (2, True)
    page = tmp_path / "i.html"
    assert CliRunner().invoke(cli, [*asked, "--report-internal", str(page)]).exit_code == 0
    assert "singling-out" in page.read_text(encoding="utf-8")


TEXTLESS = {
    "bytes": [b"a", b"a", b"a", b"b", None, b""],
    "lists": [[1], [1], [1], [2], None, []],
    "structs": [{"a": 1}] * 3 + [{"a": 2}, None, {"a": None}],
}


@pytest.mark.parametrize("kind", TEXTLESS)
@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_columns_without_a_text_form_are_warned_of_not_choked_on(kind, frame, tmp_path):
    """Tests bytes, lists and structs that are left out, sensitive or kept, in files too."""
    table = frame({"a": list("xxxyyy"), "b": TEXTLESS[kind], "s": list("uvwuvw")})
    (warning,) = ic.anonymize(table, k=3, id=["b"]).warnings
    assert "it was not counted whether rows of one class share them" in warning
    for more in ({"sensitive": ["b"]}, {"keep": ["b"]}):
        assert ic.anonymize(table, k=3, **more).warnings == ()
    with pytest.raises(InputError, match="no text form"):
        ic.anonymize(table, k=3, sensitive=["b", "s"], models=["l=2,on=s"])
    pl.DataFrame({"a": list("xxxyyy"), "b": TEXTLESS[kind]}).write_parquet(tmp_path / "t.parquet")
    words = ["anonymize", tmp_path / "t.parquet", "-o", tmp_path / "o.parquet", "-k", "3", "-q"]
    for role in ("id", "sensitive", "keep"):
        done = CliRunner().invoke(cli, [*map(str, words), f"--{role}", "b"])
        assert done.exit_code == 0, done.stderr
        assert ("was not counted" in done.stderr) == (role == "id")


EARLIER = pl.DataFrame({"age": list("112233"), "ill": list("xyxyxy")})


def of_few(release):
    """Return the warnings of this kind; another one tells of values that a class gained."""
    return [warning for warning in release.warnings if "that got new rows got fewer" in warning]


@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_few_new_rows_of_a_published_class_are_warned_of(order):
    """Tests one new row in one class, three in another, and a class of new rows alone."""
    new = pl.DataFrame({"age": list("122244"), "ill": list("xxyxxy")})
    asked = {"k": 2, "sensitive": "ill", "existing": EARLIER, "order": order}
    (warning,) = of_few(ic.anonymize(new, **asked))
    assert warning.startswith("1 of 2 published classes that got new rows got fewer than 2")
    assert ic.anonymize(new[1:], **asked).warnings == ()
    (warning,) = of_few(ic.anonymize(new[:1], **asked))
    assert warning.startswith("1 of 1 published class that got new rows got fewer than 2")


def test_who_is_told_of_few_new_rows(tmp_path):
    """Tests standard error and JSON."""
    EARLIER.write_csv(tmp_path / "old.csv")
    EARLIER[:1].write_csv(tmp_path / "new.csv")
    asked = ["anonymize", str(tmp_path / "new.csv"), "-o", str(tmp_path / "o.csv"), "-k", "2"]
    asked += ["--sensitive", "ill", "--existing", str(tmp_path / "old.csv"), "--json"]
    done = CliRunner().invoke(cli, asked)
    assert "sees which rows are new" in done.stderr
    assert "sees which rows are new" in json.loads(done.stdout)["warnings"][0]


def test_figures_of_one_table_say_so():
    """Tests the note of another release: not where somebody is alone in a class anyway."""
    found = ic.measure(EARLIER, qi="age")
    assert "another release of the same people" in " ".join(str(found).split())
    assert found.record()["notes"] == list(found.notes)
    assert ic.measure(EARLIER[:3], qi="age").notes == ()
    assert ic.measure(EARLIER.clear(), qi="age").notes == ()


def test_both_reports_speak_of_a_second_release():
    release = ic.anonymize(EARLIER, k=2, sensitive="ill")
    for page in (internal_report(release), external_report(release)):
        assert "a second release of the same people" in page


def test_a_table_without_its_header(tmp_path):
    """Tests that a first row taken for the header is told: it is a person's, and is published."""
    people = pl.DataFrame({"23": ["23", "41"] * 6, "m": ["m", "w", "w"] * 4, "Ulm": ["Bonn"] * 12})
    (warning,) = ic.anonymize(people, k=2).warnings
    assert warning.startswith("2 of 3 columns are called like one of their own values (the first")
    people.write_csv(tmp_path / "t.csv")
    told = CliRunner().invoke(cli, ["init", str(tmp_path / "t.csv")]).stderr
    assert "does the table lack its header?" in told
    for named in (people.rename({"23": "age"}), people.rename({"m": "sex", "23": "age"})):
        assert not ic.anonymize(named, k=2).warnings  # one may be a coincidence


def test_a_row_of_units_is_warned_of():
    """Tests a line of units below the names; words of other rows, or of several, are values."""
    ages = ["years", None, *"1234" * 5]
    (warning,) = ic.anonymize(pl.DataFrame({"sex": [*"mf" * 11], "age": ages}), k=2).warnings
    assert warning.startswith("in 1 column the first row alone is no number (the first is column 2")
    assert "years" not in warning
    commas = ["years", *("1,5", "2,5") * 10]
    (warning,) = ic.anonymize(pl.DataFrame({"age": commas}), k=2).warnings
    assert warning.startswith("in 1 column the first row alone is no number")
    words = (["<1", "<1", *ages[2:]], [*ages[:4], "x", *ages[5:]])
    for other in (ages[::-1], ["1,5", *commas[1:]], *words, ages[1:]):
        table = pl.DataFrame({"age": other, "sex": [*"mfx" * 8][: len(other)]})
        assert ic.anonymize(table, k=2).warnings == ()


def test_a_note_below_a_table_is_warned_of():
    """Tests a last row of one cell; none where another row has as few, or where it has more."""
    base = {"ward": [*"AB" * 10], "sex": [*"mmff" * 5], "n": [*"12" * 10]}

    def warnings(**last: str | None) -> tuple[str, ...]:
        cells = {name: [*cells, last.get(name)] for name, cells in base.items()}
        return ic.anonymize(pl.DataFrame(cells), k=2).warnings

    (warning,) = warnings(ward="N = 20")
    assert warning.startswith("the last row, 21, has cells in 1 of 3 columns, and no other row in")
    assert "20" not in warning
    assert warnings(ward="A", sex="m") == ()
    base = {name: [*cells, "A" if name == "ward" else None] for name, cells in base.items()}
    assert warnings(ward="N = 20") == ()


def test_rows_that_sum_up_others_are_warned_of(tmp_path):
    """Tests a total below a table, in init and anonymize; a value that many rows have is none."""
    table = pl.DataFrame({"ward": [*"ABAB" * 5, "Summe:"], "n": [*"1234" * 5, "50"]})
    (warning,) = ic.anonymize(table, k=2).warnings
    assert warning.startswith("1 row has a cell that reads like total or sum, the first in row 21")
    assert "50" not in warning
    assert ic.anonymize(table[:20], k=2).warnings == ()
    many = table.with_columns(ward=pl.Series([*["total", "local", None] * 7]), n=pl.lit("1"))
    assert ic.anonymize(many, k=2).warnings == ()
    table.write_csv(tmp_path / "t.csv")
    asked = ["init", str(tmp_path / "t.csv"), "-o", str(tmp_path / "p.toml")]
    done = CliRunner().invoke(cli, asked)
    assert (done.exit_code, warning in done.stderr) == (0, True)
    (warning,) = ic.anonymize(table.with_columns(ward=pl.lit("A")), k=2).warnings
    assert warning.startswith("the last row, 21, has the sum of all others in 1 column:")
    assert "50" not in warning
    for cells in (["1,5", "2"] * 10 + ["35"], ["1.500,5", "2"] * 10 + ["15.025"]):
        (warning,) = ic.anonymize(pl.DataFrame({"n": cells}), k=2).warnings
        assert warning.startswith("the last row, 21, has the sum of all others in 1 column:")
    for last in ("49", "5", "0", "nan", "inf", "", "x"):  # and columns of 0 and 1 are no sums
        other = pl.DataFrame({"n": [*"1234" * 5, last], "one": [*"0" * 19, "1", "1"]})
        assert ic.anonymize(other, k=2).warnings == ()
    named = pl.DataFrame({"ward": [None, *"ABAB" * 5, "TOTAL", "zz"], "n": ["1"] * 23})
    (warning,) = ic.anonymize(named, k=2).warnings
    assert "row 22" in warning


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (" p7", True),
        ("P7", True),
        ("p\u200b7", True),
        ("\uff50\uff17", True),  # as wide as Chinese characters
        ("p07", False),
        ("p70", False),
    ],
)
def test_keys_of_one_person_in_two_ways_are_warned_of(other, alike, tmp_path):
    """Tests release, measure and republish; the checker counts keys as they are, as these do."""
    keys = ["p7", other] * 3 + ["q1", "q2"] * 3
    visits = pl.DataFrame({"pid": keys, "age": [1] * 6 + [2] * 6, "ill": [*"abcdef"] * 2})
    asked = {"person": "pid", "sensitive": "ill"}
    told = [ic.anonymize(visits, k=2, **asked).warnings, ic.measure(visits, **asked).warnings]
    once = visits.unique("pid")
    told += [ic.republish(once, tmp_path / "h", **asked, m=2, k=1).warnings]
    found = [any("1 value differs from others of 'pid'" in one for one in some) for some in told]
    assert found == [alike] * 3
    assert not any(key in one for key in ("p7", other) for some in told for one in some)


def test_numbers_that_name_one_person_are_warned_of():
    """Tests zeros in front and decimals behind."""
    visits = pl.DataFrame({"pid": ["7", "07", "7.0", "17"], "age": [1] * 4})
    (told,) = ic.anonymize(visits, k=2, person="pid").warnings
    assert "2 values differ from others of 'pid'" in told


@pytest.mark.parametrize("person", ["who", ()])
def test_a_column_of_few_values_names_no_household(person):
    """Tests that homes are warned of, and neither a year, a region nor a district is."""
    home = [i // 4 for i in range(80)]
    frame = pl.DataFrame({"q": [i // 8 for i in range(80)], "home": home, "year": [2024] * 80,
                          "who": range(80), "region": [i // 40 for i in range(80)],
                          "district": [i // 10 for i in range(80)]})  # fmt: skip
    areas = ["region", "district"]
    asked = {"person": person, "id": ["home", "year", *(areas if person else [])]}
    release = ic.anonymize(frame, 4, keep=[] if person else ["who", *areas], **asked)
    (told,) = (warning for warning in release.warnings if "share values of" in warning)
    assert "share values of 'home'" in told and "year" not in told


@pytest.mark.parametrize(
    ("pay", "rule", "more", "told"),
    [
        ([20, 22, 30, 31, 500, 900], "range:most=10", {}, True),
        ([20, 22, 30, 31, 500, 900], "range:most=10", {"cost": "stars"}, False),
        ([20, 22, 30, 31, 500, 900], "range", {}, False),
        ([20, 22, 30, 31, 900], "range", {"delete_rows": "price=0.1,most=1"}, True),
        ([20, 20, 900, 900, None], "range:most=10", {"delete_rows": "price=0.1"}, False),
    ],
)
def test_a_width_that_tells_of_hidden_values_is_warned_of(pay, rule, more, told):
    """Tests ends of a column that are hidden, deleted, shown, or charge nothing."""
    frame = pl.DataFrame({"pay": pay})
    release = ic.anonymize(frame, k=2, hierarchies={"pay": rule}, **more)
    assert any("greatest value of 'pay' is hidden" in text for text in release.warnings) == told
    if told:  # and what it warns of is so
        shown = [text.split("-") for text in release.data["pay"] if text != "*"]
        stars = len(release.data) - len(shown)
        spent = release.cost - stars - 0.1 * (len(pay) - len(release.data))
        widths = sum(int(high) - int(low) for low, high in shown)
        assert round(20 + widths / spent) == pytest.approx(900, abs=1)


@pytest.mark.parametrize(
    ("new", "told"), [([21, 500, 900], True), ([21, 31], False), ([21, 12, 12], False)]
)
def test_a_width_told_by_added_rows_is_warned_of(new, told):
    """Tests that ends which the earlier release shows are not hidden, and new ones may be."""
    earlier = pl.DataFrame({"pay": ["20-22", "20-22", "30-31", "30-31"]})
    release = ic.anonymize(
        pl.DataFrame({"pay": new}), k=2, existing=earlier, hierarchies={"pay": "range:most=10"}
    )
    assert any("greatest value of 'pay' is hidden" in text for text in release.warnings) == told


@pytest.mark.parametrize(("rule", "told"), [("range:most=10", True), ("range", False)])
def test_a_width_told_by_a_series_is_warned_of(rule, told, tmp_path):
    """Tests ends that a release of a series hides, or shows."""
    frame = pl.DataFrame({"who": [*"abcd"], "pay": [20, 22, 500, 900], "ill": [*"xyxy"]})
    asked = {"person": "who", "sensitive": "ill", "m": 2, "hierarchies": {"pay": rule}}
    release = ic.republish(frame, tmp_path / "history", **asked)
    assert any("greatest value of 'pay' is hidden" in text for text in release.warnings) == told


@pytest.mark.parametrize(("kinds", "told"), [(4, False), (6, True)])
def test_grades_are_no_people(kinds, told):
    """Tests that a column left out which has few values for its many rows is not warned of."""
    grades = [i * kinds // 1000 for i in range(1000)]
    frame = pl.DataFrame({"ward": ["a", "b"] * 500, "grade": grades})
    release = ic.anonymize(frame, k=7, id="grade")
    assert any("--person counts people" in text for text in release.warnings) == told
