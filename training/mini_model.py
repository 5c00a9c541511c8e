"""`interlingua-mini` as it is exported: one graph of its two halves, and what its card says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from service.bundle.manifest import DataSource
from training.encoders.beside import Beside
from training.encoders.mapped import Mapped
from training.export import Model
from training.graphs.beside import beside_graph
from training.mini_parts import MiniParts
from training.recipes import fast
from training.teacher import SPACE
from training.translation import SHARED

_DESCRIPTION = (
    "Six transformer layers over one vocabulary, and static token vectors of another beside them, "
    "for search across languages and classification. The layers began as those of all-MiniLM-L6-v2 "
    "(sentence-transformers, Apache-2.0) and were changed by training on: sentences of all "
    "languages towards that model's vectors of their English."
)


def mini_model(
    made: MiniParts,
    closeness: npt.NDArray[np.float32],
    p: fast.Parameters,
    *,
    weight: float,
    data: Sequence[DataSource],
) -> Model:
    """Return what is exported.

    Args:
        made: Its parts.
        closeness: float32 [D, D], what the vectors of both halves are multiplied by last.
        p: Of the recipe.
        weight: Of the static half, where the layers' has 1.
        data: For the card.
    """
    served = Beside(
        Mapped(made.layers, made.map @ closeness),
        made.table @ torch.from_numpy(closeness),
        weight=weight,
    )
    both = made.vocabulary.with_beside(made.second)
    return Model(
        towers={SHARED: both.tower(beside_graph(served, p.precision), served.rectangle)},
        name="interlingua-mini",
        family="transformer",
        description=_DESCRIPTION,
        space=SPACE,
        dimension=p.dimension,
        cuts=p.cuts,
        languages=p.languages,
        max_tokens=p.max_tokens,
        pooling="mean",
        precision=p.precision if p.precision == "fp32" else f"{p.precision} vectors and layers",
        limits=(
            f"Of a text longer than {p.max_tokens} tokens only the beginning counts.",
            "The order of words is read and hardly used: of a sentence's translation and the same "
            "words in another order, the translation is nearer little more often than by chance.",
            "Words of languages that it was not trained for fall into meaningless pieces.",
        ),
        research=p.research,
        data=tuple(data),
    )
