"""What the front door hands out: a published table that also reports on itself."""

from dataclasses import dataclass

from incrowd.published.base import Published
from incrowd.report.pictured import Pictured


@dataclass(frozen=True, eq=False, repr=False)
class Release(Published, Pictured):
    """What ``anonymize`` returns: a published table with its figures and its reports."""
