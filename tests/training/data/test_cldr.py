"""The CLDR as n-way text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.errors import InputError
from training.data.cldr import find_cldr, read_cldr
from training.data.corpus import CorpusPlan, build_corpus
from training.data.folder import DataFolder
from training.data.lines import BrokenLines

THINGS = {
    "en": {"🌋": {"default": ["eruption", "volcano"], "tts": ["volcano"]}, "🦋": {"tts": ["moth"]}},
    "hi": {"🌋": {"default": ["पर्वत"], "tts": ["ज्वालामुखी"]}},
    "zh-Hant": {"🌋": {"default": ["火山"], "tts": ["火山"]}},
}
PLACES = {
    "en": {"DE": "Germany", "US": "United States", "US-alt-short": "US", "001": "001"},
    "hi": {"DE": "जर्मनी", "US": "संयुक्त राज्य"},
}


@pytest.fixture
def cldr(tmp_path: Path) -> Path:
    folder = tmp_path / "parallel/cldr"
    for locale, things in THINGS.items():
        path = folder / f"cldr-annotations-full/annotations/{locale}/annotations.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"annotations": {"annotations": things}}))
    for locale, names in PLACES.items():
        path = folder / f"cldr-localenames-full/main/{locale}/territories.json"
        path.parent.mkdir(parents=True)
        content = {"main": {locale: {"localeDisplayNames": {"territories": names}}}}
        path.write_text(json.dumps(content))
    (folder / "cldr-annotations-full/package.json").write_text("{}")
    return folder


def test_rows_are_names_and_words_of_one_thing(cldr: Path) -> None:
    rows = list(read_cldr(cldr, broken=BrokenLines()).rows())
    assert {"en": "volcano", "hi": "ज्वालामुखी", "zh-hant": "火山"} in rows
    words = {"en": "volcano, eruption", "hi": "ज्वालामुखी, पर्वत", "zh-hant": "火山"}
    assert words in rows
    assert {"en": "Germany", "hi": "जर्मनी"} in rows
    assert {"en": "United States", "hi": "संयुक्त राज्य"} in rows
    assert len(rows) == 6  # with the moth, which has an English name only, twice


def test_other_languages_are_not_read(cldr: Path) -> None:
    assert set(find_cldr(cldr)) == {"en", "hi", "zh-hant"}
    assert set(read_cldr(cldr, languages={"en", "hi"}, broken=BrokenLines()).columns) == {
        "en",
        "hi",
    }


def test_a_file_of_another_shape_is_named(cldr: Path) -> None:
    broken = cldr / "cldr-annotations-full/annotations/hi/annotations.json"
    broken.write_text('{"annotations": []}')
    with pytest.raises(InputError, match=r"annotations/hi/annotations\.json: not a CLDR file"):
        read_cldr(cldr, broken=BrokenLines())
    skipped = BrokenLines("skip")
    assert "जर्मनी" in read_cldr(cldr, broken=skipped).columns["hi"]
    assert skipped.count == 1


def test_a_folder_of_it_is_a_source_whose_pairs_all_have_the_pivot(
    cldr: Path, tmp_path: Path
) -> None:
    folder = DataFolder(tmp_path)
    assert folder.sources == ("cldr",)
    plan = CorpusPlan(
        sources=("cldr",),
        languages=("en", "hi", "zh"),
        variants={"zh-hant": "zh"},
        partners=1,
        held_out_source="cldr",
        held_out_rows=(0, 2),
    )
    corpus = build_corpus(folder, plan)
    pairs = {(corpus.texts[left], corpus.texts[right]) for left, right in corpus.pairs}
    assert {right for _, right in pairs} == {
        "volcano",
        "volcano, eruption",
        "Germany",
        "United States",
    }
    assert ("火山", "volcano") in pairs
