"""Tests that whatever tells a release's cost tells the rows left out, which the cost counts."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pages import require_harmless

import incrowd as ic
from incrowd.report.make import external_report, internal_report
from incrowd.report.metadata import descriptor

FRAME = pl.DataFrame({"age": [20, 20, 21, 22, 20, 23], "ill": ["flu"] * 5 + ["gout"]})
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "the model is broken": (
        {"models": "alpha=0.5", "suppress_rows": 4},
        {"suppressed_rows": 4},
        (
            "4 rows were left out, because the table broke the model; the cost counts each as a "
            "row of stars. ",
            "no lawful release of the rows kept costs less",
        ),
    ),
    "deletion is cheaper": (
        {"delete_rows": "price=0.25,most=3"},
        {"deleted_rows": 3, "deletion_price": 0.25},
        ("3 rows were deleted, which costs 0.25 for each. ", "same table with such deletions"),
    ),
    "none has to be deleted": (
        {"delete_rows": "price=9,most=1"},
        {"deleted_rows": 0, "deletion_price": 9},
        ("0 rows were deleted",),
    ),
}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("case", CASES)
def test_rows_that_the_cost_counts_are_told(case: str, tmp_path: Path) -> None:
    """Tests both reports, metadata, the card and the summary against changed cells and cost."""
    asked, figures, told = CASES[case]
    release = ic.anonymize(FRAME, 2, sensitive="ill", **asked)
    gone = FRAME.height - release.rows
    price = figures.get("deletion_price", 1)
    assert release.cost == release.changed_cells + price * gone
    public, private = (
        " ".join(" ".join(require_harmless(page).text).split())
        for page in (external_report(release), internal_report(release))
    )
    assert all(words in page for words in told for page in (public, private))
    before = "Figures before are those of the rows that stayed."
    assert before not in public and (before in private) == (gone > 0)
    path = tmp_path / "release.csv"
    release.write(path)
    facts = descriptor(release, path, tmp_path)["incrowd"]
    assert facts | figures == facts and facts["cost"] == release.cost
    (name, rows), *_ = figures.items()
    assert rows == gone
    assert release.summary()[name].to_list() == [gone]
    assert f'{name.replace("_", " ")}</th><td style="text-align:left">{gone}<' in (
        release._repr_html_()
    )
