"""Changes of a proof's JSON part, key by key, and of its text."""

import json
import random
import unicodedata
from collections.abc import Callable
from typing import Any

import polars as pl

from forging.bundle import Bundle

Draw = random.Random
Change = Callable[[Draw, Bundle], Any]
EDGES = [2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**30]
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    2,
    3,
    -1,
    "",
    "x",
    [],
    [1],
    {},
    {"": 1},
    [None],
    [{}],
    10**400,
]
ODD += ["1/2", "1/0", "0", "-1", "1e9", "nan", "٣", "1" * 40, "\ud800", "\0", *EDGES]  # fmt: skip
RULES = ["distinct", "frequency", "share", "recursive", "majorized", "shares", "closeness"]
RULES += ["sizes", "once"]
KINDS = ["k-anonymity", "people", "distinct", "frequency", "entropy", "recursive", "disjoint"]
MARKS = [*",;\t|\1a1\n\r\0", '"', "", ",,", "\r\n"]
ENCODINGS = [
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "utf-7",
    "utf-8-sig",
    "latin-1",
    "cp1252",
    "cp037",
    "shift_jis",
    "gb18030",
]
ENCODINGS += ["hz", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "hex", "undefined"]
KINDS += ["combination"]
KINDS += ["alpha-k", "basic-beta", "enhanced-beta", "delta-disclosure", "t-closeness"]


