"""``incrowd verify --proof``: every option is held against the proof, or refused."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from incrowd.cli import cli
from incrowd.cli.verify import verify

ROWS = [
    (f"n{i}", 30 + i % 4, "fm"[i % 2], f"9{i % 3}{i % 2}1", "=x" if i % 5 else "y", 10 * (i % 4))
    for i in range(24)
]
COLUMNS = ["name", "age", "sex", "zip", "note", "pay"]
ROLES = "--id name --keep note --sensitive pay"
RULES = "--hierarchy zip=prefix:1,2 --hierarchy age=age.csv --weight age=2"
MODELS = "--model l=2,kind=recursive,c=4,on=pay --model t=1/2,distance=ordered,on=pay"
MADE = {  # what each release was asked for, with --proof NAME.proof
    "main": f"t.csv -o main.csv -k 3 {ROLES} {RULES} {MODELS} --fixed sex --statement s.json",
    "ncp": f"t.csv -o ncp.csv -k 3 {ROLES} {RULES} --cost ncp",
    "stars": f"t.csv -o stars.csv -k 3 {ROLES} --star ? --cost stars --linked sex,zip",
    "people": "t.csv -o people.csv -k 3 --person name --keep note --sensitive pay",
    "alike": "t.csv -o alike.csv -k 3 --person name --constant-alike --keep note --sensitive pay",
    "together": "t.csv -o tog.csv -k 3 --person name --linked-rows --keep note --sensitive pay",
    "hidden": "t.csv -o hidden.csv -k 3 --pseudonym name --keep note --sensitive pay",
    "own": "gone.csv -o own.csv -k 2 --person who --missing-person own",
    "drop": "gone.csv -o drop.csv -k 2 --person who --missing-person drop",
    "secret": "gone.csv -o secret.csv -k 2 --person who --missing-person drop --sensitive y --l 2",
    "fewer": "few.csv -o fewer.csv -k 2 --sensitive s --l 2 --l-kind frequency --suppress-rows 9",
    "deleted": f"t.csv -o deleted.csv -k 3 {ROLES} --delete-rows price=1.5,most=20%",
    "safe": f"t.csv -o safe.csv -k 3 {ROLES} --spreadsheet-safe",
    "packed": f"t.parquet -o packed.parquet -k 3 {ROLES} --model alpha=3/4,k=3,values=0,on=pay",
    "listed": f"t.csv -o listed.csv -k 3 {ROLES} --hierarchy age=age.csv --cost costs.csv",
    "comma": "comma.csv -o c.csv -k 2 --sensitive s --hierarchy w=range --decimal ,",
    "free": f"t.csv -o free.csv -k 2 {ROLES} --model l=2 --cap age=1 --cap sex=f:1",
}
CASES = {  # option → release, what it takes and what it refuses; asked of the proof named first
    "k": ("main", ["-k 3", "-k 2"], ["-k 4"]),
    "qi": (
        "main",
        ["--qi age,sex,zip", "--qi zip --qi sex,age"],
        ["--qi age", "--qi age,sex,zip,pay"],
    ),
    "sensitive": ("main", ["--sensitive pay"], ["--sensitive note", "--sensitive pay,note"]),
    "id": ("main", ["--id name"], ["--id zip", "--id name,zip"]),
    "person": (
        "people",
        ["--person name", "--person name -k 3"],
        ["--person zip", "--person name -k 4"],
    ),
    "missing_person": (
        "own",
        ["--person who --missing-person own", "--person who"],
        ["--person who --missing-person drop", "--person who --missing-person error"],
    ),
    "constant_alike": (
        "alike",
        ["--person name --constant-alike"],
        ["--constant-alike", "--person name --linked-rows"],
    ),
    "linked_rows": (
        "together",
        ["--person name --linked-rows"],
        ["--linked-rows", "--person name --constant-alike"],
    ),
    "pseudonym": ("hidden", ["--pseudonym name"], ["--pseudonym zip", "--id name"]),
    "keep": ("main", ["--keep note"], ["--keep sex"]),
    "l": ("main", ["--l 2 --l-kind recursive --c 4"], ["--l 3 --l-kind recursive --c 4", "--l 2"]),
    "l_kind": (
        "fewer",
        ["--l 2 --l-kind frequency"],
        ["--l 2 --l-kind entropy", "--l-kind entropy"],
    ),
    "c": (
        "main",
        ["--l 2 --l-kind recursive --c 9/2"],
        ["--l 2 --l-kind recursive --c 3", "--c 4"],
    ),
    "t": (
        "main",
        ["--t .5 --distance ordered", "--t .6 --distance ordered"],
        ["--t .4 --distance ordered"],
    ),
    "distance": (
        "main",
        ["--t .5 --distance ordered"],
        ["--t .5", "--t .5 --distance far.csv", "--distance ordered"],
    ),
    "models": (
        "packed",
        ["--model alpha=3/4,k=3,values=0,on=pay", "--model alpha=.8,k=2,values=0"],
        [
            "--model alpha=3/4,k=3",
            "--model alpha=.7,k=3,values=0",
            "--model k=4",
            "--model beta=1,kind=basic",
        ],
    ),
    "hierarchies": (
        "main",
        ["--hierarchy zip=prefix:1,2", "--hierarchy age=age.csv --hierarchy sex=none"],
        [
            "--hierarchy zip=prefix:1",
            "--hierarchy age=interval:2",
            "--hierarchy age=other.csv",
            "--hierarchy zip=nosuch.csv",
            "--hierarchy name=prefix:1",
            "--hierarchy sex=age.csv",
        ],
    ),
    "weights": (
        "main",
        ["--weight age=2", "--weight age=2.0"],
        ["--weight age=3", "--weight sex=2", "--weight age=x"],
    ),
    "cost": (
        "ncp",
        [f"--cost ncp {RULES}"],
        [
            f"--cost level {RULES}",
            f"--cost stars {RULES}",
            "--cost ncp",
            f"--cost costs.csv {RULES}",
            "--cost nosuch",
        ],
    ),
    "na": ("main", ["--na NA", "--na age=NA,-9"], ["--na 31", "--na age=31", "--na nosuch=NA"]),
    "decimal": (
        "comma",
        ["--decimal ,", "--decimal , --hierarchy w=range"],
        ["--decimal .", "--hierarchy w=range"],
    ),
    "derive": ("main", [], ["--derive age=years(born,2024-12-31)", "--derive age"]),
    "star": ("stars", ["--star ?"], ["--star *", "--star !"]),
    "fixed": ("main", ["--fixed sex"], ["--fixed age", "--fixed note"]),
    "linked": ("stars", ["--linked sex,zip"], ["--linked sex,age"]),
    "caps": ("free", ["--cap age=1", "--cap sex=f:1"], ["--cap age=0.01", "--cap sex=f:0.01"]),
    "policy": (
        "main",
        ["--policy right.toml", "--policy nobody.toml"],
        [f"--policy {name}.toml" for name in ("k", "roles", "rules", "costs", "nosuch")],
    ),
    "suppress_rows": ("fewer", ["--suppress-rows 9", "--suppress-rows 2"], ["--suppress-rows 1"]),
    "delete_rows": (
        "deleted",
        ["--delete-rows price=1.5,most=20%", "--delete-rows price=1.5"],
        [
            "--delete-rows price=2",
            "--delete-rows most=50%",  # without a price that of a row of stars
            "--delete-rows price=1.5,most=0",
            "--delete-rows 1",
        ],
    ),
    "delimiter": ("main", ["--delimiter ,"], ["--delimiter ;"]),
    "encoding": ("main", ["--encoding utf-8"], ["--encoding utf-16"]),
    "sheet": ("main", [], ["--sheet a"]),
    "of_table": ("main", [], ["--table a"]),
    "query": ("main", [], ["--query a"]),
    "spreadsheet_safe": ("safe", ["--spreadsheet-safe"], []),
    "odd_header": ("main", ["--odd-header"], []),
    "statement": ("main", ["--statement s.json"], ["--statement wrong.json"]),
}
ELSEWHERE = {  # refused for other proofs
    "packed": ["--delimiter ,", "--encoding utf-8", "--odd-header"],
    "main": ["--spreadsheet-safe", "--person name"],
}
SHOWN = {
    "release",
    "original",
    "proof",
    "protect",  # tested in tests/combinations
    "patterns",  # of a release that has no proof
    "as_json",
    "quiet",
}  # what is asked about, and how it is told
POLICIES = {
    "right": 'k = 3\nid = "name"\nsensitive = "pay"\nkeep = "note"\nstar = "*"\n'
    'method = "engine"\nseed = 5\n'
    '[weights]\nage = 2\n[hierarchies]\nzip = "prefix:1,2"\nage = "age.csv"\n'
    '[[models]]\nt = 0.5\ndistance = "ordered"\n',
    "k": "k = 4\n",
    "roles": 'sensitive = "note"\n',
    "rules": '[hierarchies]\nzip = "prefix:1"\n',
    "costs": "[weights]\nage = 5\n",
    "nobody": "k = 2\nperson = []\n",  # as incrowd init writes it
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables, their releases and proofs."""
    place = tmp_path_factory.mktemp("asked")
    frame = pl.DataFrame(ROWS, schema=COLUMNS, orient="row")
    few = pl.DataFrame({"a": ["1", "1", "2", "2", "3", "3"], "s": ["x", "x", "x", "x", "y", "y"]})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        frame.write_csv("t.csv")
        frame.write_parquet("t.parquet")
        few.write_csv("few.csv")
        Path("comma.csv").write_text("w;s\n1,5;a\n2,5;b\n7,5;a\n9;b\n")
        Path("gone.csv").write_text("who,x,y\nA,1,1\n,1,2\nB,2,2\n,2,1\nC,2,1\nA,1,2\n")
        Path("age.csv").write_text("".join(f"{a};{a // 2 * 2}+;*\n" for a in range(30, 34)))
        Path("other.csv").write_text("".join(f"{a};{a // 2 * 2}f;*\n" for a in range(30, 34)))
        Path("costs.csv").write_text("30+;0.125\n32+;0.25\n*;1\n")
        Path("far.csv").write_text("".join(f"{10 * i}\n" for i in (3, 1, 2, 0)))
        for name, text in POLICIES.items():
            Path(f"{name}.toml").write_text(text)
        for name, words in MADE.items():
            done = CliRunner().invoke(cli, f"anonymize {words} --proof {name}.proof -q".split())
            assert done.exit_code == 0, (name, done.output)
        stated = json.loads(Path("s.json").read_text())
        Path("wrong.json").write_text(json.dumps(stated | {"cost": stated["cost"] + 1}))
    return place


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def ask(name: str, words: str = "") -> Result:
    """Verify a release with its proof."""
    table, _, release = MADE[name].split()[:3]
    asked = ["verify", release, "--original", table, "--proof", f"{name}.proof", *words.split()]
    return CliRunner().invoke(cli, asked)


