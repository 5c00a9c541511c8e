"""Which language a text is in, with how sure the answer is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier


@dataclass(frozen=True, slots=True)
class DetectedLanguage:
    """A language code (ISO 639-1) and a probability in 0 .. 1."""

    language: str
    confidence: float


class LanguageDetector:
    """Detects among a fixed set of languages.

    Short texts are unsure whatever the method: callers should let a person name the language, and
    report the confidence where it was detected.

    Args:
        languages: Candidate codes; those that the detector does not know are left out.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        known = set(self._identifier.labels)
        self.languages = tuple(language for language in languages if language in known)
        if self.languages:
            self._identifier.set_languages(list(self.languages))

    def detect(self, text: str) -> DetectedLanguage | None:
        """Return the likeliest language, or None for a text without a letter."""
        if not self.languages or not any(character.isalpha() for character in text):
            return None
        language, confidence = self._identifier.classify(text)
        return DetectedLanguage(str(language), float(confidence))


@cache
def detector(languages: tuple[str, ...]) -> LanguageDetector:
    """Return the detector for `languages`; loading one takes a moment, so it is kept."""
    return LanguageDetector(languages)


def languages_of(listed: str | None) -> list[str] | None:
    """Return the languages of a parameter such as `de,fr`; None where it was left out."""
    return [part.strip() for part in listed.split(",")] if listed else None
