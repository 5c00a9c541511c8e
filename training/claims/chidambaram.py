"""Chidambaram et al. 2018: C1 to C8."""

from __future__ import annotations

from training.claims.claim import FIVE_SEEDS, Claim, Part
from training.claims.news import HELD_OUT
from training.claims.quantities import Quantity
from training.claims.trained import System
from training.claims.training_text import CAPTIONS

_PAPER = "Chidambaram et al. 2018"
_FIVE = "Three seeds left it undecided, by their spread; these are five."
_DATA = (
    "Multi30k captions and WMT news in en and de, dialogues, running text and SNLI for the "
    "paper's mined pairs, Reddit, Wikipedia and SNLI; one language pair for four"
)


_STEPS = 1600
_LONGER = 4
"""Times as many steps for all tasks, which take turns. For two languages there are six, responses
and quick thought in both, so that one step in six is of translation: 1,067 in all, two thirds of
those of ranking alone."""
_FEWER = "As in C1, multi-task has seen two thirds as many batches of translations as ranking."


def _system(*assignments: str, steps: int = _STEPS) -> System:
    return System(
        "chidambaram",
        (
            "languages=en,de",
            *CAPTIONS,
            "words=15000",
            "unknown_buckets=500",
            "ngram_buckets=15000",
            "embedding=64",
            "layers=2",
            "width=96",
            "heads=4",
            "filter=192",
            "tower=64",
            "inference=96",
            "negatives=2",
            "negatives_pool=5000",
            "batch=64",
            "longest=30",
            "rate=0.008",
            "ranking_steps=300",
            f"steps={steps}",
            f"develop_every={steps}",
            *assignments,
        ),
        paper=assignments,
    )


MULTI = _system(steps=_LONGER * _STEPS)
RANKING = _system("tasks=translation")
_SYSTEMS = {"multi-task": MULTI, "ranking": RANKING}

_CHINESE = (
    "languages=en,zh",
    "sources=wmt_pairs,tatoeba,bible_nt",
    "held_out_source=ntrex",
    "held_out_first=0",
)

_P_AT_1 = Quantity(name="P@1 among 500", protocol="p-at-n", assignments=HELD_OUT)
_SENTEVAL = Quantity(name="SentEval, six tasks", protocol="senteval", assignments=("most=2000",))
_FEW = (
    "sets=sentiment_umsab",
    "source=en",
    "languages=de",
    "parts=0,20,100",
    # Section 4.2: texts as the encoder clips them, "90% for training and 10% for development".
    "classifier=tanh512",
    "segments=whole",
    "tuned_on=10",
)


def _sts(*assignments: str, name: str, part: str) -> Quantity:
    return Quantity(
        name=name,
        protocol="sts",
        assignments=("correlation=pearson", *assignments),
        part=part,
        unit="x 100",
    )


def _eigen(*assignments: str, name: str) -> Quantity:
    return Quantity(
        name=name, protocol="eigen", assignments=assignments, better="lower", unit="x 1000"
    )


