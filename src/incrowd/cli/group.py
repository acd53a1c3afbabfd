"""The command group: commands by name, loaded when they are called; errors as one line."""

import contextlib
import errno
import gc
import importlib
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from types import FrameType
from typing import Any

import click

from incrowd.cli.output import give_up_on, say, speak_plainly
from incrowd.errors import IncrowdError, did_you_mean
from incrowd.text.version import __version__

COMMANDS = {
    "anonymize": "Write a release in which everyone hides among at least k.",
    "republish": "Write the next release of a table whose people come, go and change.",
    "measure": "Say how private any table is.",
    "verify": "Check a release against its original.",
    "attack": "Attack a release as its readers could, and count what succeeds.",
    "codebook": "Release by fixed patterns and coins: differential privacy.",
    "bound": "Say what every lawful release costs at least.",
    "frontier": "Say what each k costs.",
    "init": "Write a first policy file: each column's role, guessed and explained.",
    "hierarchy": "Make, check or show hierarchies.",
    "instance": "Write one of the papers' hard instances.",
    "methods": "List every solver, its guarantee and its source.",
    "desk": "Do all of this on a page, in the browser.",
    "demo": "Do the main job on real data of 1,566 people.",
    "warm": "Compile what runs need, before the first one.",
    "version": "Say the version.",
}
INTERRUPTED, HALF = 130, "interrupted; no file is half written"
READER_GONE = 141  # what a shell says of a program that SIGPIPE ended; Windows has none
ENDING = ("SIGTERM", "SIGHUP")  # the latter where a terminal closes; Windows lacks it
OBJECTS = 20_000
"""New objects between looks for circles of them, of which imports and searches make few."""


class ReaderGoneError(Exception):
    """Whoever read our output has gone.

    In place of BrokenPipeError, at which click ends with 1; and here 1 is an answer: no.
    """


@contextlib.contextmanager
def pipes_watched() -> Iterator[None]:
    """Raise ReaderGoneError in place of BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGoneError from None


class LazyGroup(click.Group):
    """Loads ``incrowd.cli.NAME`` for the command NAME; turns errors into a line and a code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands that are there, in the order of ``COMMANDS``."""
        return [name for name in COMMANDS if importlib.util.find_spec(f"incrowd.cli.{name}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command: the click command in its module that bears its name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"incrowd.cli.{cmd_name}")
        found = [value for value in vars(module).values() if isinstance(value, click.Command)]
        return next((command for command in found if command.name == cmd_name), None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(f"no command is called {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """Parse the arguments, which may print the help."""
        with pipes_watched():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with pipes_watched():
            return super().invoke(ctx)

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and end with its exit code."""
        run = super().main
        code = guarded(
            lambda: run(args, prog_name or "incrowd", complete_var, standalone_mode=False, **extra)
        )
        if not standalone_mode:
            return code
        sys.exit(code)


def guarded(run: Callable[[], Any]) -> int:
    """Return the exit code of ``run``; an error becomes one line on standard error.

    With INCROWD_DEBUG set, unexpected errors are raised as they are.
    """
    try:
        result = run()
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.NoSuchOption as error:
        return told(no_option(error), 2)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "incrowd"
        options = (
            [name for one in error.ctx.command.params for name in one.opts] if error.ctx else []
        )
        said = reworded(one_line(error.format_message()), options)
        return told(f"{said} (see {path} --help)", 2)
    except click.ClickException as error:
        return told(one_line(error.format_message()), 2)
    except (click.Abort, KeyboardInterrupt):
        return told(HALF, INTERRUPTED)
    except IncrowdError as error:
        if debugging():
            raise
        return told(str(error), error.exit_code)
    except ReaderGoneError:
        give_up_on(sys.stdout)
        return READER_GONE
    except MemoryError:
        if debugging():
            raise
        return told(
            "memory ran out; no file is half written: end other programs, take a machine with more "
            "memory, or spread the work with --engine spark",
            2,
        )
    except Exception as error:
        if debugging():
            raise
        if isinstance(error, OSError) and error.strerror:
            give_up_on(sys.stdout)  # that may be what failed
            return told(plainly(error), 2)
        # the text of an error that nobody foresaw may quote the table
        return told(
            f"stopped by an unexpected error ({type(error).__name__}); no file is half written. "
            "Set INCROWD_DEBUG=1 to see where (this may show cells of the table)",
            2,
        )


