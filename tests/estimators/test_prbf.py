"""lambda-PRBF: its two ends, the equations between them, the average over lambda, and bad input."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from skem import (
    GaussianKernels,
    GaussianMixture,
    PRBFClassifier,
    PRBFClassifierCV,
    PRBFEnsemble,
    PSKEMClassifier,
    SKEMClassifier,
    rbf_network,
    sharing_path,
)
from skem.engine import rows
from skem.engine.covariances import COVARIANCE_TYPES

TYPES = list(COVARIANCE_TYPES)
PLAIN = {"reg_covar": 0.0, "variance_floor": 0.0, "standardize": False, "tol": 0.0, "class_prior": "uniform"}
every_type = pytest.mark.parametrize("covariance_type", TYPES)


def draw(seed=0, n=(60, 45, 50), m=3):
    """Classes that overlap, of unequal size."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(k, m)) * (1 + c / 2) + c for c, k in enumerate(n)])
    y = np.repeat(np.arange(len(n)), n)
    order = rng.permutation(len(y))
    return X[order], y[order]


def a_start(K, L, m, covariance_type, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, size=(K, L))
    covariances = np.tile(4 * np.eye(m), (K, 1, 1))
    kept = COVARIANCE_TYPES[covariance_type].compress(covariances)
    return weights / weights.sum(axis=0), rng.normal(1.0, 1.5, size=(K, m)), kept


@every_type
def test_lambda_one_is_skem(covariance_type):
    X, y = draw()
    init = a_start(7, 3, 3, covariance_type)
    ours = PRBFClassifier(sharing=1.0, covariance_type=covariance_type, init=init, max_iter=20, **PLAIN)
    skem = SKEMClassifier(
        covariance_type=covariance_type, init=init, max_iter=20, reg_covar=0.0, standardize=False
    )
    ours.fit(X, y), skem.fit(X, y)
    assert_allclose(ours.weights_, skem.weights_, rtol=1e-8, atol=1e-12)
    assert_allclose(ours.means_, skem.means_, rtol=1e-8, atol=1e-12)
    assert_allclose(ours.covariances_, skem.covariances_, rtol=1e-8, atol=1e-12)
    assert_allclose(ours.objective_, ours.log_likelihood_, rtol=1e-12)
    assert_allclose(ours.class_log_density(X), skem.class_log_density(X), rtol=1e-8)


@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
@pytest.mark.parametrize("groups", [None, [[3, 0, 6], [5], [1, 2, 4]]])
def test_lambda_zero_is_a_mixture_per_class(covariance_type, groups):
    """A covariance that all kernels share would tie the classes, so "tied" has no such identity."""
    X, y = draw()
    weights, means, covariances = a_start(7, 3, 3, covariance_type)
    ours = PRBFClassifier(
        sharing=0.0,
        groups=groups,
        covariance_type=covariance_type,
        init=(weights, means, covariances),
        max_iter=20,
        **PLAIN,
    ).fit(X, y)
    for c, group in enumerate(ours.groups_):
        start = weights[group, c] / weights[group, c].sum(), means[group], covariances[group]
        own = GaussianMixture(
            len(group), covariance_type=covariance_type, init=start, max_iter=20, tol=0.0, reg_covar=0.0
        ).fit(X[y == c])
        assert_allclose(ours.weights_[group, c], own.weights_, rtol=1e-8)
        assert_allclose(ours.means_[group], own.means_, rtol=1e-8, atol=1e-9)
        assert_allclose(ours.covariances_[group], own.covariances_, rtol=1e-8, atol=1e-10)
        assert_allclose(ours.class_log_density(X)[:, c], own.score_samples(X), rtol=1e-8)
        outside = np.setdiff1d(np.arange(7), group)
        assert_array_equal(ours.weights_[outside, c], 0.0)


def densities(X, means, covariances):
    """p(x|j), one row per sample, for spherical kernels."""
    return np.stack(
        [
            multivariate_normal(mu, v * np.eye(len(mu))).pdf(X)
            for mu, v in zip(means, covariances, strict=True)
        ],
        axis=1,
    )


