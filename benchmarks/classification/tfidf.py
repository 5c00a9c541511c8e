"""The same logistic regression on TF-IDF of character n-grams: what words alone would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.classification.example import Example


def tfidf_accuracies(
    train: Sequence[Example], tests: Mapping[str, Sequence[Example]]
) -> dict[str, float]:
    """Return the accuracy, %, in each language of `tests`, fitted on `train`."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=2),
        LogisticRegressionCV(
            Cs=(1.0, 10.0, 100.0),
            cv=3,
            l1_ratios=(0.0,),
            scoring="accuracy",
            use_legacy_attributes=False,
        ),
    )
    model.fit([e.text for e in train], [e.labels[0] for e in train])
    return {
        code: 100 * float(model.score([e.text for e in rows], [e.labels[0] for e in rows]))
        for code, rows in tests.items()
    }
