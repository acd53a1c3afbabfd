"""A strict reader of pages, and hostile tables."""

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "path", "use"}
HOSTILE = [
    "</style></svg><script>alert(1)</script>",
    '"onload="alert(1)',
    "'><img src=x onerror=alert(1)>",
    "\u202egnp.exe\u2066",
    "line\nbreak\r\ttab",
    "$\\frac{1}{2}$ 5$",
    "&lt;b&gt; ]]> <!-- ",
    "javascript:alert(1)",
    "https://example.org/x.png",
    "x" * 300,
    "",
    " ",
    "é🙂عربي",
]


class Reader(HTMLParser):
    """Checks that elements nest, and notes tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert not self.stack, self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack and self.stack[-1] == tag, (tag, self.stack[-3:])
        self.stack.pop()

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    def handle_data(self, data: str) -> None:
        if self.stack[-1:] != ["style"]:
            self.text.append(data)


def require_harmless(page: str) -> Reader:
    """Assert that a page runs nothing, loads nothing and hides no direction of text."""
    read = Reader(page)
    names = {name for name, _ in read.tags}
    assert not names & {
        "script",
        "img",
        "iframe",
        "object",
        "link",
        "form",
        "image",
        "foreignobject",
    }
    ids = [given["id"] for _, given in read.tags if "id" in given]
    assert len(ids) == len(set(ids))
    for name, given in read.tags:
        assert not [key for key in given if key.startswith("on") or key == "src"], name
        for key in ("href", "xlink:href"):
            assert (given.get(key) or "#").startswith("#")
            assert key not in given or (given[key] or "")[1:] in ids
        if "aria-labelledby" in given:
            assert given["aria-labelledby"] in ids
    style = "".join(re.findall(r"<style>.*?</style>", page, re.DOTALL))
    assert not re.search(r"@import|@font-face", style)
    attributes = " ".join(v or "" for _, given in read.tags for v in given.values())
    for target in re.findall(r"url\(([^)]*)\)", style + attributes):
        assert target.startswith("#")
        assert target[1:] in ids
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00-\x08]", page)
    return read