def one_pass(X, y, weights, means, variances, lambdas, floor=0.0):
    """Eqs. 29 and 35-37 as written, for a lambda of each kernel in each class."""
    K, L = weights.shape
    m = X.shape[1]
    posterior = np.zeros((len(X), K))
    p = densities(X, means, variances)
    for n, k in enumerate(y):
        penalised = lambdas[:, k] * weights[:, k] * p[n]
        posterior[n] = penalised / penalised.sum()
    new_means = posterior.T @ X / posterior.sum(axis=0)[:, None]
    squares = ((X[:, None] - new_means) ** 2).sum(axis=2)
    new_variances = (posterior * squares).sum(axis=0) / posterior.sum(axis=0) / m
    new_weights = np.stack([posterior[y == k].mean(axis=0) for k in range(L)], axis=1)
    return new_weights, new_means, np.maximum(new_variances, floor)


MATRIX = np.array([[1.0, 0.3, 0.0], [0.7, 1.0, 0.2], [1.0, 0.05, 1.0]])


@pytest.mark.parametrize("sharing", [0.0, 0.25, 0.9, MATRIX])
def test_passes_are_the_equations_of_the_paper(sharing):
    X, y = draw()
    weights, means, variances = a_start(6, 3, 3, "spherical")
    groups = [[0, 4], [1, 5], [2, 3]]
    matrix = MATRIX if np.ndim(sharing) else np.where(np.eye(3, dtype=bool), 1.0, sharing)
    lambdas = np.empty((6, 3))
    for group, row in zip(groups, matrix, strict=True):
        lambdas[group] = row
    model = PRBFClassifier(
        sharing=sharing,
        groups=groups,
        covariance_type="spherical",
        init=(weights, means, variances),
        max_iter=4,
        **PLAIN,
    ).fit(X, y)
    closed = np.where(lambdas > 0, weights, 0)
    parameters = closed / closed.sum(axis=0), means, variances
    for p in range(4):
        parameters = one_pass(X, y, *parameters, lambdas)
        own = densities(X, *parameters[1:])
        penalised = np.log((own * (lambdas * parameters[0])[:, y].T).sum(axis=1)).mean()
        plain = np.log((own * parameters[0][:, y].T).sum(axis=1)).mean()
        assert_allclose(model.objective_[p], penalised, rtol=1e-10)
        assert_allclose(model.log_likelihood_[p], plain, rtol=1e-10)
    assert_allclose(model.weights_, parameters[0], rtol=1e-8, atol=1e-14)
    assert_allclose(model.means_, parameters[1], rtol=1e-8)
    assert_allclose(model.covariances_, parameters[2], rtol=1e-8)


def test_the_class_prior_is_that_of_the_data():
    """Eq. 10."""
    X, y = draw()
    model = PRBFClassifier(6, random_state=0).fit(X, y)
    assert_allclose(model.class_prior_, np.bincount(y) / len(y))


def test_a_kernel_is_the_mean_of_what_the_classes_would_make_of_it():
    """Eqs. 22 and 26: w_j = sum_k P(C_k|j) w_jk, with P(C_k|j) that sum to one."""
    X, y = draw()
    weights, means, covariances = a_start(5, 3, 3, "full")
    model = PRBFClassifier(sharing=1.0, init=(weights, means, covariances), max_iter=1, **PLAIN).fit(X, y)
    p = np.stack(
        [multivariate_normal(mu, P).pdf(X) for mu, P in zip(means, covariances, strict=True)], axis=1
    )
    posterior = weights[:, y].T * p
    posterior /= posterior.sum(axis=1, keepdims=True)
    prior = np.bincount(y) / len(y)
    of_class = model.weights_ * prior
    of_class /= of_class.sum(axis=1, keepdims=True)
    for j in range(5):
        own = [(posterior[y == k, j], X[y == k]) for k in range(3)]
        mu = [h @ x / h.sum() for h, x in own]
        assert_allclose(of_class[j] @ mu, model.means_[j], rtol=1e-8)
        about = [(x - model.means_[j]) for _, x in own]
        sigma = [(h * d.T) @ d / h.sum() for (h, _), d in zip(own, about, strict=True)]
        assert_allclose(np.einsum("k,kij->ij", of_class[j], sigma), model.covariances_[j], rtol=1e-8)


