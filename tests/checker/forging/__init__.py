"""Forged proofs: honest ones are changed in every way that a forger could think of, and judged.

bundle.py   a proof with its two tables, to be changed and written with all hashes mended
bases.py    honest ones, as ``incrowd anonymize --proof`` makes them of small random tables
facts.py    changes of the JSON part
parts.py    changes of its tables: prices, odd sets, ladders, the row map
meaning.py  changes that know what they do: several places at once, so that little is wrong
missing.py  such changes of deleted rows, and of whose rows are; persons.py counts people plainly
raw.py      changes of bytes: Parquet, Arrow, ZIP and delimited files
plain.py    reading files without the checker and without polars
judge.py    what an accepted proof must not say, by brute force
run.py      one forgery: a seed in, what became of it out
"""
