"""Honest proofs of small random tables, as ``incrowd anonymize --proof`` makes them."""

import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner

from forging.bundle import Bundle, Table, opened
from forging.plain import arrow_of, records
from incrowd.cli import cli

ROWS = 7  # brute force tries 3^rows partitions
TREES = {  # they hold what the tables may lack, and the missing value
    "a.csv": "1;low;*\n2;low;*\n3;high;*\n4;high;*\n",
    "b.csv": "x;xy;*\ny;xy;*\nz;zz;*\n",
    "deep.csv": "1;1-2;1-3;*\n2;1-2;1-3;*\n3;3;1-3;*\n4;4;4;*\n",
    "s.csv": "f;well;*\ng;well;*\nh;ill;*\n",
    "order.txt": "g\nf\nh\n",
    "places.txt": "z\nx\ny\n",
    "metric.csv": "f;g;1\nf;h;3\ng;h;2\n",
}
# name → options; {tree} is the folder of the files above, {trees} are two hierarchies
RECIPES: dict[str, str] = {
    "pairs": "-k 2 --method simplex-matching",
    "missing": "-k 2 --na {trees}",
    "k=3": "-k 3",
    "hierarchies": "-k 2 {trees}",
    "deep": "-k 3 --hierarchy a={tree}/deep.csv",
    "range": "-k 2 --hierarchy a=range --hierarchy b={tree}/b.csv",
    "range, rounded": "-k 3 --hierarchy a=range:round=1.5",
    "range, widest": "-k 2 --na --hierarchy a=range:most=1",
    "range, values": "-k 2 --hierarchy a=range:cost=values --weight a=2",
    "range, order": "-k 2 --hierarchy b=range:order={tree}/places.txt",
    "range, shown": "-k 2 --hierarchy a=range:show=<{low}_to_{high}>",
    "range, stars": "-k 2 --cost stars --hierarchy a=range",
    "range, distinct": "-k 2 --model l=2,on=s --hierarchy a=range:round=2,most=3",
    "combinations": "--protect a,b:2 --protect a,c:3 {trees}",
    "combinations, whole": "-k 2 --protect b,c:3 --na",
    "combinations, apart": "--protect a:2 --protect b,c:3 --hierarchy a={tree}/deep.csv",
    "stars": "-k 2 --cost stars --hierarchy a={tree}/a.csv",
    "weights": "-k 2 --weight a=3 --weight b=0.5 {trees}",
    "ncp": "-k 2 --cost ncp {trees}",
    "star": "-k 2 --star ? --hierarchy b={tree}/b.csv",
    "distinct": "-k 2 --model l=2,on=s {trees}",
    "distinct, two": "-k 2 --model l=2,on=s --model l=2,on=u",
    "frequency": "-k 2 --model l=2,kind=frequency,on=s {trees}",
    "entropy": "-k 2 --model l=1.7,kind=entropy,on=s",
    "recursive": "-k 2 --model l=2,c=1,kind=recursive,on=s {trees}",
    "disjoint": "-k 2 --model l=2,kind=disjoint {trees}",
    "t": "-k 2 --model t=0.35,on=s",
    "t, hierarchy": "-k 2 --model t=0.3,on=s {trees}",
    "t, ordered": "-k 2 --model t=0.3,distance={tree}/order.txt,on=s",
    "t, tree": "-k 2 --model t=0.3,distance=hierarchy,on=s --hierarchy s={tree}/s.csv",
    "t, metric": "-k 2 --model t=0.3,distance={tree}/metric.csv,on=s",
    "alpha": "-k 2 --model alpha=0.6,k=2,on=s {trees}",
    "alpha, values": "-k 2 --model alpha=0.4,values=f,on=s",
    "basic beta": "-k 2 --model beta=0.8,kind=basic,on=s",
    "enhanced beta": "-k 2 --model beta=1.5,kind=enhanced,on=s",
    "delta": "-k 2 --model delta=1,on=s",
    "people": "-k 2 --person id {trees}",
    "people, two": "-k 2 --person id,more",
    "rows left out": "-k 2 --model l=2,kind=frequency,on=s --suppress-rows 4 --skewed",
    "rows left out, hierarchies": "-k 3 --model l=3,kind=frequency,on=s --suppress-rows 4 {trees}",
    "rows left out, people": "-k 2 --person id --model l=2,kind=frequency,on=s "
    "--suppress-rows 5 --skewed",
    "nobody, own": "-k 2 --person id --missing-person own --nobody {trees}",
    "nobody, dropped": "-k 2 --person id --missing-person drop --nobody",
    "once": "-k 2 --person id --model l=2,kind=frequency,on=s {trees}",
    "once, t": "-k 2 --person id --model t=0.6,on=s",
    "rows linked": "-k 2 --person id --linked-rows --pairs {trees}",
    "pseudonyms": "-k 2 --person id --pseudonym id --pairs",
    "alike": "-k 2 --person id --constant-alike --pairs --alike ab {trees}",
    "whole": "-k 2 --person id --constant-alike --pairs --alike abc {trees}",
    "deleted": "-k 2 --delete-rows price=2,most=2 {trees}",
    "deleted, many": "-k 3 --delete-rows price=1.5 --cost stars",
    "deleted, dear": "-k 3 --delete-rows most=1 --hierarchy a={tree}/deep.csv",
    "fixed": "-k 2 --fixed c {trees}",
    "linked": "-k 2 --linked a,b",
    "linked, fixed": "-k 2 --linked a,b --fixed c {trees}",
    "fixed, range": "-k 2 --fixed c --hierarchy a=range",
    "capped": "-k 2 --cap a=30% --cap b=60% {trees}",
    "capped, linked": "-k 2 --cap c=20% --linked a,b",
    "capped, range": "-k 3 --cap a=60% --hierarchy a=range:most=1",
    "linked, distinct": "-k 2 --linked a,b --model l=2,on=s {trees}",
    "safe": "-k 2 --spreadsheet-safe --formulas",
    "semicolons": "-k 2 --form ; --na",
    "latin": "-k 2 --form tab --encoding latin-1",
    "parquet": "-k 2 --form parquet --na {trees}",
    "arrow": "-k 2 --form arrow --na",
    "stream": "-k 2 --form stream --model l=2,on=s",
    "typed": "-k 2 --form typed --na",
    "mean": "-k 2 --numbers a --hierarchy a=mean:digits=2",
    "mean, missing": "-k 2 --numbers a --na --hierarchy a=mean",
    "mean, marked": "-k 2 --numbers a --na=9 --hierarchy a=mean:digits=1",
    "mean, typed": "-k 2 --form typed --hierarchy a=mean:digits=1",
    "means": "-k 2 --numbers ab --hierarchy a=mean --hierarchy b=mean:digits=1 --weight a=2",
    "median": "-k 3 --numbers a --hierarchy a=median",
    "mean and median": "-k 2 --numbers ab --hierarchy a=median:digits=1 --hierarchy b=mean",
    "centroid": "-k 2 --numbers abc --hierarchy a=centroid --hierarchy b=centroid --hierarchy "
    "c=mean",
}
AVERAGED = re.compile(r"([abc])=(mean|median|centroid)")
BOTH = "--hierarchy a={tree}/a.csv --hierarchy b={tree}/b.csv"
FORMULAS = ["=1", "-x", "+1", "'a", "''=1", "'5"]


