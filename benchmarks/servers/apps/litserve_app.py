"""LitServe around SentenceTransformer, batching as its documentation shows.

python litserve_app.py MODEL PORT
"""

import sys
from typing import Any

import litserve as ls
from sentence_transformers import SentenceTransformer


class Embedder(ls.LitAPI):
    def setup(self, device: str) -> None:
        self.model = SentenceTransformer(sys.argv[1], device="cpu")

    def decode_request(self, request: dict[str, Any], **_: object) -> list[str]:
        texts: list[str] = request["inputs"]
        return texts

    def batch(self, inputs: list[list[str]]) -> tuple[list[str], list[int]]:
        return [text for one in inputs for text in one], [len(one) for one in inputs]

    def predict(self, x: tuple[list[str], list[int]], **_: object) -> list[list[list[float]]]:
        vectors = self.model.encode(x[0], normalize_embeddings=True)
        found, start = [], 0
        for count in x[1]:
            found.append(vectors[start : start + count].tolist())
            start += count
        return found

    def unbatch(self, output: list[list[list[float]]]) -> list[list[list[float]]]:
        return output

    def encode_response(self, output: list[list[float]], **_: object) -> list[list[float]]:
        return output


if __name__ == "__main__":
    server = ls.LitServer(
        Embedder(max_batch_size=64, batch_timeout=0.005, api_path="/embed"), accelerator="cpu"
    )
    server.run(port=int(sys.argv[2]), log_level="warning", generate_client_file=False)
