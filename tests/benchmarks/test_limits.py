from __future__ import annotations

import orjson
import pytest

from benchmarks.servers.apps.echo_app import ANSWER

pytest.importorskip("openvino", reason="it comes with the extra `openvino`")

from benchmarks.servers import limits


def test_an_echo_is_as_long_as_the_json_of_a_vector() -> None:
    vector = orjson.dumps([-0.01234567] * 384)
    assert len(orjson.loads(ANSWER)) > 1
    assert abs(len(ANSWER) - len(vector)) < 0.02 * len(vector)


def test_products_are_counted_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_SIDE", 256)
    short, long = (limits.products("fp32", 1, seconds) for seconds in (0.1, 0.4))
    assert 0.2 < short / long < 5  # a rate, whatever the machine does besides
    assert long > 0.1
