"""Every key of a policy file, in one table: reading, schema and reference page come from it."""

from dataclasses import dataclass
from typing import Any

from incrowd.policy.model_spec import DIVERSITIES, LIKENESSES

ORDERS = ("keep", "shuffle")


@dataclass(frozen=True)
class Key:
    """One key.

    Attributes
    ----------
    kind: ``whole``, ``number``, ``exact`` (a number, or a text such as ``"1/5"``), ``text``,
        ``names`` (a text or a list of texts), ``lists`` (of lists of texts), ``texts by column``,
        ``numbers by column``, ``text or by column``, ``number or by column``, ``models``, ``caps``.
    meaning: for readers.
    option: on the command line.
    default: in words; empty where there is none.
    choices: the texts that are allowed; none: any.
    least, most: the numbers that are allowed; ``above``: the number that is too little.
    file: whether the text may name a file, then relative to the policy file.
    """

    name: str
    kind: str
    meaning: str
    option: str = ""
    default: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None
    file: bool = False


DISTANCE = "`equal`, `ordered` (numbers by size, dates by time), `hierarchy`, or a file"

MODEL_KEYS = (
    Key("on", "names", "sensitive columns it is asked of; each of them where not said"),
    Key(
        "kind",
        "text",
        "of `l`: which diversity, `distinct` where not said; of `beta`: always say which",
        choices=(*DIVERSITIES, *LIKENESSES),
    ),
    Key("k", "whole", "least size of a class, alone or beside `alpha`", least=1),
    Key("l", "exact", "l-diversity; whole, except for `entropy`", least=1),
    Key("c", "exact", "the c of recursive (c, l)-diversity", above=0),
    Key("t", "exact", "t-closeness", least=0, most=1),
    Key("distance", "text", f"of t-closeness: {DISTANCE}", default="equal", file=True),
    Key("alpha", "exact", "(α, k)-anonymity: largest share of a value", above=0, most=1),
    Key("values", "names", "the values that `alpha` guards; all where not said"),
    Key("beta", "exact", "β-likeness", least=0),
    Key("delta", "exact", "δ-disclosure", above=0),
)

CAP_KEYS = (
    Key("column", "text", "a quasi-identifier; with `value` any column"),
    Key("value", "text", "caps all quasi-identifiers of the rows whose cell is this one"),
    Key("share", "exact", "largest share of changed cells", least=0, most=1),
)

KEYS = (
    Key("k", "whole", "least number of rows alike", "-k", "5", least=1),
    Key("qi", "names", "quasi-identifiers", "--qi", "every column not named otherwise"),
    Key("sensitive", "names", "sensitive columns, published unchanged", "--sensitive"),
    Key("id", "names", "identifiers, left out of the release", "--id"),
    Key("keep", "names", "other columns, published unchanged", "--keep"),
    Key("person", "names", "columns that together name a person, left out; k then counts people",
        "--person"),
    Key("l", "exact", "l-diversity of each sensitive column", "--l", least=1),
    Key("l_kind", "text", "which l-diversity", "--l-kind", "distinct", DIVERSITIES),
    Key("c", "exact", "the c of recursive (c, l)-diversity", "--c", above=0),
    Key("t", "exact", "t-closeness of each sensitive column", "--t", least=0, most=1),
    Key("distance", "text", f"of t-closeness: {DISTANCE}", "--distance", "equal", file=True),
    Key("models", "models", "further models, each with its own parameters", "--model"),
    Key(
        "hierarchies",
        "texts by column",
        "how a column is generalized: `interval:5,10`, `prefix:1,2`, `date`, `none`, or a file",
        "--hierarchy",
        "suppressed whole",
        file=True,
    ),
    Key("weights", "numbers by column", "how dear a column's cells are", "--weight", "1", above=0),
    Key("fixed", "names", "quasi-identifiers that are never changed", "--fixed"),
    Key("linked", "lists", "quasi-identifiers that are suppressed together", "--linked"),
    Key("caps", "caps", "largest share of changed cells, of a column or a subgroup", "--cap"),
    Key(
        "cost",
        "text or by column",
        "what a changed cell costs: `level`, `ncp`, `stars`, or a file `label;cost`",
        "--cost",
        "level",
        file=True,
    ),
    Key("veil", "number or by column", "probability with which coins hide each cell beforehand",
        "--veil", "none", above=0, most=1),
    Key("star", "text", "what is written for a suppressed cell", "--star", "*"),
    Key("method", "text", "`auto` or a method's id (`incrowd methods`)", "--method", "auto"),
    Key(
        "reductions",
        "text",
        "what an exact method does before it starts",
        "--reductions",
        "the method's own",
        ("paper", "all", "none"),
    ),
    Key("time_limit", "number", "wall seconds to search at most", "--time-limit", above=0),
    Key("gap", "number", "end at this gap", "--gap", least=0, most=1),
    Key(
        "seed",
        "whole",
        "of all randomness; given, the order of shuffled rows follows from it",
        "--seed",
        "0 for the search, and an order of rows that nobody can make again",
        least=0,
    ),
    Key("threads", "whole", "at most so many; no influence on the result", "--threads", "1",
        least=1),
    Key("suppress_rows", "whole", "rows that may be left out where the table breaks the model",
        "--suppress-rows", "0", least=0),
    Key(
        "order",
        "text",
        "order of the released rows",
        "--order",
        "shuffle on the command line, keep in Python",
        ORDERS,
    ),
)  # fmt: skip


