"""Encode the texts of a file again and again, when told; print sentences a second.

python encode_loop.py WHAT MODEL TEXTS      then a line of seconds on standard input for each go
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any


def sentence_transformers(model: str, backend: str) -> Callable[[Sequence[str]], object]:
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(model, device="cpu", backend=backend)
    return lambda texts: loaded.encode(texts, batch_size=32, normalize_embeddings=True)


def fastembed(model: str) -> Callable[[Sequence[str]], object]:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        model="bench/minilm",
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf="bench/minilm"),
        dim=384,
        model_file="onnx/model.onnx",
    )
    loaded = TextEmbedding("bench/minilm", specific_model_path=model)
    return lambda texts: list(loaded.embed(texts))


Batch = dict[str, Any]


def sorted_batches(model: str, texts: Sequence[str], step: int) -> list[Batch]:
    """Return padded batches of 384 tokens at most, of like length, widths rounded up to `step`."""
    import numpy as np
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{model}/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    groups: list[list[list[int]]] = [[]]
    for tokens in sorted((e.ids for e in tokenizer.encode_batch(list(texts))), key=len):
        width = -(-len(tokens) // step) * step
        if groups[-1] and width * (len(groups[-1]) + 1) > 384:
            groups.append([])
        groups[-1].append(tokens)
    batches = []
    for group in groups:
        width = -(-len(group[-1]) // step) * step
        ids = np.zeros((len(group), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(group):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        batches.append({"ids": ids, "mask": mask})
    return batches


def alone(run: Callable[[int, Batch], object], model: str, step: int) -> Callable[..., object]:
    """Return a loop over ready batches on two threads: the runtime, and nothing else."""
    import threading
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    ready: list[Batch] = []
    free = [0, 1]
    lock = threading.Lock()

    def one(batch: Batch) -> None:
        with lock:
            slot = free.pop()
        states = run(slot, batch)
        with lock:
            free.append(slot)
        np.matmul(batch["mask"][:, None].astype(np.float32), states)

    threads = ThreadPoolExecutor(2)

    def encode(texts: Sequence[str]) -> None:
        if not ready:
            ready.extend(sorted_batches(model, texts, step))
        list(threads.map(one, ready))

    return encode


def onnxruntime_alone(model: str) -> Callable[..., object]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(f"{model}/encoder.onnx", options)
    return alone(lambda _, batch: session.run(None, batch)[0], model, 1)


def openvino_alone(model: str, precision: str) -> Callable[..., object]:
    """Return OpenVINO with padding, compiled and compressed as the service does otherwise."""
    import openvino as ov

    from service.openvino.session import properties
    from service.openvino.weights import fold_constants, store_weights

    core = ov.Core()
    loaded = core.read_model(f"{model}/encoder.onnx")
    fold_constants(loaded)
    store_weights(loaded, precision)  # type: ignore[arg-type]
    compiled = core.compile_model(loaded, "CPU", properties(precision, 2))  # type: ignore[arg-type]
    requests = [compiled.create_infer_request() for _ in range(2)]

    def run(slot: int, batch: Batch) -> object:
        requests[slot].infer(batch, share_inputs=True)
        return requests[slot].get_output_tensor(0).data

    return alone(run, model, 8)


def interlingua(
    model: str, runtime: str, precision: str, per_request: str, clients: str
) -> Callable[..., object]:
    """Return the service's engine without HTTP: `clients` each send one request after another."""
    import asyncio
    from pathlib import Path

    from service.hardware import available_cores
    from service.inference.encoder import Encoder
    from service.inference.engine import Engine
    from service.inference.execution import Execution

    cores, size = available_cores(), int(per_request)
    execution = Execution(runtime, precision, streams=cores)  # type: ignore[arg-type]
    encoder = Encoder(Path(model), execution=execution)
    engine = Engine(workers=cores, batch_tokens=4096, queue_tokens=1 << 24)

    async def encode(texts: Sequence[str]) -> None:
        parts = iter([texts[start : start + size] for start in range(0, len(texts), size)])

        async def client() -> None:
            for part in parts:
                await engine.embed(encoder, part)

        await asyncio.gather(*(client() for _ in range(int(clients))))

    return lambda texts: asyncio.run(encode(texts))


def main() -> None:
    what, model, file = sys.argv[1:]
    with open(file, encoding="utf-8") as lines:  # noqa: PTH123
        texts = [json.loads(line) for line in lines]
    name, *settings = what.split(":")
    makers: dict[str, Callable[..., Callable[[Sequence[str]], object]]] = {
        "sentence-transformers": sentence_transformers,
        "fastembed": fastembed,
        "onnxruntime": onnxruntime_alone,
        "openvino": openvino_alone,
        "interlingua": interlingua,
    }
    encode = makers[name](model, *settings)
    encode(texts)
    print("ready", flush=True)
    for line in sys.stdin:
        began, done = time.perf_counter(), 0
        while done == 0 or time.perf_counter() - began < float(line):
            encode(texts)
            done += len(texts)
        print(done / (time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
