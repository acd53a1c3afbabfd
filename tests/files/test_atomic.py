"""Files that appear whole, and streams that stay what they are."""

import os
import stat
import threading
from pathlib import Path

import pytest

from incrowd.errors import InputError
from incrowd.tables.atomic import require_place, whole


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
