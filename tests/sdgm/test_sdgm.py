"""SDGMClassifier: the sparse discriminative mixture."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.datasets import load_iris, make_moons
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import linear_kernel

from skem import SDGMClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"max_iter": 8, "em_iter": 5, "random_state": 0}


def crossed(n=60, seed=0):
    """Two classes of two clouds each, crosswise."""
    rng = np.random.default_rng(seed)
    clouds = np.arange(n) % 4
    centres = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return centres[clouds] + rng.normal(scale=0.4, size=(n, 2)), clouds % 2


@pytest.mark.parametrize("options", [{}, {"form": "primal"}, {"kernel": "rbf"}, {"kernel": linear_kernel}])
def test_what_a_fit_leaves(options):
    X, y = crossed()
    model = SDGMClassifier(3, **QUICK, **options).fit(X, y)
    assert model.coef_.shape == model.alpha_.shape == (model.n_components_, 1 + len(model.support_))
    assert_array_equal(model.coef_ == 0, np.isinf(model.alpha_))
    assert model.n_nonzero_weights_ == (model.coef_ != 0).sum() > 0
    assert (model.coef_[:, 1:] != 0).any(axis=0).all()
    assert_allclose(np.bincount(model.component_classes_, weights=model.weights_), 1)
    assert len(model.objective_) == model.n_iter_
    if "form" not in options:
        assert_array_equal(model.support_vectors_, X[model.support_])
    else:
        assert not hasattr(model, "support_vectors_")
    log_proba = model.component_log_proba(X)
    summed = [np.exp(log_proba[:, model.component_classes_ == c]).sum(axis=1) for c in (0, 1)]
    assert_allclose(np.stack(summed, axis=1), model.predict_proba(X))


@pytest.mark.parametrize(("n", "D"), [(20, 2), (40, 5), (30, 9)])
def test_number_of_weights(n, D):
    """Per component that is not the reference: 1 + D (D + 3) / 2 in the primal form, one per sample and a constant in the dual form."""
    X, y = np.random.default_rng(0).normal(size=(n, D)), np.arange(n) % 2
    for form, number in (("primal", 1 + D * (D + 3) // 2), ("dual", 1 + n)):
        model = SDGMClassifier(1, form=form, max_iter=1, max_precision=1e300).fit(X, y)
        assert model.n_nonzero_weights_ == number


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_weights_and_components_are_dropped_and_the_classes_still_told_apart(form):
    model = SDGMClassifier(4, form=form, random_state=0, max_iter=60, em_iter=20).fit(*crossed(120))
    assert model.score(*crossed(400, seed=1)) > 0.95
    assert model.n_nonzero_weights_ <= 36  # of 847 in the dual form
    assert len(model.weights_) == model.n_components_ <= 4  # of 8
    assert (model.weights_ > 0).all()


def test_weights_with_growing_precisions_do_not_prevent_convergence():
    """Their precisions grow by one percent per iteration, which took more than 500 iterations up to max_precision."""
    X, y = make_moons(100, noise=0.3, random_state=1)
    model = SDGMClassifier(2, max_iter=200, random_state=0).fit(X, y)
    assert model.converged_
    # At convergence no weight would gain from another precision: eq. 17 returns the same.
    longer = SDGMClassifier(2, max_iter=400, tol=1e-10, random_state=0).fit(X, y)
    assert longer.n_iter_ > model.n_iter_
    assert longer.n_nonzero_weights_ == model.n_nonzero_weights_
    assert_allclose(longer.predict_proba(X), model.predict_proba(X), atol=0.01)


def test_long_fits_warn_before_they_begin(monkeypatch, caplog):
    monkeypatch.setattr("skem.sdgm.fit_cost.LONG", 0.0)
    caplog.set_level(logging.INFO, logger="skem")
    with pytest.warns(
        UserWarning, match="starts with 305 weights of 5 components for 60 samples.*use fewer comp"
    ):
        SDGMClassifier(**QUICK).fit(*crossed())
    assert "iteration 1 of at most 8" in caplog.text


def test_precisions_start_at_one():
    """The first mode is that of logistic regression with the penalty |w|^2 / 2 (appendix C)."""
    X, y = crossed(40)
    model = SDGMClassifier(1, kernel=linear_kernel, standardize=False, max_iter=1).fit(X, y)
    phi = np.column_stack([np.ones(40), X @ X.T])
    penalised = LogisticRegression(fit_intercept=False, tol=1e-8, max_iter=1000).fit(phi, y)
    log_likelihood = -40 * log_loss(y, penalised.predict_proba(phi))
    assert_allclose(model.objective_[0], log_likelihood - (penalised.coef_**2).sum() / 2, rtol=1e-6)


@pytest.mark.parametrize("kernel", ["poly2", "rbf"])
def test_one_component_is_the_relevance_vector_machine(kernel):
    """Tipping (2001), written out: iteratively reweighted least squares, then alpha = gamma / w^2."""
    X, y = crossed(40)
    gram = (X @ X.T + 1) ** 2 if kernel == "poly2" else np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    phi = np.column_stack([np.ones(40), gram])
    target, precisions, w = (y == 0).astype(float), np.ones(41), np.zeros(41)
    live = np.arange(41)
    for _ in range(25):
        columns, A = phi[:, live], np.diag(precisions[live])
        for _ in range(100):
            p = expit(columns @ w[live])
            hessian = (columns.T * (p * (1 - p))) @ columns + A
            step = np.linalg.solve(hessian, columns.T @ (target - p) - A @ w[live])
            w[live] += step
            if np.abs(step).max() < 1e-10:
                break
        p = expit(columns @ w[live])
        hessian = (columns.T * (p * (1 - p))) @ columns + A
        gamma = 1 - precisions[live] * np.linalg.inv(hessian).diagonal()
        precisions[live] = gamma / w[live] ** 2
        dropped = live[precisions[live] > 1e5]
        w[dropped] = 0
        live = np.setdiff1d(live, dropped)
    options = {"kernel": kernel, "gamma": 1.0, "standardize": False, "max_iter": 25, "em_iter": 5, "tol": 0}
    model = SDGMClassifier(1, **options).fit(X, y)
    assert_array_equal(np.sort(model.support_), live[live > 0] - 1)
    assert_allclose(model.predict_proba(X)[:, 0], expit(phi @ w), atol=1e-5)


def test_posterior_of_quadratic_discriminant_analysis():
    """Equations 3 to 6: one Gaussian per class and equal priors give the posterior of the generative model."""
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    baseline = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    model = SDGMClassifier(1, form="primal", standardize=False, max_iter=1).fit(X, y)
    model.support_ = np.arange(1, 6)
    rows = []
    for mean, covariance in zip(baseline.means_, baseline.covariance_, strict=True):
        (a, b), (_, d) = precision = np.linalg.inv(covariance)
        constant = -0.5 * (np.linalg.slogdet(covariance)[1] + mean @ precision @ mean)
        rows.append([constant, *precision @ mean, -a / 2, -b, -d / 2])
    model.coef_ = np.array(rows)
    assert_allclose(model.predict_proba(X), baseline.predict_proba(X), atol=1e-8)


# Bad input


@pytest.mark.parametrize(
    ("shape", "fits", "other"), [((30, 400), "dual", "primal"), ((800, 3), "primal", "dual")]
)
def test_form_that_fits_is_proposed(shape, fits, other, monkeypatch):
    memory = [4e6]
    monkeypatch.setattr("skem.sdgm.fit_cost.available_memory", lambda: memory[0])
    X, y = np.random.default_rng(0).normal(size=shape), np.arange(shape[0]) % 2
    with pytest.raises(MemoryError, match=f'set form="{fits}", which fits'):
        SDGMClassifier(1, form=other).fit(X, y)
    SDGMClassifier(1, form=fits, max_iter=1).fit(X, y)
    memory[0] = 1e4
    with pytest.raises(MemoryError, match="train on fewer samples, or with fewer components or features"):
        SDGMClassifier(1, form=fits).fit(X, y)


def test_all_weights_dropped():
    X, y = crossed(40)
    y = np.r_[y, y[:20] * 0]
    X = np.r_[X, X[:20]]
    with pytest.warns(UserWarning, match="dropped all weights and predicts the shares"):
        model = SDGMClassifier(2, max_precision=1.0000001, **QUICK).fit(X * 1e-9, y)
    assert model.n_nonzero_weights_ == 0
    assert_allclose(model.predict_proba(X[:2]), [np.bincount(y) / 60] * 2)
    with pytest.warns(UserWarning, match="scale sample weights to a mean of one"):
        SDGMClassifier(2, **QUICK).fit(X, y, sample_weight=np.full(60, 1 / 60))
