"""Training paths and their mixtures."""

from __future__ import annotations

import pytest

from service.errors import InputError
from training.paths import (
    TABLE_3,
    Mixture,
    TrainingPath,
    both_ways,
    each_to_pivots,
    even,
    many_to_many,
    many_to_one,
    one_to_many,
    table_3,
)


def test_figure_2_of_schwenk_and_douze() -> None:
    sources, target = ("fr", "es", "ru"), "en"
    assert list(map(str, many_to_one(sources, target))) == ["fr->en", "es->en", "ru->en"]
    assert list(map(str, many_to_one(sources, target, together=2))) == [
        "fr+es->en",
        "fr+ru->en",
        "es+ru->en",
    ]
    assert list(map(str, many_to_one(sources, target, together=3))) == ["fr+es+ru->en"]
    assert TrainingPath(("en",), ("fr", "es", "ru")) in one_to_many(("en", "fr", "es", "ru"))


def test_the_target_of_one_to_one_is_never_encoded() -> None:
    mixture = even(many_to_one(("en", "fr", "es", "zh"), "zh"))
    assert mixture.sources == ("en", "fr", "es")
    assert mixture.targets == ("zh",)


def test_one_to_many_translates_into_all_but_the_source() -> None:
    for path in one_to_many(("en", "fr", "es", "ru", "ar", "zh")):
        assert len(path.sources) == 1
        assert len(path.targets) == 5
        assert not set(path.sources) & set(path.targets)


def test_many_to_many_takes_every_choice_of_sources() -> None:
    found = many_to_many(("a", "b", "c", "d"), together=2)
    assert len(found) == 6
    assert {len(path.targets) for path in found} == {2}


def test_pairs_with_two_pivots_go_both_ways() -> None:
    found = both_ways(("en", "de", "fr", "es", "it", "pt"), ("en", "es"))
    assert len(found) == 9  # 4 others x 2 pivots, and en-es
    assert all(path.sources == path.targets and len(path.sources) == 2 for path in found)
    assert all({"en", "es"} & set(path.sources) for path in found)
    assert len(each_to_pivots(("en", "de", "es"), ("en", "es"))) == 4


@pytest.mark.parametrize("identity", TABLE_3)
def test_each_encoder_sees_the_same_number_of_sentences(identity: str) -> None:
    """Section 4.2 says that the coefficients were chosen so; 0.33 and 0.16 are rounded."""
    mixture = table_3(identity, ("en", "fr", "es"), "ar")
    exposure = mixture.encoder_exposure()
    assert set(exposure) == {"en", "fr", "es"}
    assert list(exposure.values()) == pytest.approx([1.0] * 3, abs=0.021)


def test_table_3_by_name() -> None:
    mixture = table_3("12a", ("en", "fr", "es"), "ar")
    assert [len(path.sources) for path in mixture.paths] == [1, 1, 1, 2, 2, 2]
    assert mixture.shares == pytest.approx((0.9 / 2.85,) * 3 + (0.05 / 2.85,) * 3)
    assert [len(path.sources) for path in table_3("3", ("en", "fr", "es"), "ar").paths] == [3]
    assert len(table_3("123a", ("en", "fr", "es"), "ar").paths) == 7


def test_what_table_3_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="12a, 12b"):
        table_3("12z", ("en", "fr", "es"), "ar")
    with pytest.raises(InputError, match="three input languages"):
        table_3("12a", ("en", "fr"), "ar")
    with pytest.raises(InputError, match="another one as target"):
        table_3("12a", ("en", "fr", "es"), "es")


def test_a_coefficient_of_zero_is_refused() -> None:
    with pytest.raises(InputError):
        Mixture((TrainingPath(("a",), ("b",)),), (0.0,))
