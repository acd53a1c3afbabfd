"""The independent verifier of releases and proofs.

It imports numpy, polars and the standard library, and nothing else of incrowd: no solver, no
kernel, no bound, no reader of files is shared with the code whose work it checks.

    rejection.py  why something is rejected: a row number, a column, never a cell
    ladder.py     what a value may become, and at what price; validated as a tree
    recheck.py    truth of every cell, lawfulness of every class, the cost
    inequality.py the price inequality, for every pattern, in exact integers
    verify.py     all of it: release, original, proof → verdict

These five are enough for k-anonymity.  Around them:

    both.py       reading the two tables, each a file or a folder; lean.py for large ones
    files.py      reading tables and proof files; delimited.py for delimited text, packed.py for
                  Parquet and Arrow; archive.py, parquet.py and arrow.py to look at sizes before
                  anything is inflated; beside.py, what such a file holds beside its cells, by
                  claims.py, buffers.py, blocks.py and dictionaries.py
    limits.py     what is not looked at, for it would take too long
    costs.py      the hierarchies of a proof, and what its costs mean
    ranges.py     columns of intervals; wording.py, how one is written; numerals.py
    averages.py   releases of averages; nearest.py, their prices; runs.py, sorted numbers
    models.py     the privacy models beyond k, from their definitions; shares.py, entropy.py,
                  ordered.py and transport.py for some of them; combinations.py for several k
    people.py     whose each row is; once.py for models that count each value of a person once;
                  alike.py for columns that are constant within a person
    crowds.py     the price inequality for sets of rows, where patterns are too many; spans.py for
                  intervals; choosing.py and close.py for both
    oddsets.py    odd-set terms
    constrained.py  fixed, linked and capped columns, in the release and in the price inequality
    lawful.py     the price inequality for sensitive models, in place of that for k alone; sizes.py
                  and majorized.py by size of class, charges.py and capped.py with charges
    dropped.py    rows left out of a table that breaks the models; deleted.py, at a price
    hockey.py     δ of a release by fixed patterns
    unchanged.py  columns that are published as they are, and the bits of equal numbers
    published.py  comparing hierarchies with their files and the statement with the proof
"""
