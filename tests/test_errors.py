"""Tests of errors as values: they travel between processes, whatever they are made of."""

import pickle

import pytest

from incrowd.cli.proven import roles_in_words
from incrowd.errors import (
    IncrowdError,
    InputError,
    LackingError,
    MissingExtraError,
    NoLawfulReleaseError,
    OutsideError,
    TooLongError,
    UnorderedError,
    listed,
    no_column,
)
from incrowd.privacy.metric import DetourError

MADE = (
    InputError("no such file"),
    NoLawfulReleaseError("k is too large"),
    MissingExtraError("pyspark", "spark", "reading"),
    LackingError("age", ["34"], "ages.csv", 7),
    OutsideError("age", ["34"], "bands:0,18"),
    TooLongError("age", ["34"], "interval:5"),
    UnorderedError("age", ["x"], "the list", 2),
    DetourError(0, 2, 1),
)


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_travels_between_processes(error: IncrowdError) -> None:
    """Tests that class, message and attributes arrive: a pool of processes breaks otherwise."""
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)


def test_several_columns_in_one_text_are_a_list() -> None:
    """Tests that who writes names as on the command line is told how Python takes them."""
    known = ("age", "sex", "ill")
    assert str(no_column("qi", "age,sex", known)).endswith("are a list in Python: ['age', 'sex']")
    assert "did you mean 'age'" in str(no_column("qi", "agee", known))


def test_names_that_look_the_same_are_told_apart() -> None:
    """Tests é as one character and as two, in a hint and in the roles that verify names."""
    told = str(no_column("qi", "\u00e9t\u00e9", ("e\u0301te\u0301", "age")))
    assert told.endswith(
        r"; 'e\u0301te\u0301' looks the same, but is not '\xe9t\xe9': copy the name"
    )
    said = roles_in_words({"qi": ["\u00e9", "e\u0301"]})
    assert said == r"quasi-identifiers: é, 'e\u0301'"


def test_long_lists_of_names_are_cut() -> None:
    """Tests that a message with 300 columns, or with a name that is a page long, can be read."""
    assert listed(["a", "b'c"]) == """'a', "b'c\""""
    many = listed(f"c{n}" for n in range(300))
    assert many.startswith("'c0', 'c1', ") and many.endswith("'c11' and 288 more")
    assert listed(["x" * 5_000]) == f"'{'x' * 59}…'"
