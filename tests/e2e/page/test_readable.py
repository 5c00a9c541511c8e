"""That the page can be read: by a phone, by a screen reader, in the dark."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.e2e.conftest import Server
from tests.e2e.page.conftest import Browser, Page

pytestmark = pytest.mark.e2e

TABS = ("search", "compare", "map", "classify", "live")
FILLED = {
    "search": "#hits li",
    "compare": "#gauge",
    "map": "#plane .dot",
    "classify": "#labelled li",
}

NAMELESS = """() => [...document.querySelectorAll(
    'input, textarea, select, button, [role=tabpanel], svg[role]')]
  .filter(node => !(node.labels?.length || node.textContent.trim()
                    || node.getAttribute('aria-label') || node.getAttribute('aria-labelledby')))
  .map(node => node.outerHTML.slice(0, 120))"""

# WCAG 2's contrast of each text with what is behind it; colours are drawn, so any notation is read.
CONTRASTS = """() => {
  const paint = Object.assign(document.createElement('canvas'), {width: 1, height: 1})
    .getContext('2d', {willReadFrequently: true});
  const rgb = colours => {
    for (const colour of colours) { paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1); }
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = colour => colour.map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !node.checkVisibility() || node.closest('.skip, svg, noscript, option')) continue;
    const grounds = [];
    for (let at = node; at; at = at.parentElement) {
      grounds.unshift(getComputedStyle(at).backgroundColor);
    }
    const ground = rgb(['white', ...grounds]);
    const ink = rgb(['white', ...grounds, getComputedStyle(node).color]);
    const [low, high] = [luminance(ground), luminance(ink)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${node.outerHTML.slice(0, 90)}`);
  }
  return found;
}"""


def fill(page: Page, tab: str) -> None:
    page.click(f"#tab-{tab}")
    if tab in FILLED:
        page.click(f"#{tab} .primary")
        page.wait_for_selector(FILLED[tab])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_is_cut_off_nameless_or_too_pale(
    browser: Browser, server: Server, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(
        base_url=server.url, color_scheme=scheme, viewport={"width": width, "height": 800}
    )
    page = context.new_page()
    try:
        page.goto("/")
        page.wait_for_selector("#languages label")
        for tab in TABS:
            fill(page, tab)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
            assert page.evaluate(CONTRASTS) == [], tab
        assert page.evaluate(NAMELESS) == []
        page.goto("/docs")
        page.wait_for_selector("section h2")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "docs"
    finally:
        context.close()


@pytest.mark.parametrize("width", [360, 1200])
def test_long_words_do_not_widen_the_page(browser: Browser, server: Server, width: int) -> None:
    long = "https://example.org/" + "a" * 300
    name = "n" * 64
    hit = {"id": "1", "text": long, "language": "en", "score": 0.9, "metadata": {"url": long}}
    corpus = {"name": name, "documents": 1, "languages": {"en": 1}}
    context = browser.new_context(base_url=server.url, viewport={"width": width, "height": 800})
    page = context.new_page()
    fits = "document.documentElement.scrollWidth <= innerWidth"
    try:
        page.route("**/corpora", lambda route: route.fulfill(json={"corpora": [corpus]}))
        page.route("**/similar?**", lambda route: route.fulfill(json=[hit]))
        page.route("**/classify", lambda r: r.fulfill(json=[[{"label": long, "score": 1}]] * 3))
        page.goto("/?q=bread")
        page.wait_for_selector("#hits li")
        assert page.evaluate(fits), "search"
        page.click("#tab-classify")
        page.click("#classify .primary")
        page.wait_for_selector("#labelled li")
        assert page.evaluate(fits), "classify"
        page.click("#tab-map")
        page.fill("#column", f"bread\t{long}\ncat\tb\ndog\tb")
        page.click("#map .primary")
        page.wait_for_selector("#legend button")
        assert page.evaluate(fits), "map"
    finally:
        context.close()


def test_the_first_key_press_offers_to_skip(page: Page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "tab-search"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "query", "one stop for all tabs"


def test_the_page_of_the_api_lists_every_address(page: Page, server: Server) -> None:
    page.goto("/docs")
    page.wait_for_selector("section h2")
    addresses = server.client.get("/openapi.json").json()["paths"]
    assert page.locator("section h2").count() == sum(map(len, addresses.values()))
    assert "`" not in page.inner_text("#routes p >> nth=0")
    assert page.locator("#routes p code").count() > 3
    corpus = page.locator("section", has=page.get_by_role("heading", name="PUT /corpora/{name}"))
    words = corpus.locator("tr", has_text="passages.words").inner_text()
    assert words.split("\t") == [
        "passages.words",
        "integer",
        "Of the longest passage; 128 if left out",
    ]
    (search,) = page.locator("pre", has_text="curl -G").all_inner_texts()
    assert search.endswith("/similar \\\n  --data-urlencode 'q=Warum schwimmt Eis?'")
    first_lines = [text.splitlines()[0] for text in page.locator("pre").all_inner_texts()]
    assert not [line for line in first_lines if "{" in line], "curl reads braces as a pattern"
