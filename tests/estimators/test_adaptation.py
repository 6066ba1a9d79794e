"""MAP adaptation of a mixture: against the equations of the paper, identities, and what a user may get wrong."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import full_covariances
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

from skem import GaussianMixture

IRIS, SPECIES = load_iris(return_X_y=True)
GROUP = IRIS[SPECIES == 2][:12] + 0.5
ALL = ("weights", "means", "covariances")


def reynolds(X, w, model, r):
    """Eqs. 7 to 14 of Reynolds, Quatieri and Dunn (2000), with matrices for variances."""
    pi, mu, P = model.weights_, model.means_, full_covariances(model.covariances_, *model.means_.shape)
    p = np.stack([pi[k] * multivariate_normal(mu[k], P[k]).pdf(X) for k in range(len(pi))], axis=1)
    p *= (w / p.sum(axis=1))[:, None]
    n = p.sum(axis=0)
    a = n / (n + r)
    x1 = p.T @ X / n[:, None]
    x2 = np.einsum("nk,ni,nj->kij", p, X, X) / n[:, None, None]
    weights = a * n / w.sum() + (1 - a) * pi
    means = a[:, None] * x1 + (1 - a)[:, None] * mu
    second = a[:, None, None] * x2 + (1 - a)[:, None, None] * (P + mu[:, :, None] * mu[:, None])
    return weights / weights.sum(), means, second - means[:, :, None] * means[:, None], n


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("r", [0.5, 16.0])
def test_adaptation_matches_the_paper(covariance_type, standardize, r):
    options = {"covariance_type": covariance_type, "standardize": standardize, "n_jobs": 2}
    model = GaussianMixture(3, reg_covar=0.01, random_state=0, **options).fit(IRIS)
    w = np.random.default_rng(0).uniform(0.5, 2, len(GROUP))
    adapted = model.adapt(GROUP, relevance_factor=r, update=ALL, sample_weight=w)
    weights, means, P, n = reynolds(GROUP, w, model, r)
    assert_allclose(adapted.weights_, weights, rtol=1e-9)
    assert_allclose(adapted.means_, means, rtol=1e-9)
    if covariance_type == "tied":
        P = np.repeat([np.average(P, axis=0, weights=n + r)], 3, axis=0)
    elif covariance_type != "full":
        P = np.stack([np.diag(np.diag(each)) for each in P])
    if covariance_type == "spherical":  # balls in the units of the fit
        scale = IRIS.std(axis=0) if standardize else np.ones(4)
        P = np.stack([np.trace(each / scale**2) / 4 * np.diag(scale**2) for each in P])
    assert_allclose(full_covariances(adapted.covariances_, 3, 4), P, rtol=1e-7, atol=1e-10)
    assert adapted.covariance_type == covariance_type


def test_only_the_named_parameters_change():
    model = GaussianMixture(3, random_state=0).fit(IRIS)
    every = model.adapt(GROUP, update=ALL)
    for name in ALL:
        alone = model.adapt(GROUP, update=name)
        for other in ALL:
            same = model if other != name else every
            if name == other == "covariances":
                continue
            assert_allclose(getattr(alone, f"{other}_"), getattr(same, f"{other}_"), rtol=1e-12, atol=1e-14)
    assert_array_equal(model.adapt(GROUP).means_, model.adapt(GROUP, update=["means"]).means_)


def test_far_groups_and_parameters_set_after_the_fit():
    model = GaussianMixture(2, covariance_type="spherical", standardize="robust", random_state=0).fit(IRIS)
    same = GaussianMixture.from_parameters(
        *(model.weights_, model.means_, model.covariances_),
        covariance_type="spherical",
        standardize=True,
    )
    expected = same.adapt(GROUP + 20).means_  # beyond the limits of the training samples
    assert_allclose(model.set_params(standardize=False).adapt(GROUP + 20).means_, expected)


def test_covariances_alone_are_about_the_old_means():
    model = GaussianMixture(1, reg_covar=0).fit(IRIS)
    about = GROUP - model.means_[0]
    expected = (about.T @ about + 4 * model.covariances_[0]) / (len(GROUP) + 4)
    adapted = model.adapt(GROUP, relevance_factor=4, update="covariances")
    assert_allclose(adapted.covariances_[0], expected, rtol=1e-9)


def test_feature_names_stay():
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    model = GaussianMixture(3, random_state=0).fit(frame)
    for other, names in [
        (model.adapt(frame[:9]), ["a", "b", "c", "d"]),
        (model.marginal([3, 1]), ["d", "b"]),
        (model.condition([2, 0], [1.0, 5.0]), ["b", "d"]),
    ]:
        assert list(other.feature_names_in_) == names
        with warnings.catch_warnings(action="error"):
            assert np.isfinite(other.score(frame[names]))
        with pytest.raises(ValueError, match="feature names"):
            other.score(frame[names[::-1]])


def test_bad_input_is_named():
    model = GaussianMixture(3, random_state=0).fit(IRIS)
    for samples, options, words in [
        (IRIS[:0], {}, "0 sample"),
        (IRIS[:, :2], {}, "2 features"),
        (np.full((2, 4), np.nan), {}, "8 NaN"),
        (IRIS, {"relevance_factor": 0}, "relevance_factor must be a positive number, got 0"),
        (IRIS, {"relevance_factor": np.nan}, "relevance_factor must be a positive number, got nan"),
        (
            IRIS,
            {"update": "variances"},
            "update must be some of weights, means, covariances, got 'variances'",
        ),
        (IRIS, {"update": []}, "update must be some of"),
        (IRIS, {"update": None}, "update must be some of weights, means, covariances, got None"),
        (IRIS, {"update": [["means"]]}, "update must be some of"),
        (IRIS, {"sample_weight": np.zeros(150)}, "sample_weight is zero"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.adapt(samples, **options)