def drawn(draw: random.Random, words: list[str]) -> Table:
    """Return a random table that goes with a recipe's own words."""
    pool = {"a": "1234", "b": "xyz", "c": "uv", "s": "fgh", "u": "kl", "id": "pqrst", "more": "mn"}
    if "--formulas" in words:
        pool |= {"b": FORMULAS, "note": FORMULAS}  # type: ignore[dict-item]
    if "--numbers" in words:
        pool |= dict.fromkeys(words[words.index("--numbers") + 1], "123479")
    if "--encoding" in words:
        pool |= {"b": ["é", "ü", "x"]}  # type: ignore[dict-item]
    columns: dict[str, list[Any]] = {
        name: [draw.choice(cells) for _ in range(ROWS)] for name, cells in pool.items()
    }
    for name in ("id", "more"):  # each person twice at most
        columns[name] = [c + str(i // 2) for i, c in enumerate(columns[name])]
    if "--pairs" in words:  # people with two rows, and with one
        columns["id"] = [f"p{i // 2 if i < 4 else i}" for i in range(ROWS)]
    if "--nobody" in words:
        columns["id"] = [None if draw.random() < 0.3 else x for x in columns["id"]]
    for name in words[words.index("--alike") + 1] if "--alike" in words else ():
        columns[name] = [columns[name][columns["id"].index(x)] for x in columns["id"]]
    columns["s"][:3] = "fgh"
    if "--skewed" in words:
        columns["s"] = list("ffffgh" + draw.choice("fg"))
    columns.setdefault("note", [draw.choice([f"n{i}", "", "a,b", 'q"'])
                                for i in range(ROWS)])  # fmt: skip
    if "--na" in words:
        for name in "abcs":
            columns[name] = [None if draw.random() < 0.15 else x for x in columns[name]]
    if "--na" in words and "--numbers" in words:  # of rows that lack a number there have to be k
        gaps = draw.sample(range(ROWS), 2)
        columns["a"] = [None if i in gaps else x or "1" for i, x in enumerate(columns["a"])]
    form = words[words.index("--form") + 1] if "--form" in words else ","
    if form in ("parquet", "arrow", "stream"):
        return Table(columns, form)
    if form == "typed":
        columns["a"] = [None if x is None else int(x) for x in columns["a"]]
        columns["c"] = [None if x is None else x == "u" for x in columns["c"]]
        columns["note"] = [draw.choice([0.5, 2.0, None]) for _ in range(ROWS)]
        return Table(
            columns, "parquet", types={"a": pa.int32(), "c": pa.bool_(), "note": pa.float64()}
        )
    encoding = "latin-1" if "--encoding" in words else "utf-8"
    return Table(columns, delimiter={"tab": "\t"}.get(form, form), encoding=encoding)


def made(name: str, seed: int, folder: Path) -> Bundle:
    """Make a release with a proof; write and read them in ``folder``.

    Raises
    ------
    RuntimeError: no lawful release, or another error.
    """
    draw, words = random.Random(f"{name} {seed}"), RECIPES[name].replace("{trees}", BOTH).split()
    for file, text in TREES.items():
        (folder / file).write_text(text)
    if "--cap" not in words:
        return made_of(drawn(draw, words), words, name, folder)
    for _ in range(100):  # most caps are out of reach, or change nothing
        try:
            found = made_of(drawn(draw, words), words, name, folder)
        except RuntimeError:
            continue
        if "cap_prices" in found.facts:
            return found
    raise RuntimeError(f"{name}: no cap matters")


def made_of(table: Table, words: list[str], name: str, folder: Path) -> Bundle:
    """Return the release of a table with its proof."""
    suffix = {"csv": ".csv", "parquet": ".parquet"}.get(table.form, ".arrow")
    paths = folder / f"release{suffix}", folder / f"original{suffix}", folder / "out.proof"
    paths[1].write_bytes(table.write())
    given, roles = arguments(words, folder)
    run = CliRunner().invoke(
        cli,
        [
            "anonymize",
            str(paths[1]),
            "-o",
            str(paths[0]),
            "--proof",
            str(paths[2]),
            *roles,
            *given,
            "-q",
        ],
    )
    if run.exit_code:
        raise RuntimeError(f"{name}: {run.output}")
    released = table_like(paths[0].read_bytes(), table)
    files = {
        c: (folder / file).read_bytes()
        for c, _, file in (w.partition("=") for w in words if "," not in w)
        if c != "s" and file.startswith("{tree}/")
        for file in [file.removeprefix("{tree}/")]
    }
    return opened(name, paths, (released, table), files)


def arguments(words: list[str], folder: Path) -> tuple[list[str], list[str]]:
    """Return the options of incrowd: a recipe's own words left out; and the roles."""
    given, skip = [], False
    for word in words:
        if word in ("--na", "--skewed", "--formulas", "--pairs", "--nobody") or skip:
            skip = False
        elif word in ("--form", "--alike", "--numbers"):
            skip = True
        else:
            given.append(word.replace("{tree}", str(folder)))
    person = [w for i, w in enumerate(words) if words[i - 1] == "--person"]
    ids = [c for c in ("id", "more") if c not in ",".join(person).split(",")]
    averaged = AVERAGED.findall(" ".join(words))  # beside them no other column may be changed
    keep = [c for c in "abc" if averaged and c not in dict(averaged)]
    roles = ["--sensitive", "s,u", "--keep", ",".join(["note", *keep]), "--seed", "1"]
    return given, [*roles, *(["--id", ",".join(ids)] if ids else [])]


def table_like(data: bytes, table: Table) -> Table:
    """Read a release that was made of a table."""
    like = {"delimiter": table.delimiter, "newline": table.newline, "encoding": table.encoding}
    if table.form != "csv":
        found = arrow_of(data)
        types = {c: found.schema.field(c).type for c in found.column_names}
        return Table(found.to_pydict(), table.form, types=types)
    header, *rows = records(data.decode(table.encoding), table.delimiter)
    columns = {name or "": [row[j] for row in rows] for j, name in enumerate(header)}
    return Table(columns, **like)