def test_each_option_of_the_command_is_thought_of() -> None:
    """Tests that none is new, and that each is both taken and refused, or only shows the answer."""
    names = {param.name for param in verify.params}
    assert names == {*CASES, *SHOWN}
    refused = {name for name, (_, _, wrong) in CASES.items() if wrong}
    others = " ".join(word for words in ELSEWHERE.values() for word in words)
    assert all(f"--{name.replace('_', '-')}" in others for name in {*CASES} - refused)


@pytest.mark.parametrize("name", MADE)
def test_nothing_asked(name: str) -> None:
    """Tests that each proof is accepted by itself."""
    done = ask(name)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("name", MADE)
def test_all_that_was_asked_at_once(name: str) -> None:
    """Tests that the words by which a release was made, all together, are so."""
    done = ask(name, " ".join(MADE[name].split()[3:]))
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("option", CASES)
def test_what_is_so_is_taken(option: str) -> None:
    """Tests the options as they were given, alike, or asking for less."""
    name, right, _ = CASES[option]
    for words in right:
        done = ask(name, words)
        assert done.exit_code == 0, (words, done.output)


@pytest.mark.parametrize("option", CASES)
def test_what_is_not_so_is_refused(option: str) -> None:
    """Tests that another value is a no, or an error that says why it cannot be held."""
    name, _, wrong = CASES[option]
    for words in wrong:
        done = ask(name, words)
        assert done.exit_code in (1, 2), words
        assert done.stderr.startswith("incrowd: "), words
        assert "unexpected" not in done.stderr
        assert "yes" not in done.output


