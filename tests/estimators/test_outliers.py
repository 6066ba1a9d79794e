"""Outliers by a threshold on densities."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from skem import DensityOutlierDetector, GaussianMixture, KMeans, SKEMClassifier

X, y = load_iris(return_X_y=True)


@parametrize_with_checks([DensityOutlierDetector(GaussianMixture(2, random_state=0))])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_threshold_of_a_normal_distribution():
    rows = np.random.default_rng(0).normal(3.0, 2.0, size=(20_000, 1))
    detector = DensityOutlierDetector(contamination=0.05).fit(rows)
    bound = norm.ppf(0.975)
    assert detector.offset_ == pytest.approx(norm(scale=2.0).logpdf(2 * bound), abs=0.02)
    assert_array_equal(
        detector.predict([[3.0], [3 + 1.9 * bound], [3 + 2.1 * bound], [-9.0]]), [1, 1, -1, -1]
    )
    assert np.mean(detector.predict(rows) == -1) == 0.05


@pytest.mark.parametrize("contamination", [0.01, 0.3, 0.5])
def test_the_share_of_outliers_in_training(contamination):
    detector = DensityOutlierDetector(GaussianMixture(2, random_state=0), contamination=contamination)
    labels = detector.fit_predict(X)
    assert np.count_nonzero(labels == -1) == int(contamination * len(X))
    assert_array_equal(labels, np.where(detector.decision_function(X) < 0, -1, 1))
    assert_allclose(detector.decision_function(X), detector.score_samples(X) - detector.offset_)
    assert_array_equal(detector.score_samples(X), detector.estimator_.score_samples(X))


def test_densities_of_classifiers():
    detector = DensityOutlierDetector(SKEMClassifier(6, max_iter=3, random_state=0))
    assert np.count_nonzero(detector.fit_predict(X, y) == -1) == 15
    assert_array_equal(detector.predict([X[0], X[0] + 100]), [1, -1])
    with pytest.raises(ValueError, match="requires y"):
        clone(detector).fit(X)


def test_a_threshold_from_held_out_samples():
    train, held_out = train_test_split(pd.DataFrame(X, columns=list("abcd")), random_state=0)
    model = GaussianMixture(3, random_state=0).fit(train)
    detector = DensityOutlierDetector(FrozenEstimator(model), contamination=0.25).fit(held_out)
    assert_array_equal(detector.score_samples(held_out), model.score_samples(held_out))
    assert np.count_nonzero(detector.predict(held_out) == -1) == 9
    assert list(detector.feature_names_in_) == list("abcd")


def test_a_sample_of_weight_two_counts_as_two():
    weights = np.random.default_rng(0).integers(0, 3, 150)
    weighted = DensityOutlierDetector(contamination=0.2).fit(X, sample_weight=weights)
    repeated = DensityOutlierDetector(contamination=0.2).fit(np.repeat(X, weights, axis=0))
    assert weighted.offset_ == pytest.approx(repeated.offset_)


@pytest.mark.parametrize(
    ("detector", "words"),
    [
        (DensityOutlierDetector(contamination=0.0), r"'contamination' .* \(0.0, 0.5\]"),
        (DensityOutlierDetector(contamination=0.6), "'contamination'"),
        (DensityOutlierDetector(contamination=np.nan), "'contamination'"),
        (DensityOutlierDetector(contamination=True), "'contamination'"),
        (DensityOutlierDetector(contamination="auto"), "'contamination'"),
        (DensityOutlierDetector(KMeans()), "'estimator' .* 'score_samples'"),
    ],
)
def test_impossible_detectors(detector, words):
    with pytest.raises(ValueError, match=words):
        detector.fit(X)


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="contains 12 NaN"):
        DensityOutlierDetector().fit(np.where(X > 7, np.nan, X))
