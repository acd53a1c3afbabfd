"""The site: ``sphinx-build -W -c docs . OUT`` from the project's folder (extra ``docs``).

The source folder is the whole project, so that the pages' relative links, to the README and to
the figures in ``benchmarks`` too, hold on the site as they hold in a checkout.
"""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(Path(__file__).parent))

import incrowd  # noqa: E402

project = "incrowd"
author = "The incrowd developers"
copyright = "the incrowd developers, Apache-2.0"
version = release = incrowd.__version__
root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "docstrings", "command_line"]
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**.md", "benchmarks/*.md"]
exclude_patterns = ["docs/_build"]
default_role = "code"

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures carry them; docstrings say what they mean
autodoc_default_options = {"members": True, "exclude-members": "__init__, __new__"}
autodoc_preserve_defaults = False  # signatures follow from a table, not from the source
python_use_unqualified_type_names = True
python_display_short_literal_types = True
maximum_signature_line_length = 80
toc_object_entries = False

html_theme = "furo"
html_title = "incrowd"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}

FOLDER = re.compile(r"(?<!!)\[([^]]+)\]\(([\w./-]+)\)")
TITLED = re.compile(r'^```(\w+) title="([^"]+)"$', re.MULTILINE)


def prepare(app: Any, name: str, source: list[str]) -> None:
    """Show the name of a file above its content; leave out links to folders, which are no pages."""
    here = (ROOT / name).parent

    def text_alone(link: re.Match[str]) -> str:
        return link[1] if (here / link[2]).is_dir() else link[0]

    source[0] = TITLED.sub(r"```{code-block} \1\n:caption: \2\n", source[0])
    source[0] = FOLDER.sub(text_alone, source[0])


def setup(app: Any) -> None:
    """Add what pages use."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("csv", TextLexer)
    app.connect("source-read", prepare)
