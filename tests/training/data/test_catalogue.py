"""Licences."""

from __future__ import annotations

import pytest

from service.errors import InputError
from training.data.catalogue import SOURCES, find_source, refuse_research_only


@pytest.mark.parametrize("name", ["multi30k", "wmt_pairs", "wmt_nway", "stsb"])
def test_research_only_sources_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="research use only"):
        refuse_research_only(["tatoeba", name])


def test_open_sources_and_ones_own_are_not() -> None:
    refuse_research_only([source.name for source in SOURCES if source.open] + ["mine"])
    assert find_source("mine").licence == "not stated"


def test_every_source_names_licence_and_authors() -> None:
    assert len({source.name for source in SOURCES}) == len(SOURCES)
    assert all(source.licence and source.attribution and source.origin for source in SOURCES)
