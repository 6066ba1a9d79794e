"""Public fitted attributes are the state of an estimator: predictions and files follow what is assigned."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss

import skem
from skem.engine.parameters import Mixture
from skem.images import CovariancePCA

X, SPECIES = load_iris(return_X_y=True)


def moved(blocks):
    return [Mixture(block.weights, block.means + 1, block.covariances) for block in blocks]


def halved(prior):
    return np.array([0.5, 0.5, *prior[2:] * 0])


STATE = [
    (skem.KMeans(3, metric="mahalanobis"), {"cluster_centers_": lambda centres: centres + 1}),
    (
        skem.GaussianMixture(3, max_iter=2, tol=0),
        {"weights_": halved, "means_": lambda means: means + 1, "covariances_": lambda P: 2 * P},
    ),
    (skem.SKEMClassifier(6, max_iter=1), {"blocks_": moved, "priors_": halved}),
    (skem.MDAClassifier(6, max_iter=1), {"covariances_": lambda P: 2 * P}),
    (
        skem.DiscriminativePSKEMClassifier(6, max_iter=1, discriminative_iter=1),
        {"blocks_": moved, "temperature_": lambda T: 2 * T},
    ),
    (
        skem.SDGMClassifier(1, max_iter=2, em_iter=2, tol=0),
        {"coef_": lambda coef: 2 * coef, "support_vectors_": lambda rows: rows + 1},
    ),
    (CovariancePCA(n_components=2), {"mean_": lambda mean: mean + 1, "components_": lambda rows: rows[:1]}),
]
ANSWERS = ("predict", "predict_proba", "score_samples", "transform", "get_feature_names_out")


def answers(model):
    return [
        getattr(model, name)(*(() if name.startswith("get") else (X,)))
        for name in ANSWERS
        if hasattr(model, name)
    ]


def same(some, others):
    return all(np.array_equal(one, other) for one, other in zip(some, others, strict=True))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "changes"), STATE, ids=[type(model).__name__ for model, _ in STATE])
def test_predictions_follow_assigned_attributes(model, changes):
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    fitted, before = model.fit(X, SPECIES), None
    for name, change in changes.items():
        original, before = getattr(fitted, name), answers(fitted)
        setattr(fitted, name, change(original))
        after = answers(fitted)
        assert not same(before, after), name
        assert same(answers(pickle.loads(pickle.dumps(fitted))), after)
        setattr(fitted, name, original)
        assert same(answers(fitted), before)


def test_assigned_centres_may_be_others_in_number():
    model = skem.KMeans(3, random_state=0).fit(X)
    centres = X[[0, 50, 100, 149]]
    model.cluster_centers_ = centres
    assert_array_equal(model.predict(centres), range(4))
    assert_allclose(model.transform(centres), np.linalg.norm(centres[:, None] - centres, axis=2), atol=1e-9)
    for wrong in (centres[:, :2], centres * np.nan):
        model.cluster_centers_ = wrong
        for use in (model.predict, model.transform, model.score):
            with pytest.raises(ValueError, match="cluster_centers_ must"):
                use(X)


def test_fitted_arrays_cannot_be_edited():
    """Densities are computed from factors of the covariances, which an edit would not change."""
    mixture = skem.GaussianMixture(3, random_state=0).fit(X)
    classifier = skem.PSKEMClassifier(6, n_blocks=2, random_state=0).fit(X, SPECIES)
    for model in (mixture, copy.deepcopy(mixture), pickle.loads(pickle.dumps(mixture))):
        for array in (model.weights_, model.means_, model.covariances_):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        classifier.blocks_[0].means[0] = 0
    with pytest.raises(TypeError, match="does not support item assignment"):
        classifier.blocks_[0] = classifier.blocks_[1]
    given = np.zeros((3, 4))
    mixture.means_ = given
    given[0] = 1  # The caller's array stays the caller's.
    assert not mixture.means_.any()


@pytest.mark.parametrize(
    ("model", "name", "value", "message"),
    [
        (skem.GaussianMixture(3, tol=0), "means_", np.full((3, 4), np.nan), "means_ must be finite"),
        (skem.GaussianMixture(3, tol=0), "weights_", [0.5, 0.9, 0.5], "weights_ must sum to 1"),
        (skem.GaussianMixture(3, tol=0), "weights_", 1.0, r"weights_ must have shape \(n_components,\)"),
        (skem.GaussianMixture(3, tol=0), "covariances_", [-np.eye(4)] * 3, "symmetric and positive definite"),
        (skem.SKEMClassifier(6), "priors_", [0.5, 0.5, 0.5], "priors_ must be non-negative and sum to one"),
        (skem.MDAClassifier(6), "means_", np.zeros((6, 3)), "4 features do not belong together"),
        (skem.DiscriminativePSKEMClassifier(6), "temperature_", 0.0, "temperature_ must be at least"),
        (skem.DiscriminativePSKEMClassifier(6), "background_", 1.5, "background_ must be from 0 to 1"),
        (skem.SDGMClassifier(1, tol=0), "weights_", -np.ones(3), "weights_ must be at least"),
    ],
)
def test_assigned_values_out_of_range(model, name, value, message):
    quick = {name: 1 for name in ("max_iter", "discriminative_iter", "em_iter") if hasattr(model, name)}
    fitted = model.set_params(**quick).fit(X, SPECIES)

    def use():
        setattr(fitted, name, value)
        answers(fitted)

    with pytest.raises(ValueError, match=message):
        use()


def test_other_priors_after_discriminative_training():
    """The formula of the documentation lowers the log-loss where classes have other shares than in training."""
    X, y = load_breast_cancer(return_X_y=True)
    model = skem.DiscriminativePSKEMClassifier(random_state=0).fit(X[::2], y[::2])
    new, proba = np.array([0.02, 0.98]), model.predict_proba(X[1::2])
    adjusted = proba * new / model.priors_
    adjusted /= adjusted.sum(axis=1, keepdims=True)
    weights = (new / model.priors_)[y[1::2]]
    before, after = (log_loss(y[1::2], p, sample_weight=weights) for p in (proba, adjusted))
    assert after < 0.8 * before