@pytest.mark.parametrize("sharing", [0.0, 0.3, 1.0])
def test_what_p_lambda_integrates_to(sharing):
    """Section III: one for lambda = 0 and 1, below one between; the class density (2) is a density always."""
    X, y = draw(m=1)
    model = PRBFClassifier(6, sharing=sharing, max_iter=5, tol=0.0, random_state=0).fit(X, y)
    grid = np.linspace(-40, 40, 20001)[:, None]
    mass = np.exp(model.class_log_density(grid)).sum(axis=0) * (grid[1] - grid[0])
    assert_allclose(mass, 1.0, rtol=1e-6)
    lambdas = np.full((6, 3), sharing)
    for c, group in enumerate(model.groups_):
        lambdas[group, c] = 1.0
    penalised = (lambdas * model.weights_).sum(axis=0)
    if 0 < sharing < 1:
        assert (penalised < 1).all()
    else:
        assert_allclose(penalised, 1.0)


def penalised_likelihood(model, X, y, lambdas):
    """Eq. 31 row by row: the mean of log sum_j lambda_jk pi_jk p(x|j)."""
    variances = np.broadcast_to(model.covariances_.reshape(len(model.means_), -1), model.means_.shape)
    squares = ((X[:, None] - model.means_) ** 2 / variances).sum(axis=2)
    kernels = np.exp(-squares / 2) / np.sqrt(np.prod(2 * np.pi * variances, axis=1))
    return np.log((kernels * (lambdas * model.weights_)[:, y].T).sum(axis=1)).mean()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_penalised_likelihood_never_falls(data):
    """Eq. 31, for spherical kernels: random data, any lambda, any grouping, with a floor and without."""
    seed = data.draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    L, m = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 4))
    X, y = draw(seed, rng.integers(8, 40, size=L), m)
    sizes = [data.draw(st.integers(1, 4)) for _ in range(L)]
    groups = np.split(rng.permutation(sum(sizes)), np.cumsum(sizes)[:-1])
    if data.draw(st.booleans()):
        sharing = data.draw(st.floats(0, 1))
    else:
        sharing = np.where(
            np.eye(L, dtype=bool), 1.0, rng.uniform(size=(L, L)) * rng.integers(0, 2, size=(L, L))
        )
    model = PRBFClassifier(
        sharing=sharing,
        groups=groups,
        covariance_type="spherical",
        standardize=data.draw(st.booleans()),
        reg_covar=0.0,
        variance_floor=data.draw(st.sampled_from([0.0, 0.01, 0.3])),
        max_iter=25,
        tol=0.0,
        random_state=seed % 1000,
    )
    lambdas = np.empty((sum(sizes), L))
    for group, row in zip(groups, np.where(np.eye(L) == 1, 1.0, sharing), strict=True):
        lambdas[group] = row
    # Of the parameters after each pass, by differences: without a floor a kernel may collapse onto two rows, and there
    # the engine's expanded squares lose digits of the value it reports, though not of the step it takes.
    exact = np.array([penalised_likelihood(each, X, y, lambdas) for each in model.fit_passes(X, y)])
    assert (np.diff(exact) >= -1e-9 * (1 + np.abs(exact[1:]))).all()
    objective = model.objective_
    lost = np.finfo(float).eps * np.square(X).sum(axis=1).max() / model.covariances_.min()
    assert_allclose(objective, exact, rtol=1e-9, atol=1e-9 + lost)
    # p_lambda is below the density it is a penalised form of, section III.
    assert (objective <= model.log_likelihood_ + 1e-9).all()
    assert_allclose(model.weights_.sum(axis=0), 1.0)
    if np.ndim(sharing) == 0 and sharing == 0:
        for c, group in enumerate(groups):
            assert not np.delete(model.weights_[:, c], group).any()


@every_type
@pytest.mark.parametrize("sharing", [0.0, 0.4, 1.0])
def test_the_objective_never_falls_with_a_ridge_or_a_floor(covariance_type, sharing):
    X, y = draw(1)
    for regular in ({"reg_covar": 0.1}, {"reg_covar": 0.01, "variance_floor": 0.2}):
        model = PRBFClassifier(
            9,
            sharing=sharing,
            covariance_type=covariance_type,
            tol=0.0,
            max_iter=30,
            random_state=0,
            **regular,
        ).fit(X, y)
        assert (np.diff(model.objective_) >= -1e-10).all()


