"""What the machine allows: products of matrices a second, and HTTP without a model.

    python -m benchmarks.servers.limits

Products are OpenVINO's, of 1,024 rows with a weight of 1,024 x 1,024, in each precision that the
processor has: on one thread, and on a thread a core. HTTP is uvicorn with an application that reads
the body and writes as many bytes as a vector has in JSON: what any server of this kind, client
included, cannot pass. Needs the extras cpu and openvino.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as ops

from benchmarks.arguments import above_zero
from benchmarks.servers.peers import ECHO
from benchmarks.servers.processes import running
from benchmarks.servers.workloads import WORKLOADS
from benchmarks.serving import machine
from service.hardware import available_cores
from service.inference.wishes import Precision
from service.openvino.session import properties, supported_precisions
from service.openvino.weights import store_weights

_SIDE = 1024
_CHOSEN = ("short-1", "short-64", "short-256")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=above_zero, default=3.0, help="of each measurement")
    seconds = parser.parse_args().seconds
    print(f"machine: {machine()}\n\nproducts, 10^9 operations a second")
    for precision in supported_precisions():
        one, all_cores = (products(precision, n, seconds) for n in (1, available_cores()))
        print(
            f"{precision:10} one thread {one:7,.0f}   a thread a core {all_cores:7,.0f}", flush=True
        )
    print("\nHTTP without a model, requests a second")
    with running(ECHO, environments=Path(), models=Path()) as server:
        for workload in WORKLOADS:
            if workload.name in _CHOSEN:
                load = workload.run(server, seconds)
                print(
                    f"{workload.name:10} {load.per_second:8,.0f}   p50 {load.percentile(50):.2f} ms"
                )


def products(precision: Precision, threads: int, seconds: float) -> float:
    """Return how many multiplications and additions `threads` threads do a second, in 10^9."""
    rows = ops.parameter([-1, _SIDE], np.float32)
    weight = np.random.default_rng(0).standard_normal((_SIDE, _SIDE)).astype(np.float32)
    model = ov.Model([ops.matmul(rows, ops.constant(weight), False, True)], [rows])
    store_weights(model, precision)
    compiled = ov.Core().compile_model(model, "CPU", properties(precision, threads))
    given = np.random.default_rng(1).standard_normal((_SIDE, _SIDE)).astype(np.float32)

    def multiply(until: float) -> int:
        request, done = compiled.create_infer_request(), 0
        while time.perf_counter() < until:
            request.infer([given], share_inputs=True)
            done += 1
        return done

    with ThreadPoolExecutor(threads) as pool:
        for length in (seconds / 3, seconds):  # the first warms up
            began = time.perf_counter()
            done = sum(pool.map(multiply, [began + length] * threads))
            spent = time.perf_counter() - began
    return 2e-9 * _SIDE**3 * done / spent


if __name__ == "__main__":
    main()
