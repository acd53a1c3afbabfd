"""Pages: harmless whatever the table holds, readable for all, and enough to make it again."""

import html
import re
import shlex
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import HOSTILE, Reader, require_harmless

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import InputError, MissingExtraError
from incrowd.report.inside import python_call
from incrowd.report.make import external_report, internal_report
from incrowd.report.page import SHEET
from incrowd.report.view import Inside
from incrowd.tables import texts
from incrowd.text.shell import shell_line
from incrowd.text.units import shown
from tables import Sorter, tables

PEOPLE = {
    "age": [31, 33, 35, 47, 49, 52, 58, 61, 64, 70, 23, 25, 27, 29],
    "sex": list("ffmmfmfmmffmmf"),
    "job": ["a", "b", "a", "a", "c", "b", "b", "a", "c", "a", "b", "a", "b", "a"],
    "ill": ["flu", "cold"] * 7,
}


def release_of(**more):
    """A release of a few people."""
    asked = {"k": 3, "sensitive": "ill", "hierarchies": {"age": "interval:10,20"}, "seed": 271828}
    return ic.anonymize(pl.DataFrame(PEOPLE), **(asked | more))


@pytest.fixture(scope="module")
def release():
    """One of them, for tests that only look at it."""
    return release_of()


@pytest.fixture(scope="module")
def pages(release):
    """What others may read of it, and what colleagues may."""
    return external_report(release), internal_report(release)


def test_hostile_names_and_cells():
    """Tests that no name and no cell becomes markup, a formula, or turns the direction of text."""
    names = [*HOSTILE[:6], "ill"]
    rows = [[HOSTILE[(i + j * (i % 2)) % len(HOSTILE)] for j in range(7)] for i in range(13)]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    release = ic.anonymize(frame, 2, qi=names[:4], sensitive=["ill"], keep=names[4:6])
    for page in (external_report(release, HOSTILE[0]), internal_report(release, HOSTILE[2])):
        text = "".join(require_harmless(page).text)
        assert "alert(1)" in text  # as words
        assert "‹U+202E›" in text
        assert "$\\frac{1}{2}$" in text
    card = release._repr_html_()
    Reader(card)
    assert "alert" not in card


