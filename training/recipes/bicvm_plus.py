"""Hermann & Blunsom 2013: BiCVM+, BiCVM with a second pair of languages that shares English.

"1 million English sentences, each paired up with either a German or a French sentence" (section
4.1); German and French meet through English alone.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from training.recipe import Recipe
from training.recipes import bicvm

RECIPE = Recipe(
    name="bicvm-plus",
    summary="BiCVM with en-de and en-fr; German and French meet through English alone",
    scales=MappingProxyType(
        {
            scale: replace(parameters, languages=("en", "de", "fr"))
            for scale, parameters in bicvm.SCALES.items()
        }
    ),
    minutes=25,
    stages=bicvm.RECIPE.stages,
    model=bicvm.model,
)
