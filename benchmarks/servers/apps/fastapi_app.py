"""What most people write first: FastAPI around SentenceTransformer.

python fastapi_app.py MODEL PORT
"""

import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer

app = FastAPI()
model = SentenceTransformer(sys.argv[1], device="cpu")


class Body(BaseModel):
    inputs: list[str]


@app.post("/embed")
def embed(body: Body) -> list[list[float]]:
    vectors: list[list[float]] = model.encode(body.inputs, normalize_embeddings=True).tolist()
    return vectors


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")
