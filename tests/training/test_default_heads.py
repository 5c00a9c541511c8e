from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from service.classification.head import read_head
from service.errors import InputError
from training.default_heads import default_heads, train_default_heads

TEXTS = {
    "one": ["The cat sleeps.", "The warm cat.", "Die Katze schläft."],
    "other": ["Fresh bread smells best.", "Early bread.", "Frisches Brot duftet."],
}
FILES = {
    "sib200/en.train": ("text\tlabel", ("travel", "health")),
    "sib200/de.train": ("text\tlabel", ("travel", "health")),
    "sib200/xx.train": ("text\tlabel", ("travel", "health")),
    "sib200/de.dev": ("text\tlabel", ("travel", "health")),
    "xed/en.train": ("text\tlabel", ("positive", "negative")),
    "sentiment_umsab/de.dev": ("text\tlabel", ("positive", "negative")),
    "nli/en.snli_dev": ("premise\thypothesis\tlabel", ("neutral", "entailment")),
    "nli/en.snli_test": ("premise\thypothesis\tlabel", ("neutral", "entailment")),
    "xnli/de.dev": ("premise\thypothesis\tlabel", ("neutral", "entailment")),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder of a few made-up rows."""
    for name, (header, labels) in FILES.items():
        rows = [header]
        for texts, label in zip(TEXTS.values(), labels, strict=True):
            for number, text in enumerate(texts):
                part = "test" in name
                first = f"{text} {part}" + (f"\t{texts[number - 1]}" if "premise" in header else "")
                rows.append(f"{first}\t{label}")
        path = tmp_path / "eval" / f"{name}.tsv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("\n".join([*rows, ""]).encode()))
    return tmp_path


def test_each_head_is_written_under_its_name(
    folder: Path, tiny_bundle: Path, tmp_path: Path
) -> None:
    made = train_default_heads(tiny_bundle, folder, tmp_path / "models", machine="here")
    assert [head.name for head in made] == ["topic", "sentiment", "entailment"]
    for name, kind in (("topic", "vector"), ("sentiment", "vector"), ("entailment", "pair")):
        manifest = read_head(tmp_path / "models" / name).manifest
        assert manifest.features == kind
        assert set(manifest.quality[0].by_language) == {"de"}
        assert "train heads" in manifest.quality[0].command
        assert manifest.data[0].licence == manifest.licence
    topic, sentiment = made[0].manifest, made[1].manifest
    assert topic.description.endswith("fitted on 12 texts in de, en.")
    assert "2 languages" in topic.quality[0].metric
    assert "en alone" in sentiment.quality[0].metric
    assert topic.report is not None
    assert topic.report.folds == 3  # of each label three sentences, each in two languages


def test_nothing_is_written_where_a_file_is_missing(
    folder: Path, tiny_bundle: Path, tmp_path: Path
) -> None:
    (folder / "eval" / "nli" / "en.snli_test.tsv.gz").unlink()
    with pytest.raises(InputError, match=r"en\.snli_test"):
        train_default_heads(tiny_bundle, folder, tmp_path / "models", machine="here")
    assert not (tmp_path / "models").exists()


def test_no_head_is_fitted_on_text_for_research_only(folder: Path) -> None:
    fitted_on = [path for data in default_heads(folder).values() for path in data.paths]
    assert not {"sentiment_umsab", "xnli"} & {path.parent.name for path in fitted_on}
