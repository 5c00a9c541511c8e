from __future__ import annotations

from collections.abc import Iterator

import orjson

from service.api.responses import Json, JsonRows

ROWS: list[object] = [{"a": 1.5}, [], "ä", None, [[1]]]


def test_rows_are_written_as_a_list_is() -> None:
    assert JsonRows(ROWS).body == Json(ROWS).body
    assert JsonRows([]).body == Json([]).body == b"[]"
    assert JsonRows(iter(ROWS)).headers["content-type"] == "application/json"


def test_a_row_is_written_before_the_next_is_made() -> None:
    made: list[list[int]] = []

    def rows() -> Iterator[list[int]]:
        for number in range(3):
            for row in made:
                row.clear()  # too late for what is written
            made.append([number])
            yield made[-1]

    assert orjson.loads(JsonRows(rows()).body) == [[0], [1], [2]]
