"""Policy files: reading, errors, the schema and the page made from the same table."""

import json
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.policy import keys as policy_keys
from incrowd.policy.arguments import policy_of
from incrowd.policy.model_spec import ModelSpec

ROOT = Path(__file__).parents[2]
WHOLE = """
k = 4
qi = ["age", "zip"]
sensitive = "ill"
id = []
keep = ["note"]
l = 2
l_kind = "entropy"
t = "1/5"
distance = "equal"
fixed = ["age"]
linked = [["zip", "age"]]
cost = "stars"
star = "?"
method = "engine"
time_limit = 2.5
gap = 0.01
seed = 3
spend = true
order = "shuffle"
[hierarchies]
age = "h.csv"
zip = "prefix:1"
[weights]
age = 2
[[caps]]
column = "age"
share = 0.1
[[models]]
l = 3
kind = "frequency"
on = "ill"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_all(tmp_path):
    """Tests that every key arrives where its name says."""
    (tmp_path / "h.csv").write_text("1;a;*\n")
    policy = ic.Policy.read(written(tmp_path, WHOLE))
    assert (policy.k, policy.qi, policy.sensitive) == (4, ("age", "zip"), ("ill",))
    assert (policy.id, policy.keep, policy.l, policy.l_kind) == ((), ("note",), 2, "entropy")
    assert (policy.t, policy.fixed, policy.linked) == ("1/5", ("age",), (("zip", "age"),))
    assert (policy.time_limit, policy.gap, policy.seed, policy.spend) == (2.5, 0.01, 3, True)
    assert (policy.cost, policy.star, policy.method, policy.order) == (
        *("stars", "?", "engine", "shuffle"),
    )
    assert policy.hierarchies == {"age": str(tmp_path / "h.csv"), "zip": "prefix:1"}
    assert policy.weights == {"age": 2}
    assert [(cap.column, cap.share) for cap in policy.caps] == [("age", 0.1)]
    assert policy.models == (ModelSpec(l=3, kind="frequency", on=("ill",)),)


ERRORS = [
    ("kk = 5", "policy.toml: kk: unknown key; did you mean 'k'?"),
    ("version = 1", "policy.toml: version: unknown key; policy files have no version"),
    ("[[models]]\nkindd = 'x'", "policy.toml: models[0].kindd: unknown key; did you mean 'kind'?"),
    ("[[models]]\nl = 2\n[[models]]\nl = 0", "policy.toml: models[1].l must be at least 1, not 0"),
    ("[[models]]\nkind = 'entropy'", "policy.toml: models[0]: a model has one of k, l, t"),
    ("[[models]]\nl = 2\nt = 0.1", "models[0]: a model has one of k, l, t, alpha"),
    ("[[models]]\nbeta = 2", "models[0]: beta: say which β-likeness it is"),
    ("[[models]]\nl = 2\nc = 2", "models[0]: c belongs to recursive l-diversity"),
    ("[[models]]\nl = '2.5'", "models[0]: l must be a whole number of at least 1, not '2.5'"),
    ("k = 2020-01-01", "k must be a whole number, not a date or a time"),
    ("[models]\nl = 2", "models must be a list of tables ([[models]]), not a table"),
    ("k = '5'", "policy.toml: k must be a whole number, not a text"),
    ("k = true", "k must be a whole number, not true or false"),
    ("k = 0", "policy.toml: k must be at least 1, not 0"),
    ("gap = nan", "gap must be at least 0, not nan"),
    ("time_limit = 0", "time_limit must be above 0"),
    ("k = 2.5", "k must be a whole number, not a number with decimals"),
    ("qi = 3", "qi must be a text or a list of texts, not a whole number"),
    ("linked = ['a', 'b']", 'linked must be a list of lists of texts, such as [["city", "zip"]]'),
    ("l_kind = 'entropy'", "policy.toml: l_kind goes with l, which is not given"),
    ("c = 2", "policy.toml: c goes with l, which is not given"),
    ("distance = 'ordered'", "policy.toml: distance goes with t, which is not given"),
    ("l_kind = 'entropic'", "l_kind is 'entropic'; did you mean 'entropy'?"),
    ("[weights]\nage = []", "weights.age must be a number, not a list"),
    ("hierarchies = 'x'", "hierarchies must be a table of columns ([hierarchies]), not a text"),
    ("[hierarchies]\nage = 5", "hierarchies.age must be a text in quotes, not a whole number"),
    ("[[caps]]\ncolum = 'a'", "caps[0].colum: unknown key; did you mean 'column'?"),
    ("[[caps]]\ncolumn = 'a'", "policy.toml: caps: a cap lacks its share"),
    ("[caps]\nage = 2", "caps.age must be at most 1, not 2"),
    ("k = ", "policy.toml: not TOML: Invalid value (at end of document)"),
    ("k = " + 10_000 * "[", "policy.toml: not TOML that can be read: it nests too deeply"),
    (
        "[hierarchies]\nErlös = 'mean'",
        "after a key in a key/value pair (at line 2, column 4); a name",
    ),
    ("[weights]\nÄrzte = 2", "Invalid statement (at line 2, column 1); a name with a space"),
    ("[hierarchies]\nb.age = 'mean'", "not a table; a name with a space, a dot, an umlaut or the"),
    ("[na]\nb.age = ['x']", "na.b must be a text or a list of texts, not a table; a name"),
    ("[caps]\nage = 'x'", "caps: the share of 'age' must be a number"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=[case[0] for case in ERRORS])
def test_names_file_and_key(tmp_path, text: str, message: str) -> None:
    """Tests that what is wrong is named with the file and the key's path."""
    with pytest.raises(ic.InputError) as caught:
        ic.Policy.read(written(tmp_path, text))
    assert "policy.toml: " in str(caught.value)
    assert message in str(caught.value)


