"""Development: what is measured now and then while the loop runs, in torch, on text set aside.

These figures steer a run. What is reported is measured on the exported bundle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from service.inference.session import Vectors
from service.inference.slices import slice_by_length
from service.text.tokenizer import Tokenizer, Tokens
from training.data.batches import Sentences
from training.evaluation.retrieval import search_error

_BATCH_TOKENS = 8192
_MAX_TOKENS = 512


def ragged(batch: Sequence[Tokens], device: torch.device) -> Sentences:
    """Return the ids of some texts as ragged sentences on `device`."""
    lengths = torch.tensor([len(tokens) for tokens in batch], dtype=torch.int64)
    rows = [np.asarray(tokens, dtype=np.int64) for tokens in batch]
    if any(row.ndim == 2 for row in rows):
        widest = max(row.shape[1] for row in rows)
        rows = [np.pad(row, ((0, 0), (0, widest - row.shape[1]))) for row in rows]
    return Sentences(torch.from_numpy(np.concatenate(rows)).to(device), lengths.to(device))


def encode(encoder: nn.Module, tokens: Sequence[Tokens], device: torch.device) -> Vectors:
    """Return unit vectors float32 [texts, D] of tokenised texts, in their order."""
    groups = slice_by_length(list(map(len, tokens)), budget=_BATCH_TOKENS)
    with torch.inference_mode():
        parts = [
            functional.normalize(encoder(ragged([tokens[i] for i in group], device)).float(), dim=1)
            for group in groups
        ]
    joined = torch.cat(parts).cpu().numpy()
    vectors: Vectors = np.empty_like(joined)
    vectors[[i for group in groups for i in group]] = joined
    return vectors


def complete_columns(held_out: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the rows that have every language.

    Args:
        held_out: Language -> sentences, row by row. Rows that lack a language are left out; so are
            languages that lack more than half of the rows.
    """
    columns = {
        language: column
        for language, column in held_out.items()
        if 2 * sum(map(bool, column)) > len(column)
    }
    rows = [row for row in zip(*columns.values(), strict=True) if all(row)]
    return {
        language: [row[i] for row in rows] for i, language in enumerate(columns if rows else ())
    }


class HeldOutSearchByLanguage:
    """Similarity search error over all pairs of languages of rows that were set aside.

    Schwenk & Douze 2017, algorithm 1; the figure that their schedules watch as well.

    Args:
        encoders: Language -> encoder.
        tokenizers: Language -> tokenizer.
        held_out: Language -> sentences, row by row, as `complete_columns` takes them.
        device: Where the encoders are.
    """

    def __init__(
        self,
        encoders: Mapping[str, nn.Module],
        tokenizers: Mapping[str, Tokenizer],
        held_out: Mapping[str, Sequence[str]],
        device: torch.device,
    ) -> None:
        self._encoders = encoders
        self._device = device
        known = {name: column for name, column in held_out.items() if name in encoders}
        self._tokens = {
            language: tokenizers[language].encode(column, max_tokens=_MAX_TOKENS).tokens
            for language, column in complete_columns(known).items()
        }

    @property
    def measured(self) -> tuple[str, ...]:
        """`search_error`, where two languages or more are there."""
        return ("search_error",) if len(self._tokens) > 1 else ()

    def __call__(self) -> dict[str, float]:
        """Return `search_error` in percent; nothing where fewer than two languages are there."""
        if not self.measured:
            return {}
        vectors = {
            language: encode(self._encoders[language], tokens, self._device)
            for language, tokens in self._tokens.items()
        }
        return {"search_error": search_error(vectors)}


class HeldOutSearch(HeldOutSearchByLanguage):
    """The same for one encoder and one tokenizer of all languages.

    Args:
        encoder: Sentences -> [B, D].
        tokenizer: The one that serves.
        held_out: Language -> sentences, row by row, as `complete_columns` takes them.
        device: Where the encoder is.
    """

    def __init__(
        self,
        encoder: nn.Module,
        tokenizer: Tokenizer,
        held_out: Mapping[str, Sequence[str]],
        device: torch.device,
    ) -> None:
        encoders = dict.fromkeys(held_out, encoder)
        super().__init__(encoders, dict.fromkeys(held_out, tokenizer), held_out, device)
