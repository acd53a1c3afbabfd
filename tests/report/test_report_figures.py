"""Figures behind the pictures, against plain counting; the pictures; frames; metadata."""

import codecs
import hashlib
import json
import re
import sys
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pages import HOSTILE

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import InputError, MissingExtraError, OutOfScopeError
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.spec import parse
from incrowd.report import sections
from incrowd.report.association import associations, cramers_v
from incrowd.report.counts import buckets, share_at, share_up_to
from incrowd.report.distribution import alone, as_numbers, compared
from incrowd.report.metadata import slug, type_of
from incrowd.report.plots import plot_shares
from incrowd.report.subgroups import subgroups
from incrowd.report.svg import svg_text
from incrowd.report.view import Inside, view_of
from incrowd.tables.base import Column

cells = st.one_of(
    st.none(), st.integers(-3, 60).map(str), st.sampled_from(["", "x", "007", "1.5", "30-39"])
)


def column_of(values):
    """A column of these cells."""
    return Column.of(values, np.arange(len(values))).compact()


@given(st.lists(cells, min_size=1, max_size=40), st.data())
def test_every_row_is_in_one_bar(values, data):
    """Tests that bars count each row once, before and after, whatever becomes of the cells."""
    released = [data.draw(st.sampled_from([value, "*", "30-39", "general"])) for value in values]
    before, after = column_of(values), column_of(released)
    tree = build_trees({"c": before.values}, {}, "level")[0][0]
    for bars in (compared(before, after, "*", tree), compared(before, after, "*", None)):
        assert sum(bar.before or 0 for bar in bars) == len(values)
        assert sum(bar.after for bar in bars) == len(values)
    bars = alone(after, "*")
    assert sum(bar.after for bar in bars) == len(values)
    assert all(bar.before is None for bar in bars)
    assert bars[-1].after == released.count("*") or "*" not in released


def test_a_few_exact_years_do_not_push_out_the_decades():
    """Tests that bins are for columns that are mostly numbers, by their rows."""
    years = [str(year) for year in range(1960, 1980)]
    decades = ["1960s"] * 300 + ["1970s"] * 200
    assert [bar.label for bar in alone(column_of(years + decades), "*")][:2] == ["1960s", "1970s"]
    assert {"1960–1961", "“1960s”"} <= {
        bar.label for bar in alone(column_of(years * 30 + decades), "*")
    }


def test_general_numbers_count_where_all_of_them_lie():
    """Tests that 20-24 counts in the bin 20-29 and 20-59 in none."""
    ages = [str(age) for age in range(20, 80)]
    tree = build_trees({"a": tuple(ages)}, {"a": parse("interval:5,40")}, "level")[0][0]
    released = ["20-24"] * 5 + ages[5:40] + ["*"] * 10 + ["40-79"] * 10
    bars = {bar.label: bar for bar in compared(column_of(ages), column_of(released), "*", tree)}
    assert len(ages) == len(released)
    assert (bars["20–29"].before, bars["20–29"].after) == (10, 10)
    assert bars["more general"].after == 10
    assert bars["* suppressed"].after == 10


def test_bins_suit_the_rows():
    """Tests that skewed numbers go into bins of like many rows, near-unique texts into one bar."""
    skewed = [str(n) for n in [*range(20)] * 50 + [5000]]
    bars = compared(column_of(skewed), column_of(skewed), "*", None)
    assert len(bars) >= 8
    assert max(bar.after for bar in bars) <= 0.25 * len(skewed)
    assert (bars[0].label, bars[-1].label) == ("0–1", "18–5000")
    unique = [f"v{i}" for i in range(500)]
    bars = compared(column_of(unique), column_of(["v*"] * 499 + ["v7"]), "*", None)
    assert [(b.label, b.before, b.after) for b in bars] == [
        ("500 values, all rare", 500, 1),
        ("v*", 0, 499),
    ]


def test_codes_are_no_numbers():
    """Tests that zips keep their zeros, and that words and infinities are no numbers."""
    assert as_numbers(["01234", "91326"]) is None
    assert as_numbers(["1", "inf"]) is None
    assert as_numbers(["1", None, "-2.5"]) is not None
    assert as_numbers([None]) is None


