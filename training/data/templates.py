"""Parallel sentences made from templates, in the very file formats that are read.

A small made-up world: every subject does everything to every object, in five languages. Noun
phrases stand in the form their place asks for, so each sentence is grammatical. A system that can
learn at all learns this in seconds, which is what the smoke scale and the tests are for.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

LANGUAGES = ("en", "de", "fr", "es", "ja")

_SUBJECTS = (
    ("The teacher", "Die Lehrerin", "La professeure", "La maestra", "先生は"),
    ("The doctor", "Der Arzt", "Le médecin", "El médico", "医者は"),
    ("My sister", "Meine Schwester", "Ma sœur", "Mi hermana", "私の妹は"),
    ("The neighbour", "Der Nachbar", "Le voisin", "El vecino", "隣の人は"),
    ("A child", "Ein Kind", "Un enfant", "Un niño", "子供は"),
    ("The old farmer", "Der alte Bauer", "Le vieux fermier", "El viejo granjero", "年取った農夫は"),
    ("Her friend", "Ihre Freundin", "Son amie", "Su amiga", "彼女の友達は"),
    ("The king", "Der König", "Le roi", "El rey", "王様は"),
)
_VERBS = (
    ("sees", "sieht", "voit", "ve", "見る"),
    ("buys", "kauft", "achète", "compra", "買う"),
    ("paints", "malt", "peint", "pinta", "描く"),
    ("forgets", "vergisst", "oublie", "olvida", "忘れる"),
    ("finds", "findet", "trouve", "encuentra", "見つける"),
    ("loves", "liebt", "aime", "ama", "愛する"),
)
_OBJECTS = (
    ("the house", "das Haus", "la maison", "la casa", "家を"),
    ("a red apple", "einen roten Apfel", "une pomme rouge", "una manzana roja", "赤いりんごを"),
    ("the old book", "das alte Buch", "le vieux livre", "el libro viejo", "古い本を"),
    ("the river", "den Fluss", "la rivière", "el río", "川を"),
    ("a small boat", "ein kleines Boot", "un petit bateau", "un barco pequeño", "小さな船を"),
    ("the white horse", "das weiße Pferd", "le cheval blanc", "el caballo blanco", "白い馬を"),
    ("the key", "den Schlüssel", "la clé", "la llave", "鍵を"),
    ("a long letter", "einen langen Brief", "une longue lettre", "una carta larga", "長い手紙を"),
)
_OBJECT_FIRST = frozenset({"ja"})
_TOPICS = ("home", "food", "culture", "nature", "travel", "nature", "home", "culture")
"""A label for each object, so that a classifier has something to learn."""


@dataclass(frozen=True, slots=True)
class TemplateSentence:
    """One sentence in every language; `meaning` is its subject, verb and object."""

    texts: dict[str, str]
    meaning: tuple[int, int, int]

    @property
    def topic(self) -> str:
        """The label of its object."""
        return _TOPICS[self.meaning[2]]


def template_sentences(seed: int = 0) -> list[TemplateSentence]:
    """Return all 384 sentences in an order drawn by `seed`."""
    sentences = [
        TemplateSentence(
            {
                language: _compose(language, place, *parts)
                for place, language in enumerate(LANGUAGES)
            },
            meaning,
        )
        for meaning in product(range(len(_SUBJECTS)), range(len(_VERBS)), range(len(_OBJECTS)))
        for parts in [(_SUBJECTS[meaning[0]], _VERBS[meaning[1]], _OBJECTS[meaning[2]])]
    ]
    order = np.random.default_rng(seed).permutation(len(sentences))
    return [sentences[i] for i in order]


def _compose(
    language: str, place: int, subject: tuple[str, ...], verb: tuple[str, ...], obj: tuple[str, ...]
) -> str:
    if language in _OBJECT_FIRST:
        return f"{subject[place]}{obj[place]}{verb[place]}。"
    return f"{subject[place]} {verb[place]} {obj[place]}."


def write_template_folder(root: Path, seed: int = 0) -> Path:
    """Write a data folder of these sentences at `root` and return it.

    Two thirds are n-way lines to train on, in two languages with scores of similarity besides; the
    last third is there as a Tatoeba-like search task, as similarity judgements, and as topics.
    """
    sentences = template_sentences(seed)
    train, held_out = sentences[:256], sentences[256:]
    for language in LANGUAGES:
        write_gzip(
            root / "parallel/template_sentences" / f"{language}.txt.gz",
            [sentence.texts[language] for sentence in train],
        )
        for name, rows in (("train", train), ("dev", held_out)):
            topics = [f"{sentence.texts[language]}\t{sentence.topic}" for sentence in rows]
            write_gzip(root / "eval/topics" / f"{language}.{name}.tsv.gz", ["text\tlabel", *topics])
        write_gzip(root / "eval/stsb" / f"{language}.dev.tsv.gz", _scored(held_out, language))
        if language in ("fr", "ja"):
            path = root / "eval/template_scores" / f"{language}.train.tsv.gz"
            write_gzip(path, _scored(train, language))
        if language != "en":
            pairs = [f"{s.texts[language]}\t{s.texts['en']}" for s in held_out]
            write_gzip(root / "eval/tatoeba" / f"{language}-en.tsv.gz", [f"{language}\ten", *pairs])
    return root


def _scored(sentences: list[TemplateSentence], language: str) -> list[str]:
    """Return the lines of a file: each sentence, the next one, and how alike the two are."""
    pairs = zip(sentences, [*sentences[1:], sentences[0]], strict=True)
    rows = [f"{a.texts[language]}\t{b.texts[language]}\t{_similarity(a, b):.1f}" for a, b in pairs]
    return ["sentence1\tsentence2\tscore", *rows]


def _similarity(first: TemplateSentence, second: TemplateSentence) -> float:
    """Return 0 .. 5 by how many of subject, verb and object two sentences share."""
    shared = sum(a == b for a, b in zip(first.meaning, second.meaning, strict=True))
    return shared * 5 / 3


def write_gzip(path: Path, lines: list[str]) -> None:
    """Write `lines` into `path`, the same bytes each time; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
