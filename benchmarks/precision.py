"""What each precision costs: how near vectors come to full precision, alone and in batches.

    python -m benchmarks.precision MODEL [--texts 2000] [--pairs en.dev.tsv.gz]

The texts have 3 to 160 words of the demo corpus. `alone` compares a text's vector from a batch of
random neighbours with the one it has by itself. `--pairs` names a file with the columns sentence1,
sentence2 and score; the figure is Spearman's correlation of cosines with scores, x 100.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from benchmarks.arguments import existing_folder, whole_number
from benchmarks.pairs import pairs_file, spearman
from benchmarks.servers.texts import mixed_texts
from service.huggingface.bundle import read_model
from service.inference.encoder import Encoder
from service.inference.execution import Execution, has_openvino
from service.inference.vectors import normalise

_ALONE = 200


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=existing_folder)
    parser.add_argument("--texts", type=whole_number, default=2000)
    parser.add_argument("--pairs", type=pairs_file)
    options = parser.parse_args()
    bundle, texts = read_model(options.model), mixed_texts(options.texts)
    ways = [Execution()]
    if has_openvino():
        from service.openvino.session import supported_precisions

        ways += [Execution("openvino", precision) for precision in supported_precisions()]
    full = None
    print(f"{'':18} {'least':>8} {'mean':>8} {'alone, least':>13} {'pairs':>7}")
    for way in ways:
        encoder = Encoder(bundle, execution=replace(way, streams=1))
        vectors = normalise(encoder.encode(texts, normalize=False))
        full = vectors if full is None else full
        cosines = (vectors * full).sum(axis=1)
        some = texts[:: max(1, len(texts) // _ALONE)]
        alone = normalise(np.stack([encoder.encode(text, normalize=False) for text in some]))
        same = (alone * vectors[:: max(1, len(texts) // _ALONE)]).sum(axis=1)
        pairs = ""
        if options.pairs:
            sides = [normalise(encoder.encode(s, normalize=False)) for s in options.pairs.sides]
            pairs = f"{spearman(sides, options.pairs.scores):7.2f}"
        print(
            f"{way.name:18} {cosines.min():8.4f} {cosines.mean():8.4f} {same.min():13.6f} {pairs}",
            flush=True,
        )


if __name__ == "__main__":
    main()
