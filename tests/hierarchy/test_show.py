"""Tests that pictures hold the hierarchy, fit the page, and cannot be broken by a label."""

import io
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from incrowd.hierarchy import HierarchyRows, Ladder, parse
from incrowd.hierarchy.show import Branch, outline, to_rich, to_svg

SVG = "{http://www.w3.org/2000/svg}"


def codes(count: int) -> Ladder:
    return parse("prefix:1,2,3").build("q", [f"{i:04}" for i in range(count)])


def printed(branch: Branch) -> str:
    text = io.StringIO()
    Console(file=text, width=200, highlight=False).print(to_rich(branch))
    return text.getvalue()


def test_outline_of_a_small_tree() -> None:
    """Tests every node, counts of groups, and that a repeated label is shown once."""
    rows = (("a", "A", "X", "*"), ("b", "A", "X", "*"), ("c", "c", "X", "*"), ("d", "D", "D", "*"))
    ladder = HierarchyRows(rows).build("q", ["a", "b", "c", "d", None])
    assert [line.rstrip() for line in printed(outline(ladder)).splitlines()] == [
        "*  5 values",
        "├── X  3 values",
        "│   ├── A  2 values",
        "│   │   ├── a",
        "│   │   └── b",
        "│   └── c",
        "├── D  1 value",
        "│   └── d",
        "└── (missing)",
    ]


def test_outline_fits_the_lines() -> None:
    """Tests that a large tree is cut to the lines given, and says how much it hides."""
    ladder = codes(10_000)
    for lines in (1, 5, 20, 60, 500):
        branch = outline(ladder, lines)
        assert branch.leaves == 10_000
        assert branch.lines <= lines
        assert len(printed(branch).splitlines()) == branch.lines
    assert "… 7 more" in printed(outline(ladder, 60))
    assert outline(codes(300), None).lines == 1 + 1 + 3 + 30 + 300
    assert outline(parse("none").build("q", [])).lines == 1


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5, unique=True), st.text())
def test_svg_holds_any_label(labels: list[str], title: str) -> None:
    """Tests that hostile labels and titles stay text: the picture is well-formed, nothing runs."""
    values = [label for label in labels if label != "*"]
    picture = to_svg(outline(parse("none").build("q", values)), title)
    root = ElementTree.fromstring(picture)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "path", "text", "tspan",
    }  # fmt: skip
    assert len(root.findall(f"{SVG}text")) == len(values) + 1


def test_svg_shows_labels_and_loads_nothing() -> None:
    """Tests that markup in a label is shown as written, and that no address is fetched."""
    values = ["<script>alert(1)</script>", "[bold]x[/bold]", "a&b"]
    branch = outline(parse("none").build("q", values))
    root = ElementTree.fromstring(to_svg(branch, "Hierarchy <x>"))
    assert [text.text for text in root.findall(f"{SVG}text")][1:] == sorted(values)
    assert to_svg(branch, "t").count("http") == 1  # the name space
    assert root.findtext(f"{SVG}title") == "Hierarchy <x>"
    assert all(value in printed(branch) for value in values)


def test_control_characters_and_long_labels() -> None:
    """Tests that a terminal gets no escape sequences and no endless lines."""
    text = printed(outline(parse("none").build("q", ["\x1b[31mred\a", "y" * 500])))
    assert "\x1b" not in text
    assert "\a" not in text
    assert max(map(len, text.splitlines())) < 80
