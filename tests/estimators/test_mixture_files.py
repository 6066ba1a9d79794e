"""GaussianMixture from given parameters, and from files."""

import io
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from skem import GaussianMixture

X, _ = load_iris(return_X_y=True)
TYPES = ["full", "tied", "diag", "spherical"]
every_type = pytest.mark.parametrize("covariance_type", TYPES)
every_unit = pytest.mark.parametrize("standardize", [True, False])


def fitted(covariance_type="full", standardize=False, rows=X):
    options = {"covariance_type": covariance_type, "standardize": standardize, "max_iter": 4, "tol": 0}
    return GaussianMixture(3, random_state=0, **options).fit(rows)


@every_type
@every_unit
def test_a_mixture_from_the_parameters_of_another_is_the_same(covariance_type, standardize):
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


@every_type
@every_unit
def test_a_saved_mixture_is_loaded_to_the_bit(tmp_path, covariance_type, standardize):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = fitted(covariance_type, standardize, frame)
    model.save(tmp_path / "mixture.npz")
    loaded = GaussianMixture.load(tmp_path / "mixture.npz")
    assert {path.name for path in tmp_path.iterdir()} == {"mixture.npz"}
    for name in ("score_samples", "predict_proba", "predict", "component_log_density"):
        assert_array_equal(getattr(loaded, name)(frame), getattr(model, name)(frame))
    for name in ("weights_", "means_", "covariances_", "objective_", "lower_bound_", "n_iter_", "converged_"):
        assert_array_equal(getattr(loaded, name), getattr(model, name))
    assert loaded.get_params() == model.get_params()
    assert list(loaded.feature_names_in_) == list("abcd")
    with np.load(tmp_path / "mixture.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
    again = pickle.loads(pickle.dumps(loaded))
    assert_array_equal(again.score_samples(frame), model.score_samples(frame))


def test_parameters_that_no_file_holds_are_those_of_the_class(tmp_path):
    model = fitted()
    arrays = model.weights_, model.means_, model.covariances_
    model.set_params(init=arrays, random_state=np.random.RandomState(0), covariance_type="diag")
    model.save(tmp_path / "mixture")
    loaded = GaussianMixture.load(tmp_path / "mixture")
    assert (loaded.init, loaded.random_state, loaded.covariance_type) == ("k-means++", None, "full")


def cube(weights, means, variances):
    """What Armadillo's gmm_diag::save writes."""
    content = np.zeros((means.shape[1] + 1, len(means), 2))
    content[0, :, 0], content[1:, :, 0], content[1:, :, 1] = weights, means.T, variances.T
    sizes = " ".join(map(str, content.shape))
    return f"ARMA_CUB_BIN_FN008\n{sizes}\n".encode() + content.tobytes(order="F")


def field(weights, means, covariances):
    """What Armadillo's gmm_full::save writes."""
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
    for cut in (content[:-8], content[:25], content[:19]):
        (tmp_path / "cut.gmm").write_bytes(cut)
        with pytest.raises(ValueError, match=r"cut.gmm: .*"):
            GaussianMixture.load(tmp_path / "cut.gmm")


def archive(**changes):
    model = fitted()
    arrays = {"weights": model.weights_, "means": model.means_, "covariances": model.covariances_}
    settings = {"format": "skem.GaussianMixture", "version": 1, "params": {"n_components": 3}}
    settings |= {name: changes.pop(name) for name in ("format", "version", "params") if name in changes}
    arrays |= {
        "shift": np.zeros(4),
        "scale": np.ones(4),
        "settings": np.array(json.dumps(settings)),
    } | changes
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no GaussianMixture saved by skem, nor one by Armadillo, or one that is cut off"),
        (b"PK\x03\x04 and so on", "no GaussianMixture saved by skem"),
        (archive()[:400], "no GaussianMixture saved by skem"),
        (archive(format="another"), "no GaussianMixture saved by skem"),
        (archive(settings=np.array([{}], dtype=object)), "no GaussianMixture saved by skem"),
        (archive(version=2), "version 2 of the format; this skem reads version 1"),
        (archive(means=np.full((3, 4), np.nan)), "no mixture: means contain NaN"),
        (archive(weights=np.ones(4) / 4), r"no mixture: weights must have shape \(3,\), .*got \(4,\)"),
        (archive(params={"covariance_type": "diag"}), r"no mixture: covariances must have shape \(3, 4\)"),
        (archive(params={"kernel": 1}), "no mixture: .*kernel"),
        (archive(scale=np.zeros(4)), "no mixture: scale must be positive"),
        (archive(shift=np.zeros(3)), r"no mixture: shift must have shape \(4,\), got \(3,\)"),
    ],
)
def test_a_file_that_is_no_mixture_is_named(tmp_path, content, words):
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(ValueError, match=f"bad.npz: {words}"):
        GaussianMixture.load(tmp_path / "bad.npz")


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    model = fitted()
    model.save(tmp_path / "mixture.npz")
    before = (tmp_path / "mixture.npz").read_bytes()

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        model.save(tmp_path / "mixture.npz")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"mixture.npz": before}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": [0.5, 0.5]}, r"weights must have shape \(3,\), one per mean, got \(2,\)"),
        ({"weights": [0.5, 0.5, 0.5]}, "weights must be non-negative and sum to one$"),
        ({"weights": 1.0}, r"weights must have shape \(3,\)"),
        ({"means": np.outer([-1e300, 0, 1e300], np.ones(4))}, "feature 0, from .* spreads too far"),
        ({"means": np.full((3, 4), np.inf)}, "means contain NaN or infinite"),
        ({"means": np.zeros(3)}, "means must have two dimensions"),
        ({"covariances": -np.ones((3, 4, 4))}, "covariances must be symmetric and positive definite"),
        ({"covariance_type": "round"}, "'covariance_type'"),
        ({"covariance_type": "spherical", "covariances": [[1, 2, 1, 1]] * 3}, "covariances must be balls"),
    ],
)
def test_parameters_that_are_no_mixture_are_named(change, words):
    parameters = {
        "weights": np.ones(3) / 3,
        "means": np.zeros((3, 4)),
        "covariances": [np.eye(4)] * 3,
    } | change
    with pytest.raises(ValueError, match=words):
        GaussianMixture.from_parameters(**parameters)


@pytest.mark.filterwarnings("error")
def test_values_so_far_out_that_no_component_has_a_density_there():
    mixture = GaussianMixture.from_parameters([0.5, 0.5], [[0, 0], [3, 3]], [np.eye(2)] * 2)
    assert_array_equal(mixture.condition([0], [1e6]).weights_, [0, 1])
    with pytest.raises(ValueError, match=r"condition: values are too far from the mixture, got \[1e\+200\]"):
        mixture.condition([0], [1e200])
