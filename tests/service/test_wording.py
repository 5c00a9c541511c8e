from __future__ import annotations

from service.wording import plural


def test_one_is_one_and_all_else_are_many() -> None:
    said = [f"{count} {plural(count, 'text')}" for count in (0, 1, 2, 21)]
    assert said == ["0 texts", "1 text", "2 texts", "21 texts"]
