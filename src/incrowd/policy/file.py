"""Policy files: TOML, with the names of the command line and of ``incrowd.Policy``."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from incrowd.errors import InputError, did_you_mean, home_hint, require_one_line
from incrowd.policy.cap import caps_of
from incrowd.policy.options import CAP_KEYS, COMBINATION_KEYS, MODEL_KEYS, Option, named
from incrowd.policy.table import OPTIONS
from incrowd.privacy.combination import protect_of
from incrowd.text.paths import names_file

QUOTES = 'a name with a space, a dot, an umlaut or the like needs quotes, as in "zip code" = …'


def read_keys(path: str | Path) -> dict[str, Any]:
    """Return the arguments of ``Policy`` that a policy file gives; paths made whole.

    Raises
    ------
    InputError: no such file, no TOML, an unknown key or a wrong value; names file and key.
    """
    require_one_line(path, "the policy")
    file = Path(path)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file{home_hint(path)}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {_plain(str(error))}") from None
    except RecursionError:
        raise InputError(f"{path}: not TOML that can be read: it nests too deeply") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text, as TOML is") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return Reader(str(path), file.parent).table(given, OPTIONS, "")


def _plain(message: str) -> str:
    """The parser's message without a full stop at its end, and what mends names."""
    at_names = ("Expected '=' after a key", "Invalid statement", "Invalid initial character")
    hint = f"; {QUOTES}" if message.startswith(at_names) else ""
    return message.rstrip(".") + hint


