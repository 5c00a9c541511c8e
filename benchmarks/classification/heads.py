"""What the shipped heads know with any model of their space.

    python -m benchmarks.classification.heads --data DIR [--model DIR ...]

The heads are as they ship; the texts are those that `interlingua train heads` measures them on, in
the languages that the model knows.
"""

from __future__ import annotations

import argparse

from benchmarks.arguments import existing_folder
from service.classification.head import read_head
from service.inference.encoder import Encoder
from service.shipped import shipped_heads, shipped_models
from training.default_heads import default_heads
from training.heads import accuracy, read_dev


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=existing_folder, required=True, help="docs/data.md")
    parser.add_argument("--model", type=existing_folder, nargs="*", default=shipped_models())
    options = parser.parse_args()
    print(f"{'head':12} {'model':20} {'en':>6} {'others':>7}  languages")
    measured = default_heads(options.data)
    for directory in shipped_heads():
        head = read_head(directory)
        for model in options.model:
            encoder = Encoder(model)
            texts = read_dev(
                measured[head.name], known=encoder.manifest.languages, labels=head.labels
            )
            right = {language: accuracy(head, encoder, rows) for language, rows in texts.items()}
            others = [value for language, value in right.items() if language != "en"]
            mean = sum(others) / len(others)
            figures = ", ".join(f"{language} {value:.1f}" for language, value in right.items())
            print(f"{head.name:12} {encoder.name:20} {right['en']:6.1f} {mean:7.1f}  {figures}")


if __name__ == "__main__":
    main()
