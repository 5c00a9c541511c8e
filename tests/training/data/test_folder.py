"""The data folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import InputError, NotFoundError
from training.data.folder import evaluation_sentences, open_folder
from training.data.templates import write_template_folder


def test_without_a_folder_the_formats_are_named() -> None:
    with pytest.raises(InputError) as raised:
        open_folder(None)
    assert "--data DIR" in str(raised.value)
    assert "parallel/<source>/<lang>.txt(.gz)" in str(raised.value)


@pytest.mark.parametrize("made", ["", "parallel", "parallel/mine"])
def test_a_folder_without_text_is_refused(tmp_path: Path, made: str) -> None:
    (tmp_path / made).mkdir(parents=True, exist_ok=True)
    with pytest.raises(InputError, match="formats are read"):
        open_folder(tmp_path)


def test_sources_are_found_and_the_nearest_is_suggested(tmp_path: Path) -> None:
    folder = open_folder(write_template_folder(tmp_path))
    assert folder.sources == ("template_sentences",)
    with pytest.raises(NotFoundError, match="Did you mean 'template_sentences'"):
        folder.source("template_sentence")


def test_evaluation_sentences_are_text_and_not_labels(tmp_path: Path) -> None:
    folder = open_folder(write_template_folder(tmp_path))
    sentences = set(evaluation_sentences(folder, ("topics", "stsb", "tatoeba", "absent")))
    assert "culture" not in sentences
    assert not any(sentence.replace(".", "").isdigit() for sentence in sentences)
    assert len([s for s in sentences if s.endswith("。")]) == 384
