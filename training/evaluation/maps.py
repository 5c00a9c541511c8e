"""Maps of words and documents: t-SNE for the eye, and figures for what the eye is to see.

Hermann & Blunsom 2013, figure 3: names of weekdays and months of French and German lie together
though only pairs with English were trained on. Yu et al. 2018, figure 1: documents of one class
gather, whatever their language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.errors import InputError
from service.inference.session import Vectors
from service.inference.vectors import normalise
from training.data.folder import DataFolder
from training.evaluation.calendar_words import CALENDAR
from training.evaluation.documents import document_vectors
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.labelled_documents import read_labelled_sets
from training.evaluation.models import SentenceModel, require_languages, vectors_of
from training.evaluation.plots import check_ending
from training.evaluation.retrieval import accuracy


def lay_out(vectors: Vectors, *, seed: int = 0) -> npt.NDArray[np.float32]:
    """Return places on a plane, float32 [rows, 2], by t-SNE on cosine distances."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, max(2.0, (len(vectors) - 1) / 4))
    tsne = TSNE(metric="cosine", init="random", perplexity=perplexity, random_state=seed)
    places: npt.NDArray[np.float32] = tsne.fit_transform(vectors)
    return places


def draw_map(
    places: npt.NDArray[np.float32],
    groups: Sequence[str],
    path: Path,
    *,
    names: Sequence[str] = (),
) -> None:
    """Draw points into `path` (.svg or .png), a colour a group; its folder is made.

    Args:
        places: float32 [rows, 2].
        groups: Of each.
        path: Of the picture.
        names: Written beside each point, where there are any.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Picture

    with rc_context({"svg.hashsalt": "interlingua"}):  # the same places, the same file
        picture = Picture(figsize=(6.4, 4.8), layout="constrained")
        axes = picture.add_subplot()
        for group in sorted(set(groups)):
            own = [i for i, name in enumerate(groups) if name == group]
            axes.scatter(places[own, 0], places[own, 1], s=14, label=group)
            for i in own if names else ():
                axes.annotate(names[i], (places[i, 0], places[i, 1]), fontsize=7)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.legend(fontsize=8)
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def same_class_abroad(
    vectors: Vectors, labels: Sequence[str], languages: Sequence[str], *, count: int = 5
) -> float:
    """Return in percent how many of the nearest texts in other languages have a text's class.

    Args:
        vectors: float32 [rows, D] of unit length.
        labels: Class of each.
        languages: Of each.
        count: Neighbours that are looked at.
    """
    classes, tongues = np.array(labels), np.array(languages)
    scores = vectors @ vectors.T
    scores[tongues[:, None] == tongues] = -np.inf
    found = np.argsort(-scores, axis=1)[:, :count]
    return 100.0 * float((classes[found] == classes[:, None]).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class WordMap:
    """What may be changed with `--set`."""

    languages: tuple[str, ...] = ("fr", "de")
    picture: Path | None = None  # where the map is drawn

    def measure(self, model: SentenceModel, _: Callable[[], DataFolder]) -> list[Figure]:
        """Return how often a weekday's or month's nearest name in the other language is right.

        Raises:
            InputError: A language has no names here, or the model no encoder for it.
        """
        if self.picture is not None:
            check_ending(self.picture, field="picture")
        languages = require_languages(model, self.languages, least=2)
        if unknown := [name for name in languages if name not in CALENDAR]:
            raise InputError(
                f"Names of weekdays and months are here for {', '.join(CALENDAR)}.",
                field="languages",
                given=",".join(unknown),
            )
        vectors = {
            language: vectors_of(model, CALENDAR[language], language, unit=True)
            for language in languages
        }
        by_pair = {
            f"{query}-{target}": accuracy(vectors[query], vectors[target])
            for query in languages
            for target in languages
            if query != target
        }
        if self.picture is not None:
            draw_map(
                lay_out(np.concatenate([vectors[name] for name in languages])),
                [name for name in languages for _ in CALENDAR[name]],
                self.picture,
                names=[word for name in languages for word in CALENDAR[name]],
            )
        return [
            mean_figure(
                "word-map",
                f"{len(CALENDAR[languages[0]])} weekdays and months",
                "nearest name is the translation, %",
                by_pair,
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMap:
    """What may be changed with `--set`."""

    sets: tuple[str, ...] = ("masakhanews", "newstopics")  # under eval/
    languages: tuple[str, ...] = ()  # the model's where none
    picture: Path | None = None  # where the map is drawn
    column: str = "label"

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the part of nearest documents abroad that have a document's class.

        The second figure is what chance gives: the mean share of its class among the others.

        Raises:
            InputError: A set or a language is missing.
        """
        if self.picture is not None:
            check_ending(self.picture, field="picture")
        languages = require_languages(model, self.languages, least=2)
        sets = read_labelled_sets(folder(), self.sets, languages, column=self.column)
        vectors, labels, tongues = [], [], []
        for language, texts in sets.items():
            documents = texts.train
            vectors.append(
                normalise(document_vectors(model, [one.text for one in documents], language))
            )
            labels += [one.label for one in documents]
            tongues += [language] * len(documents)
        joined = np.concatenate(vectors)
        if self.picture is not None:
            draw_map(lay_out(joined), labels, self.picture)
        chance = np.mean(
            [
                np.mean([b == a for b, where in zip(labels, tongues, strict=True) if where != home])
                for a, home in zip(labels, tongues, strict=True)
            ]
        )
        dataset = f"{'+'.join(self.sets)}, {len(labels):,} documents"
        metric = "of 5 nearest in other languages with the same class, %"
        reached = same_class_abroad(joined, labels, tongues)
        return [
            Figure(protocol="document-map", dataset=dataset, metric=metric, value=reached),
            Figure(
                protocol="document-map",
                dataset=dataset,
                metric=f"{metric}, by chance",
                value=100.0 * float(chance),
            ),
        ]
