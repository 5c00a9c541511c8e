"""A vocabulary a language, for systems with an encoder and a decoder a language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from service.errors import InputError
from service.text.tokenizer import Tokenizer
from training.data.corpus import Corpus
from training.data.parallel_rows import ParallelRows, table_rows
from training.data.tokens import TokenTable, tokenize
from training.served_vocabulary import ServedVocabulary
from training.vocabulary import VocabularyPlan, prepare_pieces
from training.word_vocabulary import WordPlan, prepare_words
from training.workspace import Workspace


def prepare_language_vocabularies(
    work: Workspace, corpus: Corpus, plan: VocabularyPlan | WordPlan
) -> dict[str, ServedVocabulary]:
    """Return a vocabulary a language of `corpus`, each made of its text alone."""
    if isinstance(plan, VocabularyPlan):
        work.progress.title(f"vocabularies: {plan.pieces:,} {plan.kind} pieces a language")
    else:
        work.progress.title("vocabularies: words of each language")
    found = {}
    for language in corpus.languages:
        sentences = corpus.sentences_of(language).tolist()
        if not sentences:
            continue
        if isinstance(plan, VocabularyPlan):
            name = f"vocabulary-{language}.model"
            found[language] = prepare_pieces(work, corpus, plan, (language,), name=name)
        else:
            texts = [corpus.texts[number] for number in sentences]
            found[language] = prepare_words(work, texts, plan, name=f"words-{language}.json")
    return found


def require_text(corpus: Corpus, languages: Iterable[str]) -> None:
    """Refuse languages that need a vocabulary of their own and have no text to make it of.

    Raises:
        InputError: There are some.
    """
    wanted = dict.fromkeys(languages)
    missing = [name for name in wanted if not len(corpus.sentences_of(name))]
    if missing:
        raise InputError(
            f"The training text has no sentence in {', '.join(missing)}.",
            field="languages",
            given=",".join(wanted),
            remedy=f"Leave {'it' if len(missing) == 1 else 'them'} out, or name sources that have "
            "such text: --set sources=NAME,NAME.",
        )


def prepare_language_tokens(
    work: Workspace, corpus: Corpus, tokenizers: Mapping[str, Tokenizer], *, longest: int
) -> TokenTable:
    """Return the ids of all sentences of `corpus`, each by the tokenizer of its language."""
    work.progress.title(f"tokens: {len(corpus.texts):,} sentences to ids")
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
