"""Tables in which people have several rows, k = 5 people in every class.

``python benchmarks/persons.py adult.csv``: each row of a table with a header and semicolons is a
person with 1 to 5 visits (drawn with seed 0), whose age is that of the visit: it varies, the other
columns stay.  ``python benchmarks/persons.py --synthetic 200000``: so many people with 5 visits on
average, made from seed 0: six quasi-identifiers of a person, two of a visit; with ``--t 0.5`` a
diagnosis of each visit, too, one of 150, of which a person counts once.  ``--constant-alike``:
columns that are constant within each person show one cell in all rows of a person; ``--one-age``
makes age such a column.  Prints cost, bound, gap, people and CPU seconds.  With ``--cpu`` the time
limit is one of CPU seconds, which a machine that others use as well does not cut short.
"""

import argparse
import resource
import time

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.run import clock

MOST = 5  # visits of a person of the first table


def repeated(path: str) -> pl.DataFrame:
    """Return the first table: a row for each visit."""
    table = pl.read_csv(path, separator=";")
    rng = np.random.default_rng(0)
    copies = rng.integers(1, MOST + 1, table.height)
    row = np.repeat(np.arange(table.height), copies)
    visit = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    person = pl.Series("person", row)
    return table[row].with_columns(person, (pl.col("age") + pl.Series(visit)).alias("age"))


def drawn(rng: np.random.Generator, values: int, skew: float, rows: int) -> np.ndarray:
    """Return one of so many values for each row, the first ones more often."""
    share = (1 + np.arange(values)) ** -skew
    return rng.choice(values, rows, p=share / share.sum())


def skewed(rng: np.random.Generator, people: int) -> dict[str, np.ndarray]:
    """Return six quasi-identifiers of so many people."""
    return {
        "sex": rng.integers(0, 2, people),
        "born": 1920 + 5 * np.clip(rng.normal(9, 4, people).round().astype(int), 0, 18),
        "ethnicity": drawn(rng, 6, 1.5, people),
        "language": drawn(rng, 8, 2.0, people),
        "insurance": drawn(rng, 4, 1.0, people),
        "marital": drawn(rng, 4, 0.7, people),
    }


def visits(people: int) -> pl.DataFrame:
    """Return the second table: what people are is skewed, and where they are treated too."""
    rng = np.random.default_rng(0)
    of_person = skewed(rng, people)
    number = rng.geometric(0.2, people)
    person = np.repeat(np.arange(people), number)
    frame = {name: values[person] for name, values in of_person.items()}
    home = drawn(rng, 12, 0.8, people)[person]  # most visits are to one ward
    ward = np.where(rng.random(len(person)) < 0.7, home, drawn(rng, 12, 0.8, len(person)))
    frame |= {"ward": ward, "year": 2015 + drawn(rng, 6, 0.3, len(person)), "person": person}
    frame["diagnosis"] = drawn(rng, 150, 0.9, len(person))
    return pl.DataFrame(frame)


def main() -> None:
    """Make one release."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table", nargs="?")
    parser.add_argument("--synthetic", type=int)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--gap", type=float, default=0.02)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--people", type=int, help="only the first so many")
    parser.add_argument("--one-age", action="store_true", help="the age of the first visit")
    parser.add_argument("--constant-alike", action="store_true")
    parser.add_argument("--t", help="closeness of diagnosis, of the second table")
    asked = parser.parse_args()
    if asked.cpu:
        clock.now = time.process_time
    frame = repeated(asked.table) if asked.table else visits(asked.synthetic or 200_000)
    if asked.people:
        frame = frame.filter(pl.col("person") < asked.people)
    if asked.one_age:
        frame = frame.with_columns(pl.col("age").first().over("person"))
    told = {"sensitive": "diagnosis", "t": asked.t} if asked.t else {}
    frame = frame if asked.t or asked.table else frame.drop("diagnosis")
    began = time.process_time()
    release = ic.anonymize(
        frame, k=asked.k, person="person", time_limit=asked.time_limit, gap=asked.gap,
        method=asked.method, seed=1, constant_alike=asked.constant_alike, **told,
    )  # fmt: skip
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{release.rows:,} rows of {release.people:,} people, {release.columns} quasi-identifiers: "
        f"cost {release.cost:,}, bound {release.lower_bound:,}, gap {release.gap:.2%}, at least "
        f"{release.fewest_people} people in each of {release.classes:,} classes, by "
        f"{release.method}; CPU {took:.0f} s, {peak:.1f} GB"
    )


if __name__ == "__main__":
    main()
