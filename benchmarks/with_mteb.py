"""mteb's own evaluator on a model and on sentence pairs of your own.

    python -m benchmarks.with_mteb --model all-minilm-l6-v2 --pairs eval/stsb/en.dev.tsv.gz

It needs mteb (`pip install mteb`); nothing is fetched. The file, gzip or not, has the columns
sentence1, sentence2 and score, as the STS benchmark has. With `--sentence-transformers DIR` the
same task is given to sentence-transformers' own model, to compare.
"""

from __future__ import annotations

import argparse

from benchmarks.arguments import existing_folder
from benchmarks.pairs import Pairs, pairs_file

try:
    import datasets
    import mteb
    from mteb.abstasks.sts import AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata
except ModuleNotFoundError as missing:
    raise SystemExit(f"{missing.name} is not installed: pip install mteb") from None

from service.standalone.mteb import MtebEncoder


class OwnPairs(AbsTaskSTS):  # type: ignore[misc]  # mteb is not there when types are checked
    """Sentence pairs from a file, as a task of mteb."""

    metadata = TaskMetadata(
        name="OwnPairs",
        description="Sentence pairs with people's scores, from a file of one's own.",
        reference=None,
        dataset={"path": "local/own-pairs", "revision": "1"},
        type="STS",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="cosine_spearman",
        date=None,
        domains=None,
        task_subtypes=None,
        license=None,
        annotations_creators=None,
        dialect=None,
        sample_creation=None,
        bibtex_citation=None,
    )

    def __init__(self, pairs: Pairs) -> None:
        super().__init__()
        columns = dict(zip(("sentence1", "sentence2"), pairs.sides, strict=True))
        split = datasets.Dataset.from_dict({**columns, "score": pairs.scores.tolist()})
        self.dataset = {"test": split}
        self.data_loaded = True

    def load_data(self, **_: object) -> None:
        """Do nothing: the pairs are here."""


def main() -> None:
    """Evaluate and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="interlingua-fast")
    parser.add_argument("--pairs", type=pairs_file, required=True)
    parser.add_argument("--sentence-transformers", type=existing_folder, metavar="DIR")
    options = parser.parse_args()
    models = {options.model: MtebEncoder(options.model)}
    if options.sentence_transformers:
        from sentence_transformers import SentenceTransformer

        theirs = SentenceTransformer(str(options.sentence_transformers), device="cpu")
        models["sentence-transformers"] = theirs
    for name, model in models.items():
        found = mteb.evaluate(model, OwnPairs(options.pairs), cache=None, show_progress_bar=False)
        (scores,) = found.task_results[0].scores["test"]
        print(f"{name}: cosine Spearman {100 * scores['cosine_spearman']:.4f}")


if __name__ == "__main__":
    main()
