"""The table of all options of a release: each is a row in it, and stands nowhere else.

Roles and models, its first rows, are in ``protection.py``.

The names are the same on the command line, in policy files and in Python.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.policy.cap import Cap
from incrowd.policy.options import ORDERS, REDUCTIONS, Option, named, row, table_of
from incrowd.policy.protection import Protection
from incrowd.text.marks import STAR
from incrowd.text.numerals import DECIMALS, POINT

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy


@dataclass(frozen=True, kw_only=True)
class Asked(Protection):
    """All options with their defaults; ``Policy`` holds their values."""

    hierarchies: Mapping[str, "str | Path | Hierarchy"] = row(
        {},
        Option(
            "texts by column",
            "how a column is generalized: `interval:5,10`, `range`, `mean`, `prefix:1,2`, `date`, "
            "`none`, or a file with lines `leaf;level1;…;*`",
            "--hierarchy",
            "COL=SPEC",
            file=True,
            words="suppressed whole",
            python="or a source (``incrowd.hierarchy``)",
        ),
    )
    weights: Mapping[str, Any] = row(
        {},
        Option(
            "numbers by column",
            "what a changed cell of a column costs",
            "--weight",
            "COL=X",
            above=0,
            words="1",
        ),
    )
    cost: Any = row(
        "level",
        Option(
            "text or by column",
            "what a changed cell costs: `level` (of its hierarchy's height), `ncp`, `stars`, or a "
            "file with lines `label;cost`; another for each column only in a policy file or Python",
            "--cost",
            "COST",
            file=True,
            python="or a cost (``incrowd.hierarchy``)",
        ),
    )
    star: str = row(
        STAR, Option("text", "what is written for a suppressed cell", "--star", "SYMBOL")
    )
    veil: Any = row(
        None,
        Option(
            "number or by column",
            "probability with which coins hide each cell beforehand, such as `0.05` or "
            "`age=0.5,sex=0.1`: then what a hidden cell may have been becomes more or less likely "
            "by a factor of 1/probability at most",
            "--veil",
            "Q|COL=Q,…",
            above=0,
            most=1,
            words="none",
        ),
    )
    fixed: Sequence[str] = row(
        (), Option("names", "quasi-identifiers that are never changed", "--fixed", "A,…")
    )
    linked: Sequence[Sequence[str]] = row(
        (),
        Option("lists", "quasi-identifiers suppressed together, row by row", "--linked", "A,B,…"),
    )
    caps: "Mapping[str, Any] | Sequence[Cap | Mapping[str, Any]]" = row(
        (),
        Option(
            "caps",
            "largest share of cells that may change, of a column or a subgroup",
            "--cap",
            "COL=X",
            typed="COL=VALUE:X caps the cells of the rows in which COL is VALUE",
            python="by column, or a list of ``Cap``",
        ),
    )
    method: Any = row(
        "auto",
        Option(
            "text", "`auto` or a method's id (`incrowd methods`)", "--method", python="or a solver"
        ),
    )
    reductions: str | None = row(
        None,
        Option(
            "text",
            "what an exact method does before it starts",
            "--reductions",
            choices=REDUCTIONS,
            words="the method's own",
        ),
    )
    time_limit: float | None = row(
        None, Option("number", "wall seconds to search at most", "--time-limit", "S", above=0)
    )
    gap: float | None = row(
        None,
        Option(
            "number", "end at this gap, `1 − bound/cost`, e.g. 0.01", "--gap", "X", least=0, most=1
        ),
    )
    spend: bool = row(
        False,
        Option(
            "flag",
            "search until the time limit (without one until methods have nothing left to try), "
            "even where that brings next to nothing; `--gap 0` asks for the same",
            "--spend",
        ),
    )
    seed: int | None = row(
        None,
        Option(
            "whole",
            "number from which the search draws its random choices; if given, the order of "
            "shuffled rows follows from it, too (not with `veil`). Keys and the coins of `veil` "
            "never do",
            "--seed",
            least=0,
            words="0 for the search, and an order of rows that nobody can make again",
            python="``release.warnings`` says what a seed discloses",
        ),
    )
    threads: int | None = row(
        None,
        Option(
            "whole",
            "threads that search at a time, at most; the result is the same for any number, unless "
            "there is a time limit",
            "--threads",
            least=1,
            words="as many as there are cores; 1 for each task of Spark",
        ),
    )
    suppress_rows: int | str = row(
        0,
        Option(
            "rows",
            "leave out the fewest rows, at most so many (`20` or `2%`), if the table as a whole "
            "breaks the model; each counts as a row of stars, and the bound is one for the others",
            "--suppress-rows",
            "N|N%",
            least=0,
        ),
    )
    delete_rows: Any = row(
        None,
        Option(
            "text",
            "leave out rows that are cheaper to delete than to hide: `price=9,most=2%` counts 9 "
            "for each (by default as much as a row of stars) and deletes at most 2 % of the rows; "
            "the bound holds for all releases that may do so",
            "--delete-rows",
            "price=X,most=N|N%",
            words="none",
            python="or a mapping with these two keys",
        ),
    )
    hold_back: bool = row(
        False,
        Option(
            "flag",
            "with an earlier release: leave out for now the new rows that fit no class, and those "
            "of a class that gained rows of one sensitive value only (with `person`: or of one "
            "person), where the later release alone does not tell it",
            "--hold-back",
        ),
    )
    strict: bool = row(
        False,
        Option(
            "flag",
            "refuse a table in which a column left out with `id` has one value in several rows: it "
            "may name people, whom `person` counts",
            "--strict",
        ),
    )
    na: Any = row(
        (),
        Option(
            "marks",
            "texts that stand for a missing value, such as `NA` and `-99`: no hierarchy takes them "
            "for a number, a date or a code; they stay, or become `*`",
            "--na",
            "TEXT,…|COL=TEXT,…",
            python='a list of texts, or column → such a list (`""` for all columns)',
        ),
    )
    decimal: str = row(
        POINT,
        Option(
            "text",
            "decimal mark of numbers that are texts: with `,` `1,5` and `1.234,5` are numbers, and "
            "what is made of them is written so, too; options are written with a point",
            "--decimal",
            choices=DECIMALS,
        ),
    )
    derive: Mapping[str, str] = row(
        {},
        Option(
            "texts by column",
            "columns made of others, which are left out: `age=years(birth, 2024-12-31)` counts the "
            "completed years from a date to a reference date; `years(birth, 2024-12-31, "
            "format=%d/%m/%Y)` where dates are not ISO",
            "--derive",
            "NEW=RULE",
            words="none",
        ),
    )
    survey_weight: str | None = row(
        None,
        Option(
            "text",
            "column that says how many people a row stands for; internal reports weight their "
            "figures by it",
            "--survey-weight",
            "COLUMN",
        ),
    )
    survey_stratum: str | None = row(
        None, Option("text", "strata of the sample: a column", "--survey-stratum", "COLUMN")
    )
    order: str = row(
        "keep",
        Option(
            "text",
            "order of the released rows",
            "--order",
            choices=ORDERS,
            command="shuffle",
            why="a file is to be published, rows of a frame are joined with others by their place",
        ),
    )


OPTIONS = table_of(Asked)
OPTION = named(OPTIONS)
LEVELS = replace(
    OPTION["hierarchies"], meaning=OPTION["hierarchies"].meaning.replace("`mean`, ", "")
)
"""Hierarchies where averages are not served."""
