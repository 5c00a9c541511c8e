from __future__ import annotations

import pytest

from service.text.language import LanguageDetector, detector

SAMPLES = {
    "de": "Wann fährt der nächste Zug nach Hamburg ab?",
    "fr": "À quelle heure part le prochain train pour Lyon ?",
    "ru": "Во сколько отправляется следующий поезд?",
    "ja": "次の電車は何時に出ますか。",
    "ar": "متى يغادر القطار التالي؟",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_whole_sentences_are_recognised(language: str) -> None:
    found = detector(tuple(SAMPLES)).detect(SAMPLES[language])
    assert found is not None
    assert found.language == language
    assert 0.5 < found.confidence <= 1.0


def test_answer_is_among_the_candidates() -> None:
    found = LanguageDetector(("de", "fr")).detect(SAMPLES["ru"])
    assert found is not None
    assert found.language in {"de", "fr"}


@pytest.mark.parametrize("text", ["", "   ", "12345", "?!"])
def test_text_without_a_letter_has_no_language(text: str) -> None:
    assert LanguageDetector(("de", "fr")).detect(text) is None


def test_unknown_candidates_are_left_out() -> None:
    assert LanguageDetector(("de", "xx-made-up")).languages == ("de",)
    assert LanguageDetector(("xx-made-up",)).detect("Hallo") is None
