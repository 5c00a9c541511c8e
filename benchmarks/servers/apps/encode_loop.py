"""Encode the texts of a file again and again, when told; print sentences a second.

python encode_loop.py WHAT MODEL TEXTS      then a line of seconds on standard input for each go
"""

import json
import sys
import time
from collections.abc import Callable, Sequence


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


def onnxruntime_alone(model: str) -> Callable[[Sequence[str]], object]:
    """Return the bare runtime: length-sorted batches of 384 tokens, two one-thread sessions."""
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    import numpy as np
    import onnxruntime as ort
    from tokenizers import Tokenizer

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(Path(model) / "onnx/model.onnx"), options)
    tokenizer = Tokenizer.from_file(str(Path(model) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    threads = ThreadPoolExecutor(2)

    def run(batch: list[list[int]]) -> None:
        ids = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = session.run(None, feed)[0]
        np.matmul(mask[:, None].astype(np.float32), states)

    ready: dict[int, list[list[list[int]]]] = {}

    def encode(texts: Sequence[str]) -> None:
        if id(texts) not in ready:  # tokens are made once: this is the runtime alone
            tokens = sorted((e.ids for e in tokenizer.encode_batch(list(texts))), key=len)
            batches: list[list[list[int]]] = [[]]
            for one in tokens:
                if batches[-1] and len(one) * (len(batches[-1]) + 1) > 384:
                    batches.append([])
                batches[-1].append(one)
            ready[id(texts)] = batches
        list(threads.map(run, ready[id(texts)]))

    return encode


def interlingua(model: str, runtime: str, precision: str) -> Callable[[Sequence[str]], object]:
    import asyncio
    from pathlib import Path

    from service.hardware import available_cores
    from service.huggingface.bundle import read_model
    from service.inference.choosing import Wishes, choose
    from service.inference.encoder import Encoder
    from service.inference.engine import Engine

    bundle, cores = read_model(Path(model)), available_cores()
    wishes = Wishes(runtime, precision, cores)  # type: ignore[arg-type]
    encoder = Encoder(bundle, execution=choose(bundle, wishes).execution)
    engine = Engine(workers=cores, batch_tokens=4096, queue_tokens=1 << 24)

    async def encode(texts: Sequence[str]) -> None:
        await engine.embed(encoder, texts)

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
