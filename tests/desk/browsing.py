"""A real browser on a desk: Debian's chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from incrowd.desk.serve import Desk, served
from incrowd.desk.session import Session

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SCREENS = ("columns", "release", "table", "use", "compare", "publish")


def executable() -> str | None:
    """The browser, where there is one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for found in map(shutil.which, names) if found), None)


def axe() -> str | None:
    """The source of axe-core: of the file that INCROWD_AXE names."""
    file = os.environ.get("INCROWD_AXE", "")
    return Path(file).read_text("utf-8") if file and Path(file).is_file() else None


def require_browser() -> None:
    """Skip the module where no browser can be driven, with the reason."""
    pytest.importorskip("playwright", reason="playwright is not installed (extra browser)")
    if executable() is None:
        pytest.skip("there is no chromium (apt-get install chromium)", allow_module_level=True)


@dataclass
class Browsed:
    """A page in the browser.

    Attributes
    ----------
    page: Playwright's; requests: addresses and sizes of what it has loaded; open: requests that
    have no answer yet; faults: what the browser complained of.
    """

    page: Any
    desk: Desk
    requests: list[str] = field(default_factory=list)
    open: set[Any] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until all that was asked for is answered and drawn, however slow the machine is."""
        self.until(lambda: not self.open)
        self.page.wait_for_timeout(100)

    def until(self, fine: Callable[[], Any]) -> None:
        """Wait until something is so; two minutes or more without it are a fault."""
        for _ in range(6000):
            if fine():
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"never so; without an answer: {[one.url for one in self.open]}")

    def asked(self, request: Any) -> None:
        """Note a request."""
        self.requests.append(request.url)
        self.open.add(request)

    def answered(self, response: Any) -> None:
        """Note an answer; when a new page comes, what the old one asked for gets none."""
        if response.request.is_navigation_request():
            self.open.clear()
        self.open.discard(response.request)

    def go(self, screen: str) -> None:
        """Turn to a screen by its key."""
        self.page.keyboard.press(f"Alt+{SCREENS.index(screen) + 1}")
        self.page.wait_for_url(f"**/{screen}")

    def make(self) -> None:
        """Make the release that is asked for, and wait for its end."""
        self.go("release")
        self.page.click("#run")
        self.page.locator("#jobstate .badge").wait_for()

    def texts(self, selector: str) -> list[str]:
        """The texts of what is selected."""
        return self.page.locator(selector).all_inner_texts()


@contextmanager
def browsed(
    browser: Any, session: Session, width: int = 1280, fresh: bool = False, **options: Any
) -> Iterator[Browsed]:
    """Open a desk in the browser: a new page by the launch file, the page before by the address.

    A new page takes a second of the processor.  So it is kept for the next test, unless that asks
    for a ``fresh`` one or has options, or this one fails.
    """
    with served(session) as desk:
        kept = None if fresh or options else next(iter(browser.contexts), None)
        context = kept or browser.new_context(**options)
        context.set_default_timeout(120_000)  # of all waits: many tests may share a processor
        page = context.pages[0] if kept else context.new_page()
        page.set_viewport_size({"width": width, "height": 820})
        found = Browsed(page, desk)
        heard = {
            "request": found.asked,
            "requestfailed": lambda request: found.open.discard(request),
            "response": found.answered,
            "pageerror": lambda error: found.faults.append(str(error)),
            "console": lambda told: found.faults.extend([told.text] * (told.type == "error")),
        }
        for event, handler in heard.items():
            page.on(event, handler)
        page.goto(f"{desk.address}#key={desk.key}" if kept else desk.launch.as_uri())
        page.locator("h1").wait_for()
        whole = False
        try:
            yield found
            whole = not (fresh or options)
        finally:
            if whole:
                for event, handler in heard.items():
                    page.remove_listener(event, handler)
                page.unroute_all()
                page.goto("about:blank")  # it asks the desk for nothing any more
            else:
                context.close()


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
