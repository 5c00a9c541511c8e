"""How the text that is taught is mixed."""

from __future__ import annotations

from training.taught_text import EDITED, N_WAY, TaughtTextParameters, mixing_of


def test_edited_text_is_drawn_as_other_text_of_its_kind_unless_told_otherwise() -> None:
    weights = mixing_of(TaughtTextParameters(n_way_weight=0.3)).source_weights
    assert weights["ntrex"] == weights["bible_nt"] == 0.3  # the news and the Bible are n-way
    assert "korean_news" not in weights  # so that it counts 1


def test_edited_text_has_a_weight_of_its_own() -> None:
    weights = mixing_of(TaughtTextParameters(n_way_weight=0.3, edited_weight=2.0)).source_weights
    assert {weights[source] for source in EDITED} == {2.0}
    assert {weights[source] for source in set(N_WAY) - set(EDITED)} == {0.3}
    assert mixing_of(TaughtTextParameters(edited_weight=0.0)).source_weights["ntrex"] == 0
