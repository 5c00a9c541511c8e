"""Words are cut the same way in every script."""

import pytest

from service.text.words import split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat doesn't sleep.", ["The", "cat", "does", "n't", "sleep", "."]),
        ("It's John’s, they'll see", ["It", "'s", "John", "’s", ",", "they", "'ll", "see"]),
        ("L'homme dell'arte", ["L'", "homme", "dell'", "arte"]),
        ("a well-known fact -- yes", ["a", "well-known", "fact", "-", "-", "yes"]),
        ("3,500.25 at 12:30, 7.", ["3,500.25", "at", "12:30", ",", "7", "."]),
        ("猫在 睡觉。", list("猫在睡觉。")),
        ("猫はCDを見た", ["猫", "は", "CD", "を", "見", "た"]),
        ("हिन्दी में लिखी किताब।", ["हिन्दी", "में", "लिखी", "किताब", "।"]),
        ("القطة تنام", ["القطة", "تنام"]),
        ("Ich kann nicht", ["Ich", "kann", "nicht"]),
        ("can't won't n't", ["ca", "n't", "wo", "n't", "n't"]),
        ("", []),
        (" \t\n", []),
    ],
)
def test_words_of_many_scripts(text: str, words: list[str]) -> None:
    assert split_words(text, lower=False) == words


def test_lower_case_and_compatibility_forms() -> None:
    assert split_words("ＡＢＣ Straße", lower=True) == ["abc", "straße"]


def test_nothing_visible_is_lost() -> None:
    text = "Zwei (2) Dinge: «Ja» & nein… 100 % 🙂"
    assert "".join(split_words(text, lower=False)) == "Zwei(2)Dinge:«Ja»&nein...100%🙂"
