from __future__ import annotations

from service.errors import InputError, OverloadedError, shorten


def test_message_names_field_value_and_remedy() -> None:
    error = InputError("k is too small.", field="k", given=0, remedy="Ask for at least 1.")
    assert str(error) == "k is too small. (field 'k', given 0) Ask for at least 1."


def test_message_without_details_is_plain() -> None:
    assert str(InputError("No.")) == "No."


def test_long_values_are_shortened() -> None:
    assert len(shorten("x" * 1000)) == 80
    assert shorten("x") == "'x'"


def test_overload_says_when_to_return() -> None:
    assert "Retry after 3 s" in str(OverloadedError("Full.", retry_after_seconds=2.7))
