"""The two plain forms of a request for vectors: what is taken of them, and how they are answered.

A body is plain where each of its fields is one of a few, and of the type that it should be. What is
not is no error here: it takes the ordinary way, which knows all fields and has all the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from service.api.negotiation import preferred, vector_headers
from service.api.openai import embeddings_object, model_among
from service.api.state import Resources
from service.inference.encoder import Encoder
from service.inference.formats import to_format
from service.inference.request import Embedded, EmbedOptions


class NotPlainError(Exception):
    """A request that is to take the ordinary way."""


@dataclass(frozen=True, slots=True)
class Plain:
    """What a plain request asks for.

    Attributes:
        texts: At least one.
        model: By name; the default where None.
        options: How to embed.
        encoding: Of the vectors in the answer: numbers, or base64 of their bytes.
    """

    texts: list[str]
    model: str | None
    options: EmbedOptions
    encoding: Literal["float", "base64"] = "float"


Body = Mapping[str, object]
Read = Callable[[Body], Plain]
Choose = Callable[[Resources, Plain], Encoder]
Write = Callable[[Plain, Encoder, Embedded], tuple[Mapping[str, str], object]]
Takes = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Shape:
    """One of the forms.

    Attributes:
        read: A body to what it asks for. Raises NotPlainError.
        choose: The encoder that is asked. Raises InterlinguaError.
        write: Vectors to the answer: headers that tell of them, and what its JSON is of.
        takes_json: Whether that is what a client with this `accept` wants.
    """

    read: Read
    choose: Choose
    write: Write
    takes_json: Takes


def _read_tei(body: Body) -> Plain:
    _check_fields(body, _TEI_FIELDS)
    truncate, normalize = _flag(body.get("truncate")), _flag(body.get("normalize"))
    return Plain(
        _texts(body.get("inputs")),
        _name(body.get("model")),
        EmbedOptions(
            truncate=truncate is not False,
            dimensions=_number(body.get("dimensions")),
            normalize=normalize is not False,
        ),
    )


def _write_tei(_: Plain, __: Encoder, embedded: Embedded) -> tuple[Mapping[str, str], object]:
    vectors = to_format(embedded.vectors, "float32")
    return vector_headers(vectors), vectors


def _read_openai(body: Body) -> Plain:
    _check_fields(body, _OPENAI_FIELDS)
    _name(body.get("user"))
    return Plain(
        _texts(body.get("input")),
        _name(body.get("model")),
        EmbedOptions(dimensions=_number(body.get("dimensions")), normalize=True),
        _encoding(body.get("encoding_format")),
    )


def _write_openai(
    plain: Plain, encoder: Encoder, embedded: Embedded
) -> tuple[Mapping[str, str], object]:
    vectors = to_format(embedded.vectors, "float32")
    return {}, embeddings_object(embedded, vectors, model=encoder.name, encoding=plain.encoding)


_TEI_FIELDS = frozenset({"inputs", "model", "normalize", "truncate", "dimensions"})
_OPENAI_FIELDS = frozenset({"input", "model", "encoding_format", "dimensions", "user"})

SHAPES: Mapping[bytes, Shape] = {
    b"/embed": Shape(
        _read_tei,
        lambda resources, plain: resources.encoder(plain.model),
        _write_tei,
        lambda accept: preferred(accept) is None,
    ),
    b"/v1/embeddings": Shape(
        _read_openai,
        lambda resources, plain: model_among(resources, plain.model),
        _write_openai,
        lambda _: True,
    ),
}
"""By the address that they are sent to."""


def _check_fields(body: Body, known: frozenset[str]) -> None:
    if not body.keys() <= known:
        raise NotPlainError


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return value
    raise NotPlainError


def _name(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise NotPlainError


def _flag(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise NotPlainError


def _number(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise NotPlainError


def _encoding(value: object) -> Literal["float", "base64"]:
    if value in (None, "float"):
        return "float"
    if value == "base64":
        return "base64"
    raise NotPlainError
