"""The corpus table."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from service.errors import InputError
from training.data.corpus import Corpus, CorpusPlan, build_corpus, load_corpus, save_corpus
from training.data.folder import DataFolder
from training.progress import Progress


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    moses = tmp_path / "parallel/pairs"
    moses.mkdir(parents=True)
    (moses / "en-de.en").write_text("Good day.\nThe sea is wide.\ngood day\n")
    (moses / "en-de.de").write_text("Guten Tag.\nDas Meer ist weit.\nguten Tag!\n")
    nway = tmp_path / "parallel/rows"
    nway.mkdir()
    (nway / "en.txt").write_text("I sing.\nWe dance.\nThey held it.\n")
    (nway / "de.txt").write_text("Ich singe.\n\nSie hielten es.\n")
    (nway / "fr.txt").write_text("Je chante.\nNous dansons.\nIls l'ont tenu.\n")
    (nway / "zh-hant.txt").write_text("我唱歌。\n我們跳舞。\n他們拿著它。\n")
    tests = tmp_path / "eval/tatoeba"
    tests.mkdir(parents=True)
    (tests / "de-en.tsv").write_text("de\ten\nDas Meer ist weit!\tThe ocean is wide.\n")
    return DataFolder(tmp_path)


def _plan(**changes: object) -> CorpusPlan:
    values: dict[str, object] = {
        "sources": ("pairs", "rows"),
        "languages": ("en", "de", "fr", "zh"),
        "variants": {"zh-hant": "zh"},
        "evaluation": ("tatoeba",),
        "held_out_source": "rows",
        "held_out_rows": (2, 3),
        "partners": 0,
    }
    return CorpusPlan(**{**values, **changes})  # type: ignore[arg-type]


def _pairs(corpus: Corpus) -> set[tuple[str, str]]:
    return {(corpus.texts[a], corpus.texts[b]) for a, b in corpus.pairs}


def test_pairs_are_read_cleaned_and_counted(folder: DataFolder) -> None:
    corpus = build_corpus(folder, _plan())
    assert _pairs(corpus) == {
        ("Guten Tag.", "Good day."),
        ("Ich singe.", "I sing."),
        ("Je chante.", "I sing."),
        ("我唱歌。", "I sing."),
        ("Nous dansons.", "We dance."),
        ("我們跳舞。", "We dance."),
    }
    assert corpus.counts["pairs"] == {"kept": 1, "evaluation": 1, "duplicate": 1}
    assert corpus.counts["rows"] == {"kept": 5}
    assert corpus.pairs_by_source() == {"pairs": 1, "rows": 5}


def test_sentences_are_distinct_and_know_their_language(folder: DataFolder) -> None:
    corpus = build_corpus(folder, _plan())
    assert len(set(corpus.texts)) == len(corpus.texts) == 9
    chinese = [corpus.texts[i] for i in corpus.sentences_of("zh")]
    assert chinese == ["我唱歌。", "我們跳舞。"]


def test_rows_are_held_out(folder: DataFolder) -> None:
    corpus = build_corpus(folder, _plan())
    assert corpus.held_out["fr"] == ["Ils l'ont tenu."]
    assert "Ils l'ont tenu." not in corpus.texts


def test_the_last_pairs_of_each_file_are_held_out(folder: DataFolder) -> None:
    europarl = folder.root / "parallel/europarl"
    europarl.mkdir()
    for code, last in (("de", "Ich wohne hier."), ("fr", "J'habite ici.")):
        (europarl / f"v7.{code}-en.{code}").write_text(f"{code} 1\n{code} 2\n\n{last}\n")
    (europarl / "v7.de-en.en").write_text("One.\nTwo.\nBroken.\nI live here.\n")
    (europarl / "v7.fr-en.en").write_text("I live here.\nThree.\nBroken.\nI live here.\n")
    chosen = {"sources": ("europarl",), "held_out_source": "europarl", "broken": "skip"}
    corpus = build_corpus(folder, _plan(held_out_rows=(2, 9), **chosen))
    assert {name: column for name, column in corpus.held_out.items() if any(column)} == {
        "en": ["I live here."],
        "de": ["Ich wohne hier."],
        "fr": ["J'habite ici."],
    }
    assert _pairs(corpus) == {("de 1", "One."), ("de 2", "Two."), ("fr 2", "Three.")}
    assert corpus.counts["europarl"] == {"kept": 3, "held out": 1}
    assert corpus.broken == 2


@pytest.mark.parametrize(("source", "rows"), [("rows", 3), ("pairs", 3)])
def test_rows_to_hold_out_beyond_the_end_are_refused(
    folder: DataFolder, source: str, rows: int
) -> None:
    with pytest.raises(InputError, match=f"{source} has {rows} rows") as caught:
        build_corpus(folder, _plan(held_out_source=source, held_out_rows=(rows, 99)))
    assert (caught.value.field, caught.value.given) == ("held_out_first", str(rows))
    last = build_corpus(folder, _plan(held_out_source=source, held_out_rows=(rows - 1, 99)))
    assert any(map(any, last.held_out.values()))


def test_text_in_the_pivot_alone_stands_beside_itself(folder: DataFolder) -> None:
    alone = folder.root / "parallel/novel"
    alone.mkdir()
    lines = ("It was a dark night.", "The ocean is wide!", "I sing.", "it was a dark night", "...")
    (alone / "en.txt").write_text("".join(f"{line}\n" for line in lines))
    chosen = {"sources": ("pairs", "rows", "novel")}
    assert build_corpus(folder, _plan(**chosen)).pairs_by_source()["novel"] == 0
    corpus = build_corpus(folder, _plan(**chosen, alone=True))
    own = {pair for pair in _pairs(corpus) if pair[0] == pair[1]}
    assert own == {("It was a dark night.",) * 2, ("I sing.",) * 2}
    assert corpus.counts["novel"] == {"kept": 2, "evaluation": 1, "duplicate": 1, "empty": 1}
    assert corpus.pairs_by_source()["novel"] == 2
    french = build_corpus(folder, _plan(sources=("pairs", "novel"), alone=True, pivot="fr"))
    assert french.pairs_by_source()["novel"] == 0


def test_partners_pair_other_languages(folder: DataFolder) -> None:
    corpus = build_corpus(folder, _plan(partners=3))
    pivot = corpus.languages.index("en")
    assert (corpus.language[corpus.pairs] != pivot).all(axis=1).any()
    repeated = build_corpus(folder, _plan(partners=3))
    assert np.array_equal(corpus.pairs, repeated.pairs)


def test_a_broken_line_is_refused_or_counted(folder: DataFolder) -> None:
    (folder.root / "parallel/pairs/en-de.de").write_bytes(b"\xff\nDas Haus.\nDas Dach.\n")
    with pytest.raises(InputError, match=r"en-de\.de:1"):
        build_corpus(folder, _plan())
    told = io.StringIO()
    assert build_corpus(folder, _plan(broken="skip"), Progress(told)).broken == 1
    assert "en-de.de:1: not UTF-8 at byte 0" in told.getvalue()


def test_what_is_saved_is_what_is_loaded(folder: DataFolder, tmp_path: Path) -> None:
    corpus = build_corpus(folder, _plan())
    save_corpus(corpus, tmp_path / "kept")
    loaded = load_corpus(tmp_path / "kept")
    assert loaded.texts == corpus.texts
    assert np.array_equal(loaded.pairs, corpus.pairs)
    assert np.array_equal(loaded.language, corpus.language)
    assert loaded.counts == corpus.counts
    assert loaded.held_out == corpus.held_out


def test_a_variant_of_a_language_that_is_not_trained_is_left_out(folder: DataFolder) -> None:
    corpus = build_corpus(folder, _plan(languages=("en", "de", "fr")))
    assert corpus.languages == ("en", "de", "fr")
    assert not any("我" in text for text in corpus.texts)