CLAIMS = (
    Claim(
        id="C1",
        paper=_PAPER,
        says="Multi-task training keeps translation retrieval as good as ranking only.",
        figures="P@1 among 1,000: 95.1 / 88.8 / 97.8 / 99.7 against 95.4 / 87.5 / 97.5 / 99.7",
        where="Section 3.4",
        data=f"{_DATA}; the 500 held-out captions",
        systems=_SYSTEMS,
        parts=(
            Part(
                says="en to de, less than 2 points worse",
                quantity=_P_AT_1,
                first="multi-task",
                second="ranking",
                relation="not worse",
                bound=2.0,
            ),
        ),
        scale="Multi-task trains four times as long, but its tasks take turns and there are six "
        "of them: translation, and responses and quick thought in two languages, and inference. "
        "So it sees 1,067 batches of translations and ranking only 1,600: two thirds as many, and "
        "what it lacks in the comparison may come of that. The paper's systems have as many steps "
        "in all, 30 million, which are enough either way.",
    ),
    Claim(
        id="C2",
        paper=_PAPER,
        says="Multi-task training lifts STS far above ranking only, in English, in the other "
        "language and across.",
        figures="STS-B test en .763 against .558; SemEval-2017 es-es .827 / .642, en-es "
        ".769 / .587",
        where="Tables 2, 3",
        data=f"{_DATA}; STS benchmark dev in en and de, and across",
        systems=_SYSTEMS,
        parts=tuple(
            Part(
                says=says,
                quantity=quantity,
                first="multi-task",
                second="ranking",
                relation="far better",
                bound=9.1,  # half of .769 - .587, the smallest of those quoted
            )
            for says, quantity in (
                ("en", _sts("languages=en", name="STS, en", part="en")),
                ("de", _sts("languages=de", name="STS, de", part="de")),
                ("en-de", _sts("languages=de", "cross=true", name="STS, en-de", part="de")),
            )
        ),
        scale=f"{_FEWER} The bound is half of the smallest of the three differences quoted; the "
        "paper has smaller ones between English and German (.129 in English and .138 in German on "
        "the development set, .132 in English on the test set), and all three intervals lie below "
        "half of those as well.",
    ),
    Claim(
        id="C3",
        paper=_PAPER,
        says="English transfer tasks gain from the tasks besides translation.",
        figures="MR 77.9 against 67.8, TREC 96.4 against 86.8 (en-de)",
        where="Table 1",
        data=f"{_DATA}; six tasks of SentEval, 2,000 examples each",
        systems=_SYSTEMS,
        parts=(
            Part(
                says="mean of six tasks", quantity=_SENTEVAL, first="multi-task", second="ranking"
            ),
        ),
        scale=f"{_FEWER} {_FIVE}",
        seeds=FIVE_SEEDS,
        looks=2,
    ),
    Claim(
        id="C4",
        paper=_PAPER,
        says="Zero-shot inference: a head fitted on English works in the other language.",
        figures="XNLI about 65 (en 70 to 72)",
        where="Table 4",
        data=f"{_DATA}; SNLI dev and test to fit on, XNLI dev in en and de",
        systems={"multi-task": MULTI},
        parts=(
            Part(
                says="de above chance",
                quantity=Quantity(name="XNLI, de", protocol="nli"),
                first="multi-task",
                relation="at least",
                bound=100 / 3,
            ),
            Part(
                says="de less than 7 points below en",
                quantity=Quantity(name="XNLI, de", protocol="nli"),
                first="multi-task",
                against=Quantity(name="XNLI, en", protocol="nli", figure=1),
                relation="not worse",
                bound=7.0,
            ),
        ),
        scale="The head is fitted on frozen vectors; the paper uses the one trained with them, on "
        "MultiNLI as well.",
    ),
    Claim(
        id="C5",
        paper=_PAPER,
        says="Zero-shot sentiment: multi-task far above ranking only.",
        figures="fr 82.3 / 66.3, de 81.0 / 67.0",
        where="Table 5",
        data=f"{_DATA}; tweets of UMSAB, three labels, for Amazon reviews",
        systems=_SYSTEMS,
        parts=(
            Part(
                says="en to de",
                quantity=Quantity(name="sentiment, de", protocol="few-shot", assignments=_FEW),
                first="multi-task",
                second="ranking",
                relation="far better",
                bound=7.0,  # half of 81.0 - 67.0
            ),
        ),
        scale=f"Tweets have three labels and little to do with captions and news. {_FEWER} {_FIVE}",
        seeds=FIVE_SEEDS,
        looks=2,
    ),
    Claim(
        id="C6",
        paper=_PAPER,
        says="Few-shot: a fifth of the target's data with all English nearly equals all of the "
        "target's data alone.",
        figures="curve",
        where="Table 6",
        data=f"{_DATA}; tweets of UMSAB",
        systems={"multi-task": MULTI},
        parts=(
            Part(
                says="less than 3 points worse",
                quantity=Quantity(
                    name="20 % of de and all of en", protocol="few-shot", assignments=_FEW, figure=1
                ),
                first="multi-task",
                against=Quantity(
                    name="all of de alone", protocol="few-shot", assignments=_FEW, figure=3
                ),
                relation="not worse",
                bound=3.0,
            ),
        ),
        scale=_FIVE,
        seeds=FIVE_SEEDS,
        looks=2,
    ),
    Claim(
        id="C7",
        paper=_PAPER,
        says="Eigen-similarity is lower for multi-task on European pairs, and the opposite holds "
        "for en-zh.",
        figures="0.592 / 0.526 / 0.761 / 2.366 against 1.036 / 0.572 / 2.187 / 0.393",
        where="Table 7",
        data=f"{_DATA}; en-zh on WMT pairs, Tatoeba and the New Testament, measured on NTREX",
        systems={
            **_SYSTEMS,
            "multi-task, en-zh": _system(*_CHINESE, steps=_LONGER * _STEPS),
            "ranking, en-zh": _system("tasks=translation", *_CHINESE),
        },
        parts=(
            Part(
                says="en-de: lower for multi-task",
                quantity=_eigen(*HELD_OUT, name="eigen-similarity"),
                first="multi-task",
                second="ranking",
            ),
            Part(
                says="en-zh: lower for ranking",
                quantity=_eigen("source=ntrex", name="eigen-similarity, en-zh"),
                first="ranking, en-zh",
                second="multi-task, en-zh",
            ),
        ),
        scale=f"{_FEWER} Of en-zh the share depends on the tasks that there is text for in zh. "
        "Three seeds left en-de undecided (p = 0.06, against the claim); these are five.",
        seeds=FIVE_SEEDS,
        looks=2,
    ),
    Claim(
        id="C8",
        paper=_PAPER,
        says="Hard negatives mined with a ranking-only model help; SentencePiece does as well as "
        "character n-grams in two languages.",
        figures="text",
        where="Sections 2.2, 5.1",
        data=f"{_DATA}; P@1 on 500 held-out captions",
        systems={
            "ranking": RANKING,
            "no negatives": _system("tasks=translation", "negatives=0"),
            "pieces": _system("tasks=translation", "vocabulary=pieces", "pieces=6000"),
        },
        parts=(
            Part(
                says="with negatives above without",
                quantity=_P_AT_1,
                first="ranking",
                second="no negatives",
            ),
            Part(
                says="pieces less than 3 points worse than n-grams",
                quantity=_P_AT_1,
                first="pieces",
                second="ranking",
                relation="not worse",
                bound=3.0,
            ),
        ),
        scale="Of many languages, where the paper finds n-grams better, nothing is tested. "
        f"{_FIVE}",
        seeds=FIVE_SEEDS,
        looks=2,
    ),
)
