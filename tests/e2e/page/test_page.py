"""The page at /, with clicks and keys in a real Chromium."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import Server, start_server
from tests.e2e.page.conftest import BIG, Browser, Page, Route, expect

pytestmark = pytest.mark.e2e

GUITAR = "Warum verstimmt sich meine Gitarre?"


def status(page: Page, name: str) -> str:
    """What a panel says once it says something."""
    expect(page.locator(f"#{name}")).not_to_be_empty()
    return str(page.inner_text(f"#{name}"))


def test_a_question_finds_all_languages_by_keyboard_alone(page: Page) -> None:
    page.locator("#query").focus()
    page.keyboard.type(GUITAR)
    page.keyboard.press("Enter")
    page.wait_for_selector("#hits li")
    assert re.match(
        r"10 of 3,000 documents, in \d+ languages, [\d.]+ ms", status(page, "search-status")
    )
    assert len(set(page.locator("#hits .chip").all_inner_texts())) >= 5
    scores = [float(text) for text in page.locator("#hits .score").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert "ms in the service" in page.inner_text("#search-timing")
    assert "q=Warum" in page.url, "the address can be sent to somebody"

    page.locator("#languages input").first.focus()
    page.keyboard.press("Space")
    expect(page.locator("#hits .chip")).to_have_text(["ar"] * 10)


def test_it_searches_while_one_types(page: Page) -> None:
    page.locator("#query").press_sequentially("Why does ice float?", delay=5)
    page.wait_for_selector("#hits li")
    page.fill("#query", "")
    page.wait_for_selector("#hits li", state="detached")
    page.click("#search-examples button >> nth=1")
    page.wait_for_selector("#hits li")
    assert page.input_value("#query").startswith("Pourquoi")


def test_it_searches_what_an_input_method_composed(page: Page) -> None:
    page.focus("#query")
    keyboard = page.context.new_cdp_session(page)
    keyboard.send(
        "Input.imeSetComposition", {"text": "みず", "selectionStart": 2, "selectionEnd": 2}
    )
    page.wait_for_timeout(400)
    assert page.locator("#hits li").count() == 0, "the word is not chosen yet"
    keyboard.send("Input.insertText", {"text": "水"})
    page.wait_for_selector("#hits li")
    assert page.input_value("#query") == "水"


def test_arrows_walk_through_the_tabs_and_the_address_remembers(page: Page) -> None:
    page.focus("#tab-search")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#compare")
    assert not page.is_visible("#search")
    assert page.evaluate("document.activeElement.id") == "tab-compare"
    page.keyboard.press("End")
    assert page.is_visible("#live")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#search")
    page.goto("/#map")
    page.reload()
    assert page.is_visible("#map")


def test_a_question_in_the_address_leaves_another_part_open(page: Page) -> None:
    page.goto("/?q=Why+does+ice+float%3F#compare")
    page.wait_for_selector("#hits li", state="attached")
    assert page.is_visible("#compare")
    assert page.url.endswith("#compare")
    assert not page.is_visible("#curl"), "nothing was compared yet"
    page.click("#tab-search")
    assert "/similar" in page.inner_text("#curl-line")
    page.fill("#query", "")
    page.wait_for_selector("#hits li", state="detached")
    assert "q=" not in page.url


def test_the_address_keeps_the_corpus_and_the_languages(page: Page, server: Server) -> None:
    server.client.put("/corpora/notes", json={})
    notes = [
        {"id": str(place), "text": text, "language": language}
        for place, (language, text) in enumerate(
            [("en", "Ice floats."), ("de", "Eis schwimmt."), ("fr", "La glace flotte.")]
        )
    ]
    server.client.post("/corpora/notes/documents", json={"documents": notes})
    page.reload()
    page.select_option("#corpus", "notes")
    page.check("#languages input[value=de]", force=True)
    page.check("#languages input[value=fr]", force=True)
    expect(page).to_have_url(re.compile(r"/\?corpus=notes&languages=fr%2Cde$"))
    page.fill("#query", "ice")
    expect(page.locator("#hits li")).to_have_count(2)
    assert "2 of 3 documents" in status(page, "search-status")

    page.goto(page.url + "#compare")
    page.reload()
    page.click("#tab-search")
    expect(page.locator("#hits li")).to_have_count(2)
    assert page.input_value("#corpus") == "notes"
    assert page.locator("#languages input:checked").count() == 2
    assert re.search(r"\?q=ice&corpus=notes&languages=fr%2Cde#search$", page.url)


def test_a_corpus_of_the_address_that_is_not_there_is_said(page: Page) -> None:
    page.goto("/?q=ice&corpus=nowhere&languages=de")
    expect(page.locator("#search-status.problem")).to_contain_text("no corpus nowhere")
    assert page.locator("#hits li").count() == 0
    page.press("#query", "Enter")
    expect(page.locator("#hits li")).to_have_count(10)


def test_each_model_is_named(page: Page) -> None:
    models = [
        {"name": "first", "languages": ["de", "en"], "dimension": 384},
        {"name": "second", "languages": ["und"], "dimension": 16},
        {"name": "third", "languages": ["de"], "dimension": 1},
    ]
    page.route("**/models", lambda route: route.fulfill(json={"models": models}))
    page.reload()
    expect(page.locator("#about")).to_have_text(re.compile("third"))
    assert page.inner_text("#about").splitlines() == [
        "first · 2 languages · 384 dimensions",
        "second · languages unknown · 16 dimensions",
        "third · 1 language · 1 dimension",
    ]


def test_one_text_is_said_to_be_one(page: Page) -> None:
    page.click("#tab-map")
    page.fill("#column", "Ice floats.")
    page.click("#map-form .primary")
    expect(page.locator("#map-status")).to_contain_text("1 text by")


def test_two_texts_are_compared(page: Page, server: Server) -> None:
    page.click("#tab-compare")
    page.fill("#left", "The cat sleeps.")
    page.fill("#right", "Die Katze schläft.")
    page.click("#compare-form .primary")
    page.wait_for_selector("#gauge")
    body = {"inputs": {"source_sentence": "The cat sleeps.", "sentences": ["Die Katze schläft."]}}
    (cosine,) = server.client.post("/similarity", json=body).json()
    assert float(page.inner_text("#cosine")) == pytest.approx(cosine, abs=6e-4)


# The first answer of a path is held back until `release` is called.
HELD_BACK = """path => {
  const ask = window.fetch;
  let asked = 0;
  window.fetch = async (address, options) => {
    const first = String(address).includes(path) && asked++ === 0;
    const answer = await ask(address, options);
    if (first) await new Promise((done) => (window.release = done));
    return answer;
  };
}"""
IS_HELD_BACK = """async () => {
  while (!window.release) await new Promise((done) => setTimeout(done, 10));
}"""


@pytest.mark.parametrize(
    ("tab", "path", "field", "answer"),
    [
        ("compare", "/similarity", "right", "#cosine"),
        ("classify", "/classify", "texts", "#labelled"),
        ("map", "/projection", "column", "#plane-caption"),
    ],
)
def test_an_answer_that_comes_late_does_not_replace_a_later_question(
    page: Page, tab: str, path: str, field: str, answer: str
) -> None:
    page.click(f"#tab-{tab}")
    page.evaluate(HELD_BACK, path)
    page.fill(f"#{field}", "The old text.")
    page.click(f"#{tab} .primary")
    page.evaluate(IS_HELD_BACK)
    page.fill(f"#{field}", "Der Zug hat zwanzig Minuten Verspätung.")
    page.click(f"#{tab} .primary")
    page.wait_for_selector(answer)
    if tab == "map":
        page.focus("#plane")
        page.keyboard.press("ArrowRight")
    shown = page.inner_text(answer)
    page.evaluate("window.release()")
    page.wait_for_timeout(400)
    assert page.inner_text(answer) == shown


def test_a_column_becomes_a_map_and_a_matrix(page: Page) -> None:
    page.click("#tab-map")
    page.fill(
        "#column",
        "Ice floats.\tice\nEis schwimmt.\tice\nMy tooth hurts.\ttooth\n\nMein Zahn tut weh.\ttooth",
    )
    page.click("#map-form .primary")
    page.wait_for_selector("#plane .dot")
    assert page.locator("#plane .dot").count() == 4
    assert page.locator("#legend button").all_inner_texts() == ["ice 2", "tooth 2"]
    assert page.locator("#matrix tbody tr").count() == 4
    assert page.locator("#matrix tbody td").first.inner_text() == "1.00"

    page.focus("#plane")
    page.keyboard.press("ArrowRight")
    assert "“Ice floats.” (ice, English)" in page.inner_text("#plane-caption")
    assert "Nearest: “Eis schwimmt.”" in page.inner_text("#plane-caption")
    page.click("#legend button >> nth=1")
    assert page.locator("#plane .dot.faded").count() == 2
    page.select_option("#colour-by", "language")
    assert "English 2" in page.locator("#legend button").all_inner_texts()


def test_a_map_that_was_drawn_behind_another_part_is_there(page: Page) -> None:
    page.click("#tab-map")
    page.evaluate(HELD_BACK, "/projection")
    page.click("#map-form .primary")
    page.evaluate(IS_HELD_BACK)
    page.click("#tab-search")
    page.evaluate("window.release()")
    expect(page.locator("#map-status")).to_contain_text("texts by")
    page.click("#tab-map")
    page.wait_for_selector("#plane .dot")
    dot, plane = (page.locator(f"#plane{part}").first.bounding_box() for part in (" .dot", ""))
    assert dot is not None
    assert plane is not None
    assert plane["x"] < dot["x"] < plane["x"] + plane["width"]
    assert page.get_attribute("#plane", "viewBox") != "0 0 0 0"


def test_a_sample_of_the_corpus_is_drawn(page: Page) -> None:
    page.click("#tab-map")
    page.click("#map-example")
    page.wait_for_selector("#plane .dot")
    assert "by t-SNE" in status(page, "map-status")
    assert page.locator("#legend button").count() >= 3
    assert page.locator("#matrix canvas").count() == 1
    page.focus("#matrix")
    page.keyboard.press("ArrowRight")
    assert re.match(r"-?[01]\.\d{3}: “.+” and “.+”", page.inner_text("#matrix-caption"))


def test_a_text_of_several_lines_is_one_dot(page: Page) -> None:
    texts = ["First line.\nSecond\tline.", "Another.", "A third."]
    documents = [{"id": str(n), "text": t, "metadata": {}} for n, t in enumerate(texts)]
    page.route(
        "**/documents?**",
        lambda route: route.fulfill(json={"documents": documents, "next_cursor": None}),
    )
    page.click("#tab-map")
    page.click("#map-example")
    expect(page.locator("#plane .dot")).to_have_count(3)
    assert page.input_value("#column").splitlines()[0] == "First line. Second line."


def test_texts_are_classified(page: Page) -> None:
    page.click("#tab-classify")
    page.click("#classify-form .primary")
    page.wait_for_selector("#labelled li")
    best = page.locator("#labelled .label-row:first-child .label").all_inner_texts()
    assert best[:2] == ["sports", "politics"]


def test_classifiers_of_pairs_are_not_offered_for_single_texts(page: Page) -> None:
    page.click("#tab-classify")
    page.wait_for_selector("#classifier option", state="attached")
    assert page.locator("#classifier option").all_inner_texts() == ["sentiment", "topic"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("tab", ["search", "compare", "map", "classify"])
def test_the_curl_answers_what_the_page_showed(page: Page, tab: str) -> None:
    page.click(f"#tab-{tab}")
    if tab == "search":
        page.fill("#query", "Il m'a dit: \"l'eau\" & rien d'autre")
    page.click(f"#{tab} .primary")
    page.wait_for_selector("#curl")
    command = shlex.split(page.inner_text("#curl-line").replace("\\\n", " "))
    done = subprocess.run([*command, "--fail"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    if tab == "search":
        page.wait_for_selector("#hits li")
        assert page.locator("#hits .text").first.inner_text() == answer[0]["text"]


def test_live_figures_move(page: Page) -> None:
    page.click("#tab-live")
    page.wait_for_timeout(1200)
    page.click("#burst")
    expect(page.locator("#live-status")).to_contain_text("took")
    expect(page.locator("#gauges output").first).not_to_have_text(re.compile("^(0|–)$"))
    assert page.locator(".curve polyline").count() == page.locator(".gauge-card").count()
    page.click("#pause")
    before = page.inner_text("#gauges")
    page.wait_for_timeout(1500)
    assert page.inner_text("#gauges") == before


def test_a_service_that_was_started_again_counts_from_nothing(page: Page) -> None:
    counts = iter([1000, 1000])

    def answer(route: Route) -> None:
        name = 'interlingua_requests_total{route="/embed",status="200"}'
        route.fulfill(body=f"{name} {next(counts, 5)}\n", content_type="text/plain")

    page.route("**/metrics", answer)
    page.click("#tab-live")
    first = page.locator("#gauges output").first
    expect(first).to_have_text("0")
    page.wait_for_timeout(2500)
    assert not page.inner_text("#gauges output >> nth=0").startswith("-")


def test_texts_that_are_posted_to_the_root_are_counted(page: Page, server: Server) -> None:
    page.click("#tab-live")
    first = page.locator("#gauges output").first
    expect(first).to_have_text("0")
    for _ in range(20):
        assert server.client.post("/", json={"inputs": "Ice floats."}).status_code == 200
    expect(first).not_to_have_text("0")


@pytest.mark.parametrize(
    ("tab", "field"), [("compare", "left"), ("map", "column"), ("classify", "texts")]
)
def test_nothing_written_is_asked_for_and_not_sent(page: Page, tab: str, field: str) -> None:
    page.click(f"#tab-{tab}")
    page.fill(f"#{field}", " \n")
    page.click(f"#{tab} .primary")
    expect(page.locator(f"#{tab}-status.problem")).to_contain_text("Write")
    assert not page.is_visible("#curl")


def test_what_the_service_refuses_is_said(page: Page, complaints: list[str]) -> None:
    page.click("#tab-map")
    page.fill("#column", "\n".join(f"Sentence {number}" for number in range(501)))
    page.click("#map-form .primary")
    page.wait_for_selector("#map-status.problem")
    assert "501 are too many" in page.inner_text("#map-status")
    assert "Send a sample of them." in page.inner_text("#map-status")
    assert not page.is_visible("#map-result")
    complaints[:] = [said for said in complaints if "413" not in said]


def test_a_service_that_is_gone_is_said(page: Page, complaints: list[str]) -> None:
    page.route("**/similar?**", lambda route: route.abort())
    page.fill("#query", "ice")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-status.problem")
    assert "does not answer" in page.inner_text("#search-status")
    page.unroute("**/similar?**")
    page.keyboard.press("Enter")
    page.wait_for_selector("#hits li")
    assert not page.locator("#search-status.problem").count()
    complaints[:] = [said for said in complaints if "ERR_FAILED" not in said]


def test_without_a_corpus_it_says_how_to_make_one(page: Page) -> None:
    page.route("**/corpora", lambda route: route.fulfill(json={"corpora": []}))
    for address in ("/", "/?q=ice"):
        page.goto(address)
        expect(page.locator("#search-status")).to_contain_text("PUT /corpora/NAME")
    page.fill("#query", "water")
    page.keyboard.press("Enter")
    expect(page.locator("#search-status")).to_contain_text("PUT /corpora/NAME")


def test_text_is_never_markup(page: Page) -> None:
    page.click("#tab-classify")
    page.fill("#texts", "<img src=x onerror=alert(1)> <b>bold</b>")
    page.click("#classify-form .primary")
    page.wait_for_selector("#labelled li")
    assert page.locator("#labelled b, #labelled img").count() == 0


def test_ten_thousand_documents(page: Page, server: Server, big: str) -> None:
    page.reload()
    page.wait_for_selector("#corpus option", state="attached")
    page.select_option("#corpus", big)
    page.select_option("#count", "100")
    page.fill("#query", "the painter hides a violin near the castle")
    page.keyboard.press("Enter")
    expect(page.locator("#hits li")).to_have_count(100)
    assert f"100 of {BIG:,} documents" in status(page, "search-status")
    words = page.locator("#hits .text").first.inner_text()
    assert {"painter", "violin", "castle"} <= set(re.findall(r"\w+", words))
    page.click("#tab-map")
    page.click("#map-example")
    page.wait_for_selector("#plane .dot")
    assert page.locator("#plane .dot").count() <= 120


def test_a_key_is_asked_for_once(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLINGUA_API_KEYS", "open-sesame")
    locked = start_server(tmp_path)
    context = browser.new_context(base_url=locked.url)
    opened = context.new_page()
    try:
        opened.goto("/")
        opened.fill("#key", "open-sesame")
        opened.keyboard.press("Enter")
        opened.wait_for_selector("#languages label")
        opened.fill("#query", GUITAR)
        opened.keyboard.press("Enter")
        opened.wait_for_selector("#hits li")
        assert "open-sesame" not in opened.inner_text("#curl-line")
        assert "$INTERLINGUA_API_KEY" in opened.inner_text("#curl-line")
    finally:
        context.close()
        locked.stop()
