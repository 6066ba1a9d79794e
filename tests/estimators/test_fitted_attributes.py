"""Public fitted attributes are the state of an estimator: predictions and files follow what is assigned."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from skem import (
    DiscriminativePSKEMClassifier,
    GaussianMixture,
    KMeans,
    MDAClassifier,
    PRBFClassifier,
    PRBFEnsemble,
    PSKEMClassifierCV,
    SDGMClassifier,
    SKEMClassifier,
)
from skem.engine.parameters import Mixture
from skem.estimators.rbf import GaussianKernels
from skem.images import CovariancePCA

X, SPECIES = load_iris(return_X_y=True)


def moved(blocks):
    return [Mixture(block.weights, block.means + 1, block.covariances) for block in blocks]


def halved(prior):
    return np.array([0.5, 0.5, *prior[2:] * 0])


STATE = [
    (KMeans(3, metric="mahalanobis"), {"cluster_centers_": lambda centres: centres + 1}),
    (
        GaussianMixture(3, max_iter=2, tol=0),
        {"weights_": halved, "means_": lambda means: means + 1, "covariances_": lambda P: 2 * P},
    ),
    (SKEMClassifier(6, max_iter=1), {"blocks_": moved, "class_prior_": halved}),
    (MDAClassifier(6, max_iter=1), {"block_indices_": lambda indices: [indices[0][::-1]]}),
    (
        DiscriminativePSKEMClassifier(6, max_iter=1, discriminative_iter=1),
        {"blocks_": moved, "generative_blocks_": moved, "temperature_": lambda T: 2 * T},
    ),
    (
        SDGMClassifier(1, max_iter=2, em_iter=2, tol=0),
        {"coef_": lambda coef: 2 * coef, "support_vectors_": lambda rows: rows + 1},
    ),
    (GaussianKernels(3), {"means_": lambda means: means + 1, "widths_": lambda widths: 2 * widths}),
    (CovariancePCA(n_components=2), {"mean_": lambda mean: mean + 1, "components_": lambda rows: rows[:1]}),
    (PRBFEnsemble(PRBFClassifier(3, max_iter=1), sharings=[0, 1]), {"class_prior_": halved}),
    (
        PSKEMClassifierCV(n_components=[3], n_blocks=[1], reg_covar=[0.1], cv=2, max_iter=2),
        {"class_prior_": halved, "classes_": lambda classes: classes + 5},
    ),
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
        if hasattr(fitted, "load"):
            stream = io.BytesIO()
            fitted.save(stream)
            stream.seek(0)
            assert same(answers(type(fitted).load(stream)), after)
        setattr(fitted, name, original)
        assert same(answers(fitted), before)


def test_assigned_centres_may_be_others_in_number():
    model = KMeans(3, random_state=0).fit(X)
    centres = X[[0, 50, 100, 149]]
    model.cluster_centers_ = centres
    assert_array_equal(model.predict(centres), range(4))
    assert_allclose(model.transform(centres), np.linalg.norm(centres[:, None] - centres, axis=2), atol=1e-9)
    for wrong in (
        np.empty((0, 4)),
        centres[:, :2],
        centres[0],
        centres * np.nan,
        centres.astype(str),
        1e200 * centres,
    ):
        model.cluster_centers_ = wrong
        for use in (model.predict, model.transform, model.score, lambda _: model.save(io.BytesIO())):
            with pytest.raises(ValueError, match="cluster_centers_ must be"):
                use(X)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_assigned_parameters_that_do_not_belong_together_are_named(covariance_type):
    model = GaussianMixture(3, covariance_type=covariance_type, max_iter=1, tol=0, random_state=0).fit(X)
    model.means_ = np.repeat(model.means_, 400, axis=0)
    with pytest.raises(ValueError, match=r"means \(1200, 4\) and covariances .* do not belong together"):
        model.predict(X)
    with pytest.raises(ValueError, match=r"GaussianMixture cannot be saved: means_ must have shape"):
        model.save(io.BytesIO())
