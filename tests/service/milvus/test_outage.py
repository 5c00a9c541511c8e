from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.errors import StorageError
from service.milvus.outage import Outage


def test_while_all_is_well_everybody_is_let_through() -> None:
    outage = Outage()
    assert all(outage.admits() for _ in range(5))


def test_in_an_outage_one_asks_and_the_others_are_refused() -> None:
    outage = Outage()
    outage.settle(answered=False)
    assert [outage.admits() for _ in range(4)] == [True, False, False, False]


def test_when_the_one_was_not_answered_the_next_may_ask() -> None:
    outage = Outage()
    for _ in range(3):
        outage.settle(answered=False)
        assert outage.admits()
        assert not outage.admits()


def test_an_answer_ends_it() -> None:
    outage = Outage()
    outage.settle(answered=False)
    assert outage.admits()
    outage.settle(answered=True)
    assert all(outage.admits() for _ in range(5))


class Engine:
    """A client whose call waits as long as it is told to, and then fails as one without a peer."""

    def __init__(self) -> None:
        self.gone = True
        self.given_up = threading.Event()
        self.calls = 0

    def query(self, _: str, *, timeout: float = 0.0) -> str:
        grpc = pytest.importorskip("grpc")
        self.calls += 1
        if not self.gone:
            return "rows"
        assert self.given_up.wait(timeout)
        from pymilvus.exceptions import MilvusException

        raise MilvusException(grpc.StatusCode.UNAVAILABLE, "Retry timeout")


def test_a_lost_engine_keeps_one_request_waiting_and_not_all() -> None:
    pytest.importorskip("pymilvus", reason="comes with the extra milvus")
    from service.milvus.client import Bounded, engine_errors

    engine = Engine()
    client = Bounded(engine)
    engine.given_up.set()
    with pytest.raises(StorageError), engine_errors("first"):
        client.query("corpus")
    engine.given_up.clear()
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(client.query, "corpus")
        while engine.calls < 2:
            pass
        for _ in range(10):
            with pytest.raises(StorageError, match="does not answer"), engine_errors("corpus"):
                client.query("corpus")
        assert engine.calls == 2
        engine.gone = False
        engine.given_up.set()
        assert asking.exception() is not None
    assert client.query("corpus") == "rows"
    assert client.query("corpus") == "rows"
