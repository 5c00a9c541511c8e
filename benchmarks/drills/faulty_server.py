"""`interlingua serve` that takes orders on standard input: `NAME SECONDS` injects a fault.

    python -m benchmarks.drills.faulty_server PORT DATA MODEL

Each order is answered with a line `begun NAME` and, when the fault is over, `over NAME`.
"""

from __future__ import annotations

import signal
import sys
import threading
import time

from fastapi import FastAPI

from benchmarks.drills.injected import INSIDE
from service import server
from service.api.state import state_of
from service.app import create_app
from service.inference.opening import Opening
from service.settings import Settings
from service.starting import start_server


def main() -> None:
    """Serve until a signal comes."""
    port, data, model = sys.argv[1:]
    made: list[FastAPI] = []

    def remember(settings: Settings, opening: Opening) -> FastAPI:
        made.append(create_app(settings, opening=opening))
        return made[-1]

    setattr(server, "create_app", remember)  # noqa: B010 - mypy minds the assignment
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    threading.Thread(target=take_orders, args=(made,), daemon=True).start()
    settings = Settings.model_validate({
        "port": int(port), "data": data, "model": [model], "demo_corpus": False,
        "client_timeout_seconds": 2.0, "log_format": "json", "drain_seconds": 5.0,
    })  # fmt: skip
    sys.exit(start_server(settings))


def take_orders(made: list[FastAPI]) -> None:
    """Inject what standard input names, one after the other."""
    for line in sys.stdin:
        name, seconds = line.split()
        with INSIDE[name](state_of(made[0]).resources):
            print(f"begun {name}", flush=True)
            time.sleep(float(seconds))
        print(f"over {name}", flush=True)


if __name__ == "__main__":
    main()
