"""Tests that tables whose numbers have a decimal comma are released as those with a point are."""

import json
import random
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import few
from incrowd.checker.numerals import without_comma
from incrowd.cli import cli
from incrowd.desk.ask import Ask
from incrowd.errors import IncrowdError, InputError
from incrowd.policy import Policy
from incrowd.policy.guess import guess
from incrowd.report.distribution import as_numbers
from incrowd.report.metadata import write_metadata
from incrowd.text.numerals import COMMA, pointed

RULES = [
    *("interval:5,10", "interval:2.5,5", "bands:<0,60.5,80+/<0,80+", "bands:<60.5", "round:2.5,5"),
    *("codes:<60.5,90+", "range", "range:round=2.5", "range:most=12.5,cost=values", "mean"),
    *("median:digits=2", "range:show={low} bis {high}", "none"),
]


def weights(rows: int = 40, seed: int = 3) -> list[str]:
    """Numbers with a point, some whole, some below 0."""
    coins = random.Random(seed)
    return [str(Decimal(coins.randint(-30, 1100)) / 10) for _ in range(rows)]


def with_comma(text: str) -> str:
    """The oracle: a published cell with a point, written with a comma by hand."""
    if text.startswith("["):
        low, high = text[1:-1].split(",")
        return f"[{low.replace('.', ',')};{high.replace('.', ',')}{text[-1]}"
    if ".." in text:
        return "..".join(end.replace(".", ",") for end in text.split(".."))
    return text.replace(".", ",")


