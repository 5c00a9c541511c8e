"""Keep Python's collector from walking over what lives as long as the process."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 10_000
"""Between two looks at the youngest: some ten requests' worth, of which nearly all are gone."""


def leave_garbage() -> None:
    """Collect nothing until `spare_what_stays`: nearly all of what is loaded stays."""
    gc.disable()


def spare_what_stays() -> None:
    """Call it when everything is loaded.

    Modules, routes and models are a few hundred thousand objects that refer to each other. To look
    again and again whether they are garbage costs the thread that answers.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20, 20)
    gc.enable()
