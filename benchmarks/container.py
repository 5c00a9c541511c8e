"""From `docker run` to the first answer of a search, on a fresh volume each time.

    python -m benchmarks.container [--image interlingua] [--repeats 7]

The container is as docs/deploy.md starts it: a read-only root, everything else in a volume that is
empty, so that the demo corpus is encoded and stored as well. It needs a Docker engine.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import time

from benchmarks.arguments import whole_number
from benchmarks.drills.fleet import ask

_RUN = (
    *("docker", "run", "--rm", "--detach", "--read-only", "--tmpfs=/tmp", "--volume=/data"),
    *("--publish=127.0.0.1::8000", "--env=INTERLINGUA_OPEN_TO_NETWORK=true"),
)
_QUESTION = "/similar?q=Gitarre&k=1"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", default="interlingua")
    parser.add_argument("--repeats", type=whole_number, default=7)
    options = parser.parse_args()
    if shutil.which("docker") is None:
        raise SystemExit("docker is not installed")
    starts = sorted(start_seconds(options.image) for _ in range(options.repeats))
    print(
        f"docker run to the first answer: {statistics.median(starts):.2f} s "
        f"({starts[0]:.2f} .. {starts[-1]:.2f} of {len(starts)})"
    )


def start_seconds(image: str) -> float:
    """Return the seconds of one start; the container is removed."""
    began = time.perf_counter()
    container = docker(*_RUN, image)
    try:
        port = int(docker("docker", "port", container, "8000").splitlines()[0].rpartition(":")[2])
        while ask(port, _QUESTION)[0] != 200:
            if time.perf_counter() - began > 60:
                raise SystemExit(f"no answer within 60 s: {docker('docker', 'logs', container)}")
            time.sleep(0.02)
        return time.perf_counter() - began
    finally:
        docker("docker", "stop", container)


def docker(*command: str) -> str:
    """Return what a command of Docker prints."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
