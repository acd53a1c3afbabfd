"""A matplotlib figure as part of a page: inline SVG whose colours follow the page's."""

import io
import re
import warnings
from typing import TYPE_CHECKING, Any

from incrowd.report.html import Html, tag
from incrowd.report.plots import AFTER, BEFORE, INK, RULE, SHADES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIABLES = {INK: "--ink", RULE: "--rule", BEFORE: "--before", AFTER: "--after"} | {
    colour: f"--shade{i}" for i, colour in enumerate(SHADES) if colour not in (AFTER, BEFORE)
}
OPENING = re.compile(r"<svg\b[^>]*>")
IDS = re.compile(r'\bid="([^"]*)"')
STYLES = re.compile(r'\bstyle="[^"]*"')
FONTS = re.compile(r"font: ([\d.]+)px [^;\"]*")


def svg_text(figure: "Figure", salt: str, transparent: bool = False) -> str:
    """Return a figure as an SVG document, the same for the same figure and salt.

    It is drawn once: ``savefig`` draws a figure twice, first for its layout, which is found anew as
    it is drawn anyhow.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.family": ["DejaVu Sans"],
    }
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    file, canvas, dpi, ground = io.StringIO(), figure.canvas, figure.dpi, figure.get_facecolor()
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the measuring font lacks
        if transparent:
            figure.set_facecolor("none")
        FigureCanvasSVG(figure).print_svg(file, metadata=nothing)
    figure.set_canvas(canvas)
    figure.set_dpi(dpi)
    figure.set_facecolor(ground)
    return file.getvalue()


def inline(figure: "Figure", label: str, prefix: str) -> Html:
    """Return a figure as an element of a page.

    Parameters
    ----------
    label: what it shows, for those who do not see it.
    prefix: of its ids, different for each figure of a page.
    """
    text = svg_text(figure, prefix, transparent=True)
    opening = OPENING.search(text)
    assert opening is not None
    box = re.search(r'viewBox="([^"]*)"', opening[0])
    body = text[opening.end() : text.rindex("</svg>")]
    # the style sheet inside would apply to the whole page
    body = re.sub(r"<style\b.*?</style>|<metadata\b.*?</metadata>", "", body, flags=re.DOTALL)
    body = STYLES.sub(followed, body)
    body = unique_ids(body, prefix)
    return tag("svg", Html(body), viewBox=box[1] if box else None, role="img", aria_label=label)


def followed(style: re.Match[str]) -> str:
    """Return a style whose colours and letters are the page's."""
    text = FONTS.sub(r"font-size: \1px", style[0])
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    return text


def unique_ids(body: str, prefix: str) -> str:
    """Prefix the ids that something refers to, and drop the others."""
    used = set(re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"', body))
    names = {name for pair in used for name in pair if name}

    def renamed(found: re.Match[str]) -> str:
        return f'id="{prefix}-{found[1]}"' if found[1] in names else ""

    body = IDS.sub(renamed, body)
    body = re.sub(r"url\(#", f"url(#{prefix}-", body)
    return re.sub(r'(?:xlink:)?href="#', f'href="#{prefix}-', body)
