"""``incrowd verify --proof``: the independent checker's answer, and what is held against it."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import is_normalized

from incrowd.checker.both import files_of, hash_at, start_of
from incrowd.checker.delimited import Reading
from incrowd.checker.files import ended, form_of
from incrowd.checker.rejection import PROOF, STATEMENT, TABLES, RejectedError
from incrowd.checker.verify import check
from incrowd.cli import options
from incrowd.cli.output import print_json, say
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.policy.file import read_keys
from incrowd.proof.held import ROLES, in_words
from incrowd.proof.verified import Answer, held
from incrowd.tables.addresses import is_address
from incrowd.text.lists import joined
from incrowd.text.shell import quoted
from incrowd.text.units import counted, shown_gap

if TYPE_CHECKING:
    from incrowd.checker.verify import Verdict

OTHER_FILE = (
    "next     if that is not meant: a copy that was opened and saved, sorted, or sent with other "
    "line ends is another file, and so is one of another run. Take the files that incrowd read "
    "and wrote, of one run (with --derive the original is what --derived wrote, with --existing "
    "what --joined wrote); their names do not matter"
)
STEPS = {
    TABLES: OTHER_FILE,
    PROOF: "next     take the file that --proof wrote; this is cut off, or no proof at all",
    STATEMENT: "next     take the statement that was written in one run with the proof",
}
"""What helps where files are others than those meant, not a wrong release."""
WAYS = {
    "levels": "a generalized one that times its level over the height",
    "listed": "a generalized one what the proof lists",
    "width": "a range that times its width over the whole column's",
    "values": "a range that times (values in it - 1)/(all values - 1)",
    "stars": "a generalized one as much",
}
"""What a generalized cell costs, by the rule that the proof names."""
READING = {"delimiter": "--delimiter", "encoding": "--encoding", "odd_header": "--odd-header"}


def with_proof(
    release: str,
    original: str,
    proof: str,
    statement: str | None,
    as_json: bool,
    quiet: bool,
    given: Mapping[str, Any],
) -> int:
    """Hand over to the independent checker, and hold what is said against the proof."""
    if "-" in (release, original, proof) or any(map(is_address, (release, original))):
        raise InputError("--proof needs files, not pipes or databases: it states their hashes")
    for name, option in (("sheet", "--sheet"), ("of_table", "--table"), ("query", "--query")):
        if given[name] is not None:
            raise InputError(f"{option} does not go with --proof, whose files hold one table each")
    if given["derive"]:
        raise InputError(
            "--derive does not go with --proof, which is of the table with what is derived: give "
            "that table (written with --derived) as --original"
        )
    require_delimited(release, original)
    reading = Reading(given["delimiter"], given["encoding"], given["odd_header"])
    verdict = check(release, original, proof, None, statement, reading)
    found = answered(verdict, release, original, given)
    facts, reasons = found.facts, found.reasons
    if as_json:
        print_json({"lawful": found.lawful, "reasons": reasons, **facts})
    for reason in reasons:
        say(f"incrowd: no: {reason}")
    if found.mistaken is not None:
        say(STEPS[found.mistaken])
    if not reasons:
        say(answer(facts), quiet)
    return 1 if reasons else 0


def without_original(release: str, proof: str | None, statement: str | None) -> int:
    """Compare hashes with those of the public statement: all that can be done without the original.

    Raises
    ------
    InputError: no statement, it is none, or all hashes are the ones it states: no "yes" is due.
    """
    needed = "--original is needed: the table that the release was made from"
    if statement is None:
        raise InputError(
            f"{needed}. Without it, say --statement to see whether this is the file that the "
            "statement is of, and count its classes by incrowd measure RELEASE --qi COLUMNS"
        )
    stated, other = stated_in(statement), []
    for name, path in (("release", release), ("proof", proof)):
        if path is not None:
            other += [name] if hash_of(path) != stated.get(f"{name}_sha256") else []
    for name in other:
        say(f"incrowd: no: the {name} is not the file whose hash the statement states")
    if other:
        say(OTHER_FILE)
        return 1
    names = stated.get("quasi_identifiers")
    names = names if isinstance(names, list) else []
    asked = joined(map(str, names))
    raise InputError(
        f"the statement is of {'these files' if proof else 'this file'}, but nothing that it says "
        f"is checked yet: {needed}. Without it, count the classes: "
        f"incrowd measure {quoted(release)} --qi {quoted(asked)}"
    )


def hash_of(path: str) -> str:
    """Return the hash of a table or proof as a statement states it; InputError without a file."""
    if path == "-" or is_address(path):
        raise InputError("--statement needs files, not pipes or databases: it states their hashes")
    try:
        return hash_at(path)
    except RejectedError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def stated_in(path: str) -> Mapping[str, Any]:
    """Read a public statement; InputError where it is none."""
    try:
        stated = json.loads(ended(path, True).read_bytes())
    except RejectedError as error:
        raise InputError(f"--statement {error}") from None
    except OSError as error:
        raise InputError(f"--statement {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        stated = None
    form = stated.get("format") if isinstance(stated, dict) else None
    if form == "incrowd-codebook-statement":
        raise InputError(f"--statement {path}: is of incrowd codebook; name its --patterns, too")
    if not isinstance(stated, dict) or form != "incrowd-statement":
        raise InputError(
            f"--statement {path}: is no statement by incrowd anonymize, or is cut off; take the "
            "file that its --statement wrote"
        )
    return stated


def require_delimited(release: str, original: str) -> None:
    """Raise InputError where it is said how to read delimited text, and no table is any."""
    asked = [option for name, option in READING.items() if options.is_typed(name)]
    if not asked:
        return
    try:
        files = [*files_of(Path(release)), *files_of(Path(original))]
    except RejectedError:  # the checker says it
        return
    if all(form_of(start_of(file)) for file in files):
        raise InputError(f"{asked[0]} is of delimited text, which neither table is")


def answered(verdict: "Verdict", release: str, original: str, given: Mapping[str, Any]) -> Answer:
    """Hold what is typed against the proof."""
    proof = verdict.proof
    if proof is None:
        return Answer(False, (str(verdict.reason),), mistaken=verdict.mistaken)
    policy, said = asked_of(given, [c for names in proof.facts["roles"].values() for c in names])

    def opened(path: str) -> Any:
        form = proof.facts.get("csv") or {}
        known = {name: given[name] or form.get(name) for name in ("delimiter", "encoding")}
        return options.opened(path, known)

    tables = (lambda: opened(original)), (lambda: opened(release))
    return held(verdict, policy, said, *tables, given["spreadsheet_safe"])


def asked_of(given: Mapping[str, Any], columns: Sequence[str]) -> tuple["Policy", frozenset[str]]:
    """Return what is asked for, typed or in the policy file, and which arguments that names."""
    said = {name for name in given if options.is_typed(name)}
    if given["policy"] is not None:
        said |= set(read_keys(given["policy"]))
    arguments = options.policy_arguments(columns, given)
    policy = Policy(**{"k": 1, **{n: x for n, x in arguments.items() if n in said}})
    return policy, frozenset(said)


def answer(facts: Mapping[str, Any]) -> str:
    """Say what was proved, of what, and what is left open."""
    gap = f"the gap is {shown_gap(facts['gap'])}"
    state = "optimal: it equals the bound" if facts["optimal"] else gap
    cost, bound = (hundredths(facts[name], facts["scale"]) for name in ("cost", "bound"))
    most = facts["most"]
    share = f" ({facts['cost'] / most:.2%} of the most)" if most else ""
    dropped = facts["suppressed_rows"]
    left_out = (
        f" ({counted(dropped, 'more is', 'more are')} left out, each counted as all stars)"
        if dropped
        else ""
    )
    which = "lawful release of these rows" if dropped else "lawful release"
    if "deleted_rows" in facts:
        gone, most, price = (facts[n] for n in ("deleted_rows", "most_deleted", "deletion_price"))
        left_out = f" ({gone:,} more deleted at {price} each; at most {most:,} may be)"
        which += " with deletions"
    if nobody := facts.get("rows_without_person"):
        whose = "more does not say whose it is, and is", "more do not say whose they are, and are"
        left_out += f" ({counted(nobody, *whose)} left out)"
        which = "lawful release of these rows"
    which += obeying(facts.get("constraints", {}))
    return "\n".join(
        (
            f"yes: {counted(facts['rows'], 'row')}{left_out}, every class lawful, every cell "
            f"{cells_of(facts)}; the cost is {cost}{share}, and no {which} costs less than "
            f"{bound} ({state})",
            f"models   {'; '.join(map(printable, map(in_words, telling(facts['models']))))}",
            f"roles    {roles_in_words(facts['roles'])}",
            f"costs    {prices(facts['costs'], facts['hierarchies'])}",
            f"open     {'; '.join(map(printable, facts['not_checked']))}",
        )
    )


def obeying(constraints: Mapping[str, Any]) -> str:
    """Say of which releases alone the bound is, where it is not of all lawful ones."""
    fixed, linked = constraints.get("fixed", ()), constraints.get("linked", ())
    told = [f"leaves {' and '.join(map(called, fixed))} unchanged"] if fixed else []
    told += [f"generalizes {' and '.join(map(called, link))} together" for link in linked]
    caps = constraints.get("caps", {})
    told += [f"changes at most {most:,} cells of {called(name)}" for name, most in caps.items()]
    return f" that {', and '.join(told)}" if told else ""


def cells_of(facts: Mapping[str, Any]) -> str:
    """Say what a cell may be."""
    names = ", ".join(map(called, facts.get("averaged", ())))
    if not names:
        return "the original one or an ancestor"
    return f"of {names} the average of its class, rounded, and every other the original one"


def telling(models: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the models without 1-anonymity, which says nothing, where there are others."""
    return [entry for entry in models if entry != {"model": "k-anonymity", "k": 1}] or models


