"""Takes docs/images/report.png: the upper part of the internal report of incrowd demo.

python docs/images/shoot.py --browser /usr/bin/chromium

Needs the extras demo and report (which brings Pillow), the package playwright, and a Chromium.
"""

import argparse
import tempfile
from pathlib import Path

import incrowd as ic
from incrowd.tables.samples import QI, SENSITIVE, nhefs

WIDTH, HEIGHT = 1280, 2110


def shoot(page: Path, picture: Path, browser: str) -> None:
    """Take a picture of the upper part of a page, cells of the tables and all."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        view.goto(page.as_uri())
        view.screenshot(path=str(picture))
        chromium.close()
    Image.open(picture).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(picture)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("report.png"))
    parser.add_argument("--browser", default="chromium")
    given = parser.parse_args()
    release = ic.anonymize(nhefs(), 5, qi=QI, sensitive=SENSITIVE, gap=0.01)  # as demo does
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        release.report(path, internal=True)
        shoot(path, given.out, given.browser)
