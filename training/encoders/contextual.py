r"""Static vectors with trained layers over them: what the layers of `interlingua-mini` learn in.

    v = unit(mean of the layers' last states)  +  weight * unit(sum of the tokens' static vectors)

- One table holds all that is known of single tokens. Its vectors are added up as they are, and a
  network turns them into what the layers read (`training.encoders.token_network`).
- The layers are the teacher's own at first (all-MiniLM-L6-v2, Apache-2.0), so English is understood
  before the first step; the static sum brings translations together before the first step. What is
  trained is how the two go together.
- BERT's marks before and after a sentence are left out: layers that are trained on do without them,
  and a short sentence costs a sixth less.
- Both halves have length 1 before they are weighed: the layers' states grow longer the better they
  know a sentence, and added up as they come they leave long news to the half that knows less of it.
- The sum finds a sentence's translation by its words; the layers bring what words mean together.
  What that is worth, and that order is hardly part of it, is measured in docs/models.md.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.data.batches import Sentences
from training.encoders.bert import BertBody, mean_state
from training.encoders.token_network import TokenNetwork


class ContextualEncoder(nn.Module):
    """Sentences to vectors [B, D].

    Args:
        table: float32 [V, D], static vectors.
        network: Makes of them what the layers read.
        body: The layers.
        static_weight: Of the static half.
        products: The type of the layers' products.
    """

    def __init__(
        self,
        table: Tensor,
        network: TokenNetwork,
        body: BertBody,
        *,
        static_weight: float = 1.0,
        products: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.table = nn.Parameter(table)
        self.network = network
        self.body = body
        self.static_weight = static_weight
        self.products = products

    def forward(self, sentences: Sentences) -> Tensor:
        """Return vectors [B, D] of ragged `sentences`, not normalised."""
        layers, static = self.halves(sentences)
        return layers + static

    def halves(self, sentences: Sentences) -> tuple[Tensor, Tensor]:
        """Return what is added up for `sentences`: the layers' half and the static, both [B, D]."""
        ids, mask = sentences.padded()
        # Each row is gathered and read once, however often its token occurs.
        tokens, places = torch.unique(ids, return_inverse=True)
        vectors = functional.embedding(tokens, self.table, sparse=True)  # [U, D]
        fast = self.products != torch.float32
        with torch.autocast(ids.device.type, self.products, enabled=fast):
            network = self.network(vectors)
        read = functional.embedding(places, network)
        static = functional.embedding(places, vectors)
        return self._layers(read, mask, whole=bool(mask.all())), self._static(static, mask)

    def _layers(self, read: Tensor, mask: Tensor, *, whole: bool = False) -> Tensor:
        """Return the layers' half of what is `read` [B, S, D].

        `whole` says that there is no pad, which is quicker.
        """
        states = self.body(read.to(self.products), None if whole else mask)
        return functional.normalize(mean_state(states, mask), dim=1)

    def _static(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Return the static half of `vectors` [B, S, D]."""
        summed = (vectors * mask[..., None].float()).sum(1)
        return self.static_weight * functional.normalize(summed, dim=1)
