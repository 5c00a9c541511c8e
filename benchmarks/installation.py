"""From an empty environment to the first answer: seconds, size and packages.

    python benchmarks/installation.py
    python benchmarks/installation.py --only-install fastembed --constraint torch==2.13.0

Run it twice: the second time the packages are in pip's cache, which is the figure that is stated.
Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent
QUESTION = "/similar?k=1&q=Warum+schwimmt+Eis%3F"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only-install", nargs="+", default=(), help="Other packages, to lay beside ours."
    )
    parser.add_argument("--constraint", default="", help="For these: torch==2.13.0, say.")
    arguments = parser.parse_args()
    print("installed  seconds  MB  packages  first answer after")
    if not arguments.only_install:
        pinned = (ROOT / "constraints" / "cpu.txt").read_text(encoding="utf-8")
        print(row(f"{ROOT}[cpu,openvino]", pinned, serve=True), flush=True)
    for package in arguments.only_install:
        print(row(package, arguments.constraint, serve=False), flush=True)


def row(package: str, constraints: str, *, serve: bool) -> str:
    """Install `package` into a new environment and return its line of the table."""
    with tempfile.TemporaryDirectory() as temporary:
        environment = Path(temporary) / "environment"
        pinned = Path(temporary) / "constraints.txt"
        pinned.write_text(constraints, encoding="utf-8")
        began = time.perf_counter()
        run(sys.executable, "-m", "venv", str(environment))
        python = str(environment / "bin" / "python")
        quietly = ("--quiet", "--disable-pip-version-check")
        run(python, "-m", "pip", "install", *quietly, "-c", str(pinned), package)
        installed = time.perf_counter() - began
        answered = f"{first_answer(environment, temporary, began):.1f} s" if serve else "-"
        size = int(run("du", "-sm", str(environment)).split()[0])
        packages = len(run(python, "-m", "pip", "list", "--format=freeze").split())
        name = package.replace(str(ROOT), "interlingua")
        return f"{name}  {installed:.1f} s  {size}  {packages}  {answered}"


def first_answer(environment: Path, temporary: str, began: float) -> float:
    """Start the installed server and return the seconds since `began` until it answered."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [str(environment / "bin" / "interlingua"), "serve", "--port", str(port)]
    log = Path(temporary) / "log"
    with log.open("wb") as said:
        server = subprocess.Popen(
            [*command, "--data", f"{temporary}/data"], cwd=temporary, stdout=said, stderr=said
        )
    # Not by a proxy that the environment may name.
    ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    try:
        while server.poll() is None:
            try:
                with ask(f"http://127.0.0.1:{port}{QUESTION}", timeout=5):
                    return time.perf_counter() - began
            except OSError:  # nobody listens yet, or not with the corpus
                time.sleep(0.05)
        raise SystemExit(f"The server ended before it answered:\n{log.read_text()[-2000:]}")
    finally:
        server.terminate()
        server.wait(30)


def run(*command: str) -> str:
    """Run a command and return what it printed."""
    if shutil.which(command[0]) is None:
        raise SystemExit(f"{command[0]} is not installed.")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}.")
    return done.stdout


if __name__ == "__main__":
    main()
