"""``incrowd desk``: the release officer's page, in the browser, on this machine only.

serve.py      the socket: 127.0.0.1 alone, the launch key's file, the end when idle
server.py     the WSGI app: who is let in, how much is read, which call is made
calls.py      the calls of the page, by name
session.py    all that the page shows: the table, what is asked, undo, runs, scenarios
ask.py        what is asked, as plain data, and the policy that it means
spelling.py   what is asked as command line, call and policy file
work.py       work in a thread of its own: a release, a sweep over k, attacks
columns.py  levels.py  figures.py  publish.py  analysis.py  one screen's data each
saved.py      the work in a folder; files.py  which files there are to choose from
page/         the page itself: HTML, CSS and modules, nothing from elsewhere

It calls what ``import incrowd`` offers, and adds no search of its own.
"""