def test_the_card_of_a_notebook_counts_warnings():
    """Tests that what print says is on the card, too, and nothing where there is none."""
    frame = pl.DataFrame(
        {"name": [f"N{i // 2}" for i in range(8)], "a": [i // 2 for i in range(8)]}
    )
    warned = ic.anonymize(frame, 2, id="name")
    assert len(warned.warnings) == 1 and "1, in .warnings" in warned._repr_html_()
    assert "warnings" not in ic.anonymize(frame.drop("name"), 2)._repr_html_()


@pytest.mark.parametrize("make", ["measure", "attack"])
def test_figures_in_a_notebook_are_tables(make, monkeypatch):
    """Tests what Jupyter asks a value for: the lines that print shows, not fields in a row."""
    release = ic.anonymize(pl.DataFrame({"a": [1, 1, 2, 2], "b": list("xyxy")}), 2)
    if make == "measure":
        shown = ic.measure(release.data, qi=["a", "b"])
    else:
        shown = ic.attack(release, attacks="marketer")
    told = []
    plain = str(shown)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown._repr_pretty_(SimpleNamespace(text=told.append), False)
    assert told == [plain] and len(plain) > 100 and "\x1b" not in plain
    assert str(shown) == plain  # it was empty, and rich showed the tables by itself


@settings(max_examples=4)
@given(table=tables(max_rows=6), name=st.sampled_from(HOSTILE))
def test_any_table(table, name):
    """Tests that both pages of any table are well-formed and harmless."""
    header, rows = table
    frame = pl.DataFrame(
        {f"{i}{h}": [row[i] for row in rows] for i, h in enumerate(header)},
        schema_overrides={f"{i}{h}": pl.String for i, h in enumerate(header)},
    )
    release = ic.anonymize(frame, 1 + len(rows) // 3, method=Sorter())
    require_harmless(external_report(release, name))
    require_harmless(internal_report(release, name))


def page_of_eight(make):
    """The page of eight people in a frame that is made so, without its time."""
    release = ic.anonymize(make({k: v[:8] for k, v in PEOPLE.items()}), 4, sensitive="ill")
    with pytest.MonkeyPatch.context() as undrawn:  # figures show what the tables beside them say
        undrawn.setattr("incrowd.report.svg.svg_text", lambda *_, **__: "<svg></svg>")
        page = external_report(release)
    return re.sub(r"\d\d:\d\d UTC", "", page)


@pytest.fixture(scope="module")
def known():
    """That of a frame of polars."""
    return page_of_eight(pl.DataFrame)


def test_frames_of_every_library(constructor, known):
    """Tests that reports do not depend on where a table comes from."""
    assert page_of_eight(constructor) == known


def test_many_columns(monkeypatch):
    """Tests that a wide table has pictures of some columns, and figures of all."""
    monkeypatch.setattr("incrowd.report.sections.MOST_SHOWN", 6)
    frame = pl.DataFrame({f"c{i}": [i, i, i + 1, i + 1] for i in range(60)})
    page = external_report(ic.anonymize(frame, 2, method=Sorter()))
    read = require_harmless(page)
    assert "The first 6 of 60 columns." in page
    assert sum(name == "svg" for name, _ in read.tags) < 26
    assert all(f"c{i}</bdi>" in page for i in range(60))


def test_no_rows():
    """Tests that an empty table has reports too."""
    release = ic.anonymize(
        pl.DataFrame({"a": [], "b": []}, schema={"a": pl.String, "b": pl.String})
    )
    require_harmless(external_report(release))
    require_harmless(internal_report(release))


def test_everybody_can_read_them(pages):
    """Tests language, headings without gaps, captions, heads of rows and columns, words for SVG."""
    for page in pages:
        read = require_harmless(page)
        tags = [name for name, _ in read.tags]
        assert ("html", {"lang": "en", "dir": "ltr"}) in read.tags
        levels = [int(name[1]) for name in tags if re.fullmatch(r"h\d", name)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(b <= a + 1 for a, b in pairwise(levels))
        assert tags.count("table") == tags.count("caption")
        assert all(
            given.get("scope") in ("row", "col") for name, given in read.tags if name == "th"
        )
        drawn = [given for name, given in read.tags if name == "svg"]
        assert len(drawn) >= 6
        assert all(given["role"] == "img" and given["aria-label"] for given in drawn)
        assert tags.count("figure") == len(drawn)
        assert tags.count("table") > len(drawn)  # one beside each, and those that stand alone


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast(theme):
    """Tests that text stands out 4.5 to 1, and bars and lines 3 to 1, in both themes."""
    block = re.findall(r":root \{(.*?)\}", SHEET, re.DOTALL)[theme]
    colour = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
    for back in ("page", "card"):
        for text in ("ink", "soft", "accent"):
            assert contrast(colour[text], colour[back]) >= 4.5, (text, back)
        for mark in ("before", "after"):
            assert contrast(colour[mark], colour[back]) >= 3, (mark, back)
    assert contrast(colour["warn"], colour["warnback"]) >= 4.5


def test_what_each_says(release, pages):
    """Tests that the internal report has the seed, the original and the risk, the other has not."""
    external, internal = pages
    assert "271828" in internal
    assert "271828" not in external
    for words in (
        "Risk of being found",
        "rows before",
        "To make it again",
        "Earth Mover",
        "entropy lost",
    ):
        assert words in internal
        assert words not in external
    for page in (external, internal):
        for words in ("3-anonymity", "What was asked", shown(release.cost), "width 10, then 20"):
            assert words in page


@pytest.mark.usefixtures("undrawn")
def test_the_public_reads_which_method_was_asked_for():
    """Tests that which one ran is told inside alone: it tells how many rows are alike."""
    frame = pl.DataFrame({"a": ["1", "1", "2", "2"]})
    release = ic.anonymize(frame, 2)
    assert release.method == "subset-dp"
    assert "subset-dp" in internal_report(release)
    assert "subset-dp" not in external_report(release)
    assert "by a method that incrowd" in external_report(release)


def test_same_release_same_page(pages):
    """Tests that pages do not depend on chance: ids are stable and all but the date is equal."""
    both = pages[1], internal_report(release_of())
    first, second = (re.sub(r"\d\d:\d\d UTC", "", page) for page in both)
    strip = re.compile(r"<th scope=\"row\">seconds</th><td>[\d.]+</td>")
    assert strip.sub("", first) == strip.sub("", second)


@pytest.mark.parametrize(
    "asked",
    [
        {"id": "job", "weights": {"sex": 2}, "l": 2},
        {"models": ["l=2,kind=frequency,on=ill", "k=2"], "linked": [["sex", "job"]]},
        {"id": "job", "caps": [{"column": "sex", "share": 1}], "hierarchies": {"age": "none"}},
    ],
    ids=["l", "models", "caps"],
)
def test_the_call_makes_it_again(asked):
    """Tests that the Python call in the page gives the same release, without further imports."""
    release = release_of(**asked)
    call = python_call(release, None)
    again = eval(call, {"incrowd": ic, "frame": pl.DataFrame(PEOPLE)})
    assert texts(again.table).equals(texts(release.table))
    assert again.seed == 271828


@pytest.mark.usefixtures("undrawn")
def test_the_command_makes_it_again(tmp_path, monkeypatch):
    """Tests that the command in the page gives the same bytes."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(PEOPLE).write_csv("it's.csv")
    words = ["anonymize", "it's.csv", "-o", "o.csv", "-k", "3", "--sensitive", "ill", "--seed", "7"]
    words += ["--report-internal", "i.html", "-q"]
    monkeypatch.setattr("sys.argv", ["incrowd", *words])
    assert CliRunner().invoke(cli, words).exit_code == 0
    text = "".join(Reader(Path("i.html").read_text(encoding="utf-8")).text)
    line = re.search(r"incrowd anonymize.*?-q", text)
    assert line is not None
    first = Path("o.csv").read_bytes()
    assert CliRunner().invoke(cli, shlex.split(line[0])[1:]).exit_code == 0
    assert Path("o.csv").read_bytes() == first


def test_invisible_characters_of_a_command_are_spelled_out():
    """Tests that a shell line shows what it holds."""
    assert shell_line(["a b", "x\u202ey", "n\n'"]) == "'a b' $'x\\u202ey' $'n\\x0a\\''"


def test_the_frontier_is_for_colleagues(release, tmp_path):
    """Tests that a frontier is drawn inside, and refused outside."""
    found = ic.frontier(pl.DataFrame(PEOPLE), [2, 3, 4], sensitive="ill")
    release.report(tmp_path / "i.html", internal=True, frontier=found)
    page = (tmp_path / "i.html").read_text(encoding="utf-8")
    require_harmless(page)
    assert "What another k would cost" in page
    with pytest.raises(InputError, match="internal"):
        release.report(tmp_path / "e.html", frontier=found)
    release.report(tmp_path / "e.html")
    assert "Release report" in (tmp_path / "e.html").read_text(encoding="utf-8")


def test_a_missing_package_is_named(release, monkeypatch, tmp_path):
    """Tests that without matplotlib a run ends before the search, and says what to install."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    with pytest.raises(MissingExtraError, match=r'pip install "incrowd\[report\]"'):
        release.report(tmp_path / "r.html")


@pytest.mark.usefixtures("undrawn")
def test_policy_file_is_part_of_the_internal_report(release):
    """Tests that the text of a policy file is shown, escaped."""
    page = internal_report(release, "r", Inside(release=release, policy_file="k = 3 # <b>"))
    assert "k = 3 # &lt;b&gt;" in page


@pytest.mark.parametrize("name", ["r.pdf", "r.DOCX"])
def test_no_page_is_named_as_another_document(tmp_path, name):
    """Tests that a page of HTML is not written under the name of a PDF or Word document."""
    release = ic.anonymize(pl.DataFrame({"a": list("xyxy")}), k=2)
    with pytest.raises(ic.InputError, match=r"is a page of HTML: name it \.html"):
        release.report(tmp_path / name)
    assert not (tmp_path / name).exists()


SAID = {
    "ranges": (
        {"hierarchies": {"age": "range", "pay": "range:cost=values", "zip": "prefix:1"}},
        "A suppressed cell costs 1, a generalized cell its level divided by its hierarchy's "
        "height, an interval of its class its width divided by that of the whole column, in other "
        "columns the",
    ),
    "rounded": (
        {"hierarchies": {"age": "range:most=40,round=5,show={low} to {high}, most=1"}},
        "holds its class, its ends moved out to multiples of 5, suppressed where wider than 40<",
    ),
    "in words": (
        {"hierarchies": {"age": "interval:5,10", "zip": "prefix:1", "pay": "keep:1,2"}},
        "<td>intervals of width 5, then 10, then suppressed</td>",
    ),
    "dates": (
        {"hierarchies": {"day": "date:format=%Y-%m-%d,month,20years"}},
        "<td>month, then 20 years, then suppressed</td>",
    ),
    "no hierarchy": ({}, "A suppressed cell costs 1."),
    "l": ({"l": 2}, "Distinct 2-diversity: a class has at least 2 different sensitive values."),
    "t": ({"t": 0.9}, "are at a distance of at most 0.9 from those in the whole table"),
    "k": ({"k": 1, "l": 2}, "The release obeys 1-anonymity and distinct 2-diversity."),
    "deleted": ({"delete_rows": "most=1,price=0.1"}, "1 row was deleted, which costs 0.10"),
}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("case", SAID)
def test_what_was_asked_is_said_as_it_is(tmp_path, case):
    """Tests costs by interval, the meaning of models, k = 1 and one deleted row."""
    asked, said = SAID[case]
    rows = [(20 + i, 1000 + 90 * i, f"9{i % 3}", "ab"[i % 2]) for i in range(13)]
    frame = pl.DataFrame(rows, schema=["age", "pay", "zip", "ill"], orient="row")
    if "day" in str(asked):
        frame = frame.with_columns(day=pl.Series([f"2020-0{1 + i % 3}-11" for i in range(13)]))
    release = ic.anonymize(frame, **{"k": 2, "sensitive": "ill", "gap": 0.9} | asked)
    release.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text("utf-8")
    assert said in html.unescape(text)
    assert "costs its level divided" not in text


@pytest.mark.usefixtures("undrawn")
def test_a_release_without_stars_shows_none_by_subgroup():
    """Tests that bars of nothing but zeros are left out, and that others are there."""
    stars, averages = (
        release_of(),
        release_of(qi=["age"], keep=["sex", "job"], hierarchies={"age": "mean"}),
    )
    assert "Stars elsewhere by" in external_report(stars)
    assert "Stars elsewhere by" not in external_report(averages)


@pytest.mark.usefixtures("undrawn")
def test_no_bound_is_not_called_one():
    page = "".join(Reader(external_report(release_of(method="mondrian"))).text)
    assert "No bound was found" in page
    assert "costs less than 0" not in page
