"""The first options of a release: the roles of columns, and what every class has to obey."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.policy.options import DISTANCE, DIVERSITIES, MISSING_PERSON, Option, row
from incrowd.policy.protect import Unsaid

if TYPE_CHECKING:
    from incrowd.policy.model_spec import ModelSpec
    from incrowd.privacy.model import Model


@dataclass(frozen=True, kw_only=True)
class Protection:
    """Who is protected, and how far."""

    k: int = row(
        Unsaid(5),
        Option(
            "whole",
            "least number of rows alike in all quasi-identifiers; beside `protect` it is 1 unless "
            "it is said",
            "-k",
            least=1,
        ),
    )
    protect: Any = row(
        (),
        Option(
            "combinations",
            "a k of their own for chosen combinations of quasi-identifiers, such as "
            "`age,sex,zip:5`: at least so many rows agree in these columns",
            "--protect",
            "A,B,…:K",
            words="all quasi-identifiers together, by `k`",
            python='texts such as ``"age,sex:5"``, or ``Combination(("age", "sex"), 5)``',
        ),
    )
    qi: Sequence[str] | None = row(
        None,
        Option(
            "names",
            "quasi-identifiers: what others may know about a person; changed where needed",
            "--qi",
            "A,B,…",
            words="every column not named otherwise",
        ),
    )
    sensitive: Sequence[str] = row(
        (), Option("names", "sensitive columns: published unchanged", "--sensitive", "S,…")
    )
    id: Sequence[str] = row(
        (), Option("names", "identifiers: left out of the release", "--id", "I,…")
    )
    person: Sequence[str] = row(
        (),
        Option(
            "names",
            "columns that together name a person: left out, and k counts people, not rows",
            "--person",
            "P,…",
        ),
    )
    missing_person: str = row(
        "error",
        Option(
            "text",
            "what becomes of rows that do not say whose they are: `error` ends the run and counts "
            "them, `own` takes each for a person of its own, `drop` leaves them out",
            "--missing-person",
            choices=MISSING_PERSON,
        ),
    )
    constant_alike: bool = row(
        False,
        Option(
            "flag",
            "with `person`: quasi-identifiers that are constant within each person show one cell "
            "in all rows of a person, so that joining these rows tells no more than one of them",
            "--constant-alike",
        ),
    )
    linked_rows: bool = row(
        False,
        Option(
            "flag",
            "with `person`: all released rows of a person together are those of k people, for "
            "whoever can tell which rows are one person's, by their order or a kept column; a "
            "pseudonym of the person asks for the same",
            "--linked-rows",
        ),
    )
    pseudonym: Any = row(
        {},
        Option(
            "texts by column",
            "publish a column under pseudonyms: keyed hashes (HMAC-SHA-256) of its values, by a "
            "key of the operating system's randomness, which is kept in KEYFILE or thrown away. "
            "A column of pseudonyms that repeat has to be that of `person`: all rows of a person "
            "together are then shared by k people",
            "--pseudonym",
            "COL[=KEYFILE]",
            alone=True,
            file=True,
            python="a name, names, or column → key file",
        ),
    )
    keep: Sequence[str] = row(
        (), Option("names", "other columns: published unchanged", "--keep", "C,…")
    )
    l: Any = row(  # noqa: E741 (the field's own letter)
        None, Option("exact", "also l-diversity of each sensitive column", "--l", "L", least=1)
    )
    l_kind: str = row(
        "distinct", Option("text", "which l-diversity", "--l-kind", choices=DIVERSITIES)
    )
    c: Any = row(None, Option("exact", "the c of recursive (c, l)-diversity", "--c", "X", above=0))
    t: Any = row(
        None,
        Option("exact", "also t-closeness of each sensitive column", "--t", "X", least=0, most=1),
    )
    distance: str = row(
        "equal",
        Option(
            "text",
            f"how far apart sensitive values are, for t-closeness: {DISTANCE}",
            "--distance",
            "equal|ordered|hierarchy|FILE",
            file=True,
        ),
    )
    models: "Sequence[Model | ModelSpec | Mapping[str, Any] | str]" = row(
        (),
        Option(
            "models",
            "further models, each with its own parameters",
            "--model",
            "NAME=X,…",
            typed="for example l=3,kind=entropy,on=disease; of k, l, c, t, distance, alpha, beta, "
            "delta, kind, values, on",
            python='a model, a ``ModelSpec``, its names and values, or ``"l=3,on=disease"``',
        ),
    )
