"""Releases by patterns, changed at random with all hashes made right: what is taken has to be true.

Judged with the standard library alone: rows are counted in the text, δ by its definition.
"""

import csv
import io
import json
import random
from collections import Counter
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from functools import cache
from hashlib import sha256
from math import comb
from pathlib import Path
from typing import Any

from incrowd.codebooks.delta import delta_of
from incrowd.codebooks.patterns import Patterns
from incrowd.codebooks.statement import statement
from incrowd.codebooks.verified import Asked, reasons
from incrowd.tables.files import open_table

Draw = random.Random
Table = list[list[str]]
COLUMNS = ["age", "sex", "ill"]
PATTERNS = [["1", "f"], ["1", "*"], ["2", "m"], ["*", "m"]]
FARTHEST = 40  # rows of a pattern up to which δ is looked at


def matched(row: list[str], patterns: Table, star: str) -> list[str] | None:
    """Return the first pattern that a row matches."""
    fits = (p for p in patterns if all(c in (star, x) for c, x in zip(p, row, strict=False)))
    return next(fits, None)


@cache
def delta(k: int, share: Fraction, epsilon: Fraction) -> Fraction:
    """Return the largest divergence of one row more, over a number of rows."""
    factor = Fraction((Decimal(epsilon.numerator) / epsilon.denominator).exp())

    def seen(n: int) -> list[Fraction]:
        chances = [comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(n + 1)]
        return [sum(chances[:k], Fraction(0)), *chances[k:]]

    worst = Fraction(0)
    for n in range(k - 1, FARTHEST):
        one, two = [*seen(n), Fraction(0)], seen(n + 1)
        one = one[: len(two)] if n + 1 >= k else one
        pairs = list(zip(one, two, strict=True))
        worst = max(worst, sum((max(Fraction(0), a - factor * b) for a, b in pairs), Fraction(0)))
        worst = max(worst, sum((max(Fraction(0), b - factor * a) for a, b in pairs), Fraction(0)))
    return worst


def faults(said: dict[str, Any], release: bytes, patterns: bytes, original: Table) -> list[str]:
    """Return what is false of a release that was taken."""
    header, *rows = list(csv.reader(io.StringIO(release.decode())))
    head, *known = list(csv.reader(io.StringIO(patterns.decode())))
    others, star = said["published_as_they_are"], said["star"]
    found = [] if sorted(header) == sorted([*head, *others]) else ["other columns"]
    if said["quasi_identifiers"] != head or found:
        return [*found, "other quasi-identifiers"]
    shown = [
        tuple(dict(zip(header, row, strict=True))[c] for c in (*head, *others)) for row in rows
    ]
    width, counts = len(head), Counter(shown)
    found += [f"{row} is not a pattern" for row in counts if [*row[:width]] not in known]
    found += [f"{row} is shown {n} times" for row, n in counts.items() if n < said["k"]]
    there: Counter[tuple[str, ...]] = Counter()
    for row in original:
        cells = dict(zip(["name", *COLUMNS], row, strict=True))
        pattern = matched([cells[c] for c in head], known, star)
        if pattern is not None:
            there[(*pattern, *(cells[c] for c in others))] += 1
    found += ["more rows than there are"] if counts - there else []
    exact = delta(said["k"], Fraction(said["sample"]), Fraction(said["epsilon"]))
    found += ["δ is larger"] if exact > Fraction(str(said["delta"])) + Fraction(1, 10**9) else []
    raw = [line.split(",") for line in release.decode().splitlines()[1:]]
    ways = [{cells[j] for cells in raw} for j in range(len(header))]
    alike = [len(way) == len({row[j] for row in rows}) for j, way in enumerate(ways)]
    return found + ([] if all(alike) else ["equal cells look different"])


def text_of(table: Table, draw: Draw, quotes: float = 0.0) -> bytes:
    """Write a table, some cells in quotes."""
    lines = [[f'"{x}"' if draw.random() < quotes else x for x in row] for row in table]
    return "".join(",".join(line) + "\n" for line in lines).encode()


def drawn(draw: Draw) -> tuple[Table, Table]:
    """Return an original's rows and an honest release of them, header first."""
    original = [
        [f"n{i}", draw.choice("112"), draw.choice("ffm"), draw.choice("xy")] for i in range(24)
    ]
    taken = [row for row in original if draw.random() < 0.8]
    shown = [[*p, row[3]] for row in taken if (p := matched(row[1:3], PATTERNS, "*"))]
    counts = Counter(map(tuple, shown))
    return original, [COLUMNS, *(row for row in shown if counts[tuple(row)] >= 2)]