@every_type
def test_the_floor_holds_and_is_relative_to_the_data(covariance_type):
    X, y = draw(2)
    X[:10] = X[0]  # rows a kernel could collapse onto
    y[:10] = y[0]
    for scale in (1.0, 1e-6, 1e6):
        model = PRBFClassifier(
            12,
            sharing=0.5,
            covariance_type=covariance_type,
            standardize=False,
            reg_covar=0.0,
            variance_floor=0.05,
            random_state=0,
        ).fit(X * scale, y)
        floor = 0.05 * X.var(axis=0).mean() * scale**2
        matrices = COVARIANCE_TYPES[covariance_type].dense(model.covariances_, 12, 3)
        least = np.linalg.eigvalsh(matrices).min()
        assert_allclose(max(least, floor), least, rtol=1e-9)
        assert least < 20 * floor


def test_starts_by_class_open_the_weights_unless_lambda_is_zero():
    X, y = draw()
    for init in ("class", "class_kmeans"):
        for sharing, used in ((0.0, 5), (1e-3, 15), (1.0, 15)):
            model = PRBFClassifier(15, sharing=sharing, init=init, max_iter=1, tol=0.0, random_state=0).fit(
                X, y
            )
            assert ((model.weights_ > 0).sum(axis=0) == used).all()
    reserved = SKEMClassifier(15, init="class", max_iter=5, random_state=0).fit(X, y)
    separate = PRBFClassifier(15, sharing=0.0, max_iter=5, tol=0.0, random_state=0).fit(X, y)
    assert_allclose(separate.weights_, reserved.weights_)


def test_several_starts_keep_the_best():
    X, y = draw(3)
    one = [
        PRBFClassifier(9, sharing=0.3, covariance_type="spherical", random_state=5, n_init=n).fit(X, y)
        for n in (1, 4)
    ]
    assert one[1].objective_[-1] >= one[0].objective_[-1]
    assert len(one[1].objective_) == one[1].n_iter_
    assert one[1].get_params()["n_init"] == 4
    again = PRBFClassifier(9, sharing=0.3, covariance_type="spherical", random_state=5, n_init=4).fit(X, y)
    assert_array_equal(again.means_, one[1].means_)


def test_only_the_last_of_several_starts_warns_and_no_filter_is_touched(monkeypatch):
    X, y = draw()
    filters = []
    sort = rows.sort_by_class
    monkeypatch.setattr(
        rows, "sort_by_class", lambda *given: filters.append(list(warnings.filters)) or sort(*given)
    )
    with pytest.warns(ConvergenceWarning, match="in 2 passes") as found:
        PRBFClassifier(6, n_init=3, max_iter=2, tol=1e-12, random_state=0).fit(X, y)
    assert len(found) == 1
    assert filters == filters[:1] * 3


def test_a_warm_start_goes_on_with_another_lambda():
    X, y = draw(4)
    model = PRBFClassifier(9, sharing=1.0, warm_start=True, random_state=0).fit(X, y)
    model.set_params(sharing=0.0).fit(X, y)
    for c, group in enumerate(model.groups_):
        assert not np.delete(model.weights_[:, c], group).any()
    with pytest.raises(ValueError, match="groups changed"):
        model.set_params(groups=[[0], [1, 2, 3], [4, 5, 6, 7, 8]]).fit(X, y)


def test_the_average_is_over_densities():
    """Eq. 38, against the models fitted one by one from the same start."""
    X, y = load_wine(return_X_y=True)
    sharings = (0.0, 0.3, 1.0)
    ensemble = PRBFEnsemble(PRBFClassifier(6), sharings=sharings, n_jobs=2, random_state=3).fit(X, y)
    one_job = PRBFEnsemble(PRBFClassifier(6), sharings=sharings, random_state=3).fit(X, y)
    assert_array_equal(ensemble.class_log_density(X), one_job.class_log_density(X))
    single = [model.class_log_density(X) for model in ensemble.estimators_]
    assert_allclose(ensemble.class_log_density(X), logsumexp(single, axis=0) - np.log(3))
    assert [model.sharing for model in ensemble.estimators_] == list(sharings)
    assert_allclose(ensemble.predict_proba(X).sum(axis=1), 1.0)
    starts = {model.get_params()["random_state"] for model in ensemble.estimators_}
    assert len(starts) == 1
    assert ensemble.score(X, y) > 0.95
    of = PRBFEnsemble.of(ensemble.estimators_)
    assert_array_equal(of.predict_proba(X), ensemble.predict_proba(X))
    assert_array_equal(clone(of).fit(X, y).predict_proba(X), ensemble.predict_proba(X))