def roles_in_words(roles: Mapping[str, Sequence[str]]) -> str:
    """Say which columns have which role."""
    named = {role: ", ".join(map(called, roles[role])) for role in ROLES if roles.get(role)}
    return "; ".join(f"{ROLES[role]}: {names}" for role, names in named.items())


def printable(name: str) -> str:
    """Return a column's name without line ends and what else moves a cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def called(name: str) -> str:
    """Return a column's name; in quotes where it could be read as several, or as words of ours.

    Letters that are put together of two characters are written as these: others look the same.
    """
    text = printable(name)
    if not is_normalized("NFC", name):
        return ascii(name)
    plain = text and not {*",;:()'\""} & {*text} and text == text.strip()
    return text if plain else repr(text)


def prices(costs: Mapping[str, Mapping[str, str]], ladders: Collection[str]) -> str:
    """Say what a suppressed cell costs, and by which rules generalized ones do.

    ladders: the columns that have a hierarchy; in the others no cell is generalized.
    """
    stars: dict[str, list[str]] = {}
    for column, known in costs.items():
        stars.setdefault(known["suppressed"], []).append(called(column))
    told = [f"{cost} ({', '.join(names)})" for cost, names in stars.items()]
    parts = [f"a suppressed cell {', '.join(stars if len(told) == 1 else told) or 'nothing'}"]
    averaged = [c for c, known in costs.items() if known["rule"] in ("squares", "distances")]
    costs = {column: known for column, known in costs.items() if column not in averaged}
    if averaged:
        names = ", ".join(map(called, averaged))
        told = f"a class its share of the squares (distances for medians) of the column ({names})"
        return "; ".join([told, *([prices(costs, ladders)] if costs else [])])
    for rule, way in WAYS.items():
        priced = [column for column, known in costs.items() if known["rule"] == rule]
        names = [called(c) for c in priced if rule != "stars" or c in ladders]
        parts += [f"{way} ({', '.join(names)})"] if names else []
    return "; ".join(parts)


def hundredths(cost: int, scale: int) -> str:
    """Return an integer cost in the user's units, cut to two decimals, or whole, or a fraction."""
    if cost % scale == 0:
        return f"{cost // scale:,}"
    if 0 < cost * 100 < scale:
        return f"{cost}/{scale}"
    return f"{cost // scale:,}.{cost * 100 // scale % 100:02}"
