"""The page by the keyboard alone: a whole job by Tab, Enter, Space and arrows; failures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desk.browsing import SCREENS, browsed, require_browser
from incrowd.desk import server
from incrowd.desk.session import Session

require_browser()
CONTROLS = "main :is(a[href], button, input, select, textarea, summary, [role=button])"
REACHABLE = f"""[...document.querySelectorAll({CONTROLS!r})].filter(x =>
    !x.disabled && x.checkVisibility({{ visibilityProperty: true }}))"""


def tab_to(page: Any, selector: str, most: int = 150) -> None:
    """Press Tab until what a selector selects has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"{selector} is not reached by Tab")


def at(page: Any) -> str:
    """The id of what has the focus."""
    return page.evaluate("document.activeElement.id")


def until(page: Any, truth: str) -> None:
    """Wait for a truth about the page (which lets nobody wait in it: its policy forbids eval)."""
    for _ in range(2400):
        if page.evaluate(truth):
            return
        page.wait_for_timeout(50)
    raise AssertionError(truth)


def test_a_whole_job_without_a_mouse(browser: Any, people: Path, tmp_path: Path) -> None:
    """Tests opening, roles, groups, a release, its rows, a scenario, and publishing."""
    with browsed(browser, Session()) as found:
        page, press = found.page, found.page.keyboard.press
        tab_to(page, "#path")
        page.keyboard.type(str(people))
        press("Enter")
        page.locator("#role0").wait_for()
        tab_to(page, "#role1")
        tab_to(page, "#levels2")
        press("Enter")
        page.locator(".levels input").first.wait_for()
        assert at(page) == "levels2"
        for _ in range(2):
            tab_to(page, ".levels input")
            press("Space")
        tab_to(page, "#groupname")
        page.keyboard.type("south")
        press("Enter")
        page.locator(".levels h2:has-text('Level 1: 3 groups')").wait_for()
        until(page, "document.activeElement.id === 'groupname'")
        tab_to(page, "#fixed")
        press("Space")
        until(page, "!document.querySelector('#undo').disabled && fixed.checked")
        found.settle()  # the panel is read anew
        assert at(page) == "fixed" and page.is_checked("#fixed")
        press("Space")
        until(page, "!fixed.checked")
        tab_to(page, "#next")
        press("Enter")
        page.locator("#run").wait_for()
        tab_to(page, "#krange")
        press("ArrowLeft")
        page.locator("#k[value='4']").wait_for()
        assert at(page) == "krange"
        tab_to(page, "summary")
        press("Space")
        tab_to(page, "#decimal")
        press("ArrowDown")  # after a comma: its whole numbers are numbers all the same
        page.locator("#said:has-text('--decimal ,')").wait_for()
        assert at(page) == "decimal"
        tab_to(page, "#run")
        press("Enter")
        page.locator("#jobstate .badge").wait_for()
        until(page, "document.activeElement.id === 'run'")
        found.go("table")
        page.locator("td.changed").first.wait_for()
        tab_to(page, "td button")
        press("Enter")
        page.locator("#only").wait_for()
        assert at(page) == "only"
        press("Enter")
        page.locator("#only").wait_for(state="hidden")
        assert page.evaluate("document.activeElement.matches('[aria-label=Rows]')")
        found.go("compare")
        tab_to(page, "#keep")
        press("Enter")
        page.locator("td button").first.wait_for()
        tab_to(page, "td button")
        press("Enter")  # ask again
        tab_to(page, "td button + button")
        press("Enter")
        page.locator("text=None is kept yet").wait_for()
        assert page.evaluate("main.contains(document.activeElement)")
        found.go("publish")
        tab_to(page, "#folder")
        page.keyboard.type(str(tmp_path / "out"))
        tab_to(page, "#out-proof")
        page.keyboard.down("Space")
        page.evaluate("import('/desk.js').then(desk => desk.draw())")  # of the folder's answer
        page.keyboard.up("Space")
        until(page, "!publish.disabled && document.getElementById('out-proof').checked")
        assert at(page) == "out-proof"
        tab_to(page, "#publish")
        press("Enter")
        page.locator("#written:has-text('release.csv')").wait_for()
        assert found.faults == []
    assert {each.name for each in (tmp_path / "out").iterdir()} >= {"release.csv", "release.proof"}