def test_blocks_may_share_in_part():
    """``PSKEMClassifier(sharing=...)`` with one block is ``PRBFClassifier``, and its default is what it was."""
    X, y = draw(5)
    blocks = PSKEMClassifier(6, n_blocks=1, sharing=0.4, max_iter=8, random_state=0).fit(X, y)
    whole = PRBFClassifier(6, sharing=0.4, max_iter=8, tol=0.0, random_state=0).fit(X, y)
    assert_array_equal(blocks.blocks_[0].weights, whole.weights_)
    assert_array_equal(blocks.blocks_[0].means, whole.means_)
    assert inspect.signature(PSKEMClassifier).parameters["sharing"].default is None
    two = PSKEMClassifier(6, n_blocks=2, sharing=0.0, max_iter=8, random_state=0).fit(X, y)
    assert all(((block.weights > 0).sum(axis=0) == 2).all() for block in two.blocks_)


def test_the_path_goes_from_full_sharing_down_on_warm_starts():
    X, y = draw(6)
    estimator = PRBFClassifier(9, random_state=0, max_iter=200)
    models = list(sharing_path(estimator, X, y, (0.0, 1.0, 0.5)))
    assert [model.sharing for model in models] == [1.0, 0.5, 0.0]
    assert estimator.sharing == 0.5
    cold = PRBFClassifier(9, random_state=0, max_iter=200, sharing=1.0).fit(X, y)
    assert_array_equal(models[0].means_, cold.means_)
    continued = PRBFClassifier(
        9, init=(cold.weights_, cold.means_, cold.covariances_), sharing=0.5, max_iter=200
    )
    assert_allclose(continued.fit(X, y).means_, models[1].means_, rtol=1e-6)
    for c, group in enumerate(models[2].groups_):
        assert not np.delete(models[2].weights_[:, c], group).any()


def test_lambda_is_chosen_on_held_out_rows():
    """The choice is the one a loop over splits makes, and the refit is the path on all rows."""
    X, y = draw(7, n=(80, 80, 80))
    sharings = (0.0, 1.0, 0.3)
    estimator = PRBFClassifier(6, covariance_type="spherical", random_state=0)
    splits = list(StratifiedKFold(3).split(X, y))
    model = PRBFClassifierCV(estimator, sharings=sharings, cv=3, n_jobs=2).fit(X, y)
    expected = np.empty((3, 3))
    for s, (train, test) in enumerate(splits):
        for fitted in sharing_path(estimator, X[train], y[train], sharings):
            log_proba = fitted.predict_log_proba(X[test])[np.arange(len(test)), y[test]]
            expected[sharings.index(fitted.sharing), s] = log_proba.mean()
    assert_allclose(model.scores_, expected)
    assert model.sharing_ == sharings[expected.mean(axis=1).argmax()]
    *_, last = sharing_path(estimator, X, y, [s for s in sharings if s >= model.sharing_])
    assert_array_equal(model.predict_log_proba(X), last.predict_log_proba(X))
    by_accuracy = PRBFClassifierCV(
        estimator, cv=StratifiedShuffleSplit(1, test_size=0.25, random_state=0), scoring="accuracy"
    ).fit(X, y)
    assert by_accuracy.scores_.shape == (5, 1)
    assert 0 <= by_accuracy.best_score_ <= 1


def test_a_lambda_per_pair_is_at_least_as_good_on_the_held_out_rows():
    X, y = draw(8, n=(80, 80, 80))
    estimator = PRBFClassifier(6, covariance_type="spherical", random_state=0)
    one = PRBFClassifierCV(estimator, sharings=(0.0, 0.5, 1.0), cv=3).fit(X, y)
    pairs = PRBFClassifierCV(estimator, sharings=(0.0, 0.5, 1.0), cv=3, per_pair=True).fit(X, y)
    assert pairs.best_score_ >= one.best_score_
    assert pairs.sharing_.shape == (3, 3)
    assert (np.diag(pairs.sharing_) == 1).all()
    assert_array_equal(pairs.best_estimator_.sharing, pairs.sharing_)
    assert not one.best_estimator_.warm_start
    assert not pairs.best_estimator_.warm_start


