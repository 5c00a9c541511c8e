"""Tatoeba, STS and the demo corpus, on files written here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from service.errors import InputError
from service.inference.encoder import Encoder
from training.data.folder import DataFolder
from training.evaluation import demo_corpus, sts, tatoeba
from training.evaluation.figures import figures_table
from training.evaluation.protocols import PROTOCOLS

LINES = ["Fresh bread smells good.", "The cat sleeps on the sill.", "Rivers carry sand."]


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    (tmp_path / "eval/tatoeba").mkdir(parents=True)
    (tmp_path / "eval/stsb").mkdir()
    return DataFolder(tmp_path)


def _tatoeba(folder: DataFolder, language: str, rows: list[tuple[str, str]]) -> None:
    text = "".join(f"{left}\t{right}\n" for left, right in [(language, "en"), *rows])
    (folder.root / "eval/tatoeba" / f"{language}-en.tsv").write_text(text)


def test_tatoeba_is_the_mean_of_both_directions_and_of_languages(
    folder: DataFolder, tiny_encoder: Encoder
) -> None:
    _tatoeba(folder, "de", [(line, line) for line in LINES])
    _tatoeba(folder, "fr", list(zip(LINES, [LINES[1], LINES[2], LINES[0]], strict=True)))
    _tatoeba(folder, "xx", [("never", "read")])
    (figure,) = tatoeba.evaluate(tiny_encoder, folder)
    assert figure.by_language == {"de": 100.0, "fr": 0.0}
    assert figure.value == 50.0
    with pytest.raises(InputError, match="has no file of ko"):
        tatoeba.evaluate(tiny_encoder, folder, ["ko"])


def test_sts_is_spearmans_correlation(folder: DataFolder, tiny_encoder: Encoder) -> None:
    pairs = [(LINES[0], LINES[1]), (LINES[0], "Fresh bread"), (LINES[2], LINES[2]), ("a", "b c")]
    scores = [1.0, 4.0, 5.0, 0.5]
    rows = [f"{a}\t{b}\t{s}" for (a, b), s in zip(pairs, scores, strict=True)]
    file = folder.root / "eval/stsb/en.dev.tsv"
    file.write_text("\n".join(["sentence1\tsentence2\tscore", *rows]))
    (figure,) = sts.evaluate(tiny_encoder, folder)
    cosines = [float(tiny_encoder.encode(a) @ tiny_encoder.encode(b)) for a, b in pairs]
    assert figure.value == pytest.approx(100 * spearmanr(cosines, scores).statistic)
    file.write_text("sentence1\tsentence2\tscore\na\tb\tmuch\n")
    with pytest.raises(InputError, match="score is no number"):
        sts.evaluate(tiny_encoder, folder)


def test_the_demo_corpus_counts_translations(tmp_path: Path, tiny_encoder: Encoder) -> None:
    documents = [
        (LINES[0], "en", "bread"),
        (LINES[0], "de", "bread"),
        (LINES[1], "en", "cat"),
        (LINES[1], "de", "cat"),
        (LINES[1], "fr", "other"),
    ]
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        "".join(
            json.dumps({"text": t, "language": c, "metadata": {"statement": s}}) + "\n"
            for t, c, s in documents
        )
    )
    (figure,) = demo_corpus.evaluate(tiny_encoder, path, ["en", "de"])
    assert figure.value == 100.0
    assert figure.matrix == {"de": {"en": 100.0}, "en": {"de": 100.0}}
    (with_french,) = demo_corpus.evaluate(tiny_encoder, path)
    assert with_french.by_language["fr"] == 0.0
    assert with_french.matrix["de"]["fr"] == 0.0
    table = figures_table([with_french])
    assert "from\\to" in table
    path.write_text('{"text": "no language"}\n')
    with pytest.raises(InputError, match=r"corpus\.jsonl:1"):
        demo_corpus.evaluate(tiny_encoder, path)


def test_protocols_go_by_their_names(folder: DataFolder, tiny_encoder: Encoder) -> None:
    _tatoeba(folder, "de", [(line, line) for line in LINES])
    (figure,) = PROTOCOLS["tatoeba"](tiny_encoder, lambda: folder, None)
    assert figure.measurement(command="c", machine="m").protocol == "tatoeba"
