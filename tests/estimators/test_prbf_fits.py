"""lambda-PRBF beyond the paper: covariance regularisation, initialisation, warm starts, feature blocks, and errors."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import overlapping_classes

from skem import PRBFClassifier, PSKEMClassifier, SKEMClassifier
from skem.engine.covariances import COVARIANCE_TYPES

every_type = pytest.mark.parametrize("covariance_type", list(COVARIANCE_TYPES))


@every_type
@pytest.mark.parametrize("sharing", [0.0, 0.4, 1.0])
def test_the_objective_never_falls(covariance_type, sharing):
    X, y = overlapping_classes(1)
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
def test_variance_floor(covariance_type):
    X, y = overlapping_classes(2)
    X[:10] = X[0]  # a component could collapse onto these samples
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
        kind = COVARIANCE_TYPES[covariance_type]
        least = np.linalg.eigvalsh(kind.dense(model.covariances_, 12, 3)).min()
        assert_allclose(max(least, floor), least, rtol=1e-9)
        assert least < 20 * floor


def test_initial_weights():
    X, y = overlapping_classes()
    for init in ("class", "class_kmeans"):
        for sharing, used in ((0.0, 5), (1e-3, 15), (1.0, 15)):
            model = PRBFClassifier(15, sharing=sharing, init=init, max_iter=1, tol=0.0, random_state=0).fit(
                X, y
            )
            assert ((model.weights_ > 0).sum(axis=0) == used).all()
    reserved = SKEMClassifier(15, init="class", max_iter=5, random_state=0).fit(X, y)
    separate = PRBFClassifier(15, sharing=0.0, max_iter=5, tol=0.0, random_state=0).fit(X, y)
    assert_allclose(separate.weights_, reserved.weights_)


def test_warm_start_with_another_lambda():
    X, y = overlapping_classes(4)
    model = PRBFClassifier(9, sharing=1.0, warm_start=True, random_state=0).fit(X, y)
    model.set_params(sharing=0.0).fit(X, y)
    for c, group in enumerate(model.groups_):
        assert not np.delete(model.weights_[:, c], group).any()
    with pytest.raises(ValueError, match="groups changed"):
        model.set_params(groups=[[0], [1, 2, 3], [4, 5, 6, 7, 8]]).fit(X, y)


def test_blocks_may_share_in_part():
    """``PSKEMClassifier(sharing=...)`` with one block is ``PRBFClassifier``, and its default is what it was."""
    X, y = overlapping_classes(5)
    blocks = PSKEMClassifier(6, n_blocks=1, sharing=0.4, max_iter=8, random_state=0).fit(X, y)
    whole = PRBFClassifier(6, sharing=0.4, max_iter=8, tol=0.0, random_state=0).fit(X, y)
    assert_array_equal(blocks.blocks_[0].weights, whole.weights_)
    assert_array_equal(blocks.blocks_[0].means, whole.means_)
    assert inspect.signature(PSKEMClassifier).parameters["sharing"].default is None
    two = PSKEMClassifier(6, n_blocks=2, sharing=0.0, max_iter=8, random_state=0).fit(X, y)
    assert all(((block.weights > 0).sum(axis=0) == 2).all() for block in two.blocks_)


def bad(message, **params):
    return pytest.param(params, message, id=message[:30])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        bad(r"sharing: lambda must lie in \[0, 1\]; got -0\.1", sharing=-0.1),
        bad(r"got 1\.5", sharing=1.5),
        bad("sharing must be finite, got nan", sharing=float("nan")),
        bad(r"sharing must be a number or have shape \(3, 3\)", sharing=[[1.0, 0.5], [0.5, 1.0]]),
        bad("sharing must have ones on the diagonal", sharing=np.full((3, 3), 0.5)),
        bad("n_components=2 is less than the number of classes, 3; use at least 3", n_components=2),
        bad("class 1 has no components", groups=[[0, 1], [], [2]]),
        bad("component 1 belongs to class 0 and to class 2", groups=[[0, 1], [3], [1, 2]]),
        bad("groups has 2 lists for 3 classes", groups=[[0, 1], [2]]),
        bad(
            "component 4 has no class; assign each of the components 0 to 4",
            n_components=5,
            groups=[[0, 1], [2], [3]],
        ),
        bad("class 0 needs a list of component indices", groups=[[0, -1], [2], [3]]),
        bad(
            "draws 51 components from 50 samples of class 2, which are too few; use a smaller n_components, or init",
            groups=[range(51), range(51, 102), range(102, 153)],
        ),
        bad("'init' parameter of PRBFClassifier", init="uniform"),
        bad(
            "lambda is 0 for all components with a weight in class 2",
            sharing=0.0,
            covariance_type="spherical",
            init=(np.array([[1.0, 0, 1], [0, 1, 0], [0, 0, 0]]), np.eye(3), np.ones(3)),
        ),
    ],
)
def test_errors(params, message):
    X, y = overlapping_classes(n=(60, 60, 50))
    with pytest.raises(ValueError, match=message):
        PRBFClassifier(**params).fit(X, y)
