"""What the tests of the page share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desk.browsing import chromium
from desk.test_desk_session import table


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a file."""
    with chromium() as found:
        yield found


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table of people, as a file."""
    return table(tmp_path)
