"""Data to try incrowd on: a real table from a package, and one made from a seed."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.errors import MissingExtraError

if TYPE_CHECKING:
    import polars as pl

SEX = {0: "male", 1: "female"}
RACE = {0: "white", 1: "black or other"}
EDUCATION = {
    1: "8th grade or less",
    2: "some high school",
    3: "high school",
    4: "some college",
    5: "college or more",
}
MARITAL = {
    1: "under 17",
    2: "married",
    3: "widowed",
    4: "never married",
    5: "divorced",
    6: "separated",
    8: "unknown",
}
INCOME = {
    11: "under 1000",
    12: "1000-1999",
    13: "2000-2999",
    14: "3000-3999",
    15: "4000-4999",
    16: "5000-5999",
    17: "6000-6999",
    18: "7000-9999",
    19: "10000-14999",
    20: "15000-19999",
    21: "20000-24999",
    22: "25000 or more",
}
QI = ("sex", "age", "race", "education", "income", "marital")
SENSITIVE = ("asthma",)
HAVE = {0: "never", 1: "ever"}


def nhefs() -> "pl.DataFrame":
    """Return 1,566 people of a health survey, six quasi-identifiers and a diagnosis.

    NHANES I Epidemiologic Follow-up Study (United States, 1971), complete cases, as packaged in
    ``causaldata`` (Huntington-Klein and Barrett); codes spelled out as its codebook does.

    Raises
    ------
    MissingExtraError: ``causaldata`` is not installed.
    """
    import polars as pl

    found = importlib.util.find_spec("causaldata")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(
            "causaldata", "demo", "the demo on real data (incrowd demo --synthetic needs nothing)"
        )
    # the file itself, for importing the package reads all of its tables
    folder = Path(next(iter(found.submodule_search_locations)))
    from pandas import read_stata

    names = [*QI, *SENSITIVE]
    raw: Any = read_stata(folder / "nhefs_complete" / "nhefs_complete.dta", columns=names)
    words = {"sex": SEX, "race": RACE, "education": EDUCATION, "income": INCOME}
    words |= {"marital": MARITAL, "asthma": HAVE}
    columns: dict[str, list[int | str | None]] = {}
    for name in names:
        numbers = [None if value != value else int(value) for value in raw[name].tolist()]
        spelled = words.get(name)
        columns[name] = [n if n is None or not spelled else spelled[n] for n in numbers]
    return pl.DataFrame(columns)


def synthetic(rows: int = 1500, seed: int = 0) -> "pl.DataFrame":
    """Return a table of people who never lived, with the same columns, drawn from a seed."""
    import polars as pl

    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(9.0, 5.0, rows), 25, 74).astype(int)
    college = rng.choice(5, rows, p=[0.2, 0.22, 0.4, 0.08, 0.1])
    earned = np.clip(np.round(rng.normal(4.5 + 1.1 * college, 2.2)), 0, 11).astype(int)
    single = np.where(age < 30, 0.3, 0.08)
    alone = np.where(rng.random(rows) < single, 3, rng.choice([1, 2, 4], rows, p=[0.84, 0.06, 0.1]))
    incomes = [*INCOME.values()]
    table = {
        "sex": _picked(rng.random(rows) < 0.51, [*SEX.values()]),
        "age": age.tolist(),
        "race": _picked(rng.random(rows) < 0.13, [*RACE.values()]),
        "education": _picked(college, [*EDUCATION.values()]),
        "income": _picked(earned, incomes),
        "marital": _picked(alone, [*MARITAL.values()]),
        "asthma": _picked(rng.random(rows) < 0.05, [*HAVE.values()]),
    }
    frame = pl.DataFrame(table)
    missing = pl.Series(rng.random(rows) < 0.04)
    return frame.with_columns(pl.when(~missing).then(pl.col("income")).alias("income"))


def _picked(codes: np.ndarray, words: list[str]) -> list[str]:
    return [words[int(code)] for code in codes]