def test_a_lambda_per_pair_needs_every_class_in_every_split():
    X, y = draw(8, n=(40, 40, 40))
    labels = np.array(["a", "b", "c"])[y]
    splits = [(np.arange(0, 120, 2), np.arange(1, 120, 2)), (np.flatnonzero(y != 2), np.flatnonzero(y == 2))]
    model = PRBFClassifierCV(PRBFClassifier(6, random_state=0), sharings=(0.0, 1.0), cv=splits)
    assert model.fit(X, labels).scores_.shape == (2, 2)
    with pytest.raises(ValueError, match=r"per_pair: .*split 1 train without class 'c'.*stratified"):
        model.set_params(per_pair=True).fit(X, labels)


def test_the_rbf_network_is_least_squares_on_the_kernels_of_a_mixture():
    X, y = load_digits(return_X_y=True)
    network = rbf_network(40, random_state=0).fit(X[:1200], y[:1200])
    kernels = network.named_steps["kernels"]
    mixture = GaussianMixture(40, covariance_type="spherical", random_state=0).fit(X[:1200])
    assert_allclose(kernels.means_, mixture.means_)
    squares = ((X[:, None] - kernels.means_) ** 2).sum(axis=2)
    between = ((kernels.means_[:, None] - kernels.means_) ** 2).sum(axis=2).max()
    phi = np.exp(-0.5 * squares / between)
    assert_allclose(kernels.transform(X), phi, rtol=1e-7)
    design = np.column_stack([phi, np.ones(len(X))])
    weights, *_ = np.linalg.lstsq(design[:1200], np.eye(10)[y[:1200]])
    agree = (network.predict(X[1200:]) == (design[1200:] @ weights).argmax(axis=1)).mean()
    assert agree > 0.99
    assert_allclose(
        GaussianKernels(40, widths="mixture", random_state=0).fit(X[:1200]).widths_, mixture.covariances_
    )


def bad(message, **params):
    return pytest.param(params, message, id=message[:30])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        bad(r"sharing is -0\.1: lambda must lie in \[0, 1\]", sharing=-0.1),
        bad(r"sharing is 1\.5", sharing=1.5),
        bad("sharing is nan", sharing=float("nan")),
        bad(r"sharing must be one number or have shape \(3, 3\)", sharing=[[1.0, 0.5], [0.5, 1.0]]),
        bad("diagonal must be 1", sharing=np.full((3, 3), 0.5)),
        bad("leaves a class without kernels: at least 3", n_components=2),
        bad("class 1 has no kernels", groups=[[0, 1], [], [2]]),
        bad("kernel 1 is given to class 0 and again to class 2", groups=[[0, 1], [3], [1, 2]]),
        bad("2 groups for 3 classes", groups=[[0, 1], [2]]),
        bad("n_components is 5: each of 0 to 4 needs a class", n_components=5, groups=[[0, 1], [2], [3]]),
        bad("must be a list of kernel numbers", groups=[[0, -1], [2], [3]]),
        bad(
            "draws 51 components from 50 rows of class 2: too few; give a smaller n_components, or init",
            n_components=153,
        ),
        bad("'init' parameter of PRBFClassifier", init="uniform"),
        bad(
            "class number 2 starts with no weight on a kernel it may use",
            sharing=0.0,
            covariance_type="spherical",
            init=(np.array([[1.0, 0, 1], [0, 1, 0], [0, 0, 0]]), np.eye(3), np.ones(3)),
        ),
    ],
)
def test_bad_input_names_the_culprit(params, message):
    X, y = draw(n=(60, 60, 50))
    with pytest.raises(ValueError, match=message):
        PRBFClassifier(**params).fit(X, y)


def test_bad_lambdas_of_an_average():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"lambda 0\.5 is given more than once"):
        PRBFEnsemble(sharings=(0.5, 0, 0.5)).fit(X, y)
    with pytest.raises(ValueError, match="sharings is empty"):
        PRBFEnsemble(sharings=()).fit(X, y)
    with pytest.raises(ValueError, match="lambda must lie in"):
        PRBFEnsemble(sharings=(0.5, 2.0)).fit(X, y)
    with pytest.raises(ValueError, match=r"lambda 0\.5 is given more than once"):
        PRBFClassifierCV(sharings=(0.5, 0, 0.5)).fit(X, y)