def named(keys: tuple[Key, ...]) -> dict[str, Key]:
    """Return the keys by name."""
    return {key.name: key for key in keys}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a policy file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "incrowd policy",
        "description": "What is asked of a release; a TOML file, see policy.md.",
        **_table(KEYS),
    }


def _table(keys: tuple[Key, ...], required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {key.name: _described(key) for key in keys}
    found: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        found["required"] = list(required)
    return found | {"additionalProperties": False}


def _described(key: Key) -> dict[str, Any]:
    meaning = key.meaning.replace("`", "")
    default = f"; default: {key.default}" if key.default else ""
    return {"description": meaning + default, **_shape(key)}


def _shape(key: Key) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "string"} | ({"enum": list(key.choices)} if key.choices else {})
    names: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
    exact = {"anyOf": [{"type": "number", **_limits(key)}, {"type": "string"}]}
    if key.kind == "models":
        return {"type": "array", "items": _table(MODEL_KEYS)}
    if key.kind == "caps":
        shares = {"type": "object", "additionalProperties": _shape(named(CAP_KEYS)["share"])}
        return {
            "anyOf": [shares, {"type": "array", "items": _table(CAP_KEYS, ("column", "share"))}]
        }
    texts = {"type": "object", "additionalProperties": text}
    return {
        "whole": {"type": "integer", **_limits(key)},
        "number": {"type": "number", **_limits(key)},
        "exact": exact,
        "text": text,
        "names": {"anyOf": [{"type": "string"}, names]},
        "lists": {"type": "array", "items": names},
        "texts by column": texts,
        "numbers by column": {"type": "object", "additionalProperties": exact},
        "text or by column": {"anyOf": [text, texts]},
        "number or by column": {
            "anyOf": [exact, {"type": "object", "additionalProperties": exact}]
        },
    }[key.kind]


def _limits(key: Key) -> dict[str, Any]:
    limits = {"minimum": key.least, "exclusiveMinimum": key.above, "maximum": key.most}
    return {name: limit for name, limit in limits.items() if limit is not None}


def reference() -> str:
    """Return the tables of keys of docs/reference/policy.md."""
    parts = [
        "| key | value | meaning | default | command line |\n|---|---|---|---|---|",
        *(f"| `{k.name}` | {_value(k)} | {k.meaning} | {k.default} | `{k.option}` |" for k in KEYS),
        "\n### A model (`[[models]]`)\n\n| key | value | meaning | default |\n|---|---|---|---|",
        *(f"| `{k.name}` | {_value(k)} | {k.meaning} | {k.default} |" for k in MODEL_KEYS),
        "\n### A cap (`[[caps]]`)\n\n| key | value | meaning |\n|---|---|---|",
        *(f"| `{k.name}` | {_value(k)} | {k.meaning} |" for k in CAP_KEYS),
    ]
    return "\n".join(parts) + "\n"


def _value(key: Key) -> str:
    """What may stand there, in words."""
    words = {
        "names": "a text or a list of texts",
        "lists": "a list of lists of texts",
        "exact": 'a number, or a text such as `"1/5"`',
        "whole": "a whole number",
        "number": "a number",
        "text": "a text",
        "texts by column": "column → text",
        "numbers by column": "column → number",
        "number or by column": "a number, or column → number",
        "text or by column": "a text, or column → text",
        "models": "a list, see below",
        "caps": "column → number, or a list, see below",
    }[key.kind]
    if key.choices:
        return " ".join(f"`{choice}`" for choice in key.choices)
    bounds = [
        (key.least, f"at least {key.least}"),
        (key.above, f"above {key.above}"),
        (key.most, f"at most {key.most}"),
    ]
    return ", ".join([words, *(text for bound, text in bounds if bound is not None)])


def main() -> None:
    """Print the schema, or with the argument ``reference`` the reference page's tables."""
    import json
    import sys

    tables = sys.argv[1:] == ["reference"]
    sys.stdout.write(reference() if tables else json.dumps(schema(), indent=1) + "\n")


if __name__ == "__main__":
    main()
