"""The inference head against its formula."""

import numpy as np
import torch

from training.objectives.nli import InferenceHead, relation_features


def test_features_are_both_their_distance_and_their_product() -> None:
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 4.0]])
    assert relation_features(u, v).tolist() == [[1, -2, 3, 4, 2, 6, 3, -8]]


def test_loss_equals_the_formula() -> None:
    head = InferenceHead(4, inner=5)
    random = np.random.default_rng(0)
    u, v = random.normal(size=(2, 3, 4)).astype(np.float32)
    labels = np.array([0, 2, 1])
    features = np.concatenate([u, v, np.abs(u - v), u * v], axis=1)
    weights = {name: value.detach().numpy() for name, value in head.named_parameters()}
    hidden = np.tanh(features @ weights["hidden.weight"].T + weights["hidden.bias"])
    scores = hidden @ weights["output.weight"].T + weights["output.bias"]
    chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    expected = -np.log(chances[[0, 1, 2], labels]).mean()
    given = head((torch.from_numpy(u), torch.from_numpy(v)), torch.from_numpy(labels))
    assert abs(given.item() - expected) < 1e-5
