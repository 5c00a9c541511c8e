"""An encoder with the methods of sentence-transformers' `SentenceTransformer`.

It stands in where such an object is asked for (BERTopic, KeyBERT, LangChain, mteb and one's own
code), without torch: vectors are NumPy arrays, computed by ONNX Runtime on all cores.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, get_args, overload

import click
import numpy as np
import numpy.typing as npt

from service.bundle.library import ModelLibrary
from service.bundle.manifest import Manifest
from service.errors import InputError
from service.hardware import available_cores
from service.inference import encoder as inference
from service.inference.encoder import DOCUMENT_PROMPTS, QUERY_PROMPTS, prompt_among
from service.inference.formats import Format, Formatted, to_format
from service.inference.session import Vectors
from service.inference.vectors import finish, normalise
from service.settings import default_data
from service.standalone.arguments import EncodeArguments
from service.standalone.tensors import tensor_of

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from service.standalone.tensors import Tensor


class Encoder:
    """Texts to vectors, in this process.

    >>> Encoder("models/interlingua-mini").encode(["Guten Tag"]).shape
    (1, 384)

    Args:
        model_name_or_path: A directory of a bundle or of sentence-transformers with ONNX weights,
            or the name of a shipped or imported model.
        prompts: Name -> text put before an input; they add to the model's.
        default_prompt_name: The prompt where a call names none; the model's own if None.
        truncate_dim: Keep only the first so many dimensions; all if None.
        workers: Threads; as many as cores if None.

    Raises:
        BundleError: There is no such model, or it cannot be trusted or served.
    """

    def __init__(
        self,
        model_name_or_path: str | Path,
        *,
        prompts: Mapping[str, str] | None = None,
        default_prompt_name: str | None = None,
        truncate_dim: int | None = None,
        workers: int | None = None,
    ) -> None:
        directory = ModelLibrary(_data()).find(Path(model_name_or_path))
        self._encoder = inference.Encoder(directory)
        self.prompts: dict[str, str] = {**self.manifest.prompts, **(prompts or {})}
        self.default_prompt_name = default_prompt_name or self.manifest.default_prompt
        self.truncate_dim = truncate_dim
        self._workers = workers or available_cores()

    @property
    def manifest(self) -> Manifest:
        """All that is known of the model."""
        return self._encoder.manifest

    @property
    def name(self) -> str:
        """The model's name."""
        return self._encoder.name

    @property
    def dimension(self) -> int:
        """Width of a vector."""
        return min(self.truncate_dim or self._encoder.dimension, self._encoder.dimension)

    @property
    def max_seq_length(self) -> int:
        """Tokens after which a text is cut."""
        return self.manifest.max_tokens

    @property
    def device(self) -> str:
        """Where it computes."""
        return "cpu"

    similarity_fn_name = "cosine"

    def get_sentence_embedding_dimension(self) -> int:
        """Return the width of a vector."""
        return self.dimension

    get_embedding_dimension = get_sentence_embedding_dimension

    @overload
    def encode(
        self,
        sentences: str,
        prompt_name: str | None = ...,
        prompt: str | None = ...,
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        *,
        output_value: Literal["sentence_embedding"] = ...,
        precision: Format = ...,
        convert_to_numpy: bool = ...,
        convert_to_tensor: Literal[False] = ...,
        device: str | None = ...,
        normalize_embeddings: bool = ...,
        truncate_dim: int | None = ...,
        language: str | None = ...,
    ) -> Formatted: ...
    @overload
    def encode(
        self,
        sentences: Sequence[str],
        prompt_name: str | None = ...,
        prompt: str | None = ...,
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        *,
        output_value: Literal["sentence_embedding"] = ...,
        precision: Format = ...,
        convert_to_numpy: Literal[True] = ...,
        convert_to_tensor: Literal[False] = ...,
        device: str | None = ...,
        normalize_embeddings: bool = ...,
        truncate_dim: int | None = ...,
        language: str | None = ...,
    ) -> Formatted: ...
    @overload
    def encode(
        self,
        sentences: str | Sequence[str],
        prompt_name: str | None = ...,
        prompt: str | None = ...,
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        *,
        output_value: Literal["sentence_embedding"] = ...,
        precision: Format = ...,
        convert_to_numpy: bool = ...,
        convert_to_tensor: bool = ...,
        device: str | None = ...,
        normalize_embeddings: bool = ...,
        truncate_dim: int | None = ...,
        language: str | None = ...,
    ) -> Formatted | list[Formatted] | Tensor: ...
    def encode(  # sentence-transformers' arguments, in its order
        self,
        sentences: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        *,
        output_value: Literal["sentence_embedding"] = "sentence_embedding",
        precision: Format = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        language: str | None = None,
    ) -> Formatted | list[Formatted] | Tensor:
        """Return [texts, dimension] in the order of the texts; [dimension] for one string.

        Args:
            sentences: One text or many.
            prompt_name: One of `prompts` by name, put before each text.
            prompt: What is put before each text, word for word; it wins over `prompt_name`.
            batch_size: The most texts in one run of the model.
            show_progress_bar: Whether to show progress on standard error.
            output_value: Only sentence vectors are to be had.
            precision: float32, float16, int8 (each vector scaled to its largest), or the signs as
                packed bits: ubinary, or binary less 128.
            convert_to_numpy: One array; if not, a list of arrays.
            convert_to_tensor: A torch tensor instead; needs torch.
            device: Only cpu is to be had.
            normalize_embeddings: Whether vectors are scaled to length 1 even where the model does
                not do so itself.
            truncate_dim: Keep only the first so many dimensions; the encoder's own if None.
            language: Of all texts; only models with one encoder a language ask for it.

        Raises:
            InputError: A prompt, dimension, precision, device, output or size of batches that is
                not to be had.
        """
        _check(output_value, precision, device, batch_size)
        prefix = self._prefix(prompt_name) if prompt is None else prompt
        texts = [sentences] if isinstance(sentences, str) else list(sentences)
        vectors = self._vectors(
            texts,
            prefix=prefix,
            batch_size=batch_size,
            language=language,
            show_progress=bool(show_progress_bar),
        )
        vectors = finish(
            vectors,
            dimensions=self._dimensions(truncate_dim),
            normalised=normalize_embeddings or self.manifest.normalised,
        )
        formatted = to_format(vectors, precision)
        if convert_to_tensor:
            return tensor_of(formatted[0] if isinstance(sentences, str) else formatted)
        if isinstance(sentences, str):
            first: Formatted = formatted[0]
            return first
        return formatted if convert_to_numpy else list(formatted)

    def encode_query(
        self,
        sentences: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        **arguments: Unpack[EncodeArguments],
    ) -> Formatted | list[Formatted] | Tensor:
        """Return the vectors of what is searched with: `encode` with the prompt `query`, if any.

        Where there is none, no other is put before them, not even the default.
        """
        if prompt is None and prompt_name is None:
            prompt = self._prompt_of(QUERY_PROMPTS)
        return self.encode(sentences, prompt_name, prompt, **arguments)

    def encode_document(
        self,
        sentences: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        **arguments: Unpack[EncodeArguments],
    ) -> Formatted | list[Formatted] | Tensor:
        """Return the vectors of what is searched: with the prompt for documents, if any."""
        if prompt is None and prompt_name is None:
            prompt = self._prompt_of(DOCUMENT_PROMPTS)
        return self.encode(sentences, prompt_name, prompt, **arguments)

    def similarity(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Vectors:
        """Return the cosines [n, m] of all of `first` [n, D] with all of `second` [m, D]."""
        a, b = _units(first), _units(second)
        return a @ b.T

    def similarity_pairwise(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Vectors:
        """Return the cosines [n] of each of `first` [n, D] with its fellow of `second` [n, D]."""
        cosines: Vectors = (_units(first) * _units(second)).sum(axis=1)
        return cosines

    def _prompt_of(self, names: Sequence[str]) -> str:
        """Return the text of the first prompt of `names`; nothing where there is none."""
        name = prompt_among(self.prompts, names)
        return "" if name is None else self.prompts[name]

    def _prefix(self, name: str | None) -> str:
        name = name or self.default_prompt_name
        if name is None:
            return ""
        if name not in self.prompts:
            known = ", ".join(self.prompts) or "none"
            raise InputError(
                f"{self.name} has no prompt of that name; it has {known}.",
                field="prompt_name",
                given=name,
                remedy="Give it to the encoder: Encoder(..., prompts={...}); or say prompt=TEXT.",
            )
        return self.prompts[name]

    def _dimensions(self, wanted: int | None) -> int | None:
        wanted = self.truncate_dim if wanted is None else wanted
        full = self._encoder.dimension
        if wanted is not None and not 1 <= wanted <= full:
            raise InputError(
                f"{self.name} has {full} dimensions.",
                field="truncate_dim",
                given=wanted,
                remedy=f"Ask for 1 to {full}.",
            )
        return wanted

    def _vectors(
        self,
        texts: Sequence[str],
        *,
        prefix: str,
        batch_size: int,
        language: str | None,
        show_progress: bool,
    ) -> Vectors:
        """Return float32 [texts, full dimension], neither cut nor normalised."""
        vectors = np.zeros((len(texts), self._encoder.dimension), dtype=np.float32)
        # Texts of like length go together, the longest first: so the last batch is a short one.
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))

        def run(places: Sequence[int]) -> None:
            chosen = [texts[place] for place in places]
            vectors[places] = self._encoder.encode(
                chosen, language=language, normalize=False, prefix=prefix
            )

        batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        with _progress(len(batches), shown=show_progress) as step:
            for _ in self._map(run, batches):
                step(1)
        return vectors

    def _map(
        self, run: Callable[[Sequence[int]], None], batches: Sequence[Sequence[int]]
    ) -> Iterator[None]:
        if len(batches) <= 1 or self._workers == 1:
            yield from map(run, batches)
            return
        with ThreadPoolExecutor(min(self._workers, len(batches))) as threads:
            yield from threads.map(run, batches)


