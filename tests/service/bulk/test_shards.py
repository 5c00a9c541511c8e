from __future__ import annotations

from service.bulk.items import Item
from service.bulk.shards import cut

ITEMS = [Item("1", "Hallo"), Item("2", "Ça va", "fr")]


def digest(items: list[Item], language: str | None = None) -> str:
    (shard,) = cut(items, 10, model="m", dimensions=4, language=language)
    return shard.digest


def test_shards_that_lie_on_disks_stay_valid() -> None:
    written = "39fc91838dab229af9f914a0164402181048f61e712a9956439bae5a09d5212b"
    assert digest(ITEMS) == written


def test_the_language_of_a_text_that_names_none_is_in_the_digest() -> None:
    assert len({digest(ITEMS), digest(ITEMS, "de"), digest(ITEMS, "ja")}) == 3
    assert digest(ITEMS, "de") == digest([Item("1", "Hallo", "de"), ITEMS[1]])
    assert digest(ITEMS[1:], "de") == digest(ITEMS[1:])
