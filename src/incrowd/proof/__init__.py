"""Writing what lets others check us: the proof file (private) and the statement (public).

prove.py        from a release to both          proven.py  the methods that a release gets from here
certificate.py  prices that the checker can confirm; lawful.py, those of sensitive models;
                constrained.py, those of releases under constraints
confirm.py      what the checker says of them before they are written
writing.py      the proof file                  statement.py  the statement
verified.py     ``incrowd.verify``; held.py, costs_asked.py, links.py and coins.py hold what a
                verifier asks for against a proof
"""
