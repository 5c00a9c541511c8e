"""An encoder for mteb, the benchmark of text embeddings (Muennighoff et al. 2023).

    import mteb
    from service.standalone.mteb import MtebEncoder

    model = MtebEncoder("models/interlingua-mini")
    mteb.evaluate(model, mteb.get_tasks(tasks=["STS22.v2"]))

It has mteb's `EncoderProtocol` (mteb 2.0 and later) and needs mteb itself only for the description.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from service.standalone.encoder import Encoder
from service.standalone.tensors import tensor_of

if TYPE_CHECKING:
    from mteb.models.model_meta import ModelMeta

    from service.standalone.tensors import Tensor


class _TaskMetadata(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...


class MtebEncoder:
    """A model as mteb asks for it.

    A prompt is chosen as mteb says: for the task and side of a search, the task, the kind of task
    and side, the kind, the side; the first that the model has.

    Args:
        model_name: A directory, or the name of a model.
        revision: Not used: a directory is what it is.
        device: Only cpu is to be had.
    """

    def __init__(
        self, model_name: str | Path, revision: str | None = None, *, device: str | None = None
    ) -> None:
        del revision, device
        self._encoder = Encoder(model_name)

    def encode(
        self,
        inputs: Iterable[Mapping[str, Sequence[str]]],
        *,
        task_metadata: _TaskMetadata,
        hf_split: str,  # noqa: ARG002 - mteb gives it by name
        hf_subset: str,  # noqa: ARG002
        prompt_type: str | None = None,
        batch_size: int = 32,
        **ignored: object,  # noqa: ARG002 - mteb adds arguments from release to release
    ) -> npt.NDArray[np.float32]:
        """Return float32 [texts, dimension].

        Args:
            inputs: Batches with a column `text`.
            task_metadata: Of the task, for the choice of a prompt.
            hf_split: Of the data.
            hf_subset: Of the data.
            prompt_type: The side of a search: query or document.
            batch_size: The most texts in one run of the model.
            ignored: Of no meaning to this model.
        """
        texts = [text for batch in inputs for text in batch["text"]]
        vectors = self._encoder.encode(
            texts, prompt_name=self._prompt(task_metadata, prompt_type), batch_size=batch_size
        )
        return vectors.astype(np.float32, copy=False)

    def similarity(self, embeddings1: npt.ArrayLike, embeddings2: npt.ArrayLike) -> Tensor:
        """Return the cosines of all with all, as the tensor that mteb expects."""
        return tensor_of(self._encoder.similarity(embeddings1, embeddings2))

    def similarity_pairwise(self, embeddings1: npt.ArrayLike, embeddings2: npt.ArrayLike) -> Tensor:
        """Return the cosine of each with its fellow."""
        return tensor_of(self._encoder.similarity_pairwise(embeddings1, embeddings2))

    @property
    def mteb_model_meta(self) -> ModelMeta:
        """What mteb writes beside its results."""
        from mteb.models.model_meta import ModelMeta, ScoringFunction

        manifest = self._encoder.manifest
        meta: Any = ModelMeta.create_empty(
            overwrites={
                "name": f"interlingua/{manifest.name}",
                "revision": manifest.identity,
                "embed_dim": self._encoder.dimension,
                "max_tokens": manifest.max_tokens,
                "similarity_fn_name": ScoringFunction.COSINE,
                "framework": ["ONNX"],
                "open_weights": True,
            }
        )
        described: ModelMeta = meta
        return described

    def _prompt(self, task: _TaskMetadata, side: str | None) -> str | None:
        value = getattr(side, "value", side)
        names = [task.name, task.type]
        if value is not None:
            names = [f"{task.name}-{value}", task.name, f"{task.type}-{value}", task.type, value]
        return next((name for name in names if name in self._encoder.prompts), None)
