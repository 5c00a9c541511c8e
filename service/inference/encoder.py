"""A loaded bundle: texts in, vectors out, in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.bundle.manifest import SHARED, UNKNOWN_LANGUAGE, EncoderEntry, Manifest
from service.bundle.reader import Bundle
from service.errors import InputError
from service.huggingface.bundle import read_model
from service.inference.budget import Budget
from service.inference.execution import Execution, open_session
from service.inference.pooling import Pooler, read_dense_layer
from service.inference.providers import CUDA
from service.inference.session import Session, Vectors
from service.inference.slices import slice_by_length
from service.inference.vectors import finish
from service.text.language import detector
from service.text.tokenizer import Side, Tokenizer, load_tokenizer

BATCH_TOKENS = 4096

QUERY_PROMPTS = ("query",)
DOCUMENT_PROMPTS = ("document", "passage", "corpus")
"""What the prompts of the two sides of a search are called, as sentence-transformers has it: what
is searched with, and what is searched."""


@dataclass(frozen=True, slots=True)
class Tower:
    """One graph and the tokenizer that feeds it; a bundle has one, or one a language."""

    tokenizer: Tokenizer
    session: Session


class Encoder:
    """An encoder bundle, loaded.

    >>> Encoder("models/interlingua-mini").encode(["Guten Tag"]).shape
    (1, 384)

    Args:
        bundle: A bundle's directory, or one that sentence-transformers or transformers wrote, with
            ONNX weights; or a bundle already read.
        execution: On what its graphs run; ONNX Runtime on the CPU by default.

    Raises:
        BundleError: The bundle cannot be trusted or served.
        SettingsError: The runtime or the precision is not to be had.
    """

    def __init__(self, bundle: str | Path | Bundle, *, execution: Execution | None = None) -> None:
        self.execution = execution or Execution()
        self._bundle = bundle if isinstance(bundle, Bundle) else read_model(Path(bundle))
        self.manifest: Manifest = self._bundle.manifest
        self.towers: dict[str, Tower] = {}
        loaded: dict[str, Tower] = {}
        for language, entry in self.manifest.encoders.items():
            if entry.graph not in loaded:
                loaded[entry.graph] = Tower(
                    load_tokenizer(entry.tokenizer, self._bundle.tokenizer_path(entry)),
                    self.open_again(language, self.execution),
                )
            self.towers[language] = loaded[entry.graph]

    def open_again(self, language: str, execution: Execution) -> Session:
        """Return a new session over the graph for `language`; the bundle's files must be there.

        Raises:
            BundleError: The graph cannot be run.
            SettingsError: The runtime is not installed, or lacks the precision.
        """
        entry = self.manifest.encoders[language]
        return open_session(
            self._bundle.graph_path(entry),
            dimension=self.manifest.dimension,
            execution=execution,
            pooler=pooler_of(self._bundle, entry),
            looks_up=self.manifest.looks_up,
            max_tokens=self.manifest.max_tokens,
        )

    @property
    def name(self) -> str:
        """The bundle's name."""
        return self.manifest.name

    @property
    def dimension(self) -> int:
        """Width of a full vector."""
        return self.manifest.dimension

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that the bundle was trained for."""
        return self.manifest.languages

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU computes its vectors."""
        return CUDA in next(iter(self.towers.values())).session.providers

    @property
    def needs_language(self) -> bool:
        """Whether a text's language decides which graph encodes it."""
        return SHARED not in self.towers

    def check_language(self, language: str) -> None:
        """Refuse a language that the model was not made for, where it says which it was made for.

        Raises:
            InputError: It does, and `language` is not among them.
        """
        known = self.towers if self.needs_language else self.languages
        if language not in known and UNKNOWN_LANGUAGE not in known:
            raise InputError(
                f"{self.name} was not trained on this language; it knows {', '.join(known)}.",
                field="language",
                given=language,
                remedy="Name one of them, or leave the field out.",
            )

    def tower_for(self, text: str, language: str | None) -> tuple[Tower, str | None]:
        """Return the tower for `text`, and its language where that was given or detected.

        Raises:
            InputError: The model has an encoder a language, and none for this one.
        """
        if not self.needs_language:
            return self.towers[SHARED], language
        if language is None:
            found = detector(tuple(self.towers)).detect(text)
            language = found.language if found else next(iter(self.towers))
        if language not in self.towers:
            raise InputError(
                f"{self.name} has no encoder for this language; it has {', '.join(self.towers)}.",
                field="language",
                given=language,
                remedy="Name one of them, or leave the field out to have it detected.",
            )
        return self.towers[language], language

    def prompt_among(self, names: Sequence[str]) -> str | None:
        """Return the name of the bundle's prompt for one side of a search; None for none.

        Args:
            names: `QUERY_PROMPTS` or `DOCUMENT_PROMPTS`.
        """
        return prompt_among(self.manifest.prompts, names)

    def prompt_prefix(self, name: str | None) -> str:
        """Return what is put before each text: a prompt by name, or the bundle's default.

        Raises:
            InputError: The bundle has no prompt of that name.
        """
        return prompt_prefix(self.manifest, name)

    def encode(
        self,
        texts: str | Sequence[str],
        *,
        language: str | None = None,
        dimensions: int | None = None,
        normalize: bool | None = None,
        cut: Side = "right",
        prefix: str | None = None,
    ) -> Vectors:
        """Return float32 [texts, dimensions], in the order of `texts`; [dimensions] for one string.

        Args:
            texts: One text or many.
            language: Of all texts; only models with one encoder a language need it, and detect it
                where it is not given.
            dimensions: Keep only the first so many (Matryoshka).
            normalize: Scale to length 1; the bundle's own default where None.
            cut: The end that is cut off a text longer than `manifest.max_tokens`.
            prefix: What is put before each text; the bundle's default prompt where None.

        Raises:
            InputError: No encoder for a language, or a prefix of a model that does not pool it.
        """
        if isinstance(texts, str):
            one: Vectors = self.encode(
                [texts],
                language=language,
                dimensions=dimensions,
                normalize=normalize,
                cut=cut,
                prefix=prefix,
            )[0]
            return one
        prefix = self.prompt_prefix(None) if prefix is None else prefix
        if prefix and not self.manifest.pools_prompts:
            raise InputError(
                f"{self.name} leaves a prompt's tokens out of the pooling (include_prompt: false), "
                "which is not done here.",
                field="prompt",
                given=prefix,
                remedy="Encode without a prompt.",
            )
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        by_tower: dict[int, tuple[Tower, list[int]]] = {}
        for position, text in enumerate(texts):
            tower, _ = self.tower_for(text, language)
            by_tower.setdefault(id(tower), (tower, []))[1].append(position)
        for tower, positions in by_tower.values():
            tokens = tower.tokenizer.encode(
                [prefix + texts[p] for p in positions], max_tokens=self.manifest.max_tokens, cut=cut
            ).tokens
            budget = Budget(BATCH_TOKENS, tower.session.pads).at_most(tower.session.batch_tokens)
            for group in slice_by_length(
                list(map(len, tokens)), budget=budget.tokens, pads=budget.pads
            ):
                inputs = tower.tokenizer.collate([tokens[i] for i in group])
                vectors[[positions[i] for i in group]] = tower.session.run(inputs)
        normalised = self.manifest.normalised if normalize is None else normalize
        return finish(vectors, dimensions=dimensions, normalised=normalised)


def prompt_among(prompts: Mapping[str, str], names: Sequence[str]) -> str | None:
    """Return the first of `names` that is in `prompts`, those that are empty last."""
    there = sorted((name for name in names if name in prompts), key=lambda name: not prompts[name])
    return there[0] if there else None


def prompt_prefix(manifest: Manifest, name: str | None) -> str:
    """Return what is put before each text: a prompt by name, or the default of the model.

    Raises:
        InputError: It has no prompt of that name.
    """
    prompts, name = manifest.prompts, name or manifest.default_prompt
    if name is None:
        return ""
    if name not in prompts:
        raise InputError(
            f"{manifest.name} has no prompt of that name; it has {', '.join(prompts) or 'none'}.",
            field="prompt_name",
            given=name,
            remedy="Leave the field out, or name one of them.",
        )
    return prompts[name]


def pooler_of(bundle: Bundle, entry: EncoderEntry) -> Pooler | None:
    """Return what makes sentence vectors of the graph's output; None where the graph does."""
    if entry.pooling is None:
        return None
    layers = [
        read_dense_layer(bundle.path_of(layer.file), layer.activation, of_unit=layer.of_unit)
        for layer in entry.projections
    ]
    return Pooler(entry.pooling, layers)