def test_no_file(tmp_path):
    """Tests a path that leads nowhere, and one to something else."""
    with pytest.raises(ic.InputError, match="no such file"):
        ic.Policy.read(tmp_path / "x.toml")
    with pytest.raises(ic.InputError, match="cannot be read"):
        ic.Policy.read(tmp_path)
    (tmp_path / "b.toml").write_bytes(b"k = '\xff'")
    with pytest.raises(ic.InputError, match="not UTF-8"):
        ic.Policy.read(tmp_path / "b.toml")


FRAME = pl.DataFrame(
    {
        "age": ["30", "31", "30", "31", "40", "41"],
        "ill": ["x", "y", "z", "x", "y", "z"],
        "pay": ["1", "2", "3", "1", "2", "3"],
    }
)


def test_each_attribute_has_its_own_models(tmp_path):
    """Tests that a file, a text and mappings ask the same, by column."""
    text = """
sensitive = ["ill", "pay"]
k = 2
[[models]]
l = 3
on = "ill"
[[models]]
t = 0.5
distance = "ordered"
on = "pay"
[[models]]
alpha = "1/2"
k = 2
on = "pay"
values = ["3"]
[[models]]
k = 3
"""
    release = ic.anonymize(FRAME, policy=written(tmp_path, text))
    assert release.k == 3
    assert release.models == (
        "3-anonymity",
        "distinct 3-diversity of 'ill'",
        "0.5-closeness (ordered distance) of 'pay'",
        "(0.5, 2)-anonymity of 'pay'",
    )
    texts = ["l=3,on=ill", "t=0.5,distance=ordered,on=pay", "alpha=1/2,k=2,on=pay,values=3", "k=3"]
    again = ic.anonymize(FRAME, 2, sensitive=["ill", "pay"], models=texts)
    assert (again.models, again.cost) == (release.models, release.cost)


