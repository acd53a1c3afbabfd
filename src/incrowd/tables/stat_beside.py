"""What a file of SPSS or Stata holds beside its variables and rows, and the library does not show.

SPSS: attributes of the file and its variables, records of unknown kinds.  Stata: characteristics.
Programs keep there what they like, and leave it as it is where cells are hidden.
Formats: https://www.gnu.org/software/pspp/pspp-dev/html_node/System-File-Format.html and Stata's
manual, *File formats .dta*.
"""

import re
import struct

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
BROKEN = (IndexError, struct.error, ValueError)


def holds_more(form: str, data: bytes) -> bool:
    """Whether a file (``sav`` or ``dta``; others: no) holds more; so where it cannot be walked."""
    walk = {"sav": _spss, "dta": _stata}.get(form)
    try:
        return walk is not None and walk(data)
    except BROKEN:
        return True


def _spss(data: bytes) -> bool:
    order = "<" if struct.unpack_from("<i", data, 64)[0] in (2, 3) else ">"
    at = HEADER

    def number(place: int) -> int:
        return int(struct.unpack_from(f"{order}i", data, place)[0])

    while (kind := number(at)) != END:
        if kind == VARIABLE:
            labelled, missing = number(at + 8), number(at + 12)
            at += 32
            at += 4 + -(-number(at) // 4) * 4 if labelled else 0
            at += 8 * abs(missing)
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
    return False


def _stata(data: bytes) -> bool:
    if data.startswith(b"<"):
        none = b"</variable_labels><characteristics></characteristics><data>"
        return none not in data or not data.endswith(b"</stata_dta>")
    if data[0] not in OLD:
        return False
    order = ">" if data[1] == 1 else "<"
    count = int(struct.unpack_from(f"{order}H", data, 4)[0])
    at = 109 + (1 + 33 + 2 + OLD[data[0]] + 33 + 81) * count + 2
    return data[at : at + 5] != bytes(5)
