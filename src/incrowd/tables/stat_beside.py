"""What a file of SPSS, Stata or SAS holds beside its table, and the library does not show.

SPSS: attributes of the file and its variables, records of unknown kinds.  Stata: characteristics.
All: bytes behind rows and texts.
Programs keep there what they like, and leave it as it is where cells are hidden.
Formats: https://www.gnu.org/software/pspp/pspp-dev/html_node/System-File-Format.html and Stata's
manual, *File formats .dta*.
"""

import re
import struct
import zlib

from incrowd.tables.stat_rows import (
    more_than_old_stata,
    more_than_sas,
    more_than_spss,
    more_than_stata,
)

VARIABLE, LABELS, LABELLED, MORE, END = 2, 3, 4, 7, 999
HEADER = 176
KNOWN = {3, 4, 6, 8, 10, 11, 12, 13, 14, 16, 20, 21, 22, 24}
"""Further records: of how numbers, texts and variables are written and look."""
OF_FILE, OF_VARIABLES = 17, 18
# SPSS's own attributes, such as the role that a variable has in its dialogs
OWN = rb"\$[\w@.$]+(?:\[\d+\])?\((?:'[\w-]{0,40}'\n)+\)"
ATTRIBUTES = {
    OF_FILE: re.compile(rb"(?:%b)*" % OWN),
    OF_VARIABLES: re.compile(rb"(?:[^:/()\n]+:(?:%b)+/?)*" % OWN),
}
OLD = {113: 12, 114: 49, 115: 49}
"""Versions of Stata's files before 2013, and how long a format is there."""
BROKEN = (IndexError, struct.error, ValueError, zlib.error)


def holds_more(form: str, data: bytes, rows: int) -> bool:
    """Whether a file of so many rows holds more; so where it cannot be walked.

    Of other forms than ``sav``, ``dta`` and ``xpt`` nobody knows, and the answer is no.
    """
    try:
        return form in WALKED and WALKED[form](data, rows)
    except BROKEN:
        return True


def _spss(data: bytes, rows: int) -> bool:
    order = "<" if struct.unpack_from("<i", data, 64)[0] in (2, 3) else ">"
    at, width = HEADER, 0

    def number(place: int) -> int:
        return int(struct.unpack_from(f"{order}i", data, place)[0])

    while (kind := number(at)) != END:
        if kind == VARIABLE:
            labelled, missing = number(at + 8), number(at + 12)
            at += 32
            at += 4 + -(-number(at) // 4) * 4 if labelled else 0
            at, width = at + 8 * abs(missing), width + 1
        elif kind == LABELS:
            count, at = number(at + 4), at + 8
            for _ in range(count):
                at += 8 + (data[at + 8] // 8 + 1) * 8
            if number(at) != LABELLED or not number(at + 4):
                return True
            at += 8 + 4 * number(at + 4)
        elif kind == MORE:
            of, size = number(at + 4), number(at + 8) * number(at + 12)
            body, at = data[at + 16 : at + 16 + size], at + 16 + size
            if of not in KNOWN and not (of in ATTRIBUTES and ATTRIBUTES[of].fullmatch(body)):
                return True
        else:
            return True
    return more_than_spss(data, at + 8, order, rows * width)


def _stata(data: bytes, rows: int) -> bool:
    if data.startswith(b"<"):
        none = b"</variable_labels><characteristics></characteristics><data>"
        fine = none in data and data.endswith(b"</stata_dta>")
        return not fine or more_than_stata(data, rows)
    if data[0] not in OLD:
        return False
    order = ">" if data[1] == 1 else "<"
    count = int(struct.unpack_from(f"{order}H", data, 4)[0])
    at = 109 + (1 + 33 + 2 + OLD[data[0]] + 33 + 81) * count + 2
    return data[at : at + 5] != bytes(5) or more_than_old_stata(data, at + 5, rows, order)


WALKED = {"sav": _spss, "dta": _stata, "xpt": more_than_sas}
"""What looks into which form."""