MODELS = [
    ("l=2", ("distinct 2-diversity",)),
    ("l=2,kind=frequency,on=pay", ("frequency 2-diversity of 'pay'",)),
    ("l=2,kind=recursive,c=2", ("recursive (2, 2)-diversity",)),
    ("l=1.5,kind=entropy", ("entropy 1.5-diversity",)),
    ("l=2,kind=disjoint,on=ill,on=pay", ("disjoint 2-diversity of 'ill', 'pay'",)),
    ("beta=9,kind=basic,on=ill", ("basic 9-likeness of 'ill'",)),
    ("beta=9,kind=enhanced", ("enhanced 9-likeness",)),
    ("delta=9", ("9-disclosure",)),
    ("alpha=0.9", ("(0.9, 1)-anonymity",)),
    ('"on=ill", t=1', ("1-closeness (equal distance) of 'ill'",)),
    ("k=1", ()),
]


@pytest.mark.parametrize(("text", "names"), MODELS, ids=[case[0] for case in MODELS])
def test_models_in_text(text: str, names: tuple[str, ...]) -> None:
    """Tests every model of the command line's form."""
    release = ic.anonymize(FRAME, 2, sensitive=["ill", "pay"], models=text)
    assert release.models == ("2-anonymity", *names)


BAD_MODELS = [
    ("l", "expected NAME=VALUE"),
    ("l=2,l=3", "l comes twice"),
    ("ll=2", "no parameter is called 'll'"),
    ("l=2,on=il", "on names 'il', which is not a sensitive column; did you mean 'ill'"),
    ("l=2,kind=basic", "kind is 'basic'; known"),
    ("t=0.1,kind=distinct", "goes with l or beta"),
    ("k=2,on=ill", "on belongs to models of sensitive columns"),
    ("t=2", "t must be at most 1"),
    ("t=0.1,distance=x", "distance 'x' is neither one of ours nor a file"),
    ("l=2,kind=recursive", "takes c as well as l"),
    ("alpha=0.5,values=q,on=ill", "has no cell equal to 'q'"),
]


@pytest.mark.parametrize(("text", "message"), BAD_MODELS, ids=[case[0] for case in BAD_MODELS])
def test_bad_models(text: str, message: str) -> None:
    """Tests that a model that makes no sense is refused in words."""
    with pytest.raises(ic.InputError, match=message):
        ic.anonymize(FRAME, 2, sensitive=["ill", "pay"], models=text)


def test_arguments_go_before_a_policy(tmp_path):
    """Tests that what is given beside a policy counts, as on the command line, and by column."""
    path = written(tmp_path, "k = 2\nsensitive = ['ill', 'pay']\nseed = 1\n[weights]\nage = 2")
    release = ic.anonymize(FRAME, 3, seed=4, policy=path)
    assert (release.k, release.policy.seed) == (3, 4)
    assert release.policy.sensitive == ("ill", "pay")
    assert ic.anonymize(FRAME, policy=ic.Policy.read(path)).k == 2
    assert ic.anonymize(FRAME, 5, policy=ic.Policy(k=2, sensitive=["ill", "pay"])).k == 5
    both = policy_of("anonymize", path, {"weights": {"zip": 3}, "caps": {"age": 0.5}})
    assert both.weights == {"age": 2, "zip": 3} and both.k == 2
    more = policy_of("anonymize", both, {"caps": {"age": 0.25, "zip": 1}})
    assert [(cap.column, cap.share) for cap in more.caps] == [("age", 0.25), ("zip", 1)]
    with pytest.raises(ic.InputError, match="k must be"):
        ic.anonymize(FRAME, 0, policy=path)


def test_schema_is_what_the_code_generates():
    """Tests the committed schema and the page's tables."""
    schema = (ROOT / "docs/reference/policy.schema.json").read_text(encoding="utf-8")
    assert schema == json.dumps(policy_keys.schema(), indent=1) + "\n"
    assert policy_keys.reference() in (ROOT / "docs/reference/policy.md").read_text("utf-8")


def test_the_page_example_is_a_policy(tmp_path):
    """Tests that the page's own policy is read, and its schema is a schema."""
    page = (ROOT / "docs/reference/policy.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    policy = ic.Policy.read(written(tmp_path, text))
    assert policy.fixed == ("sex",)
    assert len(policy.models) == 2
