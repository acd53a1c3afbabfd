"""Ages in place of birth dates: counted, kept in the table's form, released, proven."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.policy.derive import Years, derived
from incrowd.tables import from_native, read, texts

RULE = "years(birth, 2024-12-30)"
PEOPLE = {
    "name": list("abcdef"),
    "birth": ["1990-12-30", "1990-12-31", None, "2000-02-29", "1985-05-05", "1985-06-05"],
    "ill": ["flu", "a,b", 'say "x"', "", "flu", "gout"],
}
AGES = ["34", "33", None, "24", "39", "39"]
ROLES = ("-k", 2, "--id", "name", "--sensitive", "ill")


def incrowd(*arguments: Any) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def counted(born: date, day: date) -> int:
    """Birthdays from the day after birth to a day, one by one; 29 February is 1 March elsewhere."""
    years = 0
    for year in range(born.year + 1, day.year + 1):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        late = (born.month, born.day) == (2, 29) and not leap
        years += (date(year, 3, 1) if late else born.replace(year=year)) <= day
    return years


def test_years_are_birthdays() -> None:
    """Tests against counting birthdays, over dates that hold every day of some years."""
    for day in (date(2024, 2, 28), date(2024, 2, 29), date(2023, 2, 28), date(2023, 3, 1)):
        rule = Years("birth", day)
        for step in range(3000):
            born = date(1995, 1, 1) + timedelta(days=step)
            assert rule.of(born) == counted(born, day)


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_files_keep_their_form(form: str, tmp_path: Path) -> None:
    """Tests that the age stands where the birth date stood, and that all else is as it was."""
    file = tmp_path / f"t.{form}"
    if form == "csv":
        pl.DataFrame(PEOPLE).write_csv(file, separator=";")
    elif form == "parquet":
        pl.DataFrame(PEOPLE).with_columns(pl.col("birth").str.to_date()).write_parquet(file)
    else:
        from incrowd.tables import write
        from incrowd.tables.base import Edit

        frame = from_native(pl.DataFrame(PEOPLE).with_columns(pl.col("ill").replace("", None)))
        write(frame.edited(Edit(frame.columns)), file)
    source = read(file)
    found = derived(source, {"age": RULE})
    assert found.columns == ("name", "age", "ill")
    assert texts(found)["age"].to_list() == AGES
    for name in ("name", "ill"):
        assert found.encode(name).equals(source.encode(name))
    assert type(found) is type(source)


def test_frames_keep_their_type(constructor: Callable[[Any], Any]) -> None:
    """Tests frames of every library."""
    frame = constructor(PEOPLE)
    source = derived(from_native(frame), {"age": RULE})
    assert texts(source)["age"].to_list() == AGES
    release = ic.anonymize(frame, 2, id="name", sensitive="ill", derive={"age": RULE})
    assert type(release.data) is type(frame)
    assert texts(release.table).columns == ["age", "ill"]


def test_other_formats_and_marks() -> None:
    """Tests dates that are not ISO, and a mark of a missing date."""
    frame = from_native(pl.DataFrame({"born on": ["30/12/1990", "?", "31/12/1990"]}))
    rule = "years(born on, 2024-12-30, format=%d/%m/%Y)"
    assert texts(derived(frame, {"age": rule}, ("?",)))["age"].to_list() == ["34", None, "33"]
    with pytest.raises(InputError, match="1 value is not a date"):
        derived(frame, {"age": rule})


def test_what_is_refused() -> None:
    """Tests each fault, and that no cell is told."""
    frame = from_native(pl.DataFrame({"birth": ["2025-01-01"], "old": ["x"]}))
    cases = {
        "1 date of column 'birth' lies behind": {"age": RULE},
        "a column 'old' already": {"old": RULE},
        "did you mean 'birth'": {"age": "years(brith, 2024-12-30)"},
    }
    for message, rules in cases.items():
        with pytest.raises(InputError, match=message) as told:
            derived(frame, rules)
        assert "2025" not in str(told.value)
    for rule in ("age", "years(birth)", "years(birth, 2024-13-01)", "years(birth, x)", 3):
        with pytest.raises(InputError, match="is made by a rule such as"):
            Policy(derive={"age": rule})  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="two columns are made of 'birth'"):
        Policy(derive={"a": RULE, "b": RULE})
    with pytest.raises(InputError, match="derive maps"):
        Policy(derive="age")  # pyright: ignore[reportArgumentType]


def test_what_is_derived_already_stays() -> None:
    """Tests that a table with the new column and without the old one is taken as it is."""
    frame = from_native(pl.DataFrame({"age": ["1"]}))
    assert derived(frame, {"age": RULE}) is frame


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with birth dates, in the working folder."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(PEOPLE).write_csv("t.csv")
    return "t.csv"


def test_commands(table: str) -> None:
    """Tests command line and policy file alike, and every command that reads the original."""
    asked = (*ROLES, "--derive", f"age={RULE}", "--hierarchy", "age=interval:5,10")
    keep = ("--order", "keep", "-q")
    assert incrowd("anonymize", table, "-o", "o.csv", *asked, *keep).exit_code == 0
    assert Path("o.csv").read_text().startswith("age,ill\n")
    policy = Policy(
        k=2,
        id="name",
        sensitive="ill",
        derive={"age": RULE},
        hierarchies={"age": "interval:5,10"},
    )
    Path("p.toml").write_text(policy.toml())
    assert Policy.read("p.toml") == policy
    by_file = ("--policy", "p.toml")
    assert incrowd("anonymize", table, "-o", "o2.csv", *by_file, *keep).exit_code == 0
    assert Path("o.csv").read_bytes() == Path("o2.csv").read_bytes()
    for words in (asked, by_file):
        assert incrowd("verify", "o.csv", "--original", table, *words).exit_code == 0
        assert float(incrowd("bound", table, *words).stdout) >= 0
        others = asked[2:] if words is asked else by_file
        assert incrowd("frontier", table, "--k", "2", *others).exit_code == 0
        attacked = ("attack", "o.csv", "--original", table, *words, "--attack", "linkage")
        assert incrowd(*attacked).exit_code == 0
    measured = incrowd("measure", table, *by_file, "--json")
    assert measured.exit_code == 0 and '"age"' in measured.stdout
    assert incrowd("measure", "o.csv", *by_file, "--require-k", 2).exit_code == 0


def test_a_proof_is_of_the_derived_table(table: str) -> None:
    """Tests that it is written, private, and what the verifier is given; and each refusal."""
    asked = (*ROLES, "--derive", f"age={RULE}", "--proof", "p")
    none = incrowd("anonymize", table, "-o", "o.csv", *asked)
    assert none.exit_code == 2 and "--derived" in none.output and not Path("o.csv").exists()
    done = incrowd("anonymize", table, "-o", "o.csv", *asked, "--derived", "d.csv")
    assert done.exit_code == 0, done.output
    assert Path("d.csv").stat().st_mode & 0o077 == 0
    assert texts(read("d.csv"))["age"].to_list() == AGES
    verify = ("verify", "o.csv", "--proof", "p", "--original")
    assert incrowd(*verify, "d.csv").exit_code == 0
    told = incrowd(*verify, table)
    assert told.exit_code == 1 and "lacks it" in told.output and "--derived wrote" in told.output
    told = incrowd(*verify, "d.csv", "--derive", f"age={RULE}")
    assert told.exit_code == 2 and "written with --derived" in told.output
    again = ("verify", "d.csv", "--original", table, "-k", 1, "--derive", f"age={RULE}")
    again = (*again, "--qi", "age", "--fixed", "age", "--keep", "name,ill")
    assert incrowd(*again).exit_code == 0
    Path("d.csv").write_text(Path("d.csv").read_text().replace("33", "34"))
    assert incrowd(*again).exit_code == 1
    plain = incrowd("anonymize", table, "-o", "o.csv", *ROLES, "--derived", "d.csv")
    assert plain.exit_code == 2 and "goes with --derive" in plain.output


def test_init_proposes_ages(tmp_path: Path) -> None:
    """Tests the lines for birth dates, and none for other dates."""
    days = [f"{1950 + i}-03-0{1 + i % 9}" for i in range(40)]
    frame = pl.DataFrame({"dateOfBirth": days, "visit": days})
    turned = [f"{13 + i % 9}/03/{1950 + i}" for i in range(40)]
    frame.with_columns(dob=pl.Series(turned)).write_csv(tmp_path / "t.csv")
    text = incrowd("init", tmp_path / "t.csv").stdout
    assert '# age = "years(dateOfBirth, YYYY-MM-DD)"' in text
    assert "years(visit" not in text and "# [derive]" in text
    assert '# under [hierarchies], where its rule may be "interval:5,10,20"' in text
    assert '# age_2 = "years(dob, YYYY-MM-DD, format=%d/%m/%Y)"' in text
    frame.with_columns(age=pl.Series(range(40))).write_csv(tmp_path / "t.csv")
    assert '# age_2 = "years(dateOfBirth' in incrowd("init", tmp_path / "t.csv").stdout


def test_the_column_behind_a_derived_one_may_be_called_an_identifier() -> None:
    """Tests that it is left out either way; and that another role is refused, by name."""
    frame = pl.DataFrame({"birth": ["1990-01-01", "1990-05-01"] * 3, "sex": ["f", "m"] * 3})
    asked: Any = {"qi": ["age", "sex"], "derive": {"age": RULE}}
    found = ic.anonymize(frame, 2, id="birth", **asked)
    assert found.data.columns == ["age", "sex"]
    with pytest.raises(InputError, match="'birth' is left out, for 'age' is derived from it"):
        ic.anonymize(frame, 2, keep="birth", **asked)
    with pytest.raises(InputError, match="no column is called 'brith'"):
        ic.anonymize(frame, 2, id="brith", **asked)
