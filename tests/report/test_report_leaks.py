"""What may be published beside a release tells nothing that the release hides."""

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.report.make import external_report
from incrowd.report.metadata import descriptor
from incrowd.report.view import view_of
from incrowd.tables import texts
from tables import Sorter

WORDS = [f"zq{a}{b}w" for a in "abcdefgh" for b in "klmnoprs"]  # part of no other text
NUMBERS = [str(7_310_007 + 104_729 * i) for i in range(40)]  # of no round interval either


def published(release, path):
    """All that is published beside a release, as one text."""
    release.write(path)
    beside = json.dumps(descriptor(release, path, path.parent), ensure_ascii=False)
    return external_report(release, path.name) + beside


def values_of(frame):
    """Every cell of a frame as text."""
    return {value for column in frame.iter_columns() for value in column.to_list()} - {None}


@settings(max_examples=few(8))
@given(
    data=st.data(),
    k=st.integers(2, 4),
    hierarchy=st.sampled_from([{}, {"word": "prefix:1,2"}, {"number": "interval:1000000"}]),
)
def test_no_hidden_value(data, k, hierarchy, tmp_path_factory):
    """Tests that no value of the original which the release lacks is told beside it."""
    rows = data.draw(st.integers(6, 16))
    pick = {
        name: data.draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))
        for name, pool in (("word", WORDS[:12]), ("number", NUMBERS), ("other", WORDS[12:15]))
    }
    pick["name"] = WORDS[20 : 20 + rows]
    pick["ill"] = data.draw(st.lists(st.sampled_from(WORDS[50:]), min_size=rows, max_size=rows))
    path = tmp_path_factory.mktemp("leak") / "in.csv"
    pl.DataFrame(pick).write_csv(path)
    release = ic.anonymize(
        path, k, id="name", sensitive="ill", hierarchies=hierarchy, method=Sorter(), order="shuffle"
    )
    hidden = values_of(pl.DataFrame(pick)) - values_of(texts(release.table))
    assert set(pick["name"]) <= hidden
    told = published(release, path.with_name("out.csv"))
    for value in hidden:
        assert value not in told
        if value.isdigit():
            assert f"{int(value):,}" not in told
    assert "zqckw" not in set(re.findall(r"zq..w", told)) - values_of(texts(release.table))


def test_two_originals_with_one_release(tmp_path):
    """Tests that what is published depends on hidden cells in no way: it is the same, byte by byte.

    The second column is starred throughout; what stood there differs, in values and how often.
    """
    first = ["a"] * 6 + ["b"] * 6
    pages = []
    for hidden in (WORDS[:12], WORDS[12:24], [*WORDS[:6], *WORDS[:6]]):
        frame = pl.DataFrame({"kept": first, "hidden": hidden, "ill": ["x", "y", "z"] * 4})
        path = tmp_path / "out.csv"
        frame.write_csv(tmp_path / "in.csv")
        release = ic.anonymize(tmp_path / "in.csv", 6, sensitive="ill", method=Sorter())
        assert Counter(texts(release.table)["hidden"]) == {"*": 12}
        pages.append(re.sub(r"[\d-]+ [\d:]+ UTC", "", published(release, path)))
    assert pages[0] == pages[1] == pages[2]


def test_roles_and_rules_are_told_without_paths_and_values(tmp_path):
    """Tests that neither a file's path, a removed column nor a capped value is told."""
    groups = tmp_path / "zqsecret.csv"
    groups.write_text("".join(f"{word};zqgroup;*\n" for word in WORDS[:8]), encoding="utf-8")
    frame = pl.DataFrame({"word": WORDS[:8], "zqname": WORDS[8:16], "b": list("xxyyxxyy")})
    release = ic.anonymize(
        frame, 8, id="zqname", hierarchies={"word": str(groups)}, caps={"word": 1.0}, seed=31415
    )
    costs = replace(release.policy, cost=str(tmp_path / "zqcosts.csv"))
    told = published(replace(release, policy=costs), tmp_path / "out.csv")
    for hidden in ("zqsecret", "zqcosts", str(tmp_path), "zqname", "31415"):
        assert hidden not in told
    assert "groups of its own" in told


def test_values_that_no_released_cell_has_are_not_even_looked_at(tmp_path):
    """Tests that a view lists no value of the original beside those of the release."""
    path = tmp_path / "in.csv"
    pl.DataFrame({"n": ["1", "2", "3", "zqaaw"], "b": list("ccdd")}).write_csv(path)
    release = ic.anonymize(path, 4)
    view = view_of(release, "r", None)
    for column in view.columns.values():
        assert set(column.values) == {column.values[code] for code in np.unique(column.codes)}
    types = descriptor(release, path, path.parent)["resources"][0]["schema"]["fields"]
    assert [field["type"] for field in types] == ["string", "string"]
