"""Every operation of the OpenAPI document, by schemathesis: all phases, all checks but those named.

    pip install schemathesis
    python -m benchmarks.fuzz.openapi [--examples 100] [PROGRAM]

PROGRAM is the `schemathesis` to run, where it has an environment of its own. Left out are checks of
what the service does on purpose, see `ON_PURPOSE`, and `/`, which is a page beside its POST.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.arguments import whole_number
from benchmarks.drills.fleet import ask, free_port
from benchmarks.overload.served import Served

ROOT = Path(__file__).parents[2]

ON_PURPOSE = (
    # Fields that are not known are ignored: clients send those of other servers.
    "negative_data_rejection",
    # Documents, filters and names are checked beyond what a schema can say.
    "positive_data_acceptance",
    # DELETE asks a running job to end; it can be looked at until it is forgotten.
    "use_after_free",
)


def main() -> None:
    """Start a server, have it tested, look into its log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default="schemathesis")
    parser.add_argument("--examples", type=whole_number, default=100, help="of each operation")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    options = parser.parse_args()
    program = shutil.which(options.program)
    if program is None:
        raise SystemExit(f"there is no program {options.program!r}: pip install schemathesis")
    with (
        tempfile.TemporaryDirectory() as home,
        Served(Path(home), free_port(), max_inputs="64", request_timeout_seconds="10") as served,
    ):
        code = subprocess.run(
            [program, "run", f"http://127.0.0.1:{served.port}/openapi.json",
             "--checks=all", f"--exclude-checks={','.join(ON_PURPOSE)}",
             "--exclude-path=/", f"--phases={options.phases}", f"--max-examples={options.examples}",
             "--seed=0", "--workers=1", "--no-shrink", "--continue-on-failure",
             "--generation-database=none", "--no-color"],
            cwd=home,
            env=os.environ | {
                "PYTHONPATH": str(ROOT), "SCHEMATHESIS_HOOKS": "benchmarks.fuzz.schemathesis_hooks",
            },
        ).returncode  # fmt: skip
        alive = ask(served.port, "/health/ready")[0] == 200
        log = served.log.read_text(errors="replace")
    print(f"ready in the end: {alive}; tracebacks in the log: {log.count('Traceback')}")
    sys.exit(code or not alive or "Traceback" in log)


if __name__ == "__main__":
    main()
