"""What a release gets from here: writing itself together with its proof."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from incrowd.errors import InputError
from incrowd.proof.confirm import dialect_of
from incrowd.proof.prove import prove, write_statement
from incrowd.run.events import PROOF, Event, Listener, listening, silent
from incrowd.tables.addresses import is_address
from incrowd.tables.atomic import alone_in, stamp_of, standing, whole
from incrowd.tables.base import FewerRows, Source, agree
from incrowd.tables.files import read
from incrowd.tables.inputs import require_apart
from incrowd.tables.stat import require_place_of

if TYPE_CHECKING:
    from incrowd.published.base import Published


def written_with_proof(
    release: "Published",
    path: str | Path,
    proof: str | Path,
    original: str | Path,
    statement: str | Path | None = None,
    progress: Listener = silent,
    first: Callable[[], Any] | None = None,
) -> dict[str, Any]:
    """Write a release and its proof, both or neither; then the statement.  See ``Proven``.

    Of two runs that write to the same files, the files of one are there at the end.
    ``first``: what keeps the other off in place of ours, once the proof is made.
    """
    facts: dict[str, Any] = {}
    with ExitStack() as turn:

        def prove_it(released: Path) -> None:
            progress(Event(PROOF))
            with whole(proof, private=True) as file:
                facts.update(prove(release, original, released, file, release.written is not None))
                first() if first else turn.enter_context(alone_in(Path(path).resolve().parent))

        release.write(path, prove_it)
        if statement is not None:
            with standing(path), whole(statement) as file:
                write_statement(facts, proof, file, release.veil)
    return facts


class Proven:
    """A method of ``incrowd.Release``; its proof can undo the release, and is private."""

    def write_proven(
        self,
        path: str | Path,
        proof: str | Path,
        *,
        original: str | Path,
        statement: str | Path | None = None,
        progress: Listener | None = None,
    ) -> dict[str, Any]:
        """Write the release and its proof, both or neither; then the statement, if asked for.

        Parameters
        ----------
        path: where the release goes: a CSV, Parquet or Arrow file by its name.
        proof: where the proof goes, in a file that its owner alone may read.
        original: the file that the release was made from; the proof states its hash.  Of a release
            with derived columns, the file that holds them.
        statement: where the public part goes: it holds no cell of the original and no seed.
        progress: called when the proof begins.

        Returns
        -------
        the proof's JSON part: ``cost`` and ``bound`` count in units of 1/``scale``.

        Raises
        ------
        InputError: a file cannot be written, a name is no file's, or the checker does not read the
            form of the release or of the original.
        VerificationError: the independent checker refuses what was written.
        """
        for name in map(str, (path, proof, original)):
            if name == "-" or is_address(name):
                raise InputError("a proof states hashes of files: it goes with no pipe or database")
        release, told = cast("Published", self), listening(progress)
        outputs = {"the release": path, "the proof": proof, "the statement": statement}
        for table in (release.source.path, str(original)):
            require_apart(outputs, table, release.files_read)
        require_place_of(path, require_original(release, original), proof=True)
        return written_with_proof(release, path, proof, original, statement, told)


def require_unchanged(
    release: "Published", original: str | Path, seen: tuple[int, ...] | None
) -> None:
    """Raise InputError where a file, of which a hash is to be stated, is not what was read.

    seen: its ``stamp_of`` before it was read; the table is compared only where that differs.
    """
    if stamp_of(original) != seen:
        try:
            require_original(release, original)
        except InputError as error:
            raise InputError(
                f"{error}: it has changed since it was read, and a proof or an internal report "
                "states its hash; make the release anew from the file as it is now"
            ) from None


def require_original(release: "Published", original: str | Path) -> Source:
    """Return a file's table; raise InputError unless the release was made from it."""
    form = dialect_of(release.source)
    found, table = read(original, form.get("delimiter"), form.get("encoding")), release.source
    if isinstance(table, FewerRows):
        table = table.source
    same = found.columns == table.columns and found.rows == table.rows
    if not same or not all(agree(table, found, name) for name in table.columns):
        raise InputError(f"{original} does not hold the table that the release was made from")
    return found
