"""What can be measured: bundles, runs, servers; and what is refused."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from service.errors import InputError
from service.inference.encoder import Encoder
from tests.tiny_bundle import make_tiny_bundle
from training.evaluation.models import open_model


class _Server(http.server.BaseHTTPRequestHandler):
    """Answers as Interlingua does, with the tiny bundle's vectors."""

    encoder: Encoder

    def do_GET(self) -> None:
        manifest = self.encoder.manifest
        self._answer(
            {
                "models": [
                    {
                        "name": manifest.name,
                        "dimension": manifest.dimension,
                        "languages": list(manifest.languages),
                    }
                ]
            }
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if len(body["inputs"]) > 32 or body["language"] == "xx":
            self.send_error(413)
            return
        vectors = self.encoder.encode(body["inputs"], normalize=body.get("normalize"))
        self._answer(vectors.tolist())

    def _answer(self, content: object) -> None:
        text = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url(tiny_encoder: Encoder) -> Iterator[str]:
    _Server.encoder = tiny_encoder
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def test_a_server_gives_the_bundles_vectors(url: str, tiny_encoder: Encoder) -> None:
    model = open_model(url)
    assert (model.name, model.dimension) == (tiny_encoder.name, tiny_encoder.dimension)
    assert model.languages == tiny_encoder.languages
    texts = [f"The cat sees {i} rivers." for i in range(40)]
    texts[3] = " "
    expected = tiny_encoder.encode(texts, normalize=False)
    expected[3] = 0
    found = model.encode(texts, language="en", normalize=False)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    with pytest.raises(InputError, match="answers 413"):
        model.encode(["a"], language="xx")


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        open_model(str(tmp_path / "none"))
    with pytest.raises(InputError, match="No server answers"):
        open_model("http://127.0.0.1:9")


def test_a_run_gives_its_bundle(tmp_path: Path) -> None:
    bundle = make_tiny_bundle(tmp_path / "run" / "bundle")
    assert open_model(tmp_path / "run").name == open_model(str(bundle)).name
