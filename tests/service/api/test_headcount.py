from __future__ import annotations

import pytest

from service.api.headcount import Headcount
from service.errors import OverloadedError


def test_one_client_leaves_a_fifth_to_others() -> None:
    headcount = Headcount(10, open_to_all=False)
    for _ in range(8):
        headcount.enter("a")
    with pytest.raises(OverloadedError, match="8 requests are answered now, 8 of them yours"):
        headcount.enter("a")
    headcount.enter("b")
    headcount.enter("b")
    with pytest.raises(OverloadedError):
        headcount.enter("c")
    headcount.leave("a")
    headcount.enter("c")


def test_where_nobody_has_a_key_all_room_is_everybodys() -> None:
    headcount = Headcount(2, open_to_all=True)
    headcount.enter("")
    headcount.enter("")
    with pytest.raises(OverloadedError, match="2 of them without a key"):
        headcount.enter("")
    headcount.leave("")
    headcount.enter("")
