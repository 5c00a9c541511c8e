"""`interlingua-mini` as it is exported: its graph, and what its card says."""

from __future__ import annotations

from collections.abc import Sequence

from service.bundle.manifest import DataSource
from training.export import Model
from training.graphs.compressed import compressed_graph, round_weights
from training.graphs.static import Precision
from training.graphs.traced import traced_graph
from training.mini_parts import MiniParts
from training.teacher import DIMENSION, SPACE
from training.translation import SHARED

_DESCRIPTION = (
    "Twelve transformer layers for search across languages and classification. They began as "
    "those of multilingual-e5-small (intfloat, MIT), over fewer pieces and in 4 bits, and were "
    "changed by training on: sentences of all languages towards the vectors that all-MiniLM-L6-v2 "
    "(sentence-transformers, Apache-2.0) has of their English, in whose space they lie."
)


def mini_model(
    made: MiniParts,
    *,
    languages: tuple[str, ...],
    cuts: tuple[int, ...],
    max_tokens: int,
    precision: Precision,
    research: bool,
    data: Sequence[DataSource],
) -> Model:
    """Return what is exported.

    Args:
        made: Its parts; the weights are rounded to what is stored of them.
        languages: That it was trained for.
        cuts: Widths to which vectors may be cut.
        max_tokens: Longest input.
        precision: Of the stored layers; fp32 rounds nothing.
        research: Whether any of its text is for research use only.
        data: For the card.
    """
    if precision != "fp32":
        round_weights(made.layers)
    graph = traced_graph(made.layers)
    return Model(
        towers={
            SHARED: made.vocabulary.tower(
                graph if precision == "fp32" else compressed_graph(graph), made.layers.rectangle
            )
        },
        name="interlingua-mini",
        family="transformer",
        description=_DESCRIPTION,
        space=SPACE,
        dimension=DIMENSION,
        cuts=cuts,
        languages=languages,
        max_tokens=max_tokens,
        pooling="mean",
        precision=precision if precision == "fp32" else f"{precision} layers",
        limits=(
            f"Of a text longer than {max_tokens} tokens only the beginning counts.",
            "multilingual-e5-small was trained on a billion pairs of web text and on labelled sets "
            "(Wang et al. 2024), which cannot be cleaned of the sentences that quality is measured "
            "on, as our own training text was.",
            "Languages that it was not trained for are cut into small pieces; some of them it "
            "still knows from multilingual-e5-small, and none of that is measured.",
        ),
        research=research,
        data=tuple(data),
    )
