"""A fuzzer that follows coverage (libFuzzer, through atheris) on one parser or all.

    pip install atheris
    python -m benchmarks.fuzz.guided [--runs 100000] [TARGET ...]

Each target is a process of its own, since libFuzzer ends the process; a finding stops it with the
input, which is kept in the directory named at the end.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.arguments import whole_number

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Fuzz each target in turn; end with 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--runs", type=whole_number, default=100_000, help="of each target")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        fuzz(options.targets[0], options.runs)
        return
    # Not above: the process that fuzzes must see it imported to follow its branches.
    from benchmarks.fuzz.targets import TARGETS

    if unknown := [name for name in options.targets if name not in TARGETS]:
        parser.error(f"there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    if importlib.util.find_spec("atheris") is None:
        raise SystemExit("atheris is not installed: pip install atheris")
    failed = []
    for name in options.targets or TARGETS:
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name, "--one", name, "--runs", str(options.runs)],
            capture_output=True, text=True, cwd=ROOT,
        )  # fmt: skip
        lines = [line for line in done.stderr.splitlines() if "cov:" in line]
        print(f"{name:16} {'found something' if done.returncode else 'nothing found'}; "
              f"{lines[-1].strip() if lines else done.stderr[-2000:]}", flush=True)  # fmt: skip
        if done.returncode:
            failed.append(name)
            print(done.stderr[-3000:])
    sys.exit(1 if failed else 0)


def fuzz(name: str, runs: int) -> None:
    """Fuzz one target in this process, until it fails or `runs` are over."""
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]

    with atheris.instrument_imports(include=["service", "benchmarks.fuzz"]):
        from benchmarks.fuzz.targets import TARGETS, holds, seeds
    logging.disable(logging.CRITICAL)
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as corpus:
        for number, content in enumerate(seeds(ROOT)):
            (Path(corpus) / str(number)).write_bytes(content)
        atheris.Setup(
            [sys.argv[0], f"-runs={runs}", "-max_len=4096", "-rss_limit_mb=2048", "-timeout=10",
             f"-artifact_prefix={tempfile.gettempdir()}/fuzz-{name}-", corpus],
            lambda content: holds(target, content),
        )  # fmt: skip
        atheris.Fuzz()


if __name__ == "__main__":
    main()
