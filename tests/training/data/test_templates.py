"""Sentences made from templates."""

from __future__ import annotations

from pathlib import Path

from training.data.folder import open_folder
from training.data.templates import LANGUAGES, template_sentences, write_template_folder


def test_every_sentence_is_there_once_in_every_language() -> None:
    sentences = template_sentences()
    for language in LANGUAGES:
        assert len({sentence.texts[language] for sentence in sentences}) == 384


def test_the_order_depends_on_the_seed_alone() -> None:
    assert template_sentences(1) == template_sentences(1)
    assert template_sentences(1) != template_sentences(2)


def test_the_folder_is_read_like_any_other(tmp_path: Path) -> None:
    folder = open_folder(write_template_folder(tmp_path))
    assert len(folder.evaluation_files("tatoeba", "*-en.tsv*")) == 4
    assert len(folder.evaluation_files("stsb", "*.dev.tsv*")) == 5