@pytest.mark.parametrize(("name", "words"), [(n, w) for n, ws in ELSEWHERE.items() for w in ws])
def test_what_goes_with_other_releases_is_refused(name: str, words: str) -> None:
    """Tests how text is read of tables that are none, and what this release is not."""
    done = ask(name, words)
    assert done.exit_code in (1, 2), done.output
    assert "yes" not in done.output


def test_costs_are_held_without_the_files_of_hierarchies() -> None:
    """Tests rules, and what the proof lists of a file, priced anew: by level, by stars, by list."""
    for name, words in (
        ("main", "--cost level --weight age=2"),
        ("stars", "--cost stars"),
        ("stars", "--cost level"),  # of columns that are suppressed whole they are the same
        ("listed", "--cost costs.csv"),
    ):
        done = ask(name, words)
        assert done.exit_code == 0, (name, words, done.output)
    for name, words in (
        ("main", "--cost level"),
        ("main", "--cost stars --weight age=2"),
        ("listed", "--cost level"),
        ("listed", "--cost costs.csv --weight age=2"),
    ):
        done = ask(name, words)
        assert (done.exit_code, "its costs are not those" in done.stderr) == (1, True), words


def test_a_stranger_is_told_what_differs() -> None:
    """Tests that all differences are named at once, in text and JSON."""
    words = "--qi age --weight age=3 --star ! --l 3 -k 9"
    done = ask("main", words)
    for part in ("quasi-identifiers are 'age', 'sex', 'zip'", "a suppressed cell costs 2, not 3",
                 "shows '*', not '!'", "distinct 3-diversity", "k = 3, not 9"):  # fmt: skip
        assert part in done.stderr
    record = json.loads(ask("main", f"{words} --json -q").stdout)
    assert not record["lawful"]
    assert len(record["reasons"]) == 5


