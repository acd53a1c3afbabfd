"""Reports about a release: pages for people, figures, metadata for programs.

make.py          whole reports, and the files they are written to
view.py          what a report may see; the external one has no way to the original
rules.py         what may become of a column, in words
html.py          escaping by construction         page.py  a page from sections, and its style
sections.py      the sections of a report; asked.py, classes.py, combined.py, useful.py more;
                 inside.py and people.py the publisher's own
counts.py        class sizes; distribution.py columns; association.py pairs; subgroups.py;
                 spread.py; use.py what analyses say, by the weights of weighed.py and the
                 errors of sample.py
plots.py         matplotlib figures; svg.py makes them part of a page
pictured.py      the methods that a release gets from here
metadata.py      a data package descriptor (Frictionless)
"""