def twin(draw: Draw, text: str) -> str:
    """Return a text that looks like another one."""
    alike = [text + end for end in (" ", "\u200b", "\0", "\r", "\u0301")]
    alike += [front + text for front in ("\ufeff", "=", "'", '"')]
    alike += [text.upper(), text.lower(), text.replace("a", "а"), text.replace("s", "ѕ")]
    return draw.choice([*alike, unicodedata.normalize("NFD", text + "é"), text.encode().hex()])


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return all containers within a value, each with each of its keys."""
    found: list[tuple[Any, Any]] = []
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else []
    )
    for key in keys:
        found.append((value, key))
        found += places(value[key])
    return found


def other(draw: Draw, value: Any) -> Any:
    """Return something near a value, or far from it."""
    if draw.random() < 0.25:
        return draw.choice(ODD)
    if type(value) is int:
        near = [value + 1, value - 1, -value, 2 * value, value // 2, value + draw.choice(EDGES)]
        return draw.choice([*near, str(value), [value]])
    if isinstance(value, str):
        return draw.choice([twin(draw, value), value[:-1], [value], draw.choice("abcsu"), ODD[-1]])
    if isinstance(value, list) and value:
        shuffled = draw.sample(value, len(value))
        return draw.choice(
            [value[1:], value + value[:1], shuffled, value * 40, [], value[0], [value]]
        )
    if isinstance(value, dict) and value:
        key = draw.choice(list(value))
        return draw.choice(
            [{k: v for k, v in value.items() if k != key}, list(value), {}, {**value, "x": 1}]
        )
    return draw.choice(ODD)


def any_place(draw: Draw, bundle: Bundle) -> None:
    """Change one value somewhere in the JSON part."""
    holder, key = draw.choice(places(bundle.facts))
    holder[key] = other(draw, holder[key])


def no_key(draw: Draw, bundle: Bundle) -> None:
    """Leave out one key."""
    holder, key = draw.choice([p for p in places(bundle.facts) if isinstance(p[0], dict)])
    del holder[key]


def number(draw: Draw, bundle: Bundle) -> None:
    """Change one of the numbers that everything hangs on."""
    name = draw.choice(
        ["scale", "quantum", "price_k", "cost", "bound", "suppress_rows", "suppressed_rows"]
    )
    value = bundle.facts[name]
    bundle.facts[name] = draw.choice(
        [value + 1, value - 1, 2 * value, 3 * value, value // 2, value + draw.choice(EDGES), -value]
    )


def role(draw: Draw, bundle: Bundle) -> None:
    """Move a column to another role, name it twice, or by a name that looks alike."""
    roles = bundle.facts["roles"]
    source = draw.choice([name for name in roles if roles[name]])
    column = draw.choice(roles[source])
    at = roles[source].index(column)
    if draw.random() < 0.2:
        roles[source][at] = twin(draw, column)
        return
    if draw.random() < 0.8:
        del roles[source][at]
    target = roles[draw.choice(list(roles))]
    target.insert(draw.randrange(len(target) + 1), column)


def model(draw: Draw, bundle: Bundle) -> None:
    """Change the list of models: fewer, weaker, of another column, of another kind, one more."""
    models = bundle.facts["models"]
    at = draw.randrange(len(models))
    one = models[at]
    choices: list[Callable[[], Any]] = [
        lambda: models.pop(at) if len(models) > 1 else None,
        lambda: models.append(dict(one)),
        lambda: one.__setitem__("model", draw.choice(KINDS)),
        lambda: one.__setitem__(draw.choice([*one, "column", "values", "order"]), other(draw, "s")),
        lambda: models.insert(0, new_model(draw, bundle)),
        lambda: models.__setitem__(at, new_model(draw, bundle)),
    ]
    keys = [key for key in one if key not in ("model", "distance")]
    if keys:
        key = draw.choice(keys)
        choices += 3 * [lambda: one.__setitem__(key, weaker(draw, one[key]))]
    draw.choice(choices)()


def weaker(draw: Draw, value: Any) -> Any:
    """Return another parameter."""
    if type(value) is int:
        return value + draw.choice([-1, 1])
    if isinstance(value, str) and value[:1].isdigit():
        return draw.choice(
            ["1", "2", "1/2", "1/3", "3/2", "17/10", "0.35", "99/100", value + "0", "0" + value]
        )
    return other(draw, value)


def new_model(draw: Draw, bundle: Bundle) -> dict[str, Any]:
    """Return a model of a column that may be none of the sensitive ones."""
    kind, column = draw.choice(KINDS), draw.choice("sssuua")
    more: dict[str, Any] = {
        "k-anonymity": {"k": draw.choice([1, 2, 3])},
        "people": {"k": draw.choice([1, 2]), "columns": draw.sample(["id", "more", "note"], 2)},
        "recursive": {"l": 2, "c": draw.choice(["1", "2", "1/2"]), "column": column},
        "disjoint": {"l": 2, "columns": draw.sample(["s", "u", "c"], 2)},
        "alpha-k": {"alpha": draw.choice(["1/2", "3/4", "1"]), "k": 1, "column": column},
        "basic-beta": {"beta": draw.choice(["1/2", "3"]), "column": column},
        "enhanced-beta": {"beta": draw.choice(["1/2", "3"]), "column": column},
        "delta-disclosure": {"delta": draw.choice(["1", "4"]), "column": column},
        "entropy": {"l": draw.choice(["1", "3/2", "2"]), "column": column},
        "t-closeness": {
            "t": draw.choice(["1/3", "1/2", "1"]),
            "distance": "equal",
            "column": column,
        },
    }.get(kind, {"l": draw.choice([1, 2, 3]), "column": column})
    return {"model": kind, **more}


def rule(draw: Draw, bundle: Bundle) -> None:
    """Change the pricing rules: fewer, one more, other figures."""
    rules = bundle.facts["pricing"]
    if rules and draw.random() < 0.5:
        one = draw.choice(rules)
        choices: list[Callable[[], Any]] = [
            lambda: rules.remove(one),
            lambda: one.__setitem__(key := draw.choice(list(one)), weaker(draw, one[key])),
            lambda: one.__setitem__("rule", draw.choice(RULES)),
            lambda: rules.append(dict(one)),
        ]
        draw.choice(choices)()
        return
    rules.insert(0, new_rule(draw, bundle))


def new_rule(draw: Draw, bundle: Bundle) -> dict[str, Any]:
    """Return a rule that may follow from the models."""
    asked = [m for m in bundle.facts["models"] if "column" in m] or [{"column": "s"}]
    one = draw.choice(asked)
    near = {"t-closeness": RULES[6:], "distinct": RULES[:1], "frequency": RULES[:2]}
    likely = near.get(str(one.get("model")), RULES[:6])
    kind, column = draw.choice([*RULES, *3 * likely]), one["column"]
    level = draw.choice([one.get("l", 2), 2, 3])
    t = str(one.get("t", "1/2")) if draw.random() < 0.7 else draw.choice(["0", "1/5"])
    return {
        "rule": kind,
        **{
            "distinct": {"l": level},
            "frequency": {"l": level},
            "share": {"cap": draw.choice(["1/2", "667/1000", "773/1000"])},
            "recursive": {"cap": draw.choice(["1/2", "2/3"]), "less": 0},
            "majorized": {"law": draw.choice([one, {"model": "entropy", "l": "2", "cap": "1/2"}])},
            "shares": one,
            "closeness": {"t": t},
            "sizes": {"t": t, "sizes": draw.choice([1, 4, 16, 64])},
            "once": draw.choice([{"t": t}, one]),
        }[kind],
        "column": column,
    }


def sizes(draw: Draw, bundle: Bundle) -> None:
    """State the sizes of class for which groups are priced, by combinations or not."""
    number = len(bundle.facts["groups"] or [0]) + draw.choice([0, 0, 0, 1])
    bundle.facts["group_k"] = [draw.choice([1, 2, 3, 4, 0, True, "2"]) for _ in range(number)]
    if draw.random() < 0.3:
        bundle.facts["price_k"] = draw.choice([4, 8])
    if draw.random() < 0.3:
        names = draw.sample([*bundle.facts["roles"]["qi"], "s"], 2)
        entry = {"model": "combination", "k": draw.choice([1, 2, 3]), "columns": names}
        bundle.facts["models"] = [*bundle.facts["models"], entry]


def groups(draw: Draw, bundle: Bundle) -> None:
    """State groups of columns, overlapping or not, with or without prices of their own."""
    qi = bundle.facts["roles"]["qi"]
    known = bundle.facts["groups"] = draw.choice(
        [
            [qi, qi],
            [qi[:1], qi],
            [[c] for c in qi],
            [qi[:1], qi[1:]],
            [[], qi],
            [qi[:1]],
            [[]],
            [["s"], qi],
        ]
    )
    if draw.random() < 0.8:
        rows = bundle.parts["rows.parquet"]
        price = rows["price"]
        more = [(price * draw.choice([0, 1, 1])).alias(f"price_{n}") for n in range(1, len(known))]
        bundle.parts["rows.parquet"] = rows.with_columns(more)


def search(draw: Draw, bundle: Bundle) -> None:
    """State another search for prices that are too high; some of them higher."""
    facts, rows = bundle.facts, bundle.parts["rows.parquet"]
    facts["search"] = draw.choice(["rows", "rows", "rows", "columns", None, ["rows"], 1])
    if draw.random() < 0.8:
        facts["pricing"], bundle.parts["sets.parquet"] = [], bundle.parts["sets.parquet"].clear()
    if draw.random() < 0.5:
        more = draw.choice([1, facts["quantum"], 2 * facts["quantum"]])
        some = pl.Series([more * draw.choice([0, 0, 1]) for _ in range(rows.height)])
        bundle.parts["rows.parquet"] = rows.with_columns(pl.col("price") + some)
        facts["bound"] = draw.choice([facts["bound"], facts["cost"]])


def hierarchies(draw: Draw, bundle: Bundle) -> None:
    """Name other hierarchies, or none; another star."""
    facts = bundle.facts
    choices: list[Callable[[], Any]] = [
        lambda: facts["hierarchies"].clear(),
        lambda: facts.__setitem__(
            "unchecked", draw.choice([[], ["x"], ["\ud800"], "x", [1], None])
        ),
        lambda: facts["hierarchies"].update({draw.choice("abc"): {"origin": "x", "sha256": None}}),
        lambda: facts.__setitem__("star", draw.choice(["?", "", "x", None, " ", "**", "1", "low"])),
        lambda: facts.pop("star"),
        lambda: facts.__setitem__("spreadsheet_safe", draw.choice([True, False, 1, "true", None])),
    ]
    draw.choice(choices)()


def dialect(draw: Draw, bundle: Bundle) -> None:
    """State another dialect of delimited text."""
    name = draw.choice(["delimiter", "newline", "encoding", "quote"])
    bundle.facts["csv"][name] = draw.choice([*MARKS, *ENCODINGS, None, 7])


def text(draw: Draw, bundle: Bundle) -> None:
    """Change the text of the JSON part: keys twice, decimals, marks, what no JSON has."""
    facts = bundle.facts
    key = draw.choice(list(facts))
    again = json.dumps({key: other(draw, facts[key])}, ensure_ascii=True)
    choices: list[Callable[[bytes], bytes]] = [
        lambda data: again.encode()[:-1] + b"," + data[1:],
        lambda data: data[:-1] + b"," + again.encode()[1:],
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data + b"\0",
        lambda data: data + b" {}",
        lambda data: data.decode("utf-8", "replace").encode("utf-16"),
        lambda data: data.replace(
            b"1", draw.choice([b"1.0", b"1e0", b"NaN", b"01", b"1_0", b"Infinity"]), 1
        ),
        lambda data: data.replace(b'"', b"'", 2),
        lambda data: data[: draw.randrange(len(data))],
        lambda data: data.replace(b"{", b"{" + b'"x":' * draw.choice([1, 400]) + b"[" * 10, 1),
        lambda data: (
            data[: (at := draw.randrange(len(data)))]
            + bytes([draw.randrange(256)])
            + data[at + 1 :]
        ),
    ]
    bundle.edits.append(("proof.json", draw.choice(choices)))


CHANGES: dict[str, Change] = {
    "any place": any_place,
    "no key": no_key,
    "number": number,
    "role": role,
    "model": model,
    "rule": rule,
    "groups": groups,
    "group_k": sizes,
    "search": search,
    "hierarchies": hierarchies,
    "dialect": dialect,
    "text": text,
}
