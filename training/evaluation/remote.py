"""A running server as a model: the same vectors, through POST /embed."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Sequence

import numpy as np

from service.errors import InputError
from service.inference.session import Vectors
from service.inference.vectors import normalise

_AT_ONCE = 32
"""Texts a request: what text-embeddings-inference takes unless it was told otherwise."""

_SECONDS = 120.0


def is_url(place: str) -> bool:
    """Return whether `place` is a server's address rather than a directory's."""
    return place.startswith(("http://", "https://"))


class RemoteModel:
    """The default model of an Interlingua server.

    Args:
        url: Where it listens.

    Raises:
        InputError: No such server answers there.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        models = self._ask("/models", None)
        described = models.get("models") if isinstance(models, dict) else None
        if not described:
            raise InputError(f"{self._url}/models lists no model.", field="--model", given=url)
        first = described[0]
        self.name: str = first["name"]
        self.dimension: int = first["dimension"]
        self.languages: tuple[str, ...] = tuple(first["languages"])

    @property
    def needs_language(self) -> bool:
        """Always true: the server is told the language, and ignores it where it does not matter."""
        return True

    def encode(
        self,
        texts: Sequence[str],
        *,
        language: str | None = None,
        normalize: bool | None = None,
    ) -> Vectors:
        """Return float32 [texts, D].

        Raises:
            InputError: The server refuses; what it says is in the message.
        """
        vectors: Vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            part = list(texts[start : start + _AT_ONCE])
            # Servers refuse empty texts; their vector is the zero vector that a bundle gives.
            places = [start + i for i, text in enumerate(part) if text.strip()]
            if not places:
                continue
            body: dict[str, object] = {"inputs": [texts[i] for i in places]}
            if language is not None:
                body["language"] = language
            if normalize is not None:
                body["normalize"] = normalize
            vectors[places] = np.asarray(self._ask("/embed", body), dtype=np.float32)
        return normalise(vectors) if normalize else vectors

    def _ask(self, path: str, body: dict[str, object] | None) -> object:
        request = urllib.request.Request(  # noqa: S310 - http or https, as `is_url` saw
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode(errors="replace")[:500]
            raise InputError(
                f"{self._url}{path} answers {error.code}: {said}", field="--model", given=self._url
            ) from error
        except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
            raise InputError(
                f"No server answers as it should at {self._url}: {error}.",
                field="--model",
                given=self._url,
                remedy="Start one with `interlingua serve`, or name a directory.",
            ) from error
