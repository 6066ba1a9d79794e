"""Outliers by a threshold on densities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import unchanged
from scipy.stats import chi2, norm
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KernelDensity

from skem import DensityOutlierDetector, GaussianMixture

X, _ = load_iris(return_X_y=True)


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


@pytest.mark.parametrize("m", [1, 2, 5])
def test_share_below_the_fence_of_a_normal_distribution(m):
    """-2 log p(x) is, up to a constant, chi-squared with m degrees of freedom."""
    rows = np.random.default_rng(0).normal(3.0, 2.0, size=(40_000, m))
    lower, upper = chi2.ppf([0.25, 0.75], m)
    labels = DensityOutlierDetector(contamination="auto").fit(rows[::2]).predict(rows[1::2])
    # More than three standard errors, of the quartiles and of the share.
    assert np.mean(labels == -1) == pytest.approx(chi2.sf(upper + 1.5 * (upper - lower), m), abs=0.01)


def test_outliers_in_training_do_not_move_the_fence():
    """Three components, so one of them can describe the outliers."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 5))
    rows[:150] = rng.uniform(-8, 8, size=(150, 5))
    detector = DensityOutlierDetector(GaussianMixture(3, random_state=0), contamination="auto").fit(rows)
    assert np.mean(detector.predict(rows[:150]) == -1) > 0.9
    assert np.mean(detector.predict(rng.normal(size=(10_000, 5))) == -1) < 0.05


def test_the_fence_with_weights():
    counts = np.random.default_rng(0).integers(0, 3, len(X))
    model = GaussianMixture(2, random_state=0, init_params="sample", tol=0, max_iter=1)
    model = FrozenEstimator(model.fit(X))
    weighted = DensityOutlierDetector(model, contamination="auto").fit(X, sample_weight=counts)
    repeated = DensityOutlierDetector(model, contamination="auto").fit(np.repeat(X, counts, axis=0))
    assert weighted.offset_ == repeated.offset_


@pytest.mark.parametrize("contamination", [0.1, "auto"])
def test_densities_of_zero_leave_no_threshold(contamination):
    kernels = FrozenEstimator(KernelDensity(kernel="tophat", bandwidth=2.0).fit(X[:50]))
    detector = DensityOutlierDetector(kernels, contamination=contamination).fit(X[:52])
    assert_array_equal(detector.predict(X[[0, 149]]), [1, -1])
    with (
        unchanged(detector),
        pytest.raises(ValueError, match=r"a quantile of log p\(x\) is -inf, so there is no threshold"),
    ):
        detector.fit(X)
