"""The multilingual embedding server: bundles in, vectors, search and classification out.

    request -> texts -> tokens -> batch -> vectors -> index / classifier -> response

Shapes in this package: `batch` counts texts, `tokens` their longest length, `dimension` the
vector's width. Times are seconds, sizes bytes, unless a name says otherwise.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.standalone.encoder import Encoder

# ONNX Runtime's wheels keep an id of the machine in the home directory and send how they are used
# to their maker; it reads this when the first session is made. Nothing leaves a machine through us.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__all__ = ["Encoder"]


def __getattr__(name: str) -> type[Encoder]:
    """Import the encoder when it is asked for: `interlingua --help` needs no runtime."""
    if name == "Encoder":
        from service.standalone.encoder import Encoder

        return Encoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
