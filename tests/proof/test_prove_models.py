"""Tests proofs of every privacy model: honest ones accepted, classes made unlawful rejected."""

import io
import json
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from incrowd._api import anonymize
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.proof.prove import prove
from incrowd.proof.writing import pack

ROWS = 24
# --model, what the proof then says of it
MODELS = {
    "l=2": ["distinct"],
    "l=2,kind=frequency": ["frequency"],
    "l=1.9,kind=entropy": ["entropy"],
    "l=2,kind=recursive,c=1": ["recursive"],
    "l=2,kind=disjoint": ["disjoint"],
    "t=0.3": ["t-closeness"],
    "t=0.2,distance={folder}/order.txt,on=ill": ["t-closeness"],
    "t=0.2,distance={folder}/metric.csv,on=ill": ["t-closeness"],
    "t=0.2,distance=hierarchy,on=ill": ["t-closeness"],
    "alpha=0.5,k=3": ["alpha-k"],
    "alpha=0.45,values=flu": ["alpha-k"],
    "beta=0.6,kind=basic": ["basic-beta"],
    "beta=0.6,kind=enhanced": ["enhanced-beta"],
    "delta=0.9": ["delta-disclosure"],
    "beta=1,kind=basic;alpha=0.6;delta=1.5;l=2": [
        "basic-beta",
        "alpha-k",
        "delta-disclosure",
        "distinct",
    ],
}


def table() -> pl.DataFrame:
    """Three quasi-identifiers of which pairs of rows agree, and four illnesses."""
    rng = np.random.default_rng(3)
    half = {c: rng.integers(0, 4, ROWS // 2) for c in "abc"}
    ill = rng.choice(["flu", "cold", "none", "hiv"], ROWS, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    twice = {c: np.concatenate([cells, cells]) for c, cells in half.items()}
    return pl.DataFrame(twice | {"ill": ill, "also": rng.permutation(ill).tolist()})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table, and its 2-anonymous release with a proof."""
    folder = tmp_path_factory.mktemp("models")
    table().write_csv(folder / "in.csv")
    (folder / "order.txt").write_text("none\ncold\nflu\nhiv\n")
    (folder / "tree.csv").write_text("none;well;*\ncold;mild;*\nflu;mild;*\nhiv;bad;*\n")
    far = {"cold none": 1, "flu none": 2, "hiv none": 3, "cold flu": 1, "cold hiv": 3, "flu hiv": 2}
    lines = (f"{pair.replace(' ', ';')};{apart}\n" for pair, apart in far.items())
    (folder / "metric.csv").write_text("".join(lines))
    release = anonymize(str(folder / "in.csv"), 2, sensitive=["ill", "also"])
    release.write(folder / "plain.csv")
    prove(release, folder / "in.csv", folder / "plain.csv", folder / "plain.proof")
    return folder


def proven(folder: Path, name: str, out: Path) -> dict[str, Any]:
    """Release and prove by the command line; return the proof's facts."""
    named = name.format(folder=folder).split(";")
    given = [x for model in named for x in ("--model", model)]
    given += ["--hierarchy", f"ill={folder / 'tree.csv'}"] if "hierarchy" in name else []
    given += ["--sensitive", "ill,also", "-k", "2", "--seed", "1", "--time-limit", "3"]
    paths = ["-o", str(out / "out.csv"), "--proof", str(out / "out.proof")]
    run = CliRunner().invoke(cli, ["anonymize", str(folder / "in.csv"), *paths, *given, "-q"])
    assert run.exit_code == 0, (run.output, run.exception)
    with zipfile.ZipFile(out / "out.proof") as archive:
        return json.loads(archive.read("proof.json"))


@pytest.fixture(scope="module", params=MODELS)
def honest(
    request: pytest.FixtureRequest, files: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any], list[str]]:
    """A folder with a release of each model, what its proof says, and the models it is to say."""
    folder = tmp_path_factory.mktemp("honest")
    return folder, proven(files, request.param, folder), MODELS[request.param]


def test_every_model_can_be_proven(
    honest: tuple[Path, dict[str, Any], list[str]], files: Path
) -> None:
    """Tests the whole way by the command line, and that the bound is not that of k alone."""
    folder, facts, models = honest
    stated = [m["model"] for m in facts["models"] if m["model"] != "k-anonymity"]
    assert sorted(set(stated)) == sorted(set(models))
    verdict = check(folder / "out.csv", files / "in.csv", folder / "out.proof")
    assert verdict.accepted, verdict
    paths = [str(folder / "out.csv"), "--original", str(files / "in.csv")]
    run = CliRunner().invoke(cli, ["verify", *paths, "--proof", str(folder / "out.proof")])
    assert run.exit_code == 0, run.output
    with zipfile.ZipFile(files / "plain.proof") as archive:
        alone = json.loads(archive.read("proof.json"))
    assert facts["price_k"] >= 2 and facts["bound"] >= alone["bound"] >= 0


@pytest.mark.parametrize("name", ["l=2", "t=0.3", *(m for m in MODELS if "{folder}" in m)])
def test_no_rows(name: str, files: Path, tmp_path: Path) -> None:
    """Tests a table without rows, and so without sensitive values."""
    source, out, proof = (tmp_path / n for n in ("in.csv", "out.csv", "out.proof"))
    source.write_text("a,ill\n")
    release = anonymize(str(source), 2, sensitive="ill", models=name.format(folder=files))
    release.write(out)
    prove(release, source, out, proof)
    assert check(out, source, proof).accepted


def forged(files: Path, out: Path, models: list[Any]) -> Path:
    """The proof of the 2-anonymous release, as one of other models; all prices 0, hashes right."""
    with zipfile.ZipFile(files / "plain.proof") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    facts = json.loads(parts.pop("proof.json"))
    frame = pl.read_parquet(io.BytesIO(parts["rows.parquet"])).with_columns(price=pl.lit(0))
    whole = io.BytesIO()
    frame.write_parquet(whole)
    parts["rows.parquet"] = whole.getvalue()
    parts["sets.parquet"] = _empty(parts["sets.parquet"])
    facts |= {"models": models, "pricing": [], "price_k": 1, "bound": 0}
    facts["parts"] = {name: sha256(part).hexdigest() for name, part in parts.items()}
    pack(out / "forged.proof", facts, parts)
    return out / "forged.proof"


def _empty(part: bytes) -> bytes:
    out = io.BytesIO()
    pl.read_parquet(io.BytesIO(part)).head(0).write_parquet(out)
    return out.getvalue()


def test_unlawful_classes_are_rejected(
    honest: tuple[Path, dict[str, Any], list[str]], files: Path, tmp_path: Path
) -> None:
    """Tests a release that breaks the model, with a proof in which all else is right."""
    facts = honest[1]
    paths = files / "plain.csv", files / "in.csv"
    two = [{"model": "k-anonymity", "k": 2}]
    assert check(*paths, forged(files, tmp_path, two)).accepted
    for model in facts["models"]:
        if model["model"] != "k-anonymity":
            verdict = check(*paths, forged(files, tmp_path, [*two, model]))
            assert not verdict.accepted
            assert f"breaks the model {model['model']}" in str(verdict.reason)
