"""Each rule of which options go together, and which are not served where."""

from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import InputError, OutOfScopeError
from incrowd.policy.base import Policy
from incrowd.policy.served import APART, OWNERS, UNSERVED, require_served

ASKING: dict[str, dict[str, Any]] = {  # what asks for an option, with what that needs
    "l_kind": {"l_kind": "entropy"},
    "c": {"c": 2},
    "distance": {"distance": "ordered"},
    "l": {"l": 2},
    "t": {"t": 0},
    "models": {"models": "l=2"},
    "person": {"person": "p"},
    "missing_person": {"missing_person": "own", "person": "p"},
    "missing_person=own": {"missing_person": "own", "person": "p"},
    "missing_person=drop": {"missing_person": "drop", "person": "p"},
    "linked_rows": {"linked_rows": True, "person": "p"},
    "links_rows": {"linked_rows": True, "person": "p"},
    "constant_alike": {"constant_alike": True, "person": "p"},
    "survey_stratum": {"survey_stratum": "s"},
    "suppress_rows": {"suppress_rows": 1},
    "delete_rows": {"delete_rows": "price=1"},
    "protect": {"protect": "a,b:2"},
    "pseudonym": {"pseudonym": "n"},
    "fixed": {"fixed": "a"},
    "linked": {"linked": [["a", "b"]]},
    "caps": {"caps": {"a": 0.5}},
    "veil": {"veil": 0.1},
    "hold_back": {"hold_back": True},
    "strict": {"strict": True},
    "keep": {"keep": "a"},
    "derive": {"derive": {"age": "years(born, 2024-12-31)"}},
    "method": {"method": "mondrian"},
    "cost!=level|ncp": {"cost": "stars"},
    "method!=combinations": {"method": "mondrian"},
    "reductions": {"reductions": "none"},
}


def test_owners() -> None:
    """Tests that an option is refused without the one that it goes with."""
    for name, owner, _ in OWNERS:
        asked = {n: value for n, value in ASKING[name].items() if n != owner}
        with pytest.raises(InputError, match=f"^{name} goes with {owner}"):
            Policy(**asked)


@pytest.mark.parametrize(("name", "others", "why"), APART, ids=[name for name, *_ in APART])
def test_apart(name: str, others: str, why: str) -> None:
    """Tests that an option is refused beside each of those that it is not served with."""
    for other in others.split():
        one, another = (text.replace("links", "linked") for text in (name, other.split("!")[0]))
        said = f"{one} is not served with .*{another}"
        with pytest.raises(InputError, match=said):
            Policy(**{**ASKING[other], **ASKING[name]})
    assert Policy(protect="a,b:2", method="combinations", order="shuffle").protect


@pytest.mark.parametrize(("where", "names", "why"), UNSERVED)
def test_unserved(where: str, names: str, why: str) -> None:
    """Tests that each option is refused where it is not served, and that no default is."""
    require_served(Policy(), where)
    require_served(Policy(cost="ncp"), where)
    for name in names.split():
        with pytest.raises(OutOfScopeError, match=r"not served (by|on|with)") as told:
            require_served(Policy(**ASKING[name]), where)
        assert str(told.value).startswith(
            name.partition("=")[0].strip("!").replace("links", "linked")
        )


def test_a_pseudonym_of_the_person_links_rows() -> None:
    """Tests that it is held to the rules of linked rows."""
    with pytest.raises(OutOfScopeError, match="a pseudonym of the person is not served by"):
        require_served(Policy(person="p", pseudonym="p"), "by frontier")
    require_served(Policy(pseudonym="n"), "by frontier")
    require_served(Policy(missing_person="own", person="p"), "with existing")


def test_republish_holds_nobody_back_in_silence() -> None:
    """Tests that the series refuses what it does not look at."""
    table = pl.DataFrame({"p": ["1", "2", "3"], "a": ["x"] * 3, "s": ["u", "v", "w"]})
    with pytest.raises(OutOfScopeError, match="hold_back is not served by republish"):
        ic.republish(table, "nowhere", person="p", sensitive="s", policy=Policy(hold_back=True))
