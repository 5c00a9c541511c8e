from __future__ import annotations

from pathlib import Path

from service.bundle.card import render_card
from service.bundle.manifest import DataSource, Measurement
from service.bundle.reader import read_bundle


def test_card_says_what_the_manifest_says(tiny_bundle: Path) -> None:
    manifest = read_bundle(tiny_bundle).manifest.model_copy(
        update={
            "data": (
                DataSource(
                    name="toy", licence="CC0-1.0", attribution="nobody", sentence_pairs=1234
                ),
            ),
            "quality": (
                Measurement(
                    protocol="tatoeba",
                    dataset="toy pairs",
                    metric="accuracy %",
                    value=87.65,
                    by_language={"de": 90.0},
                    command="interlingua evaluate",
                    machine="a desk",
                ),
            ),
            "limits": ("It reads no poems.",),
        }
    )
    card = render_card(manifest)
    for expected in (
        "# tiny",
        "16 dimensions (may be cut to 8)",
        "space `tiny-space`",
        "| toy | 1,234 | CC0-1.0 | nobody |",
        "| tatoeba | toy pairs | accuracy % | 87.7 |",
        "de 90.0",
        "`interlingua evaluate` (a desk)",
        "- It reads no poems.",
    ):
        assert expected in card


def test_card_says_which_weights_training_began_from(tiny_bundle: Path) -> None:
    manifest = read_bundle(tiny_bundle).manifest
    assert "began from" not in render_card(manifest)
    recipe = manifest.recipe.model_copy(update={"parameters": {"start": "another", "steps": 4}})
    card = render_card(manifest.model_copy(update={"recipe": recipe}))
    assert "began from the weights that `another` had then" in card


def test_card_lies_beside_the_manifest(tiny_bundle: Path) -> None:
    manifest = read_bundle(tiny_bundle).manifest
    assert (tiny_bundle / "CARD.md").read_text(encoding="utf-8") == render_card(manifest)
