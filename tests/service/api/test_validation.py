from __future__ import annotations

import pytest
from pydantic import BaseModel, Field, ValidationError

from service.api.validation import explain, field_name
from service.errors import InputError, MalformedError


class Example(BaseModel):
    k: int = Field(10, ge=1, description="Hits for each input")
    names: list[str] = []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ((), ""),
        (("k",), "k"),
        (("documents", 3, "text"), "documents[3].text"),
        (("vectors", 0, 1), "vectors[0][1]"),
    ],
)
def test_paths_are_written_as_people_do(path: tuple[str | int, ...], name: str) -> None:
    assert field_name(path) == name


def test_the_part_of_the_request_is_no_field_but_a_field_may_be_called_so() -> None:
    missing = {"type": "missing", "msg": "Field required", "input": {}}
    assert explain([missing | {"loc": ("query", "q")}]).field == "q"
    assert explain([missing | {"loc": ("query",)}], Example).field == "query"


def test_a_wrong_shape_is_malformed_and_a_wrong_value_is_not() -> None:
    with pytest.raises(ValidationError) as shape:
        Example.model_validate({"names": ["a", 3]})
    with pytest.raises(ValidationError) as value:
        Example.model_validate({"k": 0})
    malformed = explain(shape.value.errors(), Example)
    assert isinstance(malformed, MalformedError)
    assert (malformed.field, malformed.given) == ("names[1]", "3")
    invalid = explain(value.value.errors(), Example)
    assert not isinstance(invalid, MalformedError)
    assert isinstance(invalid, InputError)
    assert (invalid.field, invalid.given) == ("k", "0")
    assert invalid.remedy == "k: Hits for each input."
