"""The keys of a policy file, described: its schema and its reference page."""

from typing import Any

from incrowd.policy.options import CAP_KEYS, COMBINATION_KEYS, MODEL_KEYS, Option, named
from incrowd.policy.table import OPTIONS


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a policy file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "incrowd policy",
        "description": "What is asked of a release; a TOML file, see policy.md.",
        **_table(OPTIONS),
    }


def _table(keys: tuple[Option, ...], required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {key.name: _described(key) for key in keys}
    found: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        found["required"] = list(required)
    return found | {"additionalProperties": False}


def _described(key: Option) -> dict[str, Any]:
    meaning = key.meaning.replace("`", "")
    default = f"; default: {key.default_in_words}" if key.default_in_words else ""
    return {"description": meaning + default, **_shape(key)}


def _shape(key: Option) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "string"} | ({"enum": list(key.choices)} if key.choices else {})
    names: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
    names_alone = [{"type": "string"}, names]
    exact = {"anyOf": [{"type": "number", **_limits(key)}, {"type": "string"}]}
    if key.kind == "models":
        return {"type": "array", "items": _table(MODEL_KEYS)}
    if key.kind == "combinations":
        one = _table(COMBINATION_KEYS, ("columns", "k"))
        return {"anyOf": [text, {"type": "array", "items": {"anyOf": [text, one]}}]}
    if key.kind == "caps":
        shares = {"type": "object", "additionalProperties": _shape(named(CAP_KEYS)["share"])}
        return {
            "anyOf": [shares, {"type": "array", "items": _table(CAP_KEYS, ("column", "share"))}]
        }
    texts: dict[str, Any] = {"type": "object", "additionalProperties": text}
    if key.alone:
        return {"anyOf": [*names_alone, texts]}
    listed = {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, names]}}
    return {
        "whole": {"type": "integer", **_limits(key)},
        "number": {"type": "number", **_limits(key)},
        "rows": {"anyOf": [{"type": "integer", **_limits(key)}, {"type": "string"}]},
        "exact": exact,
        "text": text,
        "flag": {"type": "boolean"},
        "names": {"anyOf": names_alone},
        "lists": {"type": "array", "items": names},
        "marks": {"anyOf": [{"type": "string"}, names, listed]},
        "texts by column": texts,
        "numbers by column": {"type": "object", "additionalProperties": exact},
        "text or by column": {"anyOf": [text, texts]},
        "number or by column": {
            "anyOf": [exact, {"type": "object", "additionalProperties": exact}]
        },
    }[key.kind]


def _limits(key: Option) -> dict[str, Any]:
    limits = {"minimum": key.least, "exclusiveMinimum": key.above, "maximum": key.most}
    return {name: limit for name, limit in limits.items() if limit is not None}


def reference() -> str:
    """Return the tables of keys of docs/reference/policy.md."""
    parts = [
        "| key | value | meaning | default | command line |\n|---|---|---|---|---|",
        *(
            f"| `{k.name}` | {_value(k)} | {k.meaning} | {k.default_in_words} | `{k.flag}` |"
            for k in OPTIONS
        ),
        "\n### A model (`[[models]]`)\n\n| key | value | meaning | default |\n|---|---|---|---|",
        *(f"{_row(k)} {k.default_in_words} |" for k in MODEL_KEYS),
        "\n### A combination (`[[protect]]`)\n\n| key | value | meaning |\n|---|---|---|",
        *map(_row, COMBINATION_KEYS),
        "\n### A cap (`[[caps]]`)\n\n| key | value | meaning |\n|---|---|---|",
        *map(_row, CAP_KEYS),
    ]
    return "\n".join(parts) + "\n"


def _row(key: Option) -> str:
    """The cells of name, value and meaning."""
    return f"| `{key.name}` | {_value(key)} | {key.meaning} |"


def _value(key: Option) -> str:
    """What may stand there, in words."""
    words = {
        "names": "a text or a list of texts",
        "lists": "a list of lists of texts",
        "marks": "a text, a list of texts, or column → such a list",
        "exact": 'a number, or a text such as `"1/5"`',
        "whole": "a whole number",
        "number": "a number",
        "rows": 'a whole number, or a text such as `"2%"`',
        "text": "a text",
        "flag": "`true` or `false`",
        "texts by column": "column → text",
        "numbers by column": "column → number",
        "number or by column": "a number, or column → number",
        "text or by column": "a text, or column → text",
        "models": "a list, see below",
        "caps": "column → number, or a list, see below",
        "combinations": "a text, or a list of texts or tables, see below",
    }[key.kind]
    if key.alone:
        return f"a text, a list of texts, or {words}"
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