@pytest.mark.parametrize("internal", [False, True])
def test_codes_are_not_binned_as_numbers(internal, monkeypatch):
    """Tests both pages: a zip has nothing in common with the next one."""
    rules = {"home": "prefix:1", "shop": "keep:2", "zip": "interval:100", "age": None}
    cells = [str(91300 + 7 * (row // 2)) for row in range(40)]
    frame = pl.DataFrame(dict.fromkeys((*rules, "PostCode"), cells))
    hierarchies = {name: rule for name, rule in rules.items() if rule}
    release = ic.anonymize(frame, k=2, hierarchies=hierarchies)
    view = view_of(release, "r", Inside(release=release) if internal else None)
    shown = {}
    pictures = SimpleNamespace(show=lambda title, bars, *words: shown.update({str(title): bars}))
    monkeypatch.setattr(sections.plots, "plot_column", lambda bars: bars)
    monkeypatch.setattr(sections, "grid", lambda *items: None)
    monkeypatch.setattr(sections, "joined", lambda *items: None)
    sections.columns(view, pictures)
    binned = {name for name, bars in shown.items() if bars[0].label == "91300–91319"}
    assert binned == {
        "<bdi>zip</bdi>",
        "<bdi>age</bdi>",
    }  # of zip the publisher takes the numbers for such
    assert all(bars[10].label == "10 other values" for n, bars in shown.items() if n not in binned)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=3, max_size=60))
def test_cramers_v(pairs):
    """Tests V against the dense formula (Bergsma 2013)."""
    one, other = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    counts = np.array(
        [[sum(p == (i, j) for p in pairs) for j in range(5)] for i in range(4)], float
    )
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    (r, c), n = counts.shape, len(pairs)
    found = cramers_v(one, other)
    if r < 2 or c < 2:
        assert found is None
        return
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / n
    phi2 = ((counts - expected) ** 2 / expected).sum() / n
    phi2 = max(0.0, phi2 - (r - 1) * (c - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    if least <= 1e-9:
        assert found is None or least > 0
    else:
        assert found == pytest.approx(min(1.0, (phi2 / least) ** 0.5), abs=1e-6)


def test_stars_do_not_make_an_association():
    """Tests that V of the release looks only at rows in which both cells are told."""
    a = ["x", "y"] * 10 + ["*"] * 20
    b = ["p", "p", "q", "q"] * 5 + ["*"] * 20
    pair = associations({}, {"a": column_of(a), "b": column_of(b)}, "*")[0]
    assert (pair.after, pair.rows, pair.before) == (0.0, 20, None)


@given(st.lists(st.integers(1, 1500), min_size=1, max_size=20))
def test_sizes(sizes):
    """Tests buckets and the curve against counting."""
    sizes = np.array(sizes)
    found = buckets(sizes, int(sizes.max()))
    assert sum(b.classes for b in found) == len(sizes)
    assert sum(b.rows for b in found) == sizes.sum()
    x, y = share_up_to(sizes)
    for size, share in zip(x, y, strict=True):
        assert share == pytest.approx(sizes[sizes <= size].sum() / sizes.sum())
        assert share_at(sizes, int(size)) == pytest.approx(share)


def test_subgroups_average_to_the_whole():
    """Tests that shares of subgroups, weighted by rows, are the share of all rows."""
    rng = np.random.default_rng(0)
    column = column_of([f"v{i % 15}" for i in range(200)])
    changed = rng.integers(0, 4, 200)
    found = subgroups("c", column, changed, 4)
    assert [g.rest for g in found] == [False] * 8 + [True]
    total = sum(g.rows * g.share for g in found)
    assert total == pytest.approx(changed.sum() / 4)
    assert sum(g.rows for g in found) == 200


@pytest.fixture(scope="module")
def release():
    """A release with hierarchy, sensitive and identifying columns, of some people."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 60),
            "sex": rng.choice(["f", "m"], 60),
            "zip": rng.choice(["01234", "01235", "02222"], 60),
            "ill": rng.choice(["flu", "cold", "none"], 60, p=[0.5, 0.3, 0.2]),
        }
    )
    return ic.anonymize(frame, 3, sensitive="ill", hierarchies={"age": "interval:10,20"})


def test_distances_are_those_of_measure(release):
    """Tests the farthest class, and the rows, against ``incrowd.measure``."""
    from incrowd.report.spread import spreads

    spread = spreads(
        view_of(release, "r", None).columns, release.roles.qi, ("ill",), release.model
    )[0]
    measured = ic.measure(release.data, qi=release.roles.qi, sensitive="ill").sensitive[0]
    assert Fraction(spread.t[0]).limit_denominator(10**6) == measured.t_equal
    assert sorted(spread.sizes) == sorted(release.class_sizes)
    assert spread.table.sum() == pytest.approx(1)


def test_the_farthest_classes_show_what_they_are_far_by():
    """Tests that of many values those of the farthest class are told, however rare they are."""
    from incrowd.report.spread import spreads

    common = [f"common {i}" for i in range(9)]
    frame = pl.DataFrame({"a": ["x"] * 90 + ["y"] * 2, "ill": common * 10 + ["rare", "rarer"]})
    release = ic.anonymize(frame, 2, sensitive="ill")
    columns = view_of(release, "r", None).columns
    (spread,) = spreads(columns, ("a",), ("ill",), release.model)
    assert {"rare", "rarer"} <= {*spread.values} and spread.others == 4
    assert spread.farthest[0][[spread.values.index(v) for v in ("rare", "rarer")]].sum() == 1


def test_figures_are_standard(release):
    """Tests that every plot is a matplotlib figure that draws what was counted."""
    from matplotlib.figure import Figure

    drawn = [
        release.plot_classes(),
        release.plot_columns(),
        release.plot_columns("sex"),
        release.plot_risk(),
        release.plot_changes(),
        release.plot_associations(),
    ]
    assert all(isinstance(figure, Figure) for figure in drawn)
    before, after = (drawn[0].axes[0].containers[i] for i in (0, 1))
    assert sum(bar.get_width() for bar in after) == release.rows
    assert sum(bar.get_width() for bar in before) == release.rows
    counted = Counter(release.source.native()["sex"].to_list())
    bars = drawn[2].axes[0].containers[0]
    assert sorted(bar.get_width() for bar in bars if bar.get_width()) == sorted(counted.values())
    with pytest.raises(InputError, match="did you mean 'sex'"):
        release.plot_columns("sexx")


PLOTS = [name for name in dir(ic.Release) if name.startswith("plot_")]


@pytest.mark.parametrize("name", PLOTS)
def test_every_figure_names_the_missing_package(release, name, monkeypatch):
    """Tests that no plot ends in an ImportError where matplotlib is not installed."""
    for module in ["matplotlib", *sys.modules]:
        if module.partition(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r'pip install "incrowd\[report\]"'):
        getattr(release, name)()


def test_hostile_names_can_be_drawn():
    """Tests that names are drawn as they are: no formula, one line; the picture does not change."""
    first, second = (
        svg_text(plot_shares(HOSTILE, [0.1] * len(HOSTILE), "share"), "a") for _ in range(2)
    )
    assert first == second
    assert "<script" not in first
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", first)


def test_summary_is_a_frame_like_the_data(constructor):
    """Tests type and figures of the three summaries."""
    import narwhals as nw

    data = constructor({"a": ["1", "2", "1", "3"], "b": ["x", "x", "y", "y"]})
    release = ic.anonymize(data, 2)
    for by in ("release", "column", "class"):
        assert type(release.summary(by)) is type(data)
    found = nw.from_native(release.summary("column"))
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    columns = found.to_dict(as_series=False)
    assert dict(zip(columns["column"], columns["changed"], strict=True)) == dict(release.changed)
    with pytest.raises(InputError, match="by is 'rows'"):
        release.summary("rows")


def test_types():
    """Tests that the narrowest type is found, and that codes stay text."""
    assert type_of(["1", "-20"]) == "integer"
    assert type_of(["1", "2.5", "1e3"]) == "number"
    assert type_of(["2020-01-31"]) == "date"
    assert type_of(["01234", "1"]) == "string"
    assert type_of(["30-39", "30"]) == "string"
    assert type_of(["."]) == type_of(["-"]) == type_of([]) == "string"
    assert slug("Mein Bericht (2).final") == "mein-bericht-2-.final"
    assert slug("表") == "release"


def test_beside_a_release(tmp_path, monkeypatch):
    """Tests reports and metadata of the command line, and that they describe the very file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(
        "\ufeffn;a;z\n1;34;01234\n2;36;01234\n3;34;01235\n4;36;01235\n"
    )
    words = "anonymize in.csv -o o.csv -k 2 --id n --report e.html --report-internal i.html"
    done = CliRunner().invoke(cli, [*words.split(), "--metadata", "o.json"])
    assert done.exit_code == 0, done.output
    assert "\nwritten  o.csv\nreport   e.html\ninternal i.html\nmetadata o.json\n" in done.stderr
    found = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    resource = found["resources"][0]
    data = (tmp_path / resource["path"]).read_bytes()
    assert resource["bytes"] == len(data)
    assert resource["hash"] == "sha256:" + hashlib.sha256(data).hexdigest()
    assert resource["dialect"]["delimiter"] == ";"
    assert data.decode(resource["encoding"]).startswith("a;z\n") and data[:3] == codecs.BOM_UTF8
    assert [f["name"] for f in resource["schema"]["fields"]] == ["a", "z"]
    assert resource["schema"]["missingValues"] == ["", "*"]
    assert {f["type"] for f in resource["schema"]["fields"]} <= {"integer", "string"}
    assert found["incrowd"]["cost"] >= found["incrowd"]["lower_bound"]
    assert "seed" not in json.dumps(found)
    assert "o.csv" in (tmp_path / "e.html").read_text(encoding="utf-8")
    assert "incrowd anonymize" not in (tmp_path / "e.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-o o.csv --report in.csv", "is the input itself"),
        ("-o o.csv --report o.csv", "name the same file"),  # the release
        ("-o o.csv --report r.html --report-internal r.html", "name the same file"),
        ("-o o.csv --report -", "needs a file"),
        ("-o - --metadata m.json", "needs -o FILE"),
        ("-o o.csv --report no/r.html", "does not exist"),
        ("-o o.csv --report-frontier 2:4", "goes with --report-internal"),
        ("-o o.csv --report-internal r.html --report-frontier 2-4", "expected e.g. 2:50"),
        *(
            (f"-o o.csv --report-internal r.html --report-frontier 2 {more}", message)
            for more, message in (
                ("--delete-rows price=1", "delete_rows is not served by frontier"),
                ("--suppress-rows 1", "suppress_rows is not served by frontier"),
                ("--qi a --keep z --hierarchy a=mean", "where a column shows averages"),
            )
        ),
    ],
)
def test_outputs_that_cannot_be(options, message, tmp_path, monkeypatch):
    """Tests that a wrong place for a report is told before the search; nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("a,z\n34,1\n34,1\n")
    done = CliRunner().invoke(cli, ["anonymize", "in.csv", "-k", "2", *options.split()])
    assert done.exit_code == 2
    assert message in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_frontier_in_the_internal_report(tmp_path, monkeypatch):
    """Tests that the internal report shows what other k would cost, under constraints as well."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("a,z\n34,1\n34,1\n34,2\n36,2\n")
    words = "anonymize in.csv -o o.csv -k 2 --report-internal i.html --report-frontier 2:4"
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code == 0, done.output
    assert "What another k would cost" in (tmp_path / "i.html").read_text(encoding="utf-8")
    done = CliRunner().invoke(cli, [*words.split(), "--linked", "a,z"])
    assert done.exit_code == 0, done.output
    assert "What another k would cost" in (tmp_path / "i.html").read_text(encoding="utf-8")


def test_several_files(tmp_path, monkeypatch):
    """Tests reports on a table in several files, and metadata where the release is one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / f"{name}.csv").write_text("a|z\n34|1\n34|1\n36|2\n36|3\n")
    words = "anonymize in -k 2 --report-internal i.html -q --qi a --keep z --hierarchy a=mean"
    words = words.split()
    words += ["--metadata", "m.json", "-o"]
    done = CliRunner().invoke(cli, [*words, "out"])
    assert (done.exit_code, "--metadata describes" in done.output) == (2, True)
    done = CliRunner().invoke(cli, [*words, "o.csv"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["resources"][0]
    assert found["schema"]["fields"][0]["description"].startswith("A cell is a figure of its class")
    first = (tmp_path / "o.csv").read_text().splitlines()[0]
    assert first == found["dialect"]["delimiter"].join(["a", "z"])
    assert "SHA-256 of the original" in (tmp_path / "i.html").read_text(encoding="utf-8")


def test_rows_added_to_an_earlier_release_are_refused(tmp_path):
    """Tests that nothing is compared with an original that is not at hand."""
    frame = pl.DataFrame({"a": ["1", "1", "2", "2"], "b": ["x", "x", "y", "y"]})
    release = ic.anonymize(frame, 2, existing=ic.anonymize(frame, 2).data)
    with pytest.raises(OutOfScopeError, match="earlier release"):
        release.report(tmp_path / "r.html")
    with pytest.raises(OutOfScopeError, match="earlier release"):
        release.plot_risk()
    assert release.summary()["rows"].to_list() == [4]


def test_demo_has_a_report(tmp_path):
    """Tests that the demo writes one too."""
    path = tmp_path / "d.html"
    words = ["demo", "--synthetic", "-k", "3", "--method", "mondrian", "-q", "--report", str(path)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert "3-anonymity" in path.read_text(encoding="utf-8")