def _data() -> Path:
    named = os.environ.get("INTERLINGUA_DATA")
    return Path(named).expanduser() if named else default_data()


def _check(output_value: str, precision: str, device: str | None, batch_size: int) -> None:
    if output_value != "sentence_embedding":
        raise InputError(
            "Only sentence vectors are to be had.",
            field="output_value",
            given=output_value,
            remedy="Leave it out.",
        )
    if precision not in get_args(Format):
        raise InputError(
            "There is no such precision.",
            field="precision",
            given=precision,
            remedy=f"One of {', '.join(get_args(Format))}.",
        )
    if batch_size < 1:
        raise InputError(
            "A batch has one text or more.",
            field="batch_size",
            given=batch_size,
            remedy="Leave it out.",
        )
    if device not in (None, "cpu"):
        raise InputError(
            "It computes on the CPU.", field="device", given=device, remedy="Leave it out."
        )


def _units(vectors: npt.ArrayLike) -> Vectors:
    return normalise(np.atleast_2d(np.asarray(vectors, dtype=np.float32)))


def _progress(length: int, *, shown: bool) -> AbstractContextManager[Callable[[int], None]]:
    if not shown:
        return nullcontext(_ignore)
    return _Bar(length)


def _ignore(_steps: int) -> None:
    return None


class _Bar(AbstractContextManager[Callable[[int], None]]):
    """click's progress bar on standard error."""

    def __init__(self, length: int) -> None:
        self._bar: ProgressBar[int] = click.progressbar(
            length=max(1, math.ceil(length)), label="Batches", file=sys.stderr
        )

    def __enter__(self) -> Callable[[int], None]:
        self._bar.__enter__()
        return self._bar.update

    def __exit__(self, *error: object) -> None:
        self._bar.render_finish()
