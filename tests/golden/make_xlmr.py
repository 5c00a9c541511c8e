"""Write xlmr.npz: the token vectors of transformers' XLM-R with weights made from a seed.

Run where transformers and torch are installed:

    PYTHONPATH=. python tests/golden/make_xlmr.py

Written with transformers 5.23.0 and torch 2.13.0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from transformers import XLMRobertaConfig, XLMRobertaModel

from tests.service.huggingface.random_weights import CONFIG, IDS, MASK, xlmr_weights


def main() -> None:
    config = {name: value for name, value in CONFIG.items() if name != "model_type"}
    model = XLMRobertaModel(XLMRobertaConfig(**config), add_pooling_layer=False).eval()
    weights = {name: torch.from_numpy(array) for name, array in xlmr_weights().items()}
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected, unexpected
    assert all(name.endswith("_ids") for name in missing), missing
    with torch.inference_mode():
        ids, mask = torch.from_numpy(IDS), torch.from_numpy(MASK)
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state.numpy()
    np.savez_compressed(Path(__file__).with_name("xlmr.npz"), allow_pickle=False, states=states)


if __name__ == "__main__":
    main()
