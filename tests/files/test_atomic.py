"""Files that appear whole, and streams that stay what they are."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from incrowd.errors import InputError
from incrowd.tables.atomic import privately, require_place, whole
from incrowd.tables.folders import whole_folder


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """Files are made for everybody where nobody says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


@pytest.mark.usefixtures("open_to_all")
def test_private_files_are_their_owners_alone(tmp_path: Path) -> None:
    """Tests new files and those in the place of open ones, before the first byte and at the end."""
    for name, private in (("private", True), ("public", False)):
        for _ in range(2):
            with whole(tmp_path / name, private) as file:
                assert mode(file.name) == 0o600
                file.write(b"x")
            assert mode(tmp_path / name) == (0o600 if private else 0o666)
            (tmp_path / name).chmod(0o666)
    with open(tmp_path / "private", "wb", opener=privately) as file:  # open to all until here
        assert mode(tmp_path / "private") == 0o600
        assert file.tell() == 0


@pytest.mark.usefixtures("open_to_all")
def test_a_folder_opens_when_it_is_finished(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out") as folder:
        assert mode(folder) == 0o700
    assert mode(tmp_path / "out") == 0o777


def test_a_pipe_with_a_name_stays_one(tmp_path: Path) -> None:
    """Tests that its reader gets all, once all is there, and the name stays a pipe's."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    require_place(pipe)
    with whole(pipe) as file:
        file.write(b"all")
        assert Path(file.name) != pipe
    reader.join(30)
    assert read == [b"all"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_open_file_by_its_number(tmp_path: Path) -> None:
    """Tests that /dev/fd/N, as shells give it, is written behind what stands there."""
    with (tmp_path / "log").open("wb") as log:
        log.write(b"before ")
        log.flush()
        with whole(f"/dev/fd/{log.fileno()}") as file:
            file.write(b"after")
    assert (tmp_path / "log").read_bytes() == b"before after"


def test_a_pipe_gets_nothing_of_what_failed(tmp_path: Path) -> None:
    """Tests that the reader of a failed release is not even connected."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no"), whole(tmp_path / "pipe") as file:
        file.write(b"half")
        raise InputError("no")
