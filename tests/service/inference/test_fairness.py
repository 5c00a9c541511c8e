from __future__ import annotations

from collections.abc import Sequence

import pytest

from service.inference.encoder import Encoder, Tower
from service.inference.fairness import BACKGROUND, FairOrder
from service.inference.slices import slice_by_length
from service.inference.work import Job, Slice


@pytest.fixture(scope="module")
def tower(tiny_encoder: Encoder) -> Tower:
    return tiny_encoder.towers["*"]


def slices(tower: Tower, lengths: Sequence[int], *, budget: int) -> list[Slice]:
    job = Job(tower, [[1] * length for length in lengths], dimension=1, when_done=lambda _: None)
    return [Slice(job, rows) for rows in slice_by_length(lengths, budget=budget)]


def served(order: FairOrder, whose: dict[int, str]) -> str | None:
    piece = order.pop(lambda _: True)
    return whose[id(piece.job)] if piece else None


def test_the_background_has_a_ninth_beside_a_busy_client(tower: Tower) -> None:
    """It comes piece by piece, as jobs do: the next when the last is served."""
    order, whose, kept = FairOrder(), {}, []

    def put(client: str) -> None:
        (piece,) = slices(tower, [10], budget=10)
        kept.append(piece)
        whose[id(piece.job)] = client
        order.add([piece], client)

    put("busy")
    put("busy")
    put(BACKGROUND)
    turns = []
    for _ in range(180):
        client = served(order, whose)
        assert client is not None
        turns.append(client)
        put(client)
    assert 12 <= turns.count(BACKGROUND) <= 28
    assert turns.index(BACKGROUND) >= 4


def test_alone_the_background_is_served_at_once(tower: Tower) -> None:
    order = FairOrder()
    pieces = slices(tower, [10] * 6, budget=10)
    order.add(pieces, BACKGROUND)
    assert [order.pop(lambda _: True) for _ in pieces] == pieces
    assert order.tokens == 0


def test_a_request_overtakes_a_background_that_waits(tower: Tower) -> None:
    order = FairOrder()
    order.add(slices(tower, [10] * 6, budget=10), BACKGROUND)
    order.pop(lambda _: True)
    (single,) = slices(tower, [3], budget=10)
    order.add([single], "")
    assert order.pop(lambda _: True) is single


def test_virtual_time_only_moves_on(tower: Tower) -> None:
    """Who comes now does not overtake who was passed over while another had a way of its own."""
    order = FairOrder()
    passed_over = slices(tower, [10, 10], budget=10)
    order.add(passed_over, "passed over")
    order.add(slices(tower, [10] * 3, budget=10), "little")
    for _ in range(2):
        order.pop(lambda _: True, only=lambda client, _: client == "little")
    assert order.pop(lambda _: True) is passed_over[0]
    order.add(slices(tower, [10], budget=10), "new")
    assert order.pop(lambda _: True) is passed_over[1]


def test_a_client_that_waits_for_nothing_leaves_nothing_behind() -> None:
    """As those whose texts are all known: their names would pile up while nothing is computed."""
    order = FairOrder()
    for number in range(3):
        order.add([], f"client {number}")
    assert not order._flows
