"""The table of options: a row of it is all that Python, command line and pages need."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import click
import pytest

import incrowd as ic
from incrowd.cli.anonymize import anonymize as command
from incrowd.cli.options import click_option
from incrowd.frontiers import frontier
from incrowd.policy.arguments import Arguments
from incrowd.policy.cap import NAMES
from incrowd.policy.model_spec import ModelSpec
from incrowd.policy.options import CAP_KEYS, MANY, MODEL_KEYS, Option, row, table_of, taking
from incrowd.policy.table import OPTION, OPTIONS
from incrowd.sklearn.anonymizer import SERVED, Anonymizer
from incrowd.spark.front import anonymize as on_spark
from incrowd.spark.front import release as spark_release

EVERYWHERE = (ic.anonymize, on_spark, spark_release, Anonymizer.__init__)


def test_each_row_says_what_readers_need():
    """Tests that every field of a policy is a row, and says its meaning and its flag."""
    assert {option.name for option in OPTIONS} == {field.name for field in fields(ic.Policy)}
    assert all(option.meaning and option.flag.startswith("-") for option in OPTIONS)
    assert all(option.why for option in OPTIONS if option.command is not None)


def test_keys_of_models_and_caps_are_their_fields():
    """Tests that the tables of a policy file have the names of the values they make."""
    assert {key.name for key in MODEL_KEYS} == {field.name for field in fields(ModelSpec)}
    assert {key.name for key in CAP_KEYS} == set(NAMES)


@pytest.mark.parametrize("function", EVERYWHERE, ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_signatures_default_as_the_table(function: Callable[..., Any]):
    """Tests that functions name every option with the default of its row, ``k`` included."""
    served = SERVED if function is Anonymizer.__init__ else OPTIONS
    parameters = inspect.signature(function).parameters
    assert {option.name for option in served} <= set(parameters)
    for option in served:
        assert parameters[option.name].default == option.default, option.name


def test_a_frontier_takes_all_but_k():
    """Tests that a frontier, which has many k, takes the other options."""
    names = set(inspect.signature(frontier).parameters)
    assert {option.name for option in OPTIONS} - names == {"k"}


def test_types_for_checkers_name_every_option():
    """Tests that those who check types find each option that ``anonymize`` takes."""
    assert {*Arguments.__annotations__, "k"} == {option.name for option in OPTIONS}


@pytest.mark.parametrize("documented", [ic.anonymize, ic.Policy])
def test_docstrings_say_what_the_table_says(documented: Any):
    """Tests that the meaning of each row stands in the docstring, and no placeholder is left."""
    text = " ".join((documented.__doc__ or "").split())
    assert "{options}" not in text
    for option in OPTIONS:
        assert " ".join(option.documentation.split()) in text


def test_the_transformer_documents_what_it_serves():
    """Tests the docstring of the transformer, whose parameters are a part of the table."""
    text = " ".join((Anonymizer.__doc__ or "").split())
    assert all(" ".join(option.documentation.split()) in text for option in SERVED)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_the_command_line_defaults_like_python_or_says_why(option: Option):
    """Tests flag and default of each option; another default than Python's stands in both helps."""
    found = {parameter.name: parameter for parameter in command.params}[option.name]
    assert isinstance(found, click.Option)
    assert option.flag in found.opts
    assert found.multiple == (option.kind in MANY)
    if found.default == option.default or option.kind in MANY:
        assert option.command is None
        return
    assert found.default == option.command
    for text in (found.help or "", option.documentation):
        assert option.why in " ".join(text.split())
    assert f"In Python the default is {option.default}" in (found.help or "")
    assert f"``{option.command}`` by default on the command line" in option.documentation
    assert str(option.command) in option.default_in_words
    assert str(option.default) in option.default_in_words


def test_the_help_names_options_as_they_are_typed():
    """Tests that an option which another one's help speaks of has its dashes."""
    found = {parameter.name: parameter for parameter in command.params}
    parts = {
        "k": "beside --protect it is 1",
        "strict": "with --id has",
        "hierarchies": "range, mean,",
    }
    for name, part in parts.items():
        assert part in (getattr(found[name], "help", None) or "")


def test_a_policy_defaults_like_the_table():
    """Tests that a policy of nothing has the defaults of the rows; None stands for a mapping."""
    empty = ic.Policy()
    for option in OPTIONS:
        is_mapping = option.name in ("hierarchies", "weights", "derive", "pseudonym")
        assert getattr(empty, option.name) == ({} if is_mapping else option.default)
    assert ic.Policy(hierarchies=None, weights=None) == empty


def test_a_new_option_is_one_row():
    """Tests the recipe: a row more is in signature, docstring and command line by itself."""

    @dataclass(frozen=True, kw_only=True)
    class Longer(ic.Policy):
        patience: int = row(7, Option("whole", "days to wait", "--patience", "DAYS", least=1))

    longer = table_of(Longer)
    assert [option.name for option in longer][-1] == "patience"

    @taking(longer)
    def wait(data: Any, k: int = 5, **asked: Any) -> Any:
        return data, k, asked

    assert inspect.signature(wait).parameters["patience"].default == 7
    assert longer[-1].documentation == "patience: days to wait."

    @click.command()
    @click_option(longer[-1], longer[-1].help)
    def program(patience: int) -> int:
        return patience

    assert program.main(["--patience", "9"], standalone_mode=False) == 9
    assert program.main([], standalone_mode=False) == 7


def test_unknown_arguments_are_refused_by_name():
    """Tests that a misspelt option is an error that names the function and the nearest option."""
    for function in (ic.anonymize, frontier):
        with pytest.raises(TypeError, match=rf"{function.__name__}\(\) got .*'wieght"):
            function([], wieghts={})
    with pytest.raises(TypeError, match="Anonymizer"):
        Anonymizer(wieghts={})


def test_a_default_in_words_is_said_everywhere():
    """Tests that a default that its value does not tell stands in help and docstring."""
    option = replace(OPTION["weights"], words="as dear as they come")
    assert "as dear as they come" in option.help
    assert "as dear as they come" in option.documentation
    assert option.default_in_words == "as dear as they come"
