"""The multilingual embedding server: bundles in, vectors, search and classification out.

    request -> texts -> tokens -> batch -> vectors -> index / classifier -> response

Shapes in this package: `batch` counts texts, `tokens` their longest length, `dimension` the
vector's width. Times are seconds, sizes bytes, unless a name says otherwise.
"""

from service.inference.encoder import Encoder

__all__ = ["Encoder"]
