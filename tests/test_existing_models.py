"""Tests rows added to an earlier release under models that count values."""

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import NoLawfulReleaseError


def test_helpers_do_not_break_the_classes_that_they_leave() -> None:
    """Tests rows that fit nowhere, whose only helper makes up for another in a published class."""
    earlier = pl.DataFrame({"x": ["*", "*"], "y": ["a", "a"], "s": ["1", "0"]})
    new = pl.DataFrame({"x": list("uvw"), "y": list("aab"), "s": list("100")})
    with pytest.raises(NoLawfulReleaseError, match="of the 3 new rows fit no published class"):
        ic.anonymize(new, 2, existing=earlier, sensitive="s", models=[{"alpha": "1/2", "k": 1}])


def test_helpers_are_those_of_other_values() -> None:
    """Tests a row that fits nowhere, and whose nearest rows do not help: another value does."""
    earlier = pl.DataFrame({"x": ["a"] * 4, "y": ["*"] * 4, "s": list("0123")})
    new = pl.DataFrame({"x": list("aab"), "y": list("pqq"), "s": list("011")})
    release = ic.anonymize(new, 1, existing=earlier, sensitive="s", l=2, l_kind="frequency")
    assert release.joined == 1 and len(release.data) == 7 and release.verify()
