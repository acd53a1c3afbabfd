"""Tests that hierarchies made from counts group as they say and can be read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import HierarchyError
from incrowd.hierarchy import HierarchyRows, Ladder, parse
from incrowd.hierarchy.make import file_rows, file_text, frequency_ladder, quantile_ladder

columns = st.dictionaries(st.integers(-50, 50), st.integers(1, 9), min_size=1, max_size=25)


def paths(found: Ladder) -> list[tuple[str | None, ...]]:
    return [found.path(leaf) for leaf in range(len(found.leaves))]


@given(columns, st.sampled_from([(4,), (8, 4, 2), (6, 3)]))
def test_quantiles_are_about_equally_full(column: dict[int, int], groups: tuple[int, ...]) -> None:
    """Tests that no group exceeds its share by more than the rows of its last number."""
    values = [str(number) for number in column]
    found = quantile_ladder("q", values, list(column.values()), groups)
    for level, many in enumerate(groups, 1):
        by_label: dict[str | None, list[int]] = {}
        for path in paths(found):
            by_label.setdefault(path[level], []).append(int(str(path[0])))
        assert len(by_label) <= many
        for numbers in by_label.values():
            full = sum(column[number] for number in numbers)
            assert full - column[max(numbers)] < sum(column.values()) / many


def test_quantile_labels() -> None:
    """Tests labels of whole numbers and decimals; equal numbers stay together."""
    found = quantile_ladder("q", ["1", "2", "5", "9", None], [1, 1, 1, 1, 7], (4, 2))
    assert paths(found) == [
        ("1", "1", "1-4", "*"),
        ("2", "2-4", "1-4", "*"),
        ("5", "5-8", "5-9", "*"),
        ("9", "9", "5-9", "*"),
        (None, None, None, "*"),
    ]
    found = quantile_ladder("q", ["1.5", "2", "2.0", "7.25"], [1, 1, 5, 1], (2,))
    assert paths(found) == [
        ("1.5", "[1.50,7.25)", "*"),
        ("2", "[1.50,7.25)", "*"),
        ("2.0", "[1.50,7.25)", "*"),
        ("7.25", "[7.25,7.25]", "*"),
    ]


def test_quantiles_that_cannot_be() -> None:
    """Tests numbers of groups that do not nest, and values that are no numbers."""
    for groups in ((), (1,), (4, 3), (2, 4), (4, 4), (4, 1)):
        with pytest.raises(HierarchyError, match="each a divisor of the one before"):
            quantile_ladder("q", ["1", "2"], [1, 1], groups)
    with pytest.raises(HierarchyError, match="1 value is not a number, the first of the form 'a'"):
        quantile_ladder("q", ["1", "x"], [1, 1], (2,))


def test_frequencies() -> None:
    """Tests that rare values are joined level by level and frequent ones stay."""
    found = frequency_ladder("q", ["a", "b", "c", "d", None], [3, 500, 99, 10, 2], (10, 100))
    assert set(paths(found)) == {
        ("a", "rare (<10)", "rare (<100)", "*"),
        ("d", "d", "rare (<100)", "*"),
        ("c", "c", "rare (<100)", "*"),
        ("b", "b", "b", "*"),
        (None, None, None, "*"),
    }


def test_frequencies_that_cannot_be() -> None:
    """Tests thresholds that do not rise, and a column without rare values."""
    for thresholds in ((), (1,), (10, 10), (10, 5)):
        with pytest.raises(HierarchyError, match="rising numbers of rows"):
            frequency_ladder("q", ["a"], [1], thresholds)
    with pytest.raises(HierarchyError, match=r"no value is that rare \(the rarest has 30 rows\)"):
        frequency_ladder("q", ["a", "b"], [30, 40], (10,))


texts = st.lists(st.text(min_size=1, max_size=6).filter(lambda t: "\0" not in t), unique=True)


@given(texts.filter(lambda values: values and "*" not in values))
def test_a_file_says_what_the_ladder_says(values: list[str]) -> None:
    """Tests that rows read back give the same ladder, whatever characters the values hold."""
    found = parse("none").build("q", values)
    rows = tuple(map(tuple, file_rows(found)))
    again = HierarchyRows(rows).build("q", list(values))
    assert sorted(map(str, paths(again))) == sorted(map(str, paths(found)))


def test_file_text() -> None:
    """Tests the file form: quotes where needed, missing values left out, nothing to write."""
    found = parse("none").build("q", ['x;"y"', "b", None])
    assert file_text(found) == 'b;*\n"x;""y""";*\n'
    with pytest.raises(HierarchyError, match="no values"):
        file_text(parse("none").build("q", [None]))
