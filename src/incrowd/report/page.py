"""A page from sections: one file, nothing to load, nothing that runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.report.html import Html, cell_text, joined, of, tag, visible
from incrowd.report.svg import inline

# light and dark, screen and paper, wide and narrow
SHEET = """
:root {
  color-scheme: light dark;
  --page: #f4f4f6; --card: #ffffff; --ink: #1b1b1f; --soft: #55555e; --rule: #d8d8de;
  --before: #b86e00; --after: #0067a5; --accent: #0067a5; --warn: #8f2d00; --warnback: #fff1e6;
  --shade2: #2a9d6f; --shade3: #b04a8f; --shade4: #7a6ff0; --shade5: #8c6d31;
  --shade6: #5b8db8; --shade7: #9a9aa2;
}
@media (prefers-color-scheme: dark) { :root {
  --page: #141417; --card: #1f1f24; --ink: #ececf1; --soft: #b0b0bb; --rule: #43434c;
  --before: #f0a63c; --after: #5bb8f5; --accent: #7cc4f7; --warn: #ffb38a; --warnback: #3a2417;
  --shade2: #4fc596; --shade3: #dd85c0; --shade4: #a9a1ff; --shade5: #c9a667;
  --shade6: #8fbbe0; --shade7: #8a8a94;
} }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
a { color: var(--accent); }
header, main, footer { max-width: 74rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.4rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
p { max-width: 46rem; margin: .4rem 0 .9rem; }
.lead { color: var(--soft); margin: 0 0 1rem; }
.banner { background: var(--warnback); color: var(--warn); border: 1px solid currentColor;
  border-radius: .4rem; padding: .6rem .9rem; font-weight: 600; max-width: none; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; padding: 0;
  margin: .6rem 0 0; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem;
  margin: 1rem 0; }
dl div, figure, .scroll.alone { background: var(--card); border: 1px solid var(--rule);
  border-radius: .5rem; }
dl div { padding: .7rem .9rem; min-width: 0; }
dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; font-size: 1.35rem; font-weight: 600; line-height: 1.25; overflow-wrap: anywhere; }
dd small { display: block; font-size: .8rem; font-weight: 400; color: var(--soft);
  line-height: 1.4; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr));
  gap: 1rem; }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: .8rem 2rem; align-items: start; }
figure { margin: 0; padding: .9rem 1rem; min-width: 0; }
section > figure { margin-bottom: 1rem; }
figure p { max-width: 46rem; font-size: .9rem; color: var(--soft); margin: 0 0 .4rem; }
svg { display: block; width: 100%; height: auto; max-width: 36rem; color: var(--ink);
  font-family: system-ui, "Liberation Sans", Arial, sans-serif; }
svg text { font-family: inherit; white-space: pre; }
details { margin-top: .5rem; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .4rem 0; }
caption { text-align: left; color: var(--soft); padding: .3rem 0; }
th, td { text-align: left; padding: .32rem .7rem .32rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; font-weight: 400; overflow-wrap: break-word; max-width: 16rem; }
thead th { color: var(--soft); }
td.number { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll.alone { padding: .3rem 1rem; }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: .5rem;
  padding: .8rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem;
  unicode-bidi: plaintext; }
em { color: var(--soft); }
footer { color: var(--soft); font-size: .85rem; padding-top: 1.5rem; padding-bottom: 2.5rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30rem) {
  header, main, footer { padding-left: .8rem; padding-right: .8rem; }
  h1 { font-size: 1.5rem; }
  figure { padding: .7rem .6rem; }
  dl { grid-template-columns: repeat(2, 1fr); }
  th, td { max-width: 9rem; padding-right: .5rem; }
}
@media print {
  :root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --soft: #333;
    --rule: #bbb; --before: #a86400; --after: #005a91; --accent: #000; --warn: #000;
    --warnback: #fff; }
  body { font-size: 10.5pt; }
  nav, summary { display: none; }
  details::details-content { content-visibility: visible; display: block; }
  .grid, .beside { grid-template-columns: 1fr 1fr; }
  figure, dl div { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
  figure table { font-size: 8pt; }
  figure th, figure td { padding: .1rem .4rem .1rem 0; overflow-wrap: anywhere; }
  td.number { white-space: normal; }
}
"""
# even markup that slipped through could load nothing and run nothing
NOTHING = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    id: str
    title: str
    body: Html


def page(title: str, name: str, top: Html, sections: Sequence[Section], foot: Html) -> str:
    """Return a whole page.

    Parameters
    ----------
    title: what kind of report; name: of the release.
    top: below the heading; foot: at the end.
    """
    head = tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{NOTHING}">'),
        Html('<meta name="referrer" content="no-referrer">'),
        tag("title", f"{title}: ", of(visible(name))),
        tag("style", Html(SHEET)),
    )
    links = [tag("li", tag("a", part.title, href=f"#{part.id}")) for part in sections]
    nav = tag("nav", tag("ul", *links), aria_label="Sections")
    parts = [
        tag("section", tag("h2", part.title, id=part.id), part.body, aria_labelledby=part.id)
        for part in sections
    ]
    heading = tag("h1", f"{title}: ", cell_text(name))
    body = tag("body", tag("header", heading, top, nav), tag("main", *parts), tag("footer", foot))
    return f'<!DOCTYPE html>\n<html lang="en" dir="ltr">{head}{body}</html>\n'


class Pictures:
    """Figures of a page, each with a heading, a sentence and a table beside it."""

    def __init__(self) -> None:
        self._count = 0

    def show(
        self, heading: Any, figure: Any, label: str, words: Any, table: Html, wide: bool = False
    ) -> Html:
        """Return one figure.

        Parameters
        ----------
        figure: of matplotlib.
        label: what it shows, for those who do not see it.
        words: how to read it.
        table: the same as figures; to be opened below, or beside the picture where ``wide``.
        """
        self._count += 1
        prefix = f"f{self._count}"
        title = tag("h3", heading, id=f"{prefix}-title")
        drawn = inline(figure, label, prefix)
        if wide:
            body = tag("div", drawn, table, class_="beside")
        else:
            body = joined(drawn, tag("details", tag("summary", "As a table"), table))
        return tag(
            "figure",
            title,
            tag("p", words) if words else None,
            body,
            role="group",
            aria_labelledby=f"{prefix}-title",
        )


def grid(*items: Html) -> Html:
    """Put figures beside each other where there is room."""
    return tag("div", *items, class_="grid")


def paragraphs(*texts: Any) -> Html:
    """Return paragraphs."""
    return joined(*(tag("p", text) for text in texts if text is not None))
