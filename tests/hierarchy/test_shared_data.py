"""Tests on the hierarchies of two published tables, when they are at hand."""

import csv
from pathlib import Path

import pytest

from incrowd.hierarchy import HierarchyFile, Tree, build_trees

DATA = Path(__file__).parents[2].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not at hand")


def table(name: str) -> tuple[dict[str, list[str]], dict[str, HierarchyFile]]:
    with (DATA / f"{name}.csv").open(newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    columns = {c: list(values) for c, values in zip(header, zip(*rows, strict=True), strict=True)}
    folder = DATA / "hierarchies"
    return columns, {c: HierarchyFile(folder / f"{name}_hierarchy_{c}.csv") for c in header}


def lines(source: HierarchyFile) -> list[list[str]]:
    with Path(source.path).open(newline="") as file:
        return list(csv.reader(file, delimiter=";"))


@pytest.mark.parametrize(("name", "scale"), [("adult", 12), ("cup", 20)])
def test_files_of_arx_work_unchanged(name: str, scale: int) -> None:
    """Tests that every value's path and costs are those of its line."""
    columns, sources = table(name)
    values = {column: sorted(set(cells)) for column, cells in columns.items()}
    level, level_scale = build_trees(values, sources, "level")
    ncp, ncp_scale = build_trees(values, sources, "ncp")
    assert (level_scale, ncp_scale) == (scale, 10**6)
    for by_level, by_ncp in zip(level, ncp, strict=True):
        rows = lines(sources[by_level.column])
        check_tree(by_level, by_ncp, rows, scale)


def check_tree(by_level: Tree, by_ncp: Tree, rows: list[list[str]], scale: int) -> None:
    line = {row[0]: row for row in rows}
    count: dict[tuple[int, str], int] = {}
    for row in rows:
        for up, label in enumerate(row):
            count[up, label] = count.get((up, label), 0) + 1
    height = len(rows[0]) - 1
    for code, leaf in enumerate(by_level.leaves):
        path = [by_level.labels[up][by_level.node[up, code]] for up in range(height + 1)]
        assert path == line[str(leaf)]
        for up, label in enumerate(line[str(leaf)]):
            kept = label == leaf
            assert by_level.cost[up, code] == (0 if kept else up * scale // height)
            share = (count[up, label] - 1) / (len(rows) - 1)
            assert abs(int(by_ncp.cost[up, code]) - share * 10**6) <= 0.500001
