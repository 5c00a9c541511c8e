"""Take the pictures of docs/page.md: python tests/e2e/page/take_pictures.py URL DIRECTORY."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SIZES = {"desktop": (1200, 860), "phone": (390, 844)}


def take(browser: Browser, url: str, directory: Path) -> None:
    """Take every part in both schemes and sizes."""
    for scheme in SCHEMES:
        for name, (width, height) in SIZES.items():
            size: ViewportSize = {"width": width, "height": height}
            context = browser.new_context(viewport=size, color_scheme=scheme)
            page = context.new_page()
            page.goto(url)
            for part, fill in PARTS.items():
                page.click(f"#tab-{part}")
                fill(page)
                page.wait_for_timeout(300)
                if part == "map":
                    page.locator("#map-status").scroll_into_view_if_needed()
                    page.evaluate("scrollTo(0, document.querySelector('#map-status').offsetTop)")
                page.screenshot(path=directory / f"{part}-{name}-{scheme}.png")
            context.close()


def _search(page: Page) -> None:
    page.wait_for_selector("#languages label")
    page.fill("#query", "Warum verstimmt sich meine Gitarre?")
    page.press("#query", "Enter")
    page.wait_for_selector("#hits li")


def _compare(page: Page) -> None:
    page.click("#compare .primary")
    page.wait_for_selector("#gauge")


def _map(page: Page) -> None:
    page.click("#map-example")
    page.wait_for_selector("#plane .dot")
    page.hover("#plane .dot circle >> nth=8")


def _classify(page: Page) -> None:
    page.click("#classify .primary")
    page.wait_for_selector("#labelled li")


def _live(page: Page) -> None:
    for _ in range(15):
        page.click("#burst")
        page.wait_for_timeout(1300)


PARTS = {"search": _search, "compare": _compare, "map": _map, "classify": _classify, "live": _live}


def main() -> None:
    """Take them."""
    url, directory = sys.argv[1], Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as started:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        take(browser, url, directory)
        browser.close()


if __name__ == "__main__":
    main()
