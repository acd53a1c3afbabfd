"""Tests that any text at all is a lawful hierarchy or a clear refusal."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.checker.ladder import validated
from incrowd.errors import HierarchyError
from incrowd.hierarchy import HierarchyFile, Stars, build_trees
from incrowd.hierarchy.check import check
from incrowd.hierarchy.text import Lines
from incrowd.published.ladders import ladder_of

cells = st.sampled_from(["a", "b", "c", "A", "B", "X", "*", "", "35", '"q"', "é"])
lines = st.lists(cells, min_size=1, max_size=5).map(";".join)
texts = st.lists(lines, max_size=7).map("\n".join) | st.text('ab;,*|\t\n\r"', max_size=30)


@settings(max_examples=few(400))
@given(texts)
def test_any_text(text: str) -> None:
    """Tests that what is accepted passes the independent check, and check refuses the rest."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "h.csv"
        path.write_text(text, encoding="utf-8", newline="")
        source = HierarchyFile(path)
        try:
            values: list[str | None] = [*source.tidy().grid.columns[0], None]
            trees, _ = build_trees({"q": values}, {"q": source}, "stars")
        except HierarchyError as error:
            assert "h.csv" in str(error)
            try:
                assert not check(source, "q", None, Stars()).sound
            except HierarchyError as again:
                assert str(again) == str(error)
            return
        assert check(source, "q", values, Stars()).sound
        validated(ladder_of(trees[0]), "q")


@given(texts)
def test_the_fast_way_reads_the_same(text: str) -> None:
    """Tests that splitting a file without quotes at once gives the fields that csv gives."""
    lines = Lines("h.csv", text, ";")
    columns = lines.even_columns()
    if columns is not None and any(map(any, columns)):
        rows = [list(row) for row in zip(*columns, strict=True)]
        assert [row for row in rows if any(row)] == lines.rows
