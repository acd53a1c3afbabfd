"""The command line: ``incrowd COMMAND …``.  Each command imports what it needs when it runs.

group.py      commands by name, loaded when they are called; errors as one line
anonymize.py, republish.py, codebook.py, frontier.py, bound.py  what makes releases, or could
measure.py, attack.py, verify.py   what looks at them
init.py, hierarchy.py, desk.py     what prepares them
demo.py, instance.py, methods.py, warm.py, version.py

Shared by several:

options.py, sections.py     options, and their help by topic
reporting.py, ways.py       options for what goes with a release, and for where it is made
spark.py, earlier.py        on Spark, or onto an earlier release
places.py                   files that would be written over
progress.py, output.py, summary.py, proven.py  what is printed
"""

import os
import sys

try:
    from incrowd.cli.group import cli, main
except KeyboardInterrupt:  # before anything that would say so is there
    sys.stderr.write("incrowd: interrupted; no file is half written\n")
    os._exit(130)  # after -m Python would end by the signal, not with this code

__all__ = ["cli", "main"]
