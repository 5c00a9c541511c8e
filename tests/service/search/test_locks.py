from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from service.search.locks import SharedLock

PATIENCE = 5.0


@contextmanager
def running(*targets: object) -> Iterator[None]:
    threads = [threading.Thread(target=target, daemon=True) for target in targets]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_readers_share_it() -> None:
    lock = SharedLock()
    both_inside = threading.Barrier(2, timeout=PATIENCE)

    def read() -> None:
        with lock.shared():
            both_inside.wait()

    with running(read, read):
        pass


def test_writers_exclude_each_other_and_readers() -> None:
    lock = SharedLock()
    inside = 0
    most = 0

    def write() -> None:
        nonlocal inside, most
        for _ in range(20):
            with lock.exclusive():
                inside += 1
                most = max(most, inside)
                time.sleep(0.0005)
                inside -= 1

    def read() -> None:
        for _ in range(20):
            with lock.shared():
                assert inside == 0
                time.sleep(0.0005)

    with running(write, write, read, read):
        pass
    assert most == 1


def test_waiting_writer_goes_before_new_readers() -> None:
    lock = SharedLock()
    order: list[str] = []
    writer_waits = threading.Event()

    def write() -> None:
        writer_waits.set()
        with lock.exclusive():
            order.append("writer")

    def read() -> None:
        with lock.shared():
            order.append("reader")

    with lock.shared():
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        assert writer_waits.wait(PATIENCE)
        time.sleep(0.05)  # from the event to the wait for the lock
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        time.sleep(0.05)
    for thread in (writer, reader):
        thread.join(PATIENCE)
    assert order == ["writer", "reader"]


def test_it_is_let_go_after_an_error() -> None:
    lock = SharedLock()
    for hold in (lock.shared, lock.exclusive):
        try:
            with hold():
                raise KeyError
        except KeyError:
            pass
    with lock.exclusive():
        pass
