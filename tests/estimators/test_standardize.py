"""``standardize="robust"``, and predictions for samples far from all training samples."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

import skem

X, Y = load_iris(return_X_y=True)
QUICK = {"max_iter": 5, "tol": 0, "random_state": 0}

CLASSIFIERS = [
    skem.SKEMClassifier(6, **QUICK),
    skem.SKEMClassifier(6, covariance_type="tied", **QUICK),
    skem.SKEMClassifier(6, covariance_type="diag", **QUICK),
    skem.SKEMClassifier(6, covariance_type="spherical", **QUICK),
    skem.PSKEMClassifier(6, n_blocks=2, **QUICK),
    skem.MDAClassifier(6, **QUICK),
    skem.PRBFClassifier(6, **QUICK),
    skem.DiscriminativePSKEMClassifier(6, discriminative_iter=5, **QUICK),
]
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=str)


def with_outliers(X, n=4):
    """A copy with a value of 1e5 standard deviations in each of ``n`` samples."""
    rng, X = np.random.default_rng(0), X.copy()
    for i in rng.choice(len(X), n, replace=False):
        X[i, rng.integers(X.shape[1])] += 1e5 * X.std(axis=0).max()
    return X


def robust(model, **params):
    return clone(model).set_params(**{"standardize": "robust"} | params)


@every_classifier
def test_gross_outliers(model):
    wine, cultivar = load_wine(return_X_y=True)
    train = np.arange(len(wine)) % 2 == 0
    fitted = robust(model).fit(with_outliers(wine[train], 6), cultivar[train])
    clean = robust(model).fit(wine[train], cultivar[train])
    assert fitted.score(wine[~train], cultivar[~train]) > clean.score(wine[~train], cultivar[~train]) - 0.07


def test_gross_outliers_in_a_mixture_without_classes():
    rng = np.random.default_rng(0)
    samples = np.concatenate([rng.normal(size=(300, 3)), rng.normal(6.0, 1.0, (300, 3))])
    model = skem.GaussianMixture(2, standardize="robust", random_state=0).fit(with_outliers(samples))
    order = model.means_[:, 0].argsort()
    assert_allclose(model.means_[order], [[0.0] * 3, [6.0] * 3], atol=0.4)
    assert_allclose(model.covariances_[order], np.stack([np.eye(3)] * 2), atol=0.5)


@every_classifier
def test_without_outliers_it_standardises(model):
    uniform = np.random.default_rng(0).uniform(size=(120, 3)) + np.arange(120)[:, None] % 2
    labels = np.arange(120) % 2
    expected = model.fit(uniform, labels).predict_proba(uniform)
    assert_array_equal(robust(model).fit(uniform, labels).predict_proba(uniform), expected)


def test_densities_are_those_of_the_fitted_mixture():
    """A density has no limits: a far sample has the tail of the Gaussians."""
    model = robust(CLASSIFIERS[0]).fit(with_outliers(X), Y)
    far = np.concatenate([X[:3], X[:3] + 100.0])
    components = [
        multivariate_normal(*pair).logpdf(far) for pair in zip(model.means_, model.covariances_, strict=True)
    ]
    joint = logsumexp(np.array(components).T[:, :, None], b=model.weights_ * model.priors_, axis=1)
    assert_allclose(model.class_log_density(far) + np.log(model.priors_), joint, rtol=1e-6)
    assert_allclose(model.score_samples(far), logsumexp(joint, axis=1), rtol=1e-6)


@every_classifier
def test_values_beyond_the_limits_do_not_matter_to_predictions(model):
    fitted = robust(model).fit(X, Y)
    far = X[::10] + np.array([0.0, 0.0, 1e3, 0.0])
    farther = X[::10] + np.array([0.0, 0.0, 1e200, 0.0])
    assert_array_equal(fitted.predict_log_proba(far), fitted.predict_log_proba(farther))
    assert_array_equal(fitted.predict(far), fitted.predict(farther))
    assert fitted.predict_log_proba(farther).min() > -1e4


# Far samples


@every_classifier
@pytest.mark.parametrize("standardize", [False, True, "robust"])
def test_far_samples(model, standardize):
    fitted = robust(model, standardize=standardize).fit(X, Y)
    one, every = np.eye(4)[2], np.array([1.0, -1.0, 1.0, 1.0])
    far = np.concatenate(
        [X[::30] + distance * d for d in (one, every) for distance in (-1e3, -1e6, 1e6, 1e30)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log_proba, proba = fitted.predict_log_proba(far), fitted.predict_proba(far)
        decision = fitted.decision_function(far)
    assert np.isfinite(log_proba).all()
    assert np.isfinite(decision).all()
    assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    if isinstance(model, skem.DiscriminativePSKEMClassifier):
        least = np.log(fitted.background_ * fitted.priors_.min())
        assert log_proba.min() >= least - 1e-9
