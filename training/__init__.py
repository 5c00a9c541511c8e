"""Training of the encoders that `service` serves.

    corpus -> tokens -> batch -> encoder -> objective -> evaluation -> export

Notation used for tensor shapes, here and in every forward:

    B   sentences of a batch
    S   tokens of the longest source sentence, before padding is counted
    T   tokens of the longest target sentence
    N   tokens of a batch, all its sentences in one row (ragged batches)
    U   different tokens of a batch
    D   width of a sentence vector (the model dimension)
    E   width of a token embedding
    V   vocabulary size
    L   languages
    K   negatives of a sentence

This package needs torch (extra `train`); `service` never imports it. It imports the service's text,
bundle and inference modules, so that what is trained is tokenised by the code that serves it, and
every reported figure is measured on the exported bundle in the served runtime.
"""