def test_each_control_is_reached(browser: Any, people: Path) -> None:
    """Tests that Tab comes to each control of each screen, and that the focus is seen there."""
    with browsed(browser, Session(str(people))) as found:
        page = found.page
        found.make()
        found.go("compare")
        page.click("#keep")
        page.locator("td button").first.wait_for()
        page.evaluate("window.met = new Set()")
        page.evaluate("document.addEventListener('focusin', e => met.add(e.target))")
        for screen in SCREENS:
            found.go(screen)
            page.locator("h1").wait_for()
            if screen == "columns":
                page.click("#levels1")
                page.locator(".levels li").first.wait_for()
            found.settle()
            page.evaluate("document.activeElement.blur(); met.clear()")
            page.focus("#main")
            missed = number = page.evaluate(f"{REACHABLE}.length")
            for _ in range(number // 10 + 7):  # ten at a time, till all are reached
                for _ in range(10):
                    page.keyboard.press("Tab")
                missed = page.evaluate(
                    f"{REACHABLE}.filter(x => !met.has(x)).map(x => x.outerHTML.slice(0, 80))"
                )
                if missed == []:
                    break
            assert number > 0 and missed == [], (screen, missed)
        assert found.faults == []


@pytest.mark.parametrize("call", ["state", "ask"])
def test_a_fault_of_the_desk_says_so(
    call: str, browser: Any, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a failing call is no desk that does not answer or let in; no cell is told."""

    def broken(session: Any, given: Any) -> Any:
        raise RuntimeError("person 7 has flu")

    calls = server.READ if call == "state" else server.WRITE
    monkeypatch.setitem(calls, call, broken)
    with browsed(browser, Session(str(people))) as found:
        if call == "ask":
            found.page.select_option("#role3", "keep")
        found.page.locator(".note:has-text('incrowd itself has failed (RuntimeError)')").wait_for()
        text = found.page.inner_text("body")
        assert "Not let in" not in text and "person 7 has flu" not in text
        assert found.page.is_hidden("#gone") and "INCROWD_DEBUG" in text


def test_a_stream_that_fails_says_so(
    browser: Any, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that what fails while a run is watched is told, and the page goes on."""

    def broken(session: Any, given: Any) -> Iterator[bytes]:
        yield b'{"job": null}\n'
        raise RuntimeError("person 7 has flu")

    monkeypatch.setitem(server.READ, "events", broken)
    with browsed(browser, Session(str(people))) as found:
        found.go("release")
        found.page.click("#run")
        found.page.locator(".note:has-text('incrowd itself has failed')").wait_for()
        assert "person 7" not in found.page.inner_text("main")
        found.go("columns")
        found.page.locator("#role0").wait_for()


def test_a_redraw_leaves_what_is_being_typed(browser: Any, people: Path):
    """Tests a half typed number, a marked one, and one that was sent, each over a redraw."""
    redraw = "import('/desk.js').then(desk => desk.draw())"
    with browsed(browser, Session(str(people))) as found:
        page = found.page
        found.go("release")
        page.fill("#k", "")
        page.keyboard.type("1")
        page.evaluate(redraw)
        page.keyboard.type("2")
        assert page.input_value("#k") == "12"
        page.keyboard.press("Enter")
        page.locator("#said:has-text('-k 12')").wait_for()
        page.evaluate("document.getElementById('k').select()")
        page.evaluate(redraw)
        page.keyboard.type("7")
        assert page.input_value("#k") == "7"
        page.keyboard.press("Tab")
        page.locator("#said:has-text('-k 7')").wait_for()


def test_a_redraw_leaves_a_button_that_is_held(browser: Any, people: Path):
    """Tests that a click is not lost when the answer to what was typed comes in its midst."""
    with browsed(browser, Session(str(people))) as found:
        page = found.page
        found.go("release")
        page.fill("#k", "3")
        box = page.locator("#run").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.evaluate("window.now = Date.now(); Date.now = () => now")  # a press of no length
        page.mouse.down()
        page.locator("#said:has-text('-k 3')").wait_for()
        page.mouse.up()
        page.locator("#jobstate .badge").wait_for()
        assert found.faults == []


def test_a_redraw_does_not_wait_for_ever(browser: Any, people: Path):
    """Tests a list, which opens without word of the press's end, and a button that never ends."""
    with browsed(browser, Session(str(people))) as found:
        page = found.page
        found.go("release")
        for pressed, gap in (("#gap", "0.05"), ("#run", "0.02")):
            page.dispatch_event(pressed, "pointerdown")
            page.select_option("#gap", gap)
            page.locator(f"#gap option[selected][value='{gap}']").wait_for(state="attached")
        assert found.faults == []
