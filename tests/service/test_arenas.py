from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

THREADS_THAT_ALLOCATE = """
import ctypes, threading
from service.arenas import use_one_arena
use_one_arena()
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(8)
def work():
    together.wait()
    for _ in range(2000):
        libc.malloc(100)
    together.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.malloc_stats()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone has arenas")
@pytest.mark.parametrize(("asked", "several"), [(None, False), ("8", True)])
def test_threads_share_one_arena_unless_told_otherwise(asked: str | None, several: bool) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "MALLOC_ARENA_MAX"}
    environment |= {"MALLOC_ARENA_MAX": asked} if asked else {}
    done = subprocess.run(
        [sys.executable, "-c", THREADS_THAT_ALLOCATE], env=environment, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    if "Arena 0" not in done.stderr:
        pytest.skip("this C library does not say")
    assert ("Arena 1" in done.stderr) is several


FREED_BELOW_WHAT_IS_KEPT = """
import ctypes
from pathlib import Path
from service.arenas import return_freed_memory, use_one_arena
def megabytes():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1000
use_one_arena()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
blocks = [libc.malloc(1000) for _ in range(100_000)]
for block in blocks:
    ctypes.memset(block, 1, 1000)
for block in blocks[:-1]:
    libc.free(ctypes.c_void_p(block))
before = megabytes()
return_freed_memory()
print(before - megabytes())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone can be asked for it")
def test_freed_memory_goes_back_to_the_system() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FREED_BELOW_WHAT_IS_KEPT], capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    assert float(done.stdout) > 80
