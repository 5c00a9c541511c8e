from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from service.cli import main
from service.commands.vector_output import vector_writer
from service.inference.encoder import Encoder

TEXTS = [f"The cat sleeps {number}." for number in range(1500)]  # more than one chunk


def printed(bundle: Path, *options: str, given: str = "\n".join(TEXTS)) -> bytes:
    """What a real process writes into a real pipe, which cannot be sought in."""
    code = "from service.cli import main; main()"
    command = [sys.executable, "-c", code, "embed", "--model", str(bundle), *options]
    done = subprocess.run(command, input=given.encode(), capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected(tiny_encoder: Encoder) -> np.ndarray:
    return tiny_encoder.encode(TEXTS)


def test_npy_through_a_pipe(tiny_bundle: Path, expected: np.ndarray) -> None:
    vectors = np.load(io.BytesIO(printed(tiny_bundle, "--format", "npy")))
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_parquet_through_a_pipe(tiny_bundle: Path, expected: np.ndarray) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is in extra `bulk`")
    table = parquet.read_table(io.BytesIO(printed(tiny_bundle, "--format", "parquet")))
    assert table["text"].to_pylist() == TEXTS
    vectors = np.asarray(table["vector"].to_pylist(), dtype=np.float32)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_json_lines_are_the_default(tiny_bundle: Path, expected: np.ndarray) -> None:
    rows = [json.loads(line) for line in printed(tiny_bundle).splitlines()]
    np.testing.assert_allclose(rows, expected, atol=1e-6)


def test_nothing_in_is_nothing_out(tiny_bundle: Path) -> None:
    assert printed(tiny_bundle, given="") == b""
    options = ("--dimensions", "4", "--format")
    empty = np.load(io.BytesIO(printed(tiny_bundle, *options, "npy", given="")))
    assert (empty.shape, empty.dtype) == ((0, 4), np.float32)
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is in extra `bulk`")
    table = parquet.read_table(io.BytesIO(printed(tiny_bundle, *options, "parquet", given="")))
    assert (len(table), table.column_names) == (0, ["text", "vector"])


def test_bytes_are_not_for_a_terminal() -> None:
    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    with pytest.raises(Exception, match=r"> vectors\.npy"):
        vector_writer(Terminal(), "npy")


def test_an_unknown_format_is_used_wrongly(tiny_bundle: Path) -> None:
    command = ["embed", "--model", str(tiny_bundle), "--format", "xml", "cat"]
    assert CliRunner().invoke(main, command).exit_code == 2