def tables(numbers: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One table in two ways to write it."""
    ill = ["abc"[i % 3] for i in range(len(numbers))]
    comma = [number.replace(".", ",") for number in numbers]
    return tuple(pl.DataFrame({"w": each, "ill": ill}) for each in (numbers, comma))  # type: ignore


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_does_the_same(rule: str, tmp_path: Path) -> None:
    """Tests that each cell, the cost and the bound are those of the table with a point; proved."""
    numbers = weights(12)
    one, other = tables(numbers)
    asked = {"k": 3, "qi": "w", "sensitive": "ill", "hierarchies": {"w": rule}}
    expected, found = ic.anonymize(one, **asked), ic.anonymize(other, decimal=",", **asked)
    assert found.data["w"].to_list() == [with_comma(text) for text in expected.data["w"]]
    assert (found.cost, found.lower_bound) == (expected.cost, expected.lower_bound)
    place = tmp_path / "t.csv"
    other.write_csv(place, separator=";")
    release = ic.anonymize(place, decimal=",", order="shuffle", **asked)
    release.write_proven(tmp_path / "r.csv", tmp_path / "r.proof", original=place)
    asked |= {"decimal": ","}
    assert ic.verify(tmp_path / "r.csv", place, tmp_path / "r.proof", **asked).lawful
    if rule not in ("mean", "median:digits=2", "none"):
        assert ic.verify(tmp_path / "r.csv", place, **asked).lawful
    if rule != "none":
        with pytest.raises(IncrowdError, match="decimal"):
            asked |= {"decimal": "."}
            answer = ic.verify(tmp_path / "r.csv", place, tmp_path / "r.proof", **asked)
            raise IncrowdError("; ".join(answer.reasons))


def test_cells_that_stay_are_as_they_were(tmp_path: Path) -> None:
    """Tests that thousands apart are read, and that no cell that stays is written anew."""
    lines = ["w;s", "1.234,50;a", "1.234,50;b", "1234,5;a", "1234,5;b", "2 000,00;a", "2 000,00;b"]
    place = tmp_path / "t.csv"
    place.write_bytes(("\r\n".join(lines) + "\r\n").encode())
    asked = {"sensitive": "s", "decimal": ",", "order": "keep"}
    for rule in ("range", "mean", "interval:500"):
        ic.anonymize(place, 2, hierarchies={"w": rule}, **asked).write(tmp_path / "r.csv")
        assert (tmp_path / "r.csv").read_bytes() == place.read_bytes()
    release = ic.anonymize(place, 4, hierarchies={"w": "range"}, **asked)
    shown = set(release.data["w"]) if hasattr(release.data, "columns") else set()
    release.write(tmp_path / "r.csv")
    shown = {line.split(";")[0] for line in (tmp_path / "r.csv").read_text().split("\n")[1:7]}
    assert shown == {"1234,5-2000"}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("1,5", "1.5"), ("1.234,5", "1234.5"), ("1.234", "1234"), ("-1 234,25", "-1234.25")),
        *(("1'234.567".replace(".", "'"), "1234567"), ("1\u202f234", "1234"), ("007", "007")),
        *(("+3", "+3"), (" 4,0 ", "4.0"), ("1.5", None), ("0.125", None), ("1.2345", None)),
        *(("1.234 567", None), ("12.34,5", None)),
        *((",5", None), ("1,", None), ("1,5,5", None), ("", None), ("abc", None), ("1e5", None)),
        *(("1234.567", None), ("1.234.56", None), ("--1", None), ("1_000", None), ("٣", None)),
    ],
)  # fmt: skip
def test_what_is_a_number(text: str, number: str | None) -> None:
    """Tests numbers and texts that are none, as the reader and the checker have them."""
    assert pointed(text, COMMA) == number
    assert without_comma(text, COMMA) == (number or "")


def test_reader_and_checker_agree() -> None:
    """Tests the two on texts at random; with a point neither touches a text."""
    coins = random.Random(7)
    for _ in range(few(20_000)):
        text = "".join(coins.choices("0127.,' -+", k=coins.randint(1, 9)))
        assert without_comma(text, COMMA) == (pointed(text, COMMA) or "")
        assert pointed(text, ".") == without_comma(text, ".") == text


def test_figures_of_a_sensitive_column() -> None:
    """Tests that distances and what ``measure`` says are those of the table with a point."""
    numbers = [f"{x}.5" for x in (1, 9, 20, 3, 100, 7, 12, 30, 2)]
    found = []
    for values, decimal in ((numbers, "."), ([n.replace(".", ",") for n in numbers], ",")):
        frame = pl.DataFrame({"q": list("aaabbbccc"), "pay": values})
        release = ic.anonymize(
            *(frame, 3), qi="q", sensitive="pay", t=0.4, distance="ordered", decimal=decimal
        )
        own = ic.measure(frame, "q", "pay", decimal=decimal).record()["sensitive"]
        figures = [{k: v for k, v in each.items() if k != "name"} for each in own]
        found.append((release.cost, release.data["q"].to_list(), figures))
    assert found[0] == found[1]


def test_bars_of_reports() -> None:
    """Tests that bars count numbers with a comma, and none of another form."""
    assert as_numbers(["1,5", None, "1.234"], ",").tolist()[::2] == [1.5, 1234.0]  # type: ignore
    assert as_numbers(["1.5"], ",") is None and as_numbers(["1,5"]) is None
    assert as_numbers(["01,5"], ",") is None  # a code


@pytest.mark.parametrize("rule", ["range", "mean", "interval:5", "bands:0+", "codes:90+"])
def test_messages_name_the_option(rule: str) -> None:
    """Tests that a comma without the option, and a point with it, are told; no cell is."""
    one, other = tables(weights())
    for frame, decimal, way in ((other, ".", "--decimal ,"), (one, ",", "reads 12,5 and")):
        with pytest.raises(InputError, match=way) as told:
            ic.anonymize(frame, 3, sensitive="ill", hierarchies={"w": rule}, decimal=decimal)
        assert not any(value in str(told.value) for value in frame["w"] if len(value) > 4)


def test_numbers_of_a_frame_have_no_comma() -> None:
    """Tests that columns of fractions are refused, for 1.125 would be 1125; whole ones are not."""
    frame = pl.DataFrame({"w": [1.125, 1.25, 2.5, 2.0], "n": [1, 1, 2, 2]})
    with pytest.raises(InputError, match="holds numbers, not texts"):
        ic.anonymize(frame, 2, hierarchies={"w": "range"}, decimal=",")
    assert ic.anonymize(frame[["n"]], 2, hierarchies={"n": "range"}, decimal=",").cost == 0
    with pytest.raises(InputError, match="holds numbers, not texts"):
        ic.measure(frame, decimal=",")
    with pytest.raises(InputError, match="what stands before decimals"):
        ic.anonymize(frame, 2, decimal=";")


@pytest.mark.parametrize("rule", ["range", "interval:1", "mean", "none"])
def test_commas_between_thousands_are_warned_of(rule: str) -> None:
    """Tests that 1,200 is read as 1.2 with a warning, which tells no cell; 12,5 without one."""
    pay = ["8,717", "8,727", "8,777", "9,727", "100", None, None]
    for column, warned in (pay, rule != "none"), ([*pay[:5], "9,5", "9,5"], False):
        release = ic.anonymize(
            pl.DataFrame({"pay": column}), 2, hierarchies={"pay": rule}, decimal=","
        )
        told = [text for text in release.warnings if "three digits" in text]
        assert bool(told) == warned and not any("7" in text for text in told)


def test_command_line_and_policy_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that both say the mark, also where hierarchies are made, and that the desk takes it."""
    monkeypatch.chdir(tmp_path)
    tables(weights())[1].write_csv("t.csv", separator=";")
    Path("p.toml").write_text('k = 3\nqi = "w"\nsensitive = "ill"\ndecimal = ","\n')
    with Path("p.toml").open("a") as file:
        file.write('[hierarchies]\nw = "range"\n')

    def run(line: str) -> str:
        done = CliRunner().invoke(cli, line.split())
        assert done.exit_code == 0, done.output
        return done.output

    run("anonymize t.csv -o a.csv --policy p.toml --order keep -q")
    plain = "anonymize t.csv -o b.csv -k 3 --sensitive ill --hierarchy w=range --decimal ,"
    run(f"{plain} --order keep -q")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    run("hierarchy make t.csv --column w --interval 5 --decimal , -o w.csv")
    assert ",0)" in Path("w.csv").read_text() and "." not in Path("w.csv").read_text()
    run("hierarchy make t.csv --column w --quantiles 4 --decimal , -o q.csv")
    assert "." not in Path("q.csv").read_text()
    assert "sound" in run("hierarchy check interval:5 --table t.csv --column w --decimal ,")
    run("init t.csv --decimal , -o found.toml")
    found = Policy.read("found.toml")
    assert found.decimal == "," and str(found.hierarchies["w"]).startswith("interval:")
    policy = Policy.read("p.toml")
    assert policy.decimal == "," and "--decimal ," in policy.command("t.csv", "o.csv")
    assert Ask.of_policy(policy, ["w", "ill"]).policy().decimal == ","
    asked = Ask.of_policy(policy, ["w", "ill"])
    assert asked.source("w").decimal == ","
    plain = asked.changed({"further": {"decimal": None}}, ["w", "ill"])
    assert plain.policy().decimal == "." and plain.source("w").decimal == "."


def test_metadata_name_the_marks(tmp_path: Path) -> None:
    """Tests that descriptors say how numbers are written, as Frictionless has it."""
    lines = ["w;n;p;z;s", "1.234,5;3;2,5;01067;a", "1.234,5;3;2,5;01067;b"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    release = ic.anonymize(tmp_path / "t.csv", 2, sensitive="s", decimal=",")
    release.write(tmp_path / "r.csv")
    write_metadata(release, tmp_path / "r.csv", tmp_path / "r.json")
    fields = json.loads((tmp_path / "r.json").read_text())["resources"][0]["schema"]["fields"]
    names = ("type", "decimalChar", "groupChar")
    assert [tuple(each.get(name) for name in names) for each in fields] == [
        *(("number", ",", "."), ("integer", None, None), ("number", ",", None)),
        *(("string", None, None), ("string", None, None)),
    ]


def test_a_policy_is_proposed() -> None:
    """Tests that such a column is said to be one, and that nothing is read so unasked."""
    frame = tables(weights())[1]
    found = next(each for each in guess(frame) if each.column == "w")
    assert found.hierarchy is None and "--decimal" in found.why
