"""Tests of linked columns that have hierarchies: suppressed together, below that level by level."""

import random
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import few
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.published.verification import verify_release
from incrowd.tables import from_native
from partings import partitions

RULES = {"zip": "prefix:1,2", "icd": "keep:1"}
HEIGHT = {"zip": 3, "icd": 2, "city": 1}
Row = dict[str, str]


def label(column: str, cell: str, level: int) -> str:
    """What a cell shows at a level, by the words of the documentation."""
    if level == HEIGHT[column]:
        return "*"
    if level == 0:
        return cell
    return cell[: 3 - level] + "*" * level if column == "zip" else cell[:1]


def cost_of(part: list[Row], links: list[str]) -> Fraction:
    """The least that a class costs: the lowest levels at which all of it agree."""
    levels = {}
    for column, height in HEIGHT.items():
        for level in range(height + 1):
            if len({label(column, row[column], level) for row in part}) == 1:
                levels[column] = level
                break
    highest = max(HEIGHT[c] for c in links)
    up = max(levels[c] + highest - HEIGHT[c] if levels[c] else 0 for c in links)
    for c in links:
        levels[c] = max(levels[c], up - (highest - HEIGHT[c]))
    return len(part) * sum((Fraction(levels[c], HEIGHT[c]) for c in HEIGHT), Fraction(0))


def table(seed: int, rows: int) -> list[Row]:
    """Random rows with codes of one length."""
    rng = random.Random(seed)
    return [
        {
            "zip": rng.choice(["111", "112", "121", "211", "212"]),
            "icd": rng.choice(["J45", "J46", "E11"]),
            "city": rng.choice(["a", "b"]),
        }
        for _ in range(rows)
    ]


@pytest.mark.parametrize("links", [["zip", "icd"], ["zip", "city"], ["zip", "icd", "city"]])
def test_against_all_partitions(links: list[str]) -> None:
    """Tests cost and bound against the least of all partitions, and what the cells show."""
    for seed in range(few(6, 3)):
        rows = table(seed, 7)
        best = min(sum(cost_of(p, links) for p in parts) for parts in partitions(rows, 2))
        release = ic.anonymize(pl.DataFrame(rows), 2, linked=[links], hierarchies=RULES)
        assert Fraction(release.cost).limit_denominator(1000) == best
        assert Fraction(release.lower_bound).limit_denominator(1000) <= best
        for row in release.data.select(links).rows():
            assert len({cell == "*" for cell in row}) == 1
        assert release.verify()


def test_verified_and_proven(tmp_path: Path) -> None:
    """Tests the command line: the release is verified, and its proof is accepted."""
    original, out, proof = (tmp_path / name for name in ("in.csv", "out.csv", "p"))
    pl.DataFrame(table(1, 40)).write_csv(original)
    words = ["anonymize", str(original), "-o", str(out), "-k", "4", "--linked", "zip,icd"]
    words += ["--hierarchy", "zip=prefix:1,2", "--hierarchy", "icd=keep:1", "--proof", str(proof)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert check(out, original, proof).accepted
    before, after = (pl.read_csv(path, infer_schema=False) for path in (original, out))
    asked = {"k": 4, "linked": [["zip", "icd"]], "hierarchies": RULES}
    verdict = verify_release(from_native(before), from_native(after), ic.Policy(**asked))
    assert verdict.lawful, verdict.reasons
    torn = ic.anonymize(before, 4, hierarchies=RULES)
    if any((a == "*") != (b == "*") for a, b in torn.data.select("zip", "icd").rows()):
        verdict = verify_release(from_native(before), from_native(torn.data), ic.Policy(**asked))
        assert "were not suppressed together" in " ".join(verdict.reasons)


@pytest.mark.parametrize("linked", [False, True])
def test_columns_that_are_not_generalized_level_by_level(tmp_path: Path, linked: bool) -> None:
    """Tests a release of no stars whose zip codes are whole beside shortened icd codes."""
    original, out, proof = (tmp_path / name for name in ("in.csv", "out.csv", "p"))
    original.write_text("icd,zip\nA1,111\nA2,111\nB1,211\nB2,211\n")
    rules = ["--hierarchy", "zip=prefix:1,2", "--hierarchy", "icd=keep:1"]
    link = ["--linked", "zip,icd"]
    words = ["anonymize", str(original), "-o", str(out), "-k", "2", "--proof", str(proof), *rules]
    assert CliRunner().invoke(cli, words + link * linked).exit_code == 0
    assert ("A*,1**" if linked else "A*,111") in out.read_text()
    asked = ["verify", str(out), "--original", str(original), "-k", "2", *rules, *link]
    for more in ([], ["--proof", str(proof)]):
        done = CliRunner().invoke(cli, asked + more)
        assert done.exit_code == int(not linked), done.stderr
        assert linked or "'zip', 'icd' were not generalized together" in done.stderr
