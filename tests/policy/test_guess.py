"""Guessed roles and hierarchies."""

import tomllib

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.policy.guess import Guess, guess
from incrowd.policy.write import policy_text
from incrowd.tables import from_native
from tables import names

ROWS = 60
RNG = np.random.default_rng(0)
COLUMNS = {
    # column: (values, role, hierarchy)
    "patient_name": ([f"P{i}" for i in range(ROWS)], "id", None),
    "SSN": ([str(i) for i in range(ROWS)], "id", None),
    "contact": ([f"a{i % 9}@example.org" for i in range(ROWS)], "id", None),
    "nick": ([f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(ROWS)], "id", None),
    "row": ([str(1000 + i) for i in range(ROWS)], "id", None),
    "remarks": (["ok"] * ROWS, "id", None),
    "history": (
        [f"came in on day {i} and said that all was well again" for i in range(ROWS)], "id", None,
    ),
    "docket": ([f"C{i}" for i in range(ROWS)], "id", None),
    "pond": ([f"{80 + i / 7:.3f}" for i in range(ROWS)], "keep", None),
    "sample_weight": ([f"{1 + i % 5}" for i in range(ROWS)], "keep", None),
    "Weight": ([f"{0.5 + i / 59:.2f}" for i in range(ROWS)], "keep", None),
    "weight": ([f"{60 + i / 2}" for i in range(ROWS)], "qi", "interval:2,4,8"),
    "birth_weight": ([f"{3 + i / 1000}" for i in range(ROWS)], "qi", "interval:0.005,0.01,0.02"),
    "grade_level": (["7", "8"] * (ROWS // 2), "qi", None),
    "card_hash": ([f"h{i % 20}" for i in range(ROWS)], "person", None),
    "school_id": (["s1", "s2", "s3"] * (ROWS // 3), "qi", None),
    "lawyer": ([f"L{i % 20}" for i in range(ROWS)], "qi", None),
    "age": ([str(20 + 7 * i % 41) for i in range(ROWS)], "qi", "interval:2,4,8"),
    "height": (
        [f"{1.5 + 0.01 * (i % 40):.2f}" for i in range(ROWS)], "qi", "interval:0.02,0.04,0.08",
    ),
    "zip": ([f"{90000 + 17 * i:05}" for i in range(ROWS)], "qi", "prefix:1,2,3,4"),
    "born": ([f"19{60 + i % 30}-0{1 + i % 9}-11" for i in range(ROWS)], "qi", "date"),
    "visit": ([f"{1 + i % 11:02}/{1 + i % 12:02}/20{10 + i % 9}" for i in range(ROWS)], "qi", None),
    "dob": (
        [f"{1 + i % 28:02}.{1 + i % 12:02}.{1940 + i}" for i in range(ROWS)], "qi",
        "date:format=%d.%m.%Y,month,year,decade,20years,century",
    ),
    "since": (
        [f"{13 + i % 9}/01/20{10 + i % 9}" for i in range(ROWS)], "qi", "date:format=%d/%m/%Y",
    ),
    "trade": ([f"{10 + i % 30}.{i % 30}" for i in range(ROWS)], "qi", "interval:2,4,8"),
    "atc": (
        [f"{'ABCD'[i % 4]}{10 + i % 9}{'.' * (i % 2)}{i % 2 or ''}" for i in range(ROWS)], "qi",
        "keep:1,3",
    ),
    "injury": (
        [f"{'STUV'[i % 4]}{10 + i % 9}.{i % 5}{'†*+ '[i % 4].strip()}" for i in range(ROWS)],
        "qi", "keep:1,3,5",
    ),
    "mostly_coded": (
        [f"K{10 + i}.{i % 5}" if i % 2 else f"K{10 + i}" for i in range(ROWS - 2)] + ["other"] * 2,
        "qi", "keep:1,3",
    ),
    "nace": ([f"{10 + i % 30}.{i % 30}" for i in range(ROWS)], "qi", "keep:2,4"),
    "branch": ([f"{i % 30:02}.{1 + i % 20}" for i in range(ROWS)], "qi", "keep:2,4"),
    "zip_plus": (
        [f"{10000 + 17 * i}{f'-{1000 + i}' * (i % 2)}" for i in range(ROWS)], "qi", "keep:3,5",
    ),
    "post_code": (["SW1A 1AA", "M1 1AE", "B33 8TH", "CR2 6XH", "DN55 1PT", "EC1A 1BB", "W1A 0AX",
                   "L1 8JQ", "G1 1XQ", "AB1 1AB"] * (ROWS // 10), "qi", "keep:1,3,5"),
    "birth_together": (
        [f"{1940 + i}{1 + i % 12:02}{1 + i % 28:02}" for i in range(ROWS)], "qi",
        "date:format=%Y%m%d,month,year,decade,20years,century",
    ),
    "birth_at": (
        [f"{1 + i % 28:02}/{1 + i % 12:02}/{1940 + i} 08:30" for i in range(ROWS)], "qi",
        "date:format=%d/%m/%Y %H:%M,month,year,decade,20years,century",
    ),
    "birth_in_words": (
        [f"{1 + i % 28:02}-May-{1940 + i}" for i in range(ROWS)], "qi",
        "date:format=%d-%b-%Y,month,year,decade,20years,century",
    ),
    "birth_short": ([f"{1 + i % 28:02}/{1 + i % 12:02}/{30 + i}" for i in range(ROWS)], "qi", None),
    "day_or_month": ([f"{1 + i % 9:02}/{1 + i % 9:02}/{2010 + i % 9}" for i in range(ROWS)], "qi",
                     "date:format=%d/%m/%Y"),
    "number_of_case": ([str(20230001 + 41 * i) for i in range(ROWS)] , "id", None),
    "seen": (
        ["unknown"] * 2 + [f"{1 + i % 28:02}.{1 + i % 12:02}.2020" for i in range(ROWS - 2)], "qi",
        "date:format=%d.%m.%Y",
    ),
    "pid": ([str(i // 3) for i in range(ROWS)], "person", None),
    "patient": ([f"{i // 2:04}" for i in range(ROWS)], "person", None),
    "student_no": ([f"{i:04}" for i in range(ROWS)], "id", None),
    "insured": ([f"{i // 2:04}" for i in range(ROWS)], "person", None),
    "konto": ([str(4475158340 + i // 2 * 977) for i in range(ROWS)], "id", None),
    "special_needs": (["none", "learning", "speech"] * (ROWS // 3), "sensitive", None),
    "year": (["2024"] * ROWS, "qi", None),
    "client": (["new", "old", "lost"] * (ROWS // 3), "qi", None),
    "age_now": ([str(10 + i) for i in range(ROWS)], "qi", "interval:5,10,20"),
    "children": ([str(i % 4) for i in range(ROWS)], "qi", None),
    "sex": (["f", "m"] * (ROWS // 2), "qi", None),
    "mainDiagnosis": (["flu", "cold", "gout"] * (ROWS // 3), "sensitive", None),
    "age_at_diagnosis": ([str(20 + i % 41) for i in range(ROWS)], "qi", "interval:2,4,8"),
    "diagnosed": ([f"20{10 + i % 9}-{1 + i % 12:02}" for i in range(ROWS)], "qi",
                  "date:format=%Y-%m"),
    "test_date": ([f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(ROWS)], "qi", "date"),
    "birth_month": ([f"{1 + i % 12:02}/{1940 + i}" for i in range(ROWS)], "qi",
                    "date:format=%m/%Y,year,decade,20years,century"),
    "lot": ([f"{3000 + i}-{1 + i % 12:02}" for i in range(ROWS)], "id", None),
    "household": ([f"H{i // 3:03}" for i in range(ROWS)], "id", None),
    "hid": ([f"H{i // 3:03}" for i in range(ROWS)], "id", None),
    "family_status": (["one", "two", "many"] * (ROWS // 3), "qi", None),
    "annual_income": ([str(1000 * i) for i in range(ROWS)], "sensitive", None),
    "empty": ([None] * ROWS, "qi", None),
}  # fmt: skip


def table() -> pl.DataFrame:
    return pl.DataFrame(
        {name: pl.Series(values, dtype=pl.String) for name, (values, *_) in COLUMNS.items()}
    )


@pytest.mark.parametrize("found", guess(from_native(table())), ids=lambda found: found.column)
def test_roles_and_hierarchies(found: Guess) -> None:
    """Tests each kind of column."""
    _, role, hierarchy = COLUMNS[found.column]
    assert (found.role, found.hierarchy) == (role, hierarchy), found.why


def test_one_value_is_said_as_one() -> None:
    """Tests the number of a year that all rows have."""
    (told,) = guess(pl.DataFrame({"year": ["2024"] * ROWS}))
    assert "1 different value in 60 rows" in told.why


def test_no_reason_quotes_a_cell() -> None:
    """Tests that the reasons stay the same when all cells are renamed, counts and kinds alike."""
    frame = table().select(pl.all().exclude("remarks", "empty"))
    marked = frame.with_columns(pl.col("nick", "mainDiagnosis").str.replace_all("o", "Q"))
    for before, after in zip(guess(from_native(frame)), guess(from_native(marked)), strict=True):
        assert before.why == after.why


def test_the_policy_is_used_as_it_stands(tmp_path) -> None:
    """Tests that what is written is read back and makes a release."""
    path = tmp_path / "policy.toml"
    path.write_text(policy_text(guess(from_native(table())), k=3), encoding="utf-8")
    policy = ic.Policy.read(path)
    assert policy.sensitive == ("special_needs", "mainDiagnosis", "annual_income")
    release = ic.anonymize(table(), policy=policy)
    assert release.smallest_class >= 3
    assert release.verify()


@settings(max_examples=few(100), deadline=None)
@given(st.lists(names, min_size=1, max_size=4, unique=True), st.data())
def test_any_column_name_survives(columns: list[str], data: st.DataObject) -> None:
    """Tests that hostile names come back from TOML as they were, and cannot add keys."""
    roles = st.sampled_from(["qi", "sensitive", "id"])
    guesses = [
        Guess(name, data.draw(roles), "because", data.draw(st.sampled_from([None, "date"])))
        for name in columns
    ]
    read = tomllib.loads(policy_text(guesses))
    for role in ("qi", "sensitive", "id"):
        assert read[role] == [each.column for each in guesses if each.role == role]
    assert read.get("hierarchies", {}) == {g.column: "date" for g in guesses if g.hierarchy}


def test_typed_columns() -> None:
    """Tests columns that are no text, and one that has no text form."""
    frame = pl.DataFrame({"age": list(range(30)) * 2, "tags": [["x"]] * 60, "pay": [1.5] * 60})
    found = {each.column: each.role for each in guess(from_native(frame))}
    assert found == {"age": "qi", "tags": "id", "pay": "sensitive"}


def test_what_only_begins_like_a_date() -> None:
    """Tests dates with words behind them: no rule fits, and that is no error."""
    words = pl.DataFrame({"when": [f"2021-03-{i % 28 + 1:02} about" for i in range(ROWS)]})
    assert guess(words)[0].hierarchy is None


def test_what_other_programs_write_beside_the_values() -> None:
    """Tests values that a package declares missing, which intervals leave alone; pandas' labels."""
    ages = ["missing 99 (refused)", *(str(18 + i % 60) for i in range(1, ROWS))]
    frame = pl.DataFrame({"age": ages, "__index_level_0__": list(range(ROWS))})
    age, labels = guess(from_native(frame))
    assert (age.role, age.hierarchy) == ("qi", "interval:5,10,20")
    assert "1 value declared missing" in age.why
    assert labels.role == "id"
    assert "pandas" in labels.why
    for name, cells, role in (
        ("", "123", "id"),
        ("Unnamed: 0", "abc", "id"),
        ("", "122", "qi"),
        ("Unnamed: x", "123", "qi"),
    ):
        (one,) = guess(pl.DataFrame({name: [*cells]}))
        assert one.role == role


@pytest.mark.parametrize(
    ("end", "rule", "said"),
    [("", "prefix:1,2,3", "zeros in front may be gone"), (".0", None, "without decimals first")],
)
def test_post_codes_that_lost_their_zeros(end: str, rule: str | None, said: str) -> None:
    """Tests that 1067, which was 01067, and 10115 are not grouped by their first digits."""
    codes = [1067, 1069, 1097, 1099, 4103, 4105, 10115, 10117, 10119, 80331, 80333]
    (found,) = guess(pl.DataFrame({"plz": [f"{code}{end}" for code in codes]}))
    assert (found.hierarchy, said in found.why) == (rule, True)
    whole = guess(pl.DataFrame({"plz": [f"{code:05}" for code in codes]}))[0]
    assert (whole.hierarchy, "zeros" in whole.why) == ("prefix:1,2,3,4", False)
