"""Tests that what is small on disk and huge in memory is refused before it is inflated."""

import hashlib
import io
import json
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_forger import I32, I64, Fields, chunks, with_footer, with_page
from proof_samples import NAMES

from incrowd import anonymize
from incrowd.checker.archive import parts_of
from incrowd.checker.parquet import require_moderate
from incrowd.checker.rejection import RejectedError
from incrowd.checker.verify import check
from incrowd.proof.prove import prove
from incrowd.proof.writing import sha256_of

ROWS = 8


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an honest release, original (Parquet) and proof."""
    folder = tmp_path_factory.mktemp("honest")
    paths = [folder / name for name in NAMES]
    pl.DataFrame({"a": list("xxyyxxyy"), "b": list("11111122")}).write_parquet(paths[1])
    release = anonymize(str(paths[1]), 2, method="mondrian")
    release.write(paths[0])
    prove(release, paths[1], paths[0], paths[2])
    assert check(*map(str, paths)).accepted  # type: ignore[arg-type]
    return folder


def verdict_of(folder: Path, proof: Path) -> Any:
    """What the checker says of another proof file."""
    return check(folder / NAMES[0], folder / NAMES[1], proof)


def repacked(source: Path, target: Path, part: str, data: bytes, **how: Any) -> Path:
    """Write a proof with one part replaced, its hash mended."""
    with zipfile.ZipFile(source) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()} | {part: data}
    facts = json.loads(parts["proof.json"])
    if part in facts["parts"]:
        facts["parts"][part] = hashlib.sha256(data).hexdigest()
        parts["proof.json"] = json.dumps(facts).encode()
    with zipfile.ZipFile(target, "w", **how) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target


def table(rows: int, **options: Any) -> bytes:
    """A small table of three columns as Parquet."""
    text = [f"v{i % 3}" for i in range(rows)]
    out = io.BytesIO()
    frame = pl.DataFrame({"i": range(rows), "same": [3] * rows, "text": text})
    frame.write_parquet(out, **options)
    return out.getvalue()


@pytest.mark.parametrize("rows", [0, 1, 5000])
@pytest.mark.parametrize("compression", ["zstd", "snappy", "uncompressed"])
def test_honest_files_are_moderate(rows: int, compression: str) -> None:
    """Tests several row groups, pages and codecs, rewritten too."""
    data = table(rows, compression=compression, row_group_size=1000, data_page_size=500)
    require_moderate(data, rows, "it")
    same = with_page(data, 1, lambda header: None) if rows else with_footer(data, lambda _: None)
    require_moderate(same, rows, "it")
    assert pl.read_parquet(io.BytesIO(same)).equals(pl.read_parquet(io.BytesIO(data)))
    with pytest.raises(RejectedError, match="more rows"):
        require_moderate(data, rows - 1, "it")


def test_lists_are_moderate() -> None:
    """Tests columns with more values than the table has rows."""
    out = io.BytesIO()
    pl.DataFrame({"many": [[1, 2, 3], None, []], "one": [{"a": 1}] * 3}).write_parquet(out)
    require_moderate(out.getvalue(), 3, "it", flat=False)


def at(field: int, value: int, kind: int = I64) -> Callable[[Fields], Any]:
    return lambda facts: facts.__setitem__(field, (kind, value))


def each_chunk(field: int, value: int) -> Callable[[Fields], Any]:
    return lambda facts: [at(field, value)(chunk) for chunk in chunks(facts)]


def each_group(value: int) -> Callable[[Fields], Any]:
    return lambda facts: [at(3, value)(group) for group in facts[4][1][1]]


LIES: dict[str, Callable[[bytes], bytes]] = {
    "rows of the file": lambda d: with_footer(d, at(3, 4)),
    "more rows": lambda d: with_footer(d, at(3, 2**40)),
    "no rows": lambda d: with_footer(d, at(3, -1)),
    "rows of a group": lambda d: with_footer(d, each_group(4)),
    "fewer rows": lambda d: with_footer(d, lambda f: (at(3, 4)(f), each_group(4)(f))),
    "values of a column": lambda d: with_footer(d, each_chunk(5, 2**40)),
    "size of a column": lambda d: with_footer(d, each_chunk(7, 2**40)),
    "no size of a column": lambda d: with_footer(d, each_chunk(7, -5)),
    "place of a column": lambda d: with_footer(d, each_chunk(9, 2)),
    "place of a dictionary": lambda d: with_footer(d, each_chunk(11, 2**40)),
    "a page of two gigabytes": lambda d: with_page(d, 1, at(2, 2**31 - 1, I32)),
    "a page below nothing": lambda d: with_page(d, 1, at(2, -5, I32)),
    "a page that ends nowhere": lambda d: with_page(d, 1, at(3, 2**31 - 1, I32)),
    "a page that ends before it begins": lambda d: with_page(d, 1, at(3, -9, I32)),
    "a page of an unknown kind": lambda d: with_page(d, 1, at(1, 7, I32)),
    "a large dictionary": lambda d: with_page(d, 1, lambda h: at(1, 2**31 - 1, I32)(h[7][1])),
    "no footer": lambda d: d[:-8] + b"\xff\xff\xff\x7fPAR1",
    "another footer": lambda d: d[:-8] + b"\x08\0\0\0PAR1",
}


@pytest.mark.parametrize("name", LIES)
def test_sizes_that_are_none(name: str, honest: Path, tmp_path: Path) -> None:
    """Tests counts, sizes and places that a file only states, in every part of a proof."""
    with zipfile.ZipFile(honest / NAMES[2]) as archive:
        parts = {n: archive.read(n) for n in archive.namelist() if n.endswith("parquet")}
    data = LIES[name](parts["rows.parquet"])
    assert data != parts["rows.parquet"]
    verdict = verdict_of(honest, repacked(honest / NAMES[2], tmp_path / "p", "rows.parquet", data))
    assert not verdict.accepted and verdict.reason


def test_more_values_than_rows() -> None:
    """Tests a page that says it holds as many values as one can, in a run of a few bytes."""
    pq = pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    pq.write_table(pl.DataFrame({"a": [1, 2, 3]}).to_arrow(), out, use_dictionary=False)
    require_moderate(out.getvalue(), 3, "it")
    many = with_page(out.getvalue(), 0, lambda h: at(1, 2**31 - 1, I32)(h[5][1]))
    with pytest.raises(RejectedError, match="two numbers of values"):
        require_moderate(many, 3, "it")


@pytest.mark.parametrize("part", ["rows.parquet", "ladders.parquet", "sets.parquet"])
def test_many_rows_in_a_few_bytes(part: str, honest: Path, tmp_path: Path) -> None:
    """Tests a part with five million rows, of some kilobytes, for a table of eight."""
    with zipfile.ZipFile(honest / NAMES[2]) as archive:
        frame = pl.read_parquet(io.BytesIO(archive.read(part)))
    cells = {c: pl.Series([None], dtype=t) for c, t in frame.schema.items()}
    out, many = io.BytesIO(), pl.DataFrame(cells)[np.zeros(5_000_000, np.int64)]
    many.write_parquet(out)
    assert len(out.getvalue()) < 100_000
    proof = repacked(honest / NAMES[2], tmp_path / "p", part, out.getvalue())
    assert "more rows than the table calls for" in verdict_of(honest, proof).reason


def test_long_texts_that_stand_in_many_rows(honest: Path, tmp_path: Path) -> None:
    """Tests one text of a megabyte, which a dictionary repeats in two hundred rows."""
    number = pa.array([0] * 200)
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 200), ["x" * 2**20])
    frame = pa.table({"column": text, "leaf": text, "level": number, "label": text, "cost": number})
    out = io.BytesIO()
    # a stored schema would say that it is a dictionary
    pq.write_table(frame, out, store_schema=False, compression="zstd")
    assert len(out.getvalue()) < 100_000
    proof = repacked(honest / NAMES[2], tmp_path / "p", "ladders.parquet", out.getvalue())
    assert "too long texts: a limit of the checker" in verdict_of(honest, proof).reason


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_release_of_many_rows(form: str, honest: Path, tmp_path: Path) -> None:
    """Tests a packed release that holds far more rows than the original."""
    release = tmp_path / f"release.{form}"
    frame = pl.DataFrame({"a": ["x"] * 100_000, "b": ["1"] * 100_000})
    if form == "parquet":
        frame.write_parquet(release)
    else:
        frame.write_ipc(release, compression="zstd")
    verdict = check(release, honest / NAMES[1], honest / NAMES[2])
    assert "the release has more rows" in str(verdict.reason)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_are_not_needed(method: int, honest: Path, tmp_path: Path) -> None:
    """Tests parts compressed in ways whose libraries raise exceptions of their own."""
    with zipfile.ZipFile(honest / NAMES[2]) as archive:
        facts = archive.read("proof.json")
    proof = repacked(honest / NAMES[2], tmp_path / "p", "proof.json", facts, compression=method)
    assert "compressed in a way" in verdict_of(honest, proof).reason


def test_deflated_parts(honest: Path, tmp_path: Path) -> None:
    """Tests that a usual archive is taken, one of zeros is not, and damage ends in words."""
    with zipfile.ZipFile(honest / NAMES[2]) as archive:
        facts = archive.read("proof.json")
    how: dict[str, Any] = {"compression": zipfile.ZIP_DEFLATED}
    proof = repacked(honest / NAMES[2], tmp_path / "p", "proof.json", facts, **how)
    assert verdict_of(honest, proof).accepted
    packed = proof.read_bytes()
    for place in range(30, 230):
        damaged = packed[:place] + bytes([packed[place] ^ 255]) + packed[place + 1 :]
        proof.write_bytes(damaged)
        verdict = verdict_of(honest, proof)
        assert verdict.accepted or "proof" in str(verdict.reason)
    zeros = repacked(honest / NAMES[2], tmp_path / "z", "proof.json", facts + b" " * 2**25, **how)
    assert zeros.stat().st_size < 100_000
    assert "proof.json is too large" in verdict_of(honest, zeros).reason


def test_a_size_that_an_archive_does_not_keep(honest: Path, tmp_path: Path) -> None:
    """Tests a part that becomes larger than its header says: no more than that is read."""
    with zipfile.ZipFile(honest / NAMES[2]) as archive:
        facts = archive.read("proof.json")
    long = facts + b" " * 2**25
    how: dict[str, Any] = {"compression": zipfile.ZIP_DEFLATED}
    packed = repacked(honest / NAMES[2], tmp_path / "z", "proof.json", long, **how).read_bytes()
    small = packed.replace(len(long).to_bytes(4, "little"), len(facts).to_bytes(4, "little"))
    assert small != packed
    with pytest.raises(RejectedError, match="damaged"):
        parts_of(small, ("proof.json", "rows.parquet", "ladders.parquet", "sets.parquet"))


def test_what_no_header_speaks_of_is_not_inflated() -> None:
    """Tests a part of many zeros, of which its header owns up to 4 KiB."""
    zeros, said = bytes(1 << 26), (1 << 12).to_bytes(4, "little")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("part", zeros)
    packed = out.getvalue().replace(len(zeros).to_bytes(4, "little"), said)
    sums = [zlib.crc32(part).to_bytes(4, "little") for part in (zeros, zeros[: 1 << 12])]
    packed = packed.replace(*sums)
    tracemalloc.start()
    try:
        assert len(parts_of(packed, ("part",))["part"]) == 1 << 12
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("how", ["encrypted", "another part"])
def test_what_an_archive_must_not_hold(how: str, honest: Path, tmp_path: Path) -> None:
    """Tests a part said to be encrypted, and one that is none of the four."""
    proof = tmp_path / "p"
    data = (honest / NAMES[2]).read_bytes()
    if how == "encrypted":
        at = data.index(b"PK\1\2") + 8
        data = data[:at] + b"\1" + data[at + 1 :]
        proof.write_bytes(data)
    else:
        repacked(honest / NAMES[2], proof, "notes.txt", b"hidden")
    reason = {"encrypted": "encrypted", "another part": "makes no sense"}[how]
    assert reason in verdict_of(honest, proof).reason


def test_hashes_of_the_samples(honest: Path) -> None:
    """Tests that the sample's own hashes are those of its files, so that nothing else rejects."""
    with zipfile.ZipFile(honest / NAMES[2]) as archive:
        facts = json.loads(archive.read("proof.json"))
    assert facts["release"]["sha256"] == sha256_of(honest / NAMES[0])
