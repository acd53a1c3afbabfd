"""Whole reports, and the files they are written to."""

from datetime import UTC, datetime
from pathlib import Path

from incrowd.errors import InputError
from incrowd.published.base import Published
from incrowd.report import combined
from incrowd.report import inside as private
from incrowd.report import sections as public
from incrowd.report.asked import asked
from incrowd.report.classes import classes
from incrowd.report.html import Html, joined, tag
from incrowd.report.inside import attacks
from incrowd.report.page import Pictures, page
from incrowd.report.people import people
from incrowd.report.plots import require_matplotlib
from incrowd.report.useful import use
from incrowd.report.view import Inside, View, view_of
from incrowd.report.weighed import Weighed
from incrowd.tables.atomic import whole


def external_report(release: Published, name: str = "release") -> str:
    """Return the page for the data's users: made from what they may see, and nothing else."""
    require_matplotlib()
    return external_page(view_of(release, name, None))


def external_page(view: View) -> str:
    """Return the page; a view has no way to the original when it has no inside."""
    assert view.inside is None
    pictures = Pictures()
    found = [
        asked(view),
        public.done(view),
        (combined.groups if view.combinations else classes)(view, pictures),
        public.changes(view, pictures),
        public.columns(view, pictures),
        public.relations(view, pictures),
        public.limits(view),
    ]
    lead = tag("p", "For the users of the data.", class_="lead")
    top = joined(lead, public.in_short(view))
    return page("Release report", view.name, top, [s for s in found if s], foot(view))


def internal_report(release: Published, name: str = "release", inside: Inside | None = None) -> str:
    """Return the page for the publisher: everything, the seed included."""
    require_matplotlib()
    inside = inside or Inside(release=release)
    view, pictures = view_of(release, name, inside), Pictures()
    weighed = Weighed.of(inside)
    found = [
        asked(view),
        public.done(view),
        (combined.groups if view.combinations else classes)(view, pictures),
        private.risk(view, inside, pictures),
        people(view, inside),
        attacks(inside),
        public.changes(view, pictures),
        private.lost(view, inside),
        use(inside, weighed, pictures),
        public.columns(view, pictures, weighed),
        public.relations(view, pictures),
        private.sensitive(view, inside, pictures),
        private.frontier(inside, pictures),
        private.again(view, inside),
        public.limits(view),
    ]
    words = "Internal: shows figures of the original and the seed. Do not pass on."
    banners = [words, *(f"Warning: {warning}." for warning in release.warnings)]
    notes = joined(*(tag("p", text, class_="banner", role="note") for text in banners))
    top = joined(notes, public.in_short(view))
    return page("Internal release report", view.name, top, [s for s in found if s], foot(view))


def foot(view: View) -> Html:
    """When and by what the page was made."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return tag("p", f"Made by incrowd {view.version}, {now}. This page loads nothing.")


def require_name(path: str | Path) -> None:
    """Raise InputError where a report's name is that of another kind of document."""
    if Path(path).suffix.lower() in (".pdf", ".doc", ".docx", ".odt", ".md", ".xlsx", ".csv"):
        raise InputError(
            f"{path}: a report is a page of HTML: name it .html, and print it from the browser "
            "where a PDF is wanted"
        )


def write_report(
    release: Published,
    path: str | Path,
    internal: bool = False,
    *,
    name: str = "release",
    inside: Inside | None = None,
) -> None:
    """Write a report; the file appears whole or not at all, an internal one for its owner alone.

    Parameters
    ----------
    name: what the page calls the release; inside: what else an internal report tells.

    Raises
    ------
    MissingExtraError: matplotlib is not installed.
    InputError: the folder cannot be written, or the name is that of another kind of document.
    """
    require_name(path)
    release.require_kept(path, "the report")
    text = internal_report(release, name, inside) if internal else external_report(release, name)
    with whole(path, internal) as file:
        file.write(text.encode("utf-8", "replace"))
