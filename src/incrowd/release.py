"""What the front door hands out: a published table that reports on itself and proves itself."""

from dataclasses import dataclass

from incrowd.proof.proven import Proven
from incrowd.published.base import Published
from incrowd.report.pictured import Pictured


@dataclass(frozen=True, eq=False, repr=False)
class Release(Published, Pictured, Proven):
    """What ``anonymize`` returns: a published table with its figures, reports and proof."""
