from __future__ import annotations

import hashlib
import json
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from service.classification.head import WEIGHTS_FILE, Head, read_head, write_head
from service.errors import BundleError, ConflictError, InputError
from tests.service.classification.samples import DIMENSION, LABELS, head_manifest, head_weights


def sample_head() -> Head:
    return Head(head_manifest(), *head_weights())


def queries(count: int, seed: int = 0) -> np.typing.NDArray[np.float32]:
    random = np.random.default_rng(seed)
    return random.standard_normal((count, DIMENSION)).astype(np.float32)


def replace_weights(directory: Path, content: bytes) -> None:
    """Put `content` in place of the weights, with a manifest that vouches for it."""
    (directory / WEIGHTS_FILE).write_bytes(content)
    path = directory / "head.json"
    manifest = json.loads(path.read_text())
    manifest["files"][WEIGHTS_FILE] = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }
    path.write_text(json.dumps(manifest))


class TestBundle:
    def test_it_is_read_as_it_was_written(self, head_directory: Path) -> None:
        head = read_head(head_directory)
        weights, bias = head_weights()
        np.testing.assert_array_equal(head.weights, weights)
        np.testing.assert_array_equal(head.bias, bias)
        assert (head.name, head.labels) == ("topic", LABELS)
        assert head.manifest == head_manifest(files=head.manifest.files)
        assert sorted(path.name for path in head_directory.iterdir()) == [
            "CARD.md", "head.json", "head.safetensors",
        ]  # fmt: skip

    def test_writing_again_replaces_it(self, head_directory: Path) -> None:
        weights, bias = head_weights()
        write_head(head_directory, head_manifest(), weights=weights * 2, bias=bias)
        np.testing.assert_array_equal(read_head(head_directory).weights, weights * 2)
        assert [path.name for path in head_directory.parent.iterdir()] == ["topic"]

    @pytest.mark.parametrize(
        ("weights", "bias"),
        [
            (np.ones((3, DIMENSION + 1)), np.ones(3)),
            (np.ones((2, DIMENSION)), np.ones(2)),
            (np.ones((3, DIMENSION)), np.ones((3, 1))),
            (np.full((3, DIMENSION), np.nan), np.ones(3)),
        ],
    )
    def test_weights_that_do_not_fit_are_not_written(
        self,
        tmp_path: Path,
        weights: np.typing.NDArray[np.float32],
        bias: np.typing.NDArray[np.float32],
    ) -> None:
        with pytest.raises(BundleError):
            write_head(tmp_path / "topic", head_manifest(), weights=weights, bias=bias)
        assert list(tmp_path.iterdir()) == []

    def test_directory_without_manifest_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BundleError, match=r"has no head\.json"):
            read_head(tmp_path)

    def test_changed_weights_are_refused(self, head_directory: Path) -> None:
        path = head_directory / WEIGHTS_FILE
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        with pytest.raises(BundleError, match="sha256 differs"):
            read_head(head_directory)

    def test_bundle_of_an_encoder_is_no_head(self, tiny_bundle: Path, tmp_path: Path) -> None:
        (tmp_path / "head.json").write_bytes((tiny_bundle / "bundle.json").read_bytes())
        with pytest.raises(BundleError, match="breaks the bundle schema"):
            read_head(tmp_path)

    def test_other_files_are_refused(self, head_directory: Path) -> None:
        path = head_directory / "head.json"
        manifest = json.loads(path.read_text())
        manifest["files"]["more.py"] = {"sha256": "0" * 64, "bytes": 1}
        path.write_text(json.dumps(manifest))
        with pytest.raises(BundleError, match="other files"):
            read_head(head_directory)


