"""A vocabulary a language, for systems with an encoder and a decoder a language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from service.text.tokenizer import SentencePieceTokenizer, Tokenizer
from training.data.corpus import Corpus
from training.data.parallel_rows import ParallelRows, table_rows
from training.data.tokens import TokenTable, tokenize
from training.vocabulary import VocabularyPlan, train_vocabulary
from training.workspace import Workspace


def prepare_language_vocabularies(
    work: Workspace, corpus: Corpus, plan: VocabularyPlan
) -> dict[str, bytes]:
    """Return a SentencePiece model file a language of `corpus`, each trained on its text alone."""
    work.progress.title(f"vocabularies: {plan.pieces:,} {plan.kind} pieces a language")
    return {
        language: work.keep(
            f"vocabulary-{language}.model",
            partial(train_vocabulary, corpus, plan, (language,)),
            save=lambda model, path: _write(path, model),
            load=Path.read_bytes,
        )
        for language in corpus.languages
        if len(corpus.sentences_of(language))
    }


def prepare_language_tokens(
    work: Workspace, corpus: Corpus, vocabularies: Mapping[str, bytes], *, longest: int
) -> TokenTable:
    """Return the ids of all sentences of `corpus`, each by the vocabulary of its language."""
    work.progress.title("tokens: all sentences to ids")
    tokenizers = {name: SentencePieceTokenizer(model) for name, model in vocabularies.items()}
    languages = [corpus.languages[number] for number in corpus.language]
    return work.keep(
        "tokens.npz",
        lambda: tokenize_by_language(corpus.texts, languages, tokenizers, longest=longest),
        save=TokenTable.save,
        load=TokenTable.load,
    )


def tokenize_by_language(
    texts: Sequence[str],
    languages: Iterable[str],
    tokenizers: Mapping[str, Tokenizer],
    *,
    longest: int,
) -> TokenTable:
    """Return the ids of `texts`, each made by the tokenizer of its language.

    Args:
        texts: Sentences.
        languages: The language of each.
        tokenizers: Language -> tokenizer.
        longest: Tokens at which a sentence is cut.
    """
    given = np.array(list(languages))
    ids: list[list[int]] = [[] for _ in texts]
    for language, tokenizer in tokenizers.items():
        places = np.flatnonzero(given == language).tolist()
        table = tokenize([texts[i] for i in places], tokenizer, max_tokens=longest)
        for row, place in enumerate(places):
            ids[place] = table.ids[table.offsets[row] : table.offsets[row + 1]].tolist()
    lengths = np.array(list(map(len, ids)), dtype=np.int64)
    flat = np.fromiter((token for tokens in ids for token in tokens), dtype=np.int32)
    return TokenTable(flat, np.concatenate([[0], np.cumsum(lengths)]))


def tokenize_columns(
    columns: Mapping[str, Sequence[str]], tokenizers: Mapping[str, Tokenizer], *, longest: int
) -> tuple[ParallelRows, TokenTable]:
    """Return n-way sentences, such as those held out, as rows and the ids of their sentences.

    Args:
        columns: Language -> sentences, row by row; empty where missing. Languages without a
            tokenizer are left out.
        tokenizers: Language -> tokenizer.
        longest: Tokens at which a sentence is cut.
    """
    known = {name: column for name, column in columns.items() if name in tokenizers}
    texts, rows = table_rows(known)
    languages = (name for name, column in known.items() for sentence in column if sentence.strip())
    return rows, tokenize_by_language(texts, languages, tokenizers, longest=longest)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