def in_rows(draw: Draw, release: Table) -> None:
    """Change rows of a release."""
    rows = release[1:] or [["1", "f", "x"]]
    one = draw.choice(rows)
    way = draw.randrange(5)
    if way == 0:
        release += [list(one)] * draw.choice([1, 5, 30])
    elif way == 1 and len(release) > 1:
        release.pop(draw.randrange(1, len(release)))
    elif way == 2:
        one[draw.randrange(3)] = draw.choice(["1", "2", "*", "f", "m", "x", "", " 1"])
    elif way == 3:
        j = draw.randrange(3)
        two = draw.choice(rows)
        one[j], two[j] = two[j], one[j]
    else:
        for row in release:
            row[:] = [row[2], row[0], row[1]]


def in_words(draw: Draw, said: dict[str, Any]) -> None:
    """Change a statement."""
    key = draw.choice([*said, "k", "delta", "epsilon", "sample", "star"])
    near = {
        "k": [1, 2, 3, 4, True, "2", 2.0],
        "delta": [HONEST / 2, HONEST * 2, 1.0, 1, 0.0, HONEST * 0.99],
        "epsilon": ["1/2", "2", "3", "1.0", 1, "01"],
        "sample": ["1/3", "2/3", "2/4", "1/2 ", "0.5"],
        "star": ["1", "m", "f", "", "**"],
        "published_as_they_are": [[], ["ill", "ill"], ["sex"], "ill"],
        "quasi_identifiers": [["sex", "age"], ["age"], ["age", "sex", "ill"]],
    }
    said[key] = draw.choice(near.get(key, ["another", 0, None]))
    if draw.random() < 0.1:
        said.pop(key)


def verdict(folder: Path, seed: int) -> tuple[bool, list[str]]:
    """Forge a release; return whether it was taken, and what is false of it."""
    draw = random.Random(seed)
    original, honest = drawn(draw)
    release, patterns = deepcopy(honest), [COLUMNS[:2], *map(list, PATTERNS)]
    words = []
    for _ in range(draw.choice([1, 1, 2, 3])):
        change = draw.randrange(4)
        if change == 0:
            in_rows(draw, release)
        elif change == 1:
            words.append(draw.randrange(10**6))
        elif change == 2:
            at = draw.randrange(1, len(patterns))
            patterns[at][draw.randrange(2)] = draw.choice(["1", "2", "*", "f", "m"])
        else:
            draw.shuffle(patterns[1:])
    files = {
        "o.csv": text_of(release, draw, draw.choice([0, 0, 0, 0.3, 1])),
        "p.csv": text_of(patterns, draw),
        "t.csv": text_of([["name", *COLUMNS], *original], draw),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    paths = folder / "o.csv", folder / "p.csv"
    asked = Asked(2, Fraction(1, 2), Fraction(1))
    said = statement(asked, HONEST, Patterns.of(paths[1]), ["ill"], paths)
    for word in words:
        in_words(random.Random(word), said)
    for name, file in (("release", "o.csv"), ("patterns", "p.csv")):
        if f"{name}_sha256" in said:
            said[f"{name}_sha256"] = sha256(files[file]).hexdigest()
    said = json.loads(json.dumps(said))
    known = Patterns.of(open_table(paths[1]), str(said.get("star", "*")))
    tables = open_table(paths[0]), known, open_table(folder / "t.csv")
    if next(reasons(said, paths, *tables, {}), None) is not None:
        return False, []
    return True, faults(said, files["o.csv"], files["p.csv"], original)


HONEST = delta_of(2, "1/2", "1")


def test_honest_delta() -> None:
    """Tests that the judge finds what is stated, but for the last digit."""
    exact = float(delta(2, Fraction(1, 2), Fraction(1)))
    assert exact <= HONEST <= exact * 1.00001


def test_forged_releases(tmp_path: Path) -> None:
    """Tests 300 forgeries: some are true, none that is taken is false."""
    found = [verdict(tmp_path, seed) for seed in range(300)]
    assert not [(seed, wrong) for seed, (_, wrong) in enumerate(found) if wrong]
    assert 10 < sum(taken for taken, _ in found) < 200