class Malicious:
    """Unpickled, it leaves a trace; a pickle could as well do harm."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Callable[..., object], tuple[list[str]]]:
        return subprocess.check_call, (["touch", str(self.trace)],)


class TestMaliciousWeights:
    """The manifest vouches for each of these: whoever can write the one can write the other."""

    def test_pickle_is_not_run(self, head_directory: Path, tmp_path: Path) -> None:
        trace = tmp_path / "trace"
        payload = pickle.dumps(Malicious(trace))
        pickle.loads(payload)
        assert trace.exists()  # it would work
        trace.unlink()
        replace_weights(head_directory, payload)
        with pytest.raises(BundleError, match="no safetensors file"):
            read_head(head_directory)
        assert not trace.exists()

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\xff" * 8 + b"{}",
            b"\x10" + b"\0" * 7 + b"not json at all!",
            (72).to_bytes(8, "little")
            + b'{"bias":{"dtype":"F32","shape":[3],"data_offsets":[0,99999999999999]}} ',
            save({"weights": np.ones((3, DIMENSION), np.float32)}),
            save({
                "weights": np.ones((3, DIMENSION), np.float32),
                "bias": np.ones(3, np.float32),
                "more": np.ones(1, np.float32),
            }),
            save({"weights": np.ones((3, 2), np.float32), "bias": np.ones(3, np.float32)}),
            save({"weights": np.ones((3, DIMENSION)), "bias": np.ones(3)}),
            save({
                "weights": np.full((3, DIMENSION), np.inf, np.float32),
                "bias": np.ones(3, np.float32),
            }),
        ],
        ids=["empty", "endless", "no json", "past the end", "less", "more", "shape", "type", "inf"],
    )  # fmt: skip
    def test_what_is_no_head_is_refused(self, head_directory: Path, content: bytes) -> None:
        replace_weights(head_directory, content)
        with pytest.raises(BundleError):
            read_head(head_directory)


class TestPredicting:
    def test_probabilities_are_the_softmax_of_calibrated_logits(self) -> None:
        """Against the formula in float64, one text and one label at a time."""
        head = sample_head()
        vectors = queries(7)
        found = head.predict(vectors)
        assert found.dtype == np.float32
        assert found.shape == (7, 3)
        for row, vector in zip(found, vectors.astype(np.float64), strict=True):
            unit = vector / np.sqrt((vector**2).sum())
            powers = [
                np.exp((float(w @ unit) + float(b)) / head.manifest.temperature)
                for w, b in zip(head.weights, head.bias, strict=True)
            ]
            np.testing.assert_allclose(row, np.array(powers) / sum(powers), rtol=1e-5)

    @given(scale=st.floats(1e-3, 1e6))
    def test_length_of_a_vector_does_not_matter(self, scale: float) -> None:
        head = sample_head()
        vectors = queries(3)
        scaled = (vectors * scale).astype(np.float32)
        np.testing.assert_allclose(head.predict(scaled), head.predict(vectors), atol=1e-5)

    def test_text_alone_and_in_a_batch_get_the_same(self) -> None:
        head = sample_head()
        vectors = queries(20)
        alone = np.concatenate([head.predict(vector[None]) for vector in vectors])
        np.testing.assert_allclose(head.predict(vectors), alone, atol=1e-6)

    def test_extreme_logits_stay_finite(self) -> None:
        weights, bias = head_weights()
        head = Head(head_manifest(temperature=1e-3), weights * 1e6, bias)
        found = head.predict(queries(5))
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)

    def test_zero_vector_is_answered_by_the_bias(self) -> None:
        head = sample_head()
        found = head.predict(np.zeros((1, DIMENSION), np.float32))
        assert found.argmax() == head.bias.argmax()

    def test_no_vectors_are_fine(self) -> None:
        assert sample_head().predict(queries(0)).shape == (0, 3)

    def test_other_width_is_refused(self) -> None:
        with pytest.raises(InputError, match="16 numbers"):
            sample_head().predict(np.ones((1, DIMENSION - 1), np.float32))

    def test_other_space_is_refused_with_the_way_out(self) -> None:
        head = sample_head()
        head.require_space("tiny-space", model="another model of the space")
        with pytest.raises(ConflictError) as caught:
            head.require_space("other-space", model="other")
        assert caught.value.remedy is not None
        assert "tiny" in caught.value.remedy
