"""What is asked as others write it: the foot of the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from incrowd.desk import publish
from incrowd.desk.ask import Ask
from incrowd.errors import IncrowdError, InputError
from incrowd.policy import Policy
from incrowd.policy.guess import Guess
from incrowd.policy.spell import ascii_of, call_of, words_of
from incrowd.text.shell import shell_line


@dataclass(frozen=True)
class Spelling:
    """What makes the release that is asked for: a command line, a call in Python, a policy file.

    Attributes
    ----------
    table: path of the original; folder: where the files go, empty for the present one.
    names: the outputs that are written there.
    """

    ask: Ask
    table: str
    folder: str
    names: Sequence[str]
    guesses: Sequence[Guess]

    @property
    def policy(self) -> Policy:
        """What is asked, with the files of hierarchies that were made on the page."""
        return self.ask.policy(publish.hierarchy_places(self.ask, self.folder or ".").__getitem__)

    def words(self) -> tuple[str, ...]:
        """Return the words of the command line."""
        names, derives = self.names if self.folder else [], bool(self.policy.derive)
        place = publish.places(self.folder or ".", names, self.table, derives)
        release = place[publish.RELEASE]
        return words_of(self.policy, self.table, release, *publish.options(place))

    def record(self) -> dict[str, str]:
        """Return all three as texts; what cannot be said says why."""
        try:
            policy = self.policy
        except IncrowdError as error:  # such as no quasi-identifier
            return {"command": f"# {error}", "call": f"# {error}", "policy": f"# {error}"}
        try:
            command = shell_line(self.words())
        except InputError as error:
            command = f"# {error}"
        release = publish.places(self.folder or ".", [], self.table, False)[publish.RELEASE]
        call = call_of(policy, ascii_of(self.table))
        return {
            "command": command,
            "call": f"import incrowd\nrelease = {call}\nrelease.write({ascii_of(release)})",
            "policy": policy.toml(self.guesses),
        }
