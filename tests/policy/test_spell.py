"""A policy as file, command line and call: read again, each is the same policy."""

import shlex
from dataclasses import replace
from fractions import Fraction

import click
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.cli import options
from incrowd.cli.anonymize import anonymize
from incrowd.errors import InputError
from incrowd.policy.spell import call_of, words_of

COLUMNS = ("age", "zip code", "a,b", 'q"', "x=y", "ill", "é", " age")
NAMES = st.permutations(COLUMNS)
RULES = st.sampled_from(["interval:5,10", "prefix:1", "date", "none"])


@st.composite
def policies(draw: st.DrawFn) -> ic.Policy:
    """Policies that every form can say, over columns with awkward names."""
    names = draw(NAMES)
    parts = sorted(draw(st.lists(st.integers(1, len(names)), min_size=3, max_size=3)))
    qi, sensitive, keep, out = (
        names[a:b] for a, b in zip([0, *parts], [*parts, len(names)], strict=True)
    )
    asked = {
        "l": draw(st.sampled_from([None, "2"])),
        "t": draw(st.sampled_from([None, "1/5", "0.25"])),
        "gap": draw(st.sampled_from([None, 0.0, 0.05])),
        "time_limit": draw(st.sampled_from([None, 2.5])),
        "seed": draw(st.integers(0, 3)),
        "star": draw(st.sampled_from(["*", "?", "<*>"])),
        "cost": draw(st.sampled_from(["level", "ncp"])),
        "order": draw(st.sampled_from(["keep", "shuffle"])),
        "weights": draw(st.dictionaries(st.sampled_from(qi), st.just("2"))),
        "hierarchies": draw(st.dictionaries(st.sampled_from(qi), RULES)),
        "fixed": draw(st.sampled_from([[], qi[:1]])),
        "linked": [qi[:2]] if len(qi) > 1 and draw(st.booleans()) else [],
        "caps": [{"column": qi[0], "share": "0.5", "value": draw(st.sampled_from([None, "v:1"]))}],
    }
    if draw(st.booleans()):
        asked |= {"fixed": [], "linked": [], "caps": [], "l": None, "t": None}
        veils = st.sampled_from(["5%", dict.fromkeys(qi, "1/3"), {"": 0.1, qi[-1]: 1}])
        more = {"veil": draw(veils)}, {"protect": [{"columns": qi[-2:], "k": 2}]}
        asked |= draw(st.sampled_from(more))
    elif sensitive and draw(st.booleans()):
        asked["models"] = [{"l": "3", "kind": "entropy", "on": sensitive[:1]}]
    return ic.Policy(
        k=draw(st.integers(1, 9)), qi=qi, sensitive=sensitive, keep=keep, id=out, **asked
    )


@settings(max_examples=few(60))
@given(policies())
def test_the_command_line_says_the_same(policy: ic.Policy):
    """Tests that the command's own parser makes the same policy of the words."""
    words = words_of(policy, "in.csv", "out.csv")
    assert words[:2] == ("incrowd", "anonymize")
    assert shlex.split(policy.command("in.csv", "out.csv")) == list(words)
    with anonymize.make_context("anonymize", list(words[2:])) as context:
        given = dict(context.params)
        found = ic.Policy(**options.policy_arguments(COLUMNS, given))
    assert found == policy


@settings(max_examples=few(60))
@given(policies())
def test_a_file_says_the_same(tmp_path_factory: pytest.TempPathFactory, policy: ic.Policy):
    """Tests that the policy file is read as the same policy."""
    file = tmp_path_factory.mktemp("p") / "policy.toml"
    file.write_text(policy.toml(), encoding="utf-8")
    assert ic.Policy.read(file) == policy


@settings(max_examples=few(60))
@given(policies())
def test_a_call_says_the_same(policy: ic.Policy):
    """Tests that the arguments of the call make the same policy."""
    text = call_of(policy, "'in.csv'")

    class Stub:
        @staticmethod
        def anonymize(data, **asked):
            return ic.Policy(**asked)

    assert eval(text, {"incrowd": Stub}) == policy


def test_reasons_stand_where_the_guess_does():
    """Tests that a changed role says that it was chosen."""
    frame = pl.DataFrame({"age": [1, 2, 3], "ward": ["a", "b", "c"], "diagnosis": ["x", "y", "x"]})
    guesses = ic.guess(frame)
    roles = {"qi": ["age"], "keep": ["ward"], "sensitive": ["diagnosis"]}
    text = ic.Policy(**roles).toml(guesses)
    lines = {line.split('"')[1]: line for line in text.splitlines() if line.startswith('  "')}
    assert lines["ward"].endswith("# chosen by hand")
    assert "'diagnosis'" in lines["diagnosis"] and "others may know it" in lines["age"]


def test_what_cannot_be_said():
    """Tests that values of Python's own are refused by name, and paths that look like options."""
    policy = ic.Policy(cost={"age": "ncp"})
    with pytest.raises(InputError, match="cost by column"):
        policy.command("in.csv", "out.csv")
    assert ic.Policy(weights={"age": Fraction(1, 3)}).command("a", "b").split()[8] == "age=1/3"
    from incrowd.hierarchy.ladder import Suppression

    made = replace(policy, cost="level", hierarchies={"age": Suppression()})
    for write in (made.toml, lambda: made.command("a", "b")):
        with pytest.raises(InputError, match="hierarchies: Suppression"):
            write()
    assert words_of(ic.Policy(), "-x.csv", "-")[2:5] == ("./-x.csv", "-o", "-")
    assert isinstance(anonymize, click.Command)
