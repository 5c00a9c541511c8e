"""Words as the mean of word vector and characters, against its formula."""

import numpy as np
import torch

from training.encoders.word_ngrams import WordNgramEmbedding


def make() -> WordNgramEmbedding:
    torch.manual_seed(0)
    return WordNgramEmbedding(words=9, ngrams=7, size=4, width=6)


IDS = torch.tensor([[[3, 1, 6, 6], [8, 0, 0, 0]], [[3, 1, 6, 6], [3, 6, 1, 0]]])


def test_equals_the_formula() -> None:
    module = make().eval()
    weights = {name: value.detach().numpy() for name, value in module.named_parameters()}
    given = module(IDS).detach().numpy()
    for row in range(2):
        for word in range(2):
            first, *grams = IDS[row, word].tolist()
            total = sum((weights["ngram_table"][g] for g in grams if g), np.zeros(4))
            characters = np.tanh(weights["characters.weight"] @ total + weights["characters.bias"])
            mean = (weights["word_table"][first] + characters) / 2
            expected = (weights["result.weight"] @ mean + weights["result.bias"]) * np.sqrt(6)
            np.testing.assert_allclose(given[row, word], expected, atol=1e-5)


def test_training_embeds_each_word_once_with_the_same_result() -> None:
    module = make()
    torch.testing.assert_close(module.train()(IDS), module.eval()(IDS))


def test_more_columns_of_no_ngram_change_nothing() -> None:
    module = make().eval()
    wider = torch.cat([IDS, torch.zeros(2, 2, 3, dtype=torch.int64)], dim=2)
    torch.testing.assert_close(module(wider), module(IDS))


def test_gradients_of_the_tables_are_sparse_and_right() -> None:
    module, dense = make().train(), make().eval()
    for one in (module, dense):
        one(IDS).square().sum().backward()
    for table, expected in zip(module.tables, dense.tables, strict=True):
        assert table.grad is not None
        assert expected.grad is not None
        assert table.grad.is_sparse
        torch.testing.assert_close(table.grad.to_dense(), expected.grad.to_dense())
    grams = module.ngram_table.grad
    assert grams is not None
    assert not grams.to_dense()[0].any()  # "none" is no n-gram and learns nothing
