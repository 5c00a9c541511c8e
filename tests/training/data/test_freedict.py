"""Dictionaries in the format of dictd, as pairs of words."""

from __future__ import annotations

import gzip
import string
from pathlib import Path

import pytest

from service.errors import InputError
from training.data.corpus import CorpusPlan, build_corpus
from training.data.folder import DataFolder
from training.data.freedict import find_freedict, read_freedict
from training.data.lines import BrokenLines

DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
ENGLISH_ARABIC = {
    "00databaseinfo": "An example.\n",
    "Abridge": "Abridge /ɐbɹˈɪdʒ/\n1. اختصر\n2. أوجز\n3. متمشياً مع\n4. قصّر ::\n5. يختصر\n",
    "Bread": "Bread\nخبز\n",
}
ENGLISH_HINDI = {
    "accurately": 'accurately /ˈakj/ <Adv>\n1. सही~ढंग~से\n      "The article, accurately."\n',
    "Goofy": "Goofy /ˈɡuːfi/ <pn>\nगूफी (कुत्ता), गुफी, कार्टून\nDisney character\n",
    "colour": "colour, color /ˈkʌlə/\nरंग 2\n",
    "abseil": "abseil\nरस्सी के सहारे नीचे की ओर उतरना\n",
}


def in_64(number: int) -> str:
    return (in_64(number // 64) if number >= 64 else "") + DIGITS[number % 64]


def write(folder: Path, pair: str, entries: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    content, lines = b"x" * 5000, []  # so that places need more than one digit
    for headword, entry in entries.items():
        lines.append(f"{headword}\t{in_64(len(content))}\t{in_64(len(entry.encode()))}\n")
        content += entry.encode()
    (folder / f"freedict-{pair}.dict.dz").write_bytes(gzip.compress(content))
    (folder / f"freedict-{pair}.index").write_text("".join(lines), encoding="utf-8")


def pairs(folder: Path) -> list[tuple[str, str]]:
    (files,) = find_freedict(folder)
    return list(read_freedict(files, BrokenLines()))


def test_senses_are_pairs_without_vowel_marks_at_most_four_a_headword(tmp_path: Path) -> None:
    write(tmp_path, "eng-ara", ENGLISH_ARABIC)
    (files,) = find_freedict(tmp_path)
    assert (files.source, files.target) == ("en", "ar")
    abridge = [("Abridge", word) for word in ("اختصر", "أوجز", "متمشيا مع", "قصر")]
    assert pairs(tmp_path) == [*abridge, ("Bread", "خبز")]


def test_two_translations_of_a_sense_without_notes_examples_and_definitions(
    tmp_path: Path,
) -> None:
    write(tmp_path, "eng-hin", ENGLISH_HINDI)
    assert pairs(tmp_path) == [
        ("accurately", "सही ढंग से"),
        ("Goofy", "गूफी"),
        ("Goofy", "गुफी"),
        ("colour", "रंग"),
    ]


def test_an_entry_of_two_spellings_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, "eng-hin", {"color": ENGLISH_HINDI["colour"]})
    index = tmp_path / "freedict-eng-hin.index"
    place = index.read_text().partition("\t")[2]
    index.write_text(f"color\t{place}colour\t{place}")
    assert pairs(tmp_path) == [("colour", "रंग")]


def test_languages_that_are_not_known_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "wol-fra", ENGLISH_HINDI)
    assert find_freedict(tmp_path) == []


@pytest.mark.parametrize("place", ["!!\tB", "B", "B\t"])
def test_a_broken_index_names_the_line(tmp_path: Path, place: str) -> None:
    write(tmp_path, "eng-hin", {})
    (tmp_path / "freedict-eng-hin.index").write_text(f"color\t{place}\n")
    with pytest.raises(InputError, match=r"freedict-eng-hin\.index:1: no place of an entry"):
        pairs(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, "eng-hin", ENGLISH_HINDI)
    (tmp_path / "freedict-eng-hin.dict.dz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match=r"freedict-eng-hin\.dict\.dz: not a gzip file"):
        pairs(tmp_path)


def test_a_corpus_ties_words_to_the_pivot(tmp_path: Path) -> None:
    write(tmp_path / "parallel/words", "eng-ara", ENGLISH_ARABIC)
    write(tmp_path / "parallel/words", "eng-hin", ENGLISH_HINDI)
    folder = DataFolder(tmp_path)
    assert folder.sources == ("words",)
    corpus = build_corpus(folder, CorpusPlan(sources=("words",), languages=("en", "ar")))
    found = {(corpus.texts[left], corpus.texts[right]) for left, right in corpus.pairs}
    assert ("خبز", "Bread") in found
    assert len(found) == 5
