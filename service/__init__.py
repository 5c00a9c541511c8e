"""The multilingual embedding server: bundles in, vectors, search and classification out.

    request -> texts -> tokens -> batch -> vectors -> index / classifier -> response

Shapes in this package: `batch` counts texts, `tokens` their longest length, `dimension` the
vector's width. Times are seconds, sizes bytes, unless a name says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.standalone.encoder import Encoder

__all__ = ["Encoder"]


def __getattr__(name: str) -> type[Encoder]:
    """Import the encoder when it is asked for: `interlingua --help` needs no runtime."""
    if name == "Encoder":
        from service.standalone.encoder import Encoder

        return Encoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
