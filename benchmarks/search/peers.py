"""hnswlib, usearch and Milvus Lite on the same vectors; run by `run.py` in their own environment.

    python -m venv PEERS && PEERS/bin/pip install numpy hnswlib usearch pymilvus milvus-lite
    PEERS/bin/python benchmarks/search/peers.py NAME WORK SECONDS

Needs numpy and the peer, nothing of this project but `measure.py`'s rules, which are repeated here
in few lines. WORK holds vectors.npy, queries.npy and threshold.npy. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Search = Callable[[Any], Any]  # queries [n, E] -> rows [n, 10]
EFFORTS = (32, 64, 128, 256, 512, 1024)
WANTED = 0.98


def main() -> None:
    """Build, find the least effort that reaches the recall, and measure it."""
    if len(sys.argv) != 4 or sys.argv[1] not in PEERS:
        raise SystemExit(f"peers.py NAME WORK SECONDS, NAME of {', '.join(PEERS)}")
    name, folder, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    vectors, queries, threshold = (
        np.load(folder / f"{part}.npy") for part in ("vectors", "queries", "threshold")
    )
    before, began = resident_mib(), time.perf_counter()
    set_effort, search = PEERS[name](vectors, folder)
    figures: dict[str, float] = {"build s": time.perf_counter() - began}
    figures["memory MiB"] = resident_mib() - before
    few = queries[:200]
    for effort in EFFORTS:
        set_effort(effort)
        found = search(few)
        near = [
            np.count_nonzero(vectors[row] @ query >= least - 1e-6)
            for row, query, least in zip(found, few, threshold, strict=False)
        ]
        figures["recall@10"] = float(np.minimum(near, 10).mean()) / 10
        if figures["recall@10"] >= WANTED:
            break
    figures["effort"] = effort
    for at_once in (1, 32):
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            search(queries[done % 900 : done % 900 + at_once])
            done += at_once
        figures[f"queries/s, {at_once} a call"] = done / (time.perf_counter() - began)
    print(json.dumps(figures))


def hnswlib(vectors: Any, folder: Path) -> tuple[Callable[[int], None], Search]:  # noqa: ANN401, ARG001
    """M 32, efConstruction 100, built on all cores."""
    import hnswlib as native

    index = native.Index(space="ip", dim=vectors.shape[1])
    index.init_index(max_elements=len(vectors), ef_construction=100, M=32)
    index.add_items(vectors)
    index.set_num_threads(1)
    return index.set_ef, lambda batch: index.knn_query(batch, k=10)[0].astype(np.int64)


def usearch(vectors: Any, folder: Path) -> tuple[Callable[[int], None], Search]:  # noqa: ANN401, ARG001
    """Its default graph, in half precision."""
    from usearch.index import Index

    index = Index(ndim=vectors.shape[1], metric="ip", dtype="f16")
    index.add(np.arange(len(vectors)), vectors)

    def set_effort(effort: int) -> None:
        index.expansion_search = effort

    def search(batch: Any) -> Any:  # noqa: ANN401
        keys = index.search(batch, 10, threads=1).keys
        return np.asarray(keys).reshape(len(batch), -1).astype(np.int64)

    return set_effort, search


def milvus_lite(vectors: Any, folder: Path) -> tuple[Callable[[int], None], Search]:  # noqa: ANN401
    """The embedded engine, flat: it compares every vector."""
    from pymilvus import DataType, MilvusClient

    client = MilvusClient(str(folder / "peer.db"))
    if client.has_collection("bench"):
        client.drop_collection("bench")
    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=vectors.shape[1])
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="FLAT", metric_type="IP")
    client.create_collection("bench", schema=schema, index_params=indexes)
    for at in range(0, len(vectors), 1000):
        rows = [{"id": at + i, "vector": v} for i, v in enumerate(vectors[at : at + 1000])]
        client.insert("bench", rows)

    def search(batch: Any) -> Any:  # noqa: ANN401
        answers = client.search("bench", data=list(batch), limit=10)
        return [[hit["id"] for hit in row] for row in answers]

    return lambda _: None, search


def resident_mib() -> float:
    """Return the process' memory that no file backs, in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


PEERS = {"hnswlib": hnswlib, "usearch": usearch, "milvus-lite": milvus_lite}

if __name__ == "__main__":
    main()
