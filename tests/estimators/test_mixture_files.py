"""GaussianMixture from given parameters, and from files of Armadillo."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from skem import GaussianMixture

X, _ = load_iris(return_X_y=True)
TYPES = ["full", "tied", "diag", "spherical"]
every_type = pytest.mark.parametrize("covariance_type", TYPES)
every_unit = pytest.mark.parametrize("standardize", [True, False])


def fitted(covariance_type="full", standardize=False):
    options = {"covariance_type": covariance_type, "standardize": standardize, "max_iter": 4, "tol": 0}
    return GaussianMixture(3, random_state=0, **options).fit(X)


@every_type
@every_unit
def test_from_parameters_of_another_mixture(covariance_type, standardize):
    model = fitted(covariance_type, standardize)
    same = GaussianMixture.from_parameters(
        model.weights_,
        model.means_,
        model.covariances_,
        covariance_type=covariance_type,
        standardize=standardize,
    )
    assert_allclose(same.score_samples(X), model.score_samples(X), rtol=1e-9)
    assert_allclose(same.predict_proba(X), model.predict_proba(X), atol=1e-9)
    assert_array_equal(same.sample(5, random_state=0)[1], model.sample(5, random_state=0)[1])
    assert same.n_parameters_ == model.n_parameters_
    assert_allclose(same.bic(X), model.bic(X))
    more = {"warm_start": True, "max_iter": 1, "tol": 0}
    assert_allclose(same.set_params(**more).fit(X).means_, model.set_params(**more).fit(X).means_, rtol=1e-8)


def test_saving_equal_copies_of_a_tied_covariance(tmp_path):
    copies = [np.eye(2) + 1] * 2
    model = GaussianMixture.from_parameters([0.5, 0.5], [[0, 0], [3, 3]], copies, covariance_type="tied")
    model.save(tmp_path / "mixture.npz")
    loaded = GaussianMixture.load(tmp_path / "mixture.npz")
    assert_array_equal(loaded.score_samples(X[:, :2]), model.score_samples(X[:, :2]))


def cube(weights, means, variances):
    """A file of Armadillo's gmm_diag::save."""
    content = np.zeros((means.shape[1] + 1, len(means), 2))
    content[0, :, 0], content[1:, :, 0], content[1:, :, 1] = weights, means.T, variances.T
    sizes = " ".join(map(str, content.shape))
    return f"ARMA_CUB_BIN_FN008\n{sizes}\n".encode() + content.tobytes(order="F")


def field(weights, means, covariances):
    """A file of Armadillo's gmm_full::save."""
    matrices = [means.T, weights[None], *covariances]
    content = f"ARMA_FLD_BIN\n{len(matrices)}\n1\n".encode()
    for matrix in matrices:
        content += f"ARMA_MAT_BIN_FN008\n{matrix.shape[0]} {matrix.shape[1]}\n".encode()
        content += matrix.tobytes(order="F")
    return content


@pytest.mark.parametrize(("covariance_type", "write"), [("diag", cube), ("full", field)])
def test_files_of_armadillo(tmp_path, covariance_type, write):
    model = fitted(covariance_type)
    content = write(model.weights_, model.means_, model.covariances_)
    (tmp_path / "model.gmm").write_bytes(content)
    loaded = GaussianMixture.load(tmp_path / "model.gmm")
    assert loaded.covariance_type == covariance_type
    # One log-density is -.003, of terms of the size of ten.
    assert_allclose(loaded.score_samples(X), model.score_samples(X), rtol=1e-12, atol=1e-13)
    huge = content.replace(b"5 3 2", b"9999999999 99999 2").replace(b"\n4 3\n", b"\n999999999999 3\n")
    assert huge != content
    other = content.replace(b"5 3 2", b"2 3 5").replace(b"\n4 3\n", b"\n3 4\n")
    for bad in (content[:-8], content[:25], content[:19], huge, other):
        (tmp_path / "bad.gmm").write_bytes(bad)
        with pytest.raises(ValueError, match=r"bad\.gmm: no GaussianMixture: "):
            GaussianMixture.load(tmp_path / "bad.gmm")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": [0.5, 0.5]}, r"weights must have shape \(3,\), one per mean, got \(2,\)"),
        ({"weights": [0.5, 0.5, 0.5]}, "weights must sum to 1; they sum to 1.5"),
        ({"weights": 1.0}, r"weights must have shape \(3,\)"),
        ({"means": np.outer([-1e300, 0, 1e300], np.ones(4))}, "feature 0, from .* spreads too far"),
        ({"means": np.full((3, 4), np.inf)}, "means must be finite, got inf"),
        ({"means": np.zeros(3)}, r"means must have shape \(K, m\), got \(3,\)"),
        ({"covariances": -np.ones((3, 4, 4))}, "covariances must be symmetric and positive definite"),
        ({"covariance_type": "round"}, "'covariance_type'"),
        ({"covariance_type": "spherical", "covariances": [[1, 2, 1, 1]] * 3}, "covariances must be balls"),
    ],
)
def test_impossible_parameters(change, words):
    parameters = {
        "weights": np.ones(3) / 3,
        "means": np.zeros((3, 4)),
        "covariances": [np.eye(4)] * 3,
    } | change
    with pytest.raises(ValueError, match=words):
        GaussianMixture.from_parameters(**parameters)


@pytest.mark.filterwarnings("error")
def test_condition_on_values_without_density():
    mixture = GaussianMixture.from_parameters([0.5, 0.5], [[0, 0], [3, 3]], [np.eye(2)] * 2)
    assert_array_equal(mixture.condition([0], [1e6]).weights_, [0, 1])
    with pytest.raises(ValueError, match=r"condition: .* too far from the mixture"):
        mixture.condition([0], [1e200])
