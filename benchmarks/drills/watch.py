"""A real Prometheus over local replicas, with the shipped rules."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self
from urllib.parse import quote

from benchmarks.drills.fleet import ask, free_port

_RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "rules.yml"


class Watch:
    """Prometheus while the block is entered, scraping `ports` each second."""

    def __init__(self, home: Path, ports: list[int]) -> None:
        program = shutil.which("prometheus")
        if program is None:
            raise SystemExit("prometheus is not installed (Debian: apt-get install prometheus)")
        self._port = free_port()
        targets = [f"127.0.0.1:{port}" for port in ports]
        configuration = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(_RULES)],
            "scrape_configs": [
                {"job_name": "interlingua", "static_configs": [{"targets": targets}]}
            ],
        }
        file = home / "prometheus.json"  # YAML reads JSON
        file.write_text(json.dumps(configuration))
        self._command = [
            program,
            f"--config.file={file}",
            f"--storage.tsdb.path={home / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
        ]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)
        while ask(self._port, "/-/ready")[0] != 200:
            if self._process.poll() is not None:
                raise SystemExit("prometheus ended before it was ready")
            time.sleep(0.1)
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.terminate()
        self._process.wait(20)

    def firing(self, alert: str) -> bool:
        """Return whether the alert fires now."""
        query = quote(f'ALERTS{{alertname="{alert}",alertstate="firing"}}')
        _, body = ask(self._port, f"/api/v1/query?query={query}")
        return bool(json.loads(body)["data"]["result"])

    def wait_for(
        self,
        alert: str,
        *,
        firing: bool,
        seconds: float,
        meanwhile: Callable[[], None] | None = None,
    ) -> float:
        """Return after how many seconds the alert fires, or does no more; `meanwhile` runs each."""
        began = time.perf_counter()
        while self.firing(alert) is not firing:
            if time.perf_counter() - began > seconds:
                raise SystemExit(f"{alert}: firing is not {firing} within {seconds:.0f} s")
            if meanwhile is not None:
                meanwhile()
            time.sleep(1)
        return time.perf_counter() - began
