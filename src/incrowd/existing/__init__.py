"""Adding rows to an earlier release: it stays as it is, and the union is lawful.

of_table.py   from two tables to a release      served.py  which options that serves
both.py, union.py   earlier and new rows: as a model sees them, and as one table
classes.py, covers.py   the published classes, and which of them a new row fits
join.py       which class each new row joins, and which new classes the others form
apart.py, linking.py, capping.py   the same beside fixed, linked and capped columns
placing.py, told.py   who is held back, since the difference of two releases would tell a value
whole.py      an extended release as one of all its rows
"""
