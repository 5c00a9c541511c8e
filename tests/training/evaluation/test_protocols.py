"""Tatoeba, STS and the demo corpus, on files written here."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from scipy.stats import pearsonr, spearmanr

from service.errors import InputError, NotFoundError
from service.inference.encoder import Encoder
from tests.training.evaluation.known_vectors import KnownVectors, write_nway
from training.data.folder import DataFolder
from training.evaluation.demo_corpus import DemoCorpus
from training.evaluation.figures import figures_table
from training.evaluation.plots import draw_figures
from training.evaluation.protocols import PROTOCOLS, make_protocol
from training.evaluation.speed import Speed
from training.evaluation.sts import Correlation, Sts
from training.evaluation.tatoeba import Tatoeba

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
    (figure,) = Tatoeba().measure(tiny_encoder, lambda: folder)
    assert figure.by_language == {"de": 100.0, "fr": 0.0}
    assert figure.value == 50.0
    for named in (("ko",), ("de", "ko")):
        with pytest.raises(InputError, match="has no file of ko") as caught:
            Tatoeba(languages=named).measure(tiny_encoder, lambda: folder)
        assert caught.value.field == "languages"
    (german,) = Tatoeba(languages=("en", "de")).measure(tiny_encoder, lambda: folder)
    assert german.by_language == {"de": 100.0}


def test_a_partner_encodes_the_english(
    folder: DataFolder, tiny_encoder: Encoder, tiny_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tatoeba(folder, "de", [(line, line) for line in LINES])
    (figure,) = Tatoeba(partner=str(tiny_bundle)).measure(tiny_encoder, lambda: folder)
    assert figure.value == 100.0
    assert figure.dataset == f"Tatoeba, 1 languages with English by {tiny_encoder.name}"
    # One that turns the rows round finds none of them.
    turned = {
        line: tiny_encoder.encode(other)
        for line, other in zip(LINES, [*LINES[1:], LINES[0]], strict=True)
    }
    monkeypatch.setattr("training.evaluation.models.open_model", lambda _: KnownVectors(turned))
    (figure,) = Tatoeba(partner="another").measure(tiny_encoder, lambda: folder)
    assert figure.value == 0.0
    wide = KnownVectors({"a": [0.0] * 99})
    monkeypatch.setattr("training.evaluation.models.open_model", lambda _: wide)
    with pytest.raises(InputError, match="99 dimensions"):
        Tatoeba(partner="another").measure(tiny_encoder, lambda: folder)


def test_sts_is_spearmans_correlation(folder: DataFolder, tiny_encoder: Encoder) -> None:
    pairs = [(LINES[0], LINES[1]), (LINES[0], "Fresh bread"), (LINES[2], LINES[2]), ("a", "b c")]
    scores = [1.0, 4.0, 5.0, 0.5]
    rows = [f"{a}\t{b}\t{s}" for (a, b), s in zip(pairs, scores, strict=True)]
    file = folder.root / "eval/stsb/en.dev.tsv"
    file.write_text("\n".join(["sentence1\tsentence2\tscore", *rows]))
    (figure,) = Sts().measure(tiny_encoder, lambda: folder)
    cosines = [float(tiny_encoder.encode(a) @ tiny_encoder.encode(b)) for a, b in pairs]
    assert figure.value == pytest.approx(100 * spearmanr(cosines, scores).statistic)
    (angular,) = Sts(correlation="pearson").measure(tiny_encoder, lambda: folder)
    assert angular.value == pytest.approx(
        100 * pearsonr([-math.acos(min(1.0, c)) for c in cosines], scores).statistic, abs=1e-2
    )
    (folder.root / "eval/stsb/de.dev.tsv").write_text(file.read_text())
    (cross,) = Sts(cross=True).measure(tiny_encoder, lambda: folder)
    assert cross.by_language == {"de": pytest.approx(figure.value)}
    with pytest.raises(InputError, match="stsb has no file of cs"):
        Sts(languages=("en", "cs")).measure(tiny_encoder, lambda: folder)
    with pytest.raises(InputError, match="English is compared with another language"):
        Sts(languages=("en",), cross=True).measure(tiny_encoder, lambda: folder)
    file.write_text("\n".join(["sentence1\tsentence2\tscore", *rows[1:]]))
    with pytest.raises(InputError, match="has 4 rows and that of English 3"):
        Sts(cross=True).measure(tiny_encoder, lambda: folder)
    file.write_text("sentence1\tsentence2\tscore\na\tb\tmuch\n")
    with pytest.raises(InputError, match="score is no number"):
        Sts().measure(tiny_encoder, lambda: folder)


@pytest.mark.parametrize("correlation", ["spearman", "pearson"])
def test_a_model_whose_vectors_are_all_the_same_has_no_correlation(
    correlation: Correlation, folder: DataFolder
) -> None:
    """Nor is it NaN, which is no JSON."""
    file = folder.root / "eval/stsb/en.dev.tsv"
    file.write_text("sentence1\tsentence2\tscore\na\tb\t1\nb\ta\t2\na\ta\t3\n")
    model = KnownVectors({"a": [0.6, 0.8], "b": [0.6, 0.8]})
    (figure,) = Sts(correlation=correlation, languages=("en",)).measure(model, lambda: folder)
    assert figure.value == 0.0


@pytest.mark.parametrize("scores", [["1"], ["2", "2"], ["1", "nan", "2"]])
def test_scores_without_a_correlation_are_refused(
    scores: list[str], folder: DataFolder, tiny_encoder: Encoder
) -> None:
    rows = [f"a\tb\t{score}" for score in scores]
    file = folder.root / "eval/stsb/en.dev.tsv"
    file.write_text("\n".join(["sentence1\tsentence2\tscore", *rows]))
    with pytest.raises(InputError, match="two different ones"):
        Sts().measure(tiny_encoder, lambda: folder)


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
    (figure,) = _demo(path, "en", "de").measure(tiny_encoder, _no_folder)
    assert figure.value == 100.0
    assert figure.matrix == {"de": {"en": 100.0}, "en": {"de": 100.0}}
    (with_french,) = _demo(path).measure(tiny_encoder, _no_folder)
    assert with_french.by_language["fr"] == 0.0
    assert with_french.matrix["de"]["fr"] == 0.0
    table = figures_table([with_french])
    assert "from\\to" in table
    for broken in (b'{"text": "no language"}\n', b"\xff\xfe", b"\n"):
        path.write_bytes(broken)
        with pytest.raises(InputError, match=r"corpus\.jsonl:1"):
            _demo(path).measure(tiny_encoder, _no_folder)


def test_protocols_go_by_their_names(folder: DataFolder, tiny_encoder: Encoder) -> None:
    _tatoeba(folder, "de", [(line, line) for line in LINES])
    (figure,) = make_protocol("tatoeba", ["languages=de"]).measure(tiny_encoder, lambda: folder)
    assert figure.measurement(command="c", machine="m").protocol == "tatoeba"
    for name in PROTOCOLS:
        make_protocol(name)
    with pytest.raises(NotFoundError, match="Did you mean 'tatoeba'"):
        make_protocol("tatoba")
    with pytest.raises(InputError, match="no such parameter"):
        make_protocol("search", ["sourc=ntrex"])


def test_speed_and_pictures(tmp_path: Path, tiny_encoder: Encoder) -> None:
    folder = write_nway(tmp_path, "news", {"en": LINES, "de": LINES[::-1]})
    speed = Speed(source="news", languages=("en", "de"), seconds=0.01)
    sentences, words = speed.measure(tiny_encoder, lambda: folder)
    assert words.value / sentences.value == pytest.approx(
        sum(len(line.split()) for line in LINES) / len(LINES)
    )
    first, again = tmp_path / "a.svg", tmp_path / "b.svg"
    draw_figures([sentences, words], first)
    draw_figures([sentences, words], again)
    assert first.read_bytes() == again.read_bytes()
    with pytest.raises(InputError, match="end in"):
        draw_figures([words], tmp_path / "a.txt")


def _demo(path: Path, *languages: str) -> DemoCorpus:
    return DemoCorpus(path=path, languages=languages)


def _no_folder() -> DataFolder:
    raise AssertionError("the demo corpus needs no data folder")