def test_the_answer_names_what_is_proved() -> None:
    """Tests models, roles, costs and what is left open, in text and JSON; quiet says nothing."""
    told = ask("main").output
    for part in (
        "models   3-anonymity; recursive (4, 2)-diversity of 'pay'; "
        "1/2-closeness (ordered distance) of 'pay'",
        "roles    quasi-identifiers: age, sex, zip; sensitive columns: pay; "
        "columns kept unchanged: note; columns left out: name",
        "costs    a suppressed cell 2 (age), 1 (sex, zip)",
        "open     whether the original is genuine; ",
        "whether the hierarchies of 'age', 'zip' say what is true (--hierarchy)",
        "whether values of 'pay' are as far apart as the proof says (--t)",
    ):
        assert part in told
    assert "a generalized one that times its level over the height (age" in told
    for name, part in (
        ("ncp", "a generalized one what the proof lists (age, zip)"),
        ("comma", "a range that times its width over the whole column's (w)"),
        ("stars", "costs    a suppressed cell 1\n"),  # no column has a hierarchy
    ):
        assert part in ask(name).output
    assert "of the most), and no lawful release" in told
    held = ask("main", f"{RULES} --t .5 --distance ordered").output
    assert "--hierarchy)" not in held and "(--t)" not in held
    assert "searched for (method, seed)" in ask("main", "--policy right.toml").output
    assert ask("main", "-q").output == ""
    record = json.loads(ask("main", "--json -q").stdout)
    assert record["roles"] == {
        "qi": ["age", "sex", "zip"], "sensitive": ["pay"], "id": ["name"], "keep": ["note"],
    }  # fmt: skip
    assert [model["model"] for model in record["models"]] == [
        "k-anonymity",
        "recursive",
        "t-closeness",
    ]
    assert record["hierarchies"] == {"zip": "prefix:1,2", "age": "age.csv"}
    assert record["costs"]["age"]["suppressed"] == "2"
    assert len(record["not_checked"]) == 5
    assert 0 < record["cost"] < record["most"]


def test_rows_of_nobody_are_counted() -> None:
    """Tests that the answer says how many rows are left out since nobody is named in them.

    And that they count as missing where it is not said that they may be.
    """
    assert "4 rows (2 more do not say whose they are, and are left out)" in ask("drop").output
    assert json.loads(ask("drop", "--json -q").stdout)["rows_without_person"] == 2
    assert "rows_without_person" not in json.loads(ask("own", "--json -q").stdout)
    for words, code in (
        ("--suppress-rows 0 --person who", 1),
        ("--suppress-rows 1", 1),
        ("--suppress-rows 2", 0),
        ("--suppress-rows 0 --person who --missing-person drop", 0),
    ):
        done = ask("drop", words)
        assert done.exit_code == code, done.output
        assert ("2 rows are left out, more than" in done.output) == (code == 1)


def test_a_deleted_row_costs_a_row_of_stars_by_default() -> None:
    """Tests a proof whose deleted rows cost next to nothing, which nobody asked for."""
    made = MADE["deleted"].replace("deleted.csv", "stars2.csv").replace("price=1.5,", "")
    done = CliRunner().invoke(cli, f"anonymize {made} --proof dear.proof -q".split())
    assert done.exit_code == 0, done.output
    words = "verify stars2.csv --original t.csv --proof dear.proof --delete-rows most=20%"
    for price, code in (("", 0), (",price=3", 0), (",price=2", 1)):
        done = CliRunner().invoke(cli, f"{words}{price}".split())
        assert done.exit_code == code, done.output
    assert "another price" in ask("deleted", "--delete-rows most=20%").output