@dataclass(frozen=True)
class Reader:
    """Checks values by the table of keys; ``name`` of the file, ``folder`` that paths start at."""

    name: str
    folder: Path

    def table(self, given: Any, keys: tuple[Option, ...], path: str) -> dict[str, Any]:
        """Return a table of keys, each checked."""
        known = named(keys)
        if not isinstance(given, Mapping):
            raise self.wrong(path, "a table", given)
        for name in given:
            if name not in known:
                at = f"{path}.{name}" if path else name
                hint = did_you_mean(name, known)
                if at == "version":  # many files of this kind have one
                    hint = "; policy files have no version, leave the line out"
                raise InputError(f"{self.name}: {at}: unknown key{hint}")
        return {
            name: self.value(value, known[name], f"{path}.{name}" if path else name)
            for name, value in given.items()
        }

    def value(self, given: Any, key: Option, path: str) -> Any:
        """Return one value, checked."""
        if key.kind == "models":
            return self.models(given, path)
        if key.kind == "caps":
            return self.caps(given, path)
        if key.kind == "combinations":
            return self.combinations(given, path)
        if key.alone and not isinstance(given, Mapping):
            return dict.fromkeys(self.lists(given, replace(key, kind="names"), path), "")
        if key.kind in ("texts by column", "numbers by column"):
            return self.by_column(given, key, path)
        if key.kind == "text or by column":
            by_column = isinstance(given, Mapping)
            return self.by_column(given, key, path) if by_column else self.text(given, key, path)
        if key.kind == "number or by column" and isinstance(given, Mapping):
            return self.by_column(given, key, path)
        if key.kind == "text":
            return self.text(given, key, path)
        if key.kind == "flag":
            if not isinstance(given, bool):
                raise self.wrong(path, "true or false", given)
            return given
        if key.kind == "marks":
            return self.marks(given, path)
        if key.kind in ("names", "lists"):
            return self.lists(given, key, path)
        return self.number(given, key, path)

    def models(self, given: Any, path: str) -> list[Any]:
        """Return the models."""
        from incrowd.policy.model_spec import ModelSpec

        found = []
        for i, each in enumerate(self.tables(given, path)):
            at = f"{path}[{i}]"
            entry = self.table(each, MODEL_KEYS, at)
            try:
                found.append(ModelSpec(**entry))
            except InputError as error:
                raise InputError(f"{self.name}: {at}: {error}") from None
        return found

    def caps(self, given: Any, path: str) -> Any:
        """Return the caps, by column or as a list."""
        share = named(CAP_KEYS)["share"]
        if isinstance(given, Mapping):
            found: Any = {c: self.number(x, share, f"{path}.{c}") for c, x in given.items()}
        else:
            tables = enumerate(self.tables(given, path))
            found = [self.table(each, CAP_KEYS, f"{path}[{i}]") for i, each in tables]
        try:
            return caps_of(found)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None

    def combinations(self, given: Any, path: str) -> Any:
        """Return combinations: texts, or tables of columns and k."""
        some = [given] if isinstance(given, str) else given
        if not isinstance(some, list):
            raise self.wrong(path, 'a list of texts, such as ["age,sex:5"], or of tables', given)
        found = [
            one if isinstance(one, str) else self.table(one, COMBINATION_KEYS, f"{path}[{i}]")
            for i, one in enumerate(some)
        ]
        try:
            return protect_of(found)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None

    def tables(self, given: Any, path: str) -> Sequence[Any]:
        """Return a list of tables."""
        if not isinstance(given, list):
            raise self.wrong(path, f"a list of tables ([[{path}]])", given)
        return given

    def by_column(self, given: Any, key: Option, path: str) -> dict[str, Any]:
        """Return column → text or number."""
        if not isinstance(given, Mapping):
            raise self.wrong(path, f"a table of columns ([{path}])", given)
        read = self.number if key.kind.startswith("number") else self.text
        return {column: read(value, key, f"{path}.{column}") for column, value in given.items()}

    def text(self, given: Any, key: Option, path: str) -> str:
        """Return a text; a file's path starts at the policy file's folder."""
        if not isinstance(given, str):
            raise self.wrong(path, "a text in quotes", given)
        if key.choices and given not in key.choices:
            raise InputError(f"{self.name}: {path} is {given!r}{did_you_mean(given, key.choices)}")
        return self.placed(given) if key.file else given

    def placed(self, text: str) -> str:
        """Return a rule or a file, its path from the policy file's folder.

        A rule is no file, although one is called like it; ``./date`` is the file.
        """
        from incrowd.hierarchy.spec import RULES, in_folder

        words = (*RULES, "equal", "ordered", "hierarchy", "level", "ncp", "stars")
        if text.strip().partition(":")[0] in words:
            return in_folder(text, self.folder)
        path = self.folder / text.strip()
        return str(path) if names_file(path) else text

    def lists(self, given: Any, key: Option, path: str) -> Any:
        """Return a list of names, or a list of such lists."""
        if key.kind == "names":
            if isinstance(given, str):
                return [given]
            if not isinstance(given, list) or any(not isinstance(name, str) for name in given):
                raise self.wrong(path, "a text or a list of texts", given)
            return given
        nested = isinstance(given, list) and all(isinstance(names, list) for names in given)
        if not nested or any(not isinstance(name, str) for names in given for name in names):
            raise self.wrong(path, 'a list of lists of texts, such as [["city", "zip"]]', given)
        return given

    def marks(self, given: Any, path: str) -> Any:
        """Return texts of missing values: a list, or column → list."""
        if isinstance(given, Mapping) and "." not in path:
            return {name: self.marks(texts, f"{path}.{name}") for name, texts in given.items()}
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or any(not isinstance(text, str) for text in texts):
            raise self.wrong(path, "a text or a list of texts", given)
        return texts

    def number(self, given: Any, key: Option, path: str) -> Any:
        """Return a number, within its limits."""
        exact = key.kind == "exact" or (key.kind.startswith("number") and "column" in key.kind)
        if (exact or key.kind == "rows") and isinstance(given, str):
            return given  # read exactly where it is used
        whole = key.kind in ("whole", "rows")
        fits = isinstance(given, int) if whole else isinstance(given, int | float)
        if not fits or isinstance(given, bool):
            raise self.wrong(path, "a whole number" if whole else "a number", given)
        limits = [
            (f"at least {key.least}", key.least is not None and not given >= key.least),
            (f"above {key.above}", key.above is not None and not given > key.above),
            (f"at most {key.most}", key.most is not None and not given <= key.most),
        ]
        for text, broken in limits:
            if broken:
                raise InputError(f"{self.name}: {path} must be {text}, not {given}")
        return given

    def wrong(self, path: str, expected: str, given: Any) -> InputError:
        """Return the error of a value of a wrong kind."""
        kinds = {bool: "true or false", str: "a text", int: "a whole number"}
        kinds[float] = "a number with decimals"
        kinds |= dict.fromkeys([datetime, date, time], "a date or a time")
        kind = kinds.get(type(given), "a list" if isinstance(given, list) else "a table")
        hint = f"; {QUOTES}" if isinstance(given, Mapping) else ""  # a.b = … is a table to TOML
        return InputError(f"{self.name}: {path} must be {expected}, not {kind}{hint}")
