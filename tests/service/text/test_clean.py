from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.text.clean import clean, encodable


@given(st.text(alphabet=st.characters(codec=None)))
def test_result_has_a_utf8_form_and_no_nul(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert len(cleaned) == len(text)


def test_lone_surrogate_becomes_a_blank() -> None:
    assert clean("a\ud800b") == "a b"


def test_text_of_every_script_is_left_alone() -> None:
    text = "Größe, žluť, Ελλάδα, 日本語, العربية, हिन्दी, 👩‍🚀\n\tend"
    assert clean(text) == text


@given(st.text(alphabet=st.characters(codec=None)))
def test_encodable_text_differs_in_lone_surrogates_alone(text: str) -> None:
    found = encodable(text)
    found.encode("utf-8")
    assert len(found) == len(text)
    assert all(
        a == b or (b == " " and "\ud800" <= a <= "\udfff") for a, b in zip(text, found, strict=True)
    )
