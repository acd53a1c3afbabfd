"""Publishing a table again and again while its rows come, go and change: m-invariance.

history.py    what was published so far, in a private file
plan.py       classes of pairwise different values      exchange.py  rows change places
companions.py who was in all classes of a person                  checked.py   the re-check
asked.py      what is asked of a series    following.py  the search    release.py  what is published
bound.py      what a release costs at least, given the signatures    dear_sets.py  its dear sets
damage.py     whether a history holds together
of_table.py   from a table and a history to the next release
"""
