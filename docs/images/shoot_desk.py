"""Takes docs/images/desk.png: the desk's second screen over the table of incrowd demo.

python docs/images/shoot_desk.py --browser /usr/bin/chromium

Needs the extras demo and report (which brings Pillow), the package playwright, and a Chromium.
"""

import argparse
import tempfile
from pathlib import Path

from incrowd.desk.serve import served
from incrowd.desk.session import Session
from incrowd.tables.samples import QI, SENSITIVE, nhefs

WIDTH, HEIGHT = 1280, 766
# the command, without the temporary folder
WITHOUT = "folder => { said.textContent = said.textContent.replace(folder, '') }"
SLOWEST = 300_000  # milliseconds: the first run on a machine compiles


def shoot(table: Path, picture: Path, browser: str) -> None:
    """Make a release and a sweep on the page, and take its picture."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    session = Session(str(table))
    roles = dict.fromkeys(QI, "qi") | dict.fromkeys(SENSITIVE, "sensitive")
    session.change({"roles": roles, "further": {"gap": 0.02}})
    with served(session) as desk, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        size = {"width": WIDTH, "height": HEIGHT}
        page = chromium.new_page(viewport=size, color_scheme="light")
        page.goto(desk.launch.as_uri())
        page.locator("h1").wait_for()
        page.keyboard.press("Alt+2")
        page.click("#run")
        page.locator("#jobstate .badge").wait_for(timeout=SLOWEST)
        page.click("#sweep")
        page.locator("#curve .dot").first.wait_for(timeout=SLOWEST)
        page.locator("#curve .pulse").wait_for(state="detached", timeout=SLOWEST)
        page.evaluate("document.activeElement.blur()")  # a frame about a dot is no figure
        page.evaluate(WITHOUT, f"{table.parent}/")
        page.screenshot(path=str(picture))
        chromium.close()
    Image.open(picture).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(picture)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("desk.png"))
    parser.add_argument("--browser", default="chromium")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nhefs.csv"
        nhefs().write_csv(path)
        shoot(path, given.out, given.browser)
