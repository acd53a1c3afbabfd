"""Roles, models, hierarchies, weights and budget; the same names in TOML, CLI and Python.

table.py       the table of options, a row each     base.py  Policy, which holds their values
options.py     what is said of an option; signatures and docstrings from the table
arguments.py   the options as arguments of a function
roles.py       the roles of a table's columns
file.py        from TOML
write.py       to TOML, from what guess.py makes of a table
spell.py       a policy as a policy file, a command line, a call in Python
keys.py        the schema and the reference page, written from the table
cap.py         caps on the cells that a release may change
model_spec.py  further models as text
models.py      all that a class has to obey
distances.py   ground distances of t-closeness, by a word or from a file
"""

from incrowd.policy.base import Policy as Policy

__all__ = ["Policy"]
