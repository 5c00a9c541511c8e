from __future__ import annotations

from pathlib import Path

from service.classification.card import render_head_card
from service.classification.head import read_head


def test_card_says_what_the_manifest_says(head_directory: Path) -> None:
    card = (head_directory / "CARD.md").read_text(encoding="utf-8")
    assert card == render_head_card(read_head(head_directory).manifest)
    for expected in (
        "# topic",
        "Which of three topics",
        "| labels | science, sport, travel |",
        "16 dimensions of the space `tiny-space`",
        "tiny, identity `0123456789abcdef`",
        "| topic | toy | accuracy % | 87.7 |",
        "de 90.0",
        "- It knows no cooking.",
        "| toy | 1,234 | CC0-1.0 | nobody |",
    ):
        assert expected in card