def no_option(error: click.NoSuchOption) -> str:
    """Say that there is no such option, and name the nearest one where one is near.

    Click would list all that are near in any way, such as --t for --out.
    """
    context = error.ctx
    path = context.command_path if context else "incrowd"
    parameters = context.command.params if context else ()
    names = [name.lstrip("-") for one in parameters for name in one.opts if name.startswith("--")]
    given = error.option_name.lstrip("-")
    turned = [name for name in names if {*name.split("-")} == {*given.split("-")}]
    hint = f"; did you mean {turned[0]!r}?" if turned else did_you_mean(given, names)
    near = hint.replace("mean '", "mean '--") if "did you mean" in hint else ""
    return f"No such option {error.option_name!r}{near} (see {path} --help)"


def reworded(text: str, options: Collection[str]) -> str:
    """Return what click says of arguments in words that need no program to be known.

    options: those of the command, which tell what else an argument too many may stand for.
    """
    if text.startswith("Got unexpected extra argument"):
        if "--original" in options:
            text += "; the table that a release was made from is named by --original IN"
        if "--qi" in options:
            text += "; several names are one text, with commas and no blanks: --qi age,sex"
        return text
    number = text.replace("a valid float", "a number like 60 or 0.01")
    return number.replace("a valid integer", "a whole number")


def debugging() -> bool:
    """Whether tracebacks are wanted."""
    return os.environ.get("INCROWD_DEBUG", "") not in ("", "0")


def told(message: str, code: int) -> int:
    """Print one line and return the exit code."""
    say(f"incrowd: {message}")
    return code


def plainly(error: OSError) -> str:
    """Return what the system says of a file, as other messages say it."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename}: no such file"
    if error.errno == errno.ENOSPC and not error.filename:
        return (
            "the disk is full: there was no room for what is printed, or for a temporary file; "
            "make room, and run again"
        )
    if error.errno == errno.EBADF and not error.filename:
        return (
            "standard output is closed, so nothing was printed there; open it, or send it to a "
            f"file or to {os.devnull}"
        )
    return f"{f'{error.filename}: ' if error.filename else ''}{error.strerror}"


def one_line(text: str) -> str:
    """Join the lines that click writes, and end without a full stop."""
    return " ".join(text.split()).rstrip(".")


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="incrowd %(version)s")
def cli() -> None:
    """Publish a table so that every person in it hides in a crowd of at least k.

    Changes as few cells as can be, and says how far from the fewest possible it may be.
    """


def main() -> None:
    """Entry point of the console script."""
    try:
        prepare()
        cli()
    except KeyboardInterrupt:  # before the command that would say so
        told(HALF, INTERRUPTED)
        os._exit(INTERRUPTED)
    except SystemExit as end:
        # all is written and tidied up; what Python does at its end could crash a solver that still
        # runs in a thread of its own, and after -m it ends by the signal, not with this code, where
        # the interrupt fell into an exec, of which imports are full
        running = any(thread.name in ("HiGHS", "CP-SAT") for thread in threading.enumerate())
        if running or end.code == INTERRUPTED:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError):
                    stream.flush()
            os._exit(end.code if isinstance(end.code, int) else 1)
        gc.freeze()  # nothing is gained by looking through all objects before the system takes them
        raise


def prepare() -> None:
    """Say what signals do, and open the streams."""

    def terminate(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)  # unwinds, so that temporary files go

    gc.set_threshold(OBJECTS)
    for number in (getattr(signal, name) for name in ENDING if hasattr(signal, name)):
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, terminate)
    open_missing_streams()
    speak_plainly()


def open_missing_streams() -> None:
    """Open those of the three standard streams that were closed before we started, onto nothing.

    They are None in Python, and the next file opened would take their place.  What is written on
    standard output then fails, for somebody wants to have it; messages are lost.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR if name == "stderr" else os.O_RDONLY)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
