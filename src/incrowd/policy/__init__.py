"""Roles, models, hierarchies, weights and budget; the same names in TOML, CLI and Python.

table.py       the table of options, a row each     base.py  Policy, which holds their values
protection.py  its first rows: roles and models
options.py     what is said of an option; signatures and docstrings from the table
arguments.py   the options as arguments of a function
served.py      which options go together, a row for each rule
roles.py       the roles of a table's columns
file.py        from TOML
write.py       to TOML, from what guess.py makes of a table by forms.py and suits.py
spell.py       a policy as a policy file, a command line, a call in Python
keys.py        the schema and the reference page, written from the table
models.py      all that a class has to obey
model_spec.py  further models as text
distances.py   ground distances of t-closeness, by a word or from a file

Options that say more than a number: cap.py, deletion.py, derive.py, protect.py, veil.py.
"""

from incrowd.policy.base import Policy as Policy

__all__ = ["Policy"]
