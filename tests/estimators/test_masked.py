"""Masked arrays and missing labels."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

import skem
from skem.images import Deskew, Reshape

X, y = load_iris(return_X_y=True)
HOLES = np.random.default_rng(0).random(X.shape) < 0.1
HOLES[:, 0] = False  # Each sample needs a value.
MASKED = np.ma.array(np.where(HOLES, 999.0, X), mask=HOLES)
WITH_NAN = np.where(HOLES, np.nan, X)
SOME = np.ma.array(np.ones(150), mask=y == 2)
QUICK = {"max_iter": 2, "tol": 0, "random_state": 0}
SEARCH = {
    "n_components": 3,
    "n_blocks": 1,
    "reg_covar": 0.1,
    "training_temperature": 2.0,
    "cv": 2,
    "random_state": 0,
}
SKEM, SDGM, MIXTURE = (
    skem.SKEMClassifier(6, **QUICK),
    skem.SDGMClassifier(1, max_iter=1),
    skem.GaussianMixture(3),
)


@pytest.mark.parametrize(
    "model",
    [
        SKEM,
        skem.DiscriminativePSKEMClassifier(6, discriminative_iter=1, **QUICK),
        skem.DiscriminativePSKEMClassifierCV(scaling="quantile", **SEARCH),
        skem.GaussianMixture(2, **QUICK),
        skem.GaussianMixturePath(n_components=2, covariance_types=["diag"], random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_masked_entries_and_pandas_na_are_missing_values(model):
    expected = clone(model).fit(WITH_NAN, y)
    for samples in MASKED, [*MASKED], pd.DataFrame(WITH_NAN).convert_dtypes():
        model.fit(samples, y)
        for method in ("predict", "predict_proba", "decision_function", "score_samples", "impute", "bic"):
            if hasattr(model, method):
                assert_array_equal(getattr(model, method)(samples), getattr(expected, method)(WITH_NAN))
    # Integers hold no NaN.
    whole = np.ma.masked_equal([[1, 2], [3, 999], [0, 1]], 999)
    assert MIXTURE.set_params(n_components=2).fit(whole).impute(whole)[1, 1] < 3


@pytest.mark.parametrize(
    "model",
    [SDGM, skem.KMeans(3), skem.DensityOutlierDetector()],
    ids=lambda model: type(model).__name__,
)
def test_masked_features(model):
    message = rf"Input X of \w+ has {HOLES.sum()} masked entries, of 600, .*fill them in"
    with pytest.raises(ValueError, match=message):
        model.fit(MASKED, y)
    model.fit(np.ma.array(X), y)  # A mask without masked entries.
    with pytest.raises(ValueError, match=message):
        getattr(model, "predict" if hasattr(model, "predict") else "transform")(MASKED)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MIXTURE.partial_fit(MASKED), "masked entries"),
        *(
            (
                lambda t=t: t.fit_transform(MASKED.reshape(-1, 2, 2)),
                f"{type(t).__name__}: X has .* masked entries",
            )
            for t in (Deskew(), Reshape())
        ),
        *(
            (lambda m=model: m.fit(X, np.ma.masked_equal(y, 2)), "y has 50 masked entries, of 150")
            for model in (SKEM, SDGM, skem.DiscriminativePSKEMClassifierCV())
        ),
        *(
            (lambda m=model: m.fit(X, y, SOME), "sample_weight has 50 masked entries, of 150")
            for model in (SKEM, SDGM, skem.DiscriminativePSKEMClassifierCV(), MIXTURE, skem.KMeans(2))
        ),
        (lambda: skem.KMeans(2).fit(X).score(X, sample_weight=SOME), "sample_weight has 50 masked entries"),
        *(
            (lambda m=model: m.fit(X, y), "masked entries")
            for model in (
                skem.GaussianMixture(3, init_params={"means": MASKED[::50]}),
                skem.KMeans(3, init=MASKED[::50]),
                skem.SKEMClassifier(6, priors=np.ma.masked_less(np.full(3, 1 / 3), 1)),
                skem.SKEMClassifier(6, options={"sharing": np.ma.masked_equal(np.eye(3), 0)}),
            )
        ),
    ],
)
def test_other_masked_arrays_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels(missing):
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    labels[[7, 9]] = missing
    message = "y contains 2 missing labels .*, of 150, the first in row 7: leave them out"
    for model in (SKEM, SDGM, skem.DiscriminativePSKEMClassifierCV()):
        with pytest.raises(ValueError, match=message):
            model.fit(X, labels)
    with pytest.raises(ValueError, match=message):
        SKEM.fit(X, y).responsibilities(X, labels)
