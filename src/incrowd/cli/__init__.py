"""The command line: ``incrowd COMMAND …``.  Each command imports what it needs when it runs."""

import os
import sys

try:
    from incrowd.cli.group import cli, main
except KeyboardInterrupt:  # before anything that would say so is there
    sys.stderr.write("incrowd: interrupted; no file is half written\n")
    os._exit(130)  # after -m Python would end by the signal, not with this code

__all__ = ["cli", "main"]
