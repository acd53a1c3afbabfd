"""Draws docs/images/frontier.svg: cost and bound against k, on the table of incrowd demo.

python docs/images/draw_frontier.py      (needs the extras demo and report; about a minute)
"""

import argparse
from pathlib import Path

import incrowd as ic
from incrowd.report.svg import svg_text
from incrowd.tables.samples import QI, SENSITIVE, nhefs

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("frontier.svg"))
    given = parser.parse_args()
    found = ic.frontier(nhefs(), range(2, 26), qi=QI, sensitive=SENSITIVE)
    print(found, f"{found.seconds:.0f} s")
    given.out.write_text(svg_text(found.plot(), "frontier"), encoding="utf-8")
