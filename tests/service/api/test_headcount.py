from __future__ import annotations

import pytest

from service.api.headcount import Headcount
from service.errors import OverloadedError


def test_one_client_leaves_a_fifth_to_others() -> None:
    headcount = Headcount(10)
    for _ in range(8):
        headcount.enter("a", alone=False)
    with pytest.raises(OverloadedError, match="8 requests are answered now, 8 of them yours"):
        headcount.enter("a", alone=False)
    headcount.enter("b", alone=False)
    headcount.enter("b", alone=False)
    with pytest.raises(OverloadedError):
        headcount.enter("c", alone=False)
    headcount.leave("a")
    headcount.enter("c", alone=False)


def test_where_nobody_has_a_key_all_room_is_everybodys() -> None:
    headcount = Headcount(2)
    headcount.enter("", alone=True)
    headcount.enter("", alone=True)
    with pytest.raises(OverloadedError, match="2 of them without a key"):
        headcount.enter("", alone=True)
    headcount.leave("")
    headcount.enter("", alone=True)
