from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
from service.garbage import leave_garbage, spare_what_stays
leave_garbage()
assert not gc.isenabled()
stays = [{} for _ in range(1000)]
spare_what_stays()
assert gc.isenabled()
assert gc.get_freeze_count() > 1000
assert not any(found is stays for found in gc.get_objects())
cycle = []
cycle.append(cycle)
del cycle
assert gc.collect() >= 1, "what comes later is still collected"
"""


def test_what_is_loaded_is_not_walked_over_again() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
