"""`index`, `search` and `mine` on a real data directory."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli import main
from service.inference.encoder import Encoder
from service.search import mining
from service.search.corpora import Corpora
from service.search.mining import DEFAULT_THRESHOLD
from tests.tiny_bundle import make_tiny_bundle

RECORDS: list[dict[str, object]] = [
    {"id": "cat-en", "text": "The cat sleeps on the warm windowsill.", "language": "en", "year": 1},
    {"id": "cat-de", "text": "Die Katze schläft auf der warmen Fensterbank.", "language": "de"},
    {"id": "bread-en", "text": "Fresh bread smells best in the early morning.", "language": "en"},
]

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_bundle: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTERLINGUA_DATA", str(tmp_path / "data"))

    def run(command: str, *args: str, input: bytes | None = None) -> Result:
        given = command == "mine" or "--model" in args
        model = () if given else ("--model", str(tiny_bundle))
        return CliRunner().invoke(main, [command, *args, *model], input=input)

    return run


def as_jsonl(records: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def index(run: Run, *args: str, input: bytes | None = None) -> Result:
    result = run("index", *args, "--corpus", "notes", input=input)
    assert result.exit_code == 0, result.output
    return result


def corpus_documents(tmp_path: Path) -> dict[str, tuple[str, str | None, dict[str, object]]]:
    corpora = Corpora(tmp_path / "data" / "corpora")
    documents = corpora.get("notes").page(limit=1000).documents
    corpora.close()
    return {d.id: (d.text, d.language, dict(d.metadata)) for d in documents}


def test_jsonl_from_a_file_and_again(run: Run, tmp_path: Path) -> None:
    Path("notes.jsonl").write_bytes(as_jsonl(RECORDS))
    first = index(run, "notes.jsonl")
    assert "3 new, 0 replaced, 0 unchanged" in first.output
    assert "a second" in first.output
    Path("notes.jsonl").write_bytes(as_jsonl([*RECORDS, {"text": "No id.", "year": 2.5}]))
    assert "1 new, 0 replaced, 3 unchanged" in index(run, "notes.jsonl").output
    stored = corpus_documents(tmp_path)
    assert stored["cat-en"] == (RECORDS[0]["text"], "en", {"year": 1})
    assert stored["notes:4"] == ("No id.", None, {"year": 2.5})
    overwritten = index(run, "notes.jsonl", "--overwrite", "--quiet")
    assert "0 new, 4 replaced, 0 unchanged" in overwritten.output
    assert "a second" not in overwritten.output


def test_no_document_replaces_one_of_another_file(run: Run, tmp_path: Path) -> None:
    nameless = as_jsonl([{"id": None, "text": "Bread."}, {"text": "A cat."}])
    for name in ("x.2023.jsonl", "x.2024.jsonl"):
        Path(name).write_bytes(nameless)
    index(run, "x.2023.jsonl", "x.2024.jsonl")
    made = {"x.2023:1", "x.2023:2", "x.2024:1", "x.2024:2"}
    assert set(corpus_documents(tmp_path)) == made
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "x.jsonl").write_bytes(as_jsonl([{**RECORDS[0], "id": folder}]))
    index(run, "a/x.jsonl", "b/x.jsonl")
    assert set(corpus_documents(tmp_path)) == {*made, "a", "b"}
    Path("b/x.jsonl").write_bytes(nameless)
    result = run("index", "a/x.jsonl", "b/x.jsonl", "--corpus", "notes")
    assert result.exit_code == 1
    assert "a/x.jsonl and b/x.jsonl" in result.output
    assert set(corpus_documents(tmp_path)) == {*made, "a", "b"}


def test_a_pipe_a_gz_a_csv_and_other_names(run: Run, tmp_path: Path) -> None:
    index(run, "-", input=as_jsonl(RECORDS[:1]))
    Path("more.jsonl.gz").write_bytes(gzip.compress(as_jsonl(RECORDS[1:2])))
    index(run, "more.jsonl.gz")
    Path("books.csv").write_text(
        '\ufeffisbn,title,lang,shelf\n12,"Bread, and\nbutter",en,A\n13,Brot,,\n', encoding="utf-8"
    )
    index(run, "books.csv", "--id-field", "isbn", "--text-field", "title", "--language-field",
          "lang", "--language", "de")  # fmt: skip
    stored = corpus_documents(tmp_path)
    assert stored["12"] == ("Bread, and\nbutter", "en", {"shelf": "A"})
    assert stored["13"] == ("Brot", "de", {})
    assert set(stored) == {"cat-en", "cat-de", "12", "13"}


def test_lines_of_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sayings.txt").write_text("Die Katze schläft.\n\nFrisches Brot.\n")
    index(run, "sayings.txt", "--language", "de", "--text-field", "body")
    broken = run("index", "-", "--corpus", "notes", "--format", "txt", input=b"Bread.\n\xff\n")
    assert broken.exit_code == 1
    assert "record 2: This line is no UTF-8" in broken.output
    assert corpus_documents(tmp_path) == {
        "sayings:1": ("Die Katze schläft.", "de", {}),
        "sayings:3": ("Frisches Brot.", "de", {}),
        "stdin:1": ("Bread.", None, {}),
    }


def test_parquet(run: Run, tmp_path: Path, tiny_encoder: Encoder) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra for Parquet is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    bread = tiny_encoder.encode("bread").tolist()
    table = pyarrow.table({"id": [1, 2], "text": ["a", "b"], "vector": [bread, None]})
    parquet.write_table(table, "notes.parquet")
    index(run, "notes.parquet")
    assert set(corpus_documents(tmp_path)) == {"1", "2"}
    (hits,) = [json.loads(run("search", "bread", "--corpus", "notes", "--json").stdout)]
    assert (hits[0]["id"], round(hits[0]["score"], 4)) == ("1", 1.0)


def test_each_side_of_a_search_has_its_prompt(
    run: Run, searching_bundle: Path, tiny_encoder: Encoder
) -> None:
    Path("notes.jsonl").write_bytes(as_jsonl(RECORDS))
    index(run, "notes.jsonl", "--model", str(searching_bundle))
    text = str(RECORDS[0]["text"])
    said = run("search", text, "--corpus", "notes", "--json", "--model", str(searching_bundle))
    hits = {hit["id"]: hit["score"] for hit in json.loads(said.stdout)}
    asked, stored = tiny_encoder.encode([f"question: {text}", f"text: {text}"])
    assert hits["cat-en"] == pytest.approx(float(asked @ stored), abs=1e-5)


def test_cells_are_of_the_types_that_the_corpus_declares(run: Run, tmp_path: Path) -> None:
    declared = ("--field", "year=integer", "--field", "price=number", "--field", "new=boolean",
                "--field", "shelf=string")  # fmt: skip
    Path("books.csv").write_text(
        "id,text,year,price,new,shelf\na,Bread,1999,12.50,TRUE,7\nb,Cat,-44, 3,false,\n"
    )
    index(run, "books.csv", *declared)
    stored = {id: metadata for id, (_, _, metadata) in corpus_documents(tmp_path).items()}
    assert stored["a"] == {"year": 1999, "price": 12.5, "new": True, "shelf": "7"}
    assert stored["b"] == {"year": -44, "price": 3, "new": False}
    Path("more.csv").write_text("id,text,year,new\nc,Bread,soon,\nd,Cat,1.5,\ne,Cat,,maybe\n")
    result = run("index", "more.csv", "--corpus", "notes")
    assert (result.exit_code, set(corpus_documents(tmp_path))) == (1, {"a", "b"})
    assert result.output.count("declares this metadata field as integer") == 2
    assert "declares this metadata field as boolean" in result.output


def test_broken_records_are_named_and_the_rest_goes_in(run: Run, tmp_path: Path) -> None:
    broken = b'{"id": "a"}\n{not json\n[1]\n{"id": "b", "text": "fine"}\n'
    Path("notes.jsonl").write_bytes(broken)
    result = run("index", "notes.jsonl", "--corpus", "notes")
    assert result.exit_code == 1
    assert [int(n) for n in re.findall(r"notes.jsonl: record (\d+):", result.output)] == [1, 2, 3]
    assert "Corpus notes has 1 document.\n" in result.output
    assert "3 records are no documents" in result.output
    again = run("index", "-", "--corpus", "notes", input=b'{"id": "c", "text": "fine"}\n[]\n')
    assert "Corpus notes has 2 documents.\n" in again.output
    assert "1 record is no document;" in again.output
    assert set(corpus_documents(tmp_path)) == {"b", "c"}
    strict = run("index", "notes.jsonl", "--corpus", "notes", "--strict")
    assert strict.exit_code == 1
    assert "record 1" in strict.output


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("nope.jsonl",), "nope.jsonl cannot be read"),
        (("notes.dump",), "--format"),
        (("-", "--format", "parquet"), "from a file"),
    ],
)
def test_what_cannot_be_read_is_said(run: Run, args: tuple[str, ...], said: str) -> None:
    result = run("index", *args, "--corpus", "notes")
    assert result.exit_code == 1
    assert said in result.output
    assert "Traceback" not in result.output


def test_a_killed_run_is_resumed_by_running_it_again(
    run: Run, tmp_path: Path, tiny_bundle: Path
) -> None:
    count = 6000
    records: list[dict[str, object]] = [
        {"id": f"{i}", "text": f"sentence number {i}"} for i in range(count)
    ]
    Path("notes.jsonl").write_bytes(as_jsonl(records))
    process = subprocess.Popen(
        [sys.executable, "-c", "from service.cli import main; main()", "index", "-", "--corpus",
         "notes", "--model", str(tiny_bundle), "--data", str(tmp_path / "data")],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(as_jsonl(records[:2000]))
    process.stdin.flush()
    while True:  # until some batches are committed
        try:
            corpora = Corpora(tmp_path / "data" / "corpora")
            stored = len(corpora.get("notes").page(limit=1000).documents)
            corpora.close()
        except Exception:
            stored = 0
        if stored >= 1000:
            break
    process.kill()
    process.stdin.close()
    process.wait()
    output = index(run, "notes.jsonl").output
    found = re.search(r"(\d+) new, 0 replaced, (\d+) unchanged", output)
    assert found is not None, output
    assert int(found[1]) + int(found[2]) == count
    assert int(found[2]) >= 1000
    assert f"has {count} documents" in output


def test_search_prints_hits_and_json(run: Run) -> None:
    index(run, "-", input=as_jsonl(RECORDS))
    result = run("search", "The cat sleeps on the warm windowsill.", "--corpus", "notes", "-k", "2")
    lines = result.output.splitlines()
    assert lines[0].startswith("1.0000  en  cat-en  The cat sleeps")
    assert len(lines) == 2
    german = run("search", "cat", "--corpus", "notes", "--languages", "de", "--json")
    assert [hit["id"] for hit in json.loads(german.output)] == ["cat-de"]
    year = run("search", "cat", "--corpus", "notes", "--filter", '{"year": 1}', "--json")
    assert [hit["id"] for hit in json.loads(year.output)] == ["cat-en"]
    grouped = run("search", "cat", "--corpus", "notes", "--group-score", "-1")
    assert "(and 2 more)" in grouped.output
    assert run("search", "cat", "--corpus", "notes", "--margin").exit_code == 0


def test_other_weights_than_encoded_the_corpus_are_told_of(run: Run, tmp_path: Path) -> None:
    index(run, "-", input=as_jsonl(RECORDS))
    retrained = ("--model", str(make_tiny_bundle(tmp_path / "retrained", seed=8)))
    sibling = ("--model", str(make_tiny_bundle(tmp_path / "sibling", name="sibling", seed=9)))
    for command in (("search", "cat"), ("index", "-")):
        for model, others in (((), False), (sibling, False), (retrained, True)):
            result = run(*command, "--corpus", "notes", *model, input=b"")
            assert result.exit_code == 0, result.output
            assert ("/corpora/notes/reencode" in result.stderr) == others
            assert "/reencode" not in result.stdout


def test_search_says_what_is_wrong(run: Run) -> None:
    unknown = run("search", "cat", "--corpus", "nope")
    assert (unknown.exit_code, "no corpus of this name" in unknown.output) == (1, True)
    bad = run("search", "cat", "--corpus", "notes", "--filter", "[1]")
    assert (bad.exit_code, "JSON object" in bad.output) == (2, True)
    blank = run("search", "cat", " ", "--corpus", "notes")
    assert (blank.exit_code, "QUERY[1]" in blank.output) == (1, True)
    index(run, "-", input=as_jsonl(RECORDS))
    zero = run("search", "cat", "\u200b", "--corpus", "notes")
    assert (zero.exit_code, "QUERY[1]" in zero.output) == (1, True)


def test_languages_may_be_listed_with_blanks(run: Run) -> None:
    index(run, "-", input=as_jsonl(RECORDS))
    found = run("search", "cat", "--corpus", "notes", "--languages", "de, en")
    assert len(found.output.splitlines()) == len(RECORDS)
    sides = ("--source-languages", "en", "--target-languages", "ja, de", "--threshold", "-9")
    assert "cat-de" in run("mine", "notes", "notes", *sides, "--quiet").output


def test_a_declared_field_without_a_type_is_said(run: Run) -> None:
    refused = run("index", "-", "--corpus", "notes", "--field", "year", input=as_jsonl(RECORDS))
    assert (refused.exit_code, "NAME=TYPE" in refused.output) == (1, True)
    assert "given 'year'" in refused.output


def test_mine_prints_pairs(run: Run) -> None:
    index(run, "-", input=as_jsonl(RECORDS[:2]))
    sides = ("--source-languages", "en", "--target-languages", "de", "--threshold", "-9")
    result = run("mine", "notes", "notes", *sides, "--quiet")
    cells = result.output.strip().split("\t")
    assert cells[2:] == ["cat-en", "cat-de", RECORDS[0]["text"], RECORDS[1]["text"]]
    told = run("mine", "notes", "notes", *sides)
    assert (told.stdout, told.stderr[-1:]) == (result.stdout, "\n")  # progress ends its line
    assert "documents" in told.stderr
    as_json = run("mine", "notes", "notes", *sides, "--quiet", "--json")
    assert json.loads(as_json.output)["target"]["id"] == "cat-de"


def test_mine_leaves_out_what_is_deleted_meanwhile(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(run, "-", input=as_jsonl(RECORDS[:2]))
    real = mining.mine

    def mine_and_delete(
        source: mining.Side,
        target: mining.Side,
        *,
        threshold: float,
        progress: Callable[[int, int], None],
    ) -> list[mining.MinedPair]:
        pairs = real(source, target, threshold=threshold, progress=progress)
        source.corpus.delete(["cat-de"])
        return pairs

    monkeypatch.setattr(mining, "mine", mine_and_delete)
    sides = ("--source-languages", "en", "--target-languages", "de", "--threshold", "-9")
    result = run("mine", "notes", "notes", *sides, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_the_threshold_in_the_help_is_the_one_that_is_used(run: Run) -> None:
    assert f"{DEFAULT_THRESHOLD} if left out" in run("mine", "--help").output


def test_help_needs_no_index() -> None:
    """So that it comes at once, and where no extra is installed."""
    code = (
        "import sys; from service.commands import index, mine, search; "
        "heavy = {'faiss', 'torch'} & set(sys.modules); sys.exit(str(heavy or ''))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[3], capture_output=True, text=True
    )
    assert done.stderr.strip() == ""
