"""Running incrowd as a program, with a search that can be made to wait."""

import subprocess
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent

WAITING = f"""
import sys, time
sys.path.insert(0, {str(TESTS)!r})
import incrowd.driver.solve
from tables import Sorter

class Waiter(Sorter):
    def run(self, problem, context):
        outcome = super().run(problem, context)
        import ctypes
        ctypes.CDLL(None).puts(b"a solver's chatter")
        print("searching", file=sys.stderr, flush=True)
        while not context.stop.now():
            time.sleep(0.01)
        import dataclasses
        return dataclasses.replace(outcome, ended=context.stop.why())

incrowd.driver.solve.choose = lambda problem, method: Waiter()
from incrowd.cli import main
main()
"""

STUCK_IN_WRITING = """
import os, sys, time

def fsync(handle):
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)

os.fsync = fsync
from incrowd.cli import main
main()
"""


def command(*arguments: Any, program: str = "from incrowd.cli import main; main()") -> list[str]:
    """The command line of a Python process that runs incrowd."""
    return [sys.executable, "-c", program, *map(str, arguments)]


def run(*arguments: Any, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run incrowd to its end."""
    return subprocess.run(command(*arguments), input=data, capture_output=True, timeout=120)


def start(word: str, *arguments: Any, program: str) -> subprocess.Popen[bytes]:
    """Start incrowd and wait until it prints a word on standard error."""
    process = subprocess.Popen(
        command(*arguments, program=program), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    if line.strip() != word.encode():
        process.kill()
        raise AssertionError(line + process.communicate()[1])
    return process
