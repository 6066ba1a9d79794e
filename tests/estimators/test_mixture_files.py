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


def test_a_tied_mixture_from_equal_copies_is_saved(tmp_path):
    copies = [np.eye(2) + 1] * 2
    model = GaussianMixture.from_parameters([0.5, 0.5], [[0, 0], [3, 3]], copies, covariance_type="tied")
    model.save(tmp_path / "mixture.npz")
    loaded = GaussianMixture.load(tmp_path / "mixture.npz")
    assert_array_equal(loaded.score_samples(X[:, :2]), model.score_samples(X[:, :2]))


def test_parameters_that_no_file_holds_are_those_of_the_class(tmp_path):
    model = fitted()
    arrays = model.weights_, model.means_, model.covariances_
    model.set_params(init=arrays, random_state=np.random.RandomState(0), covariance_type="diag")
    model.save(tmp_path / "mixture")
    loaded = GaussianMixture.load(tmp_path / "mixture")
    assert (loaded.random_state, loaded.covariance_type) == (None, "diag")
    for array, expected in zip(loaded.init, arrays, strict=True):
        assert_array_equal(array, expected)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


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
    huge = content.replace(b"5 3 2", b"9999999999 99999 2").replace(b"\n4 3\n", b"\n999999999999 3\n")
    assert huge != content
    for cut in (content[:-8], content[:25], content[:19], huge):
        (tmp_path / "cut.gmm").write_bytes(cut)
        with pytest.raises(ValueError, match=r"cut.gmm: .*"):
            GaussianMixture.load(tmp_path / "cut.gmm")


def older_archive(**changes):
    """A file of the format before attributes were named in it."""
    model = fitted()
    arrays = {"weights": model.weights_, "means": model.means_, "covariances": model.covariances_}
    arrays |= {"shift": model._shift, "scale": model._scale, "n_iter_": 4, "feature_names_in_": list("abcd")}
    arrays |= {"objective_": model.objective_, "log_likelihood_": model.log_likelihood_}
    settings = {"format": "skem.GaussianMixture", "version": 1, "params": {"n_components": 3}}
    settings |= {name: changes.pop(name) for name in ("format", "version", "params") if name in changes}
    stream = io.BytesIO()
    np.savez(stream, **arrays | {"settings": np.array(json.dumps(settings))} | changes)
    return stream.getvalue()


def test_an_older_file_is_still_read(tmp_path):
    (tmp_path / "old.npz").write_bytes(older_archive())
    loaded, model = GaussianMixture.load(tmp_path / "old.npz"), fitted()
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert_array_equal(loaded.score_samples(frame), model.score_samples(X))
    assert_array_equal(loaded.objective_, model.objective_)
    assert (loaded.n_iter_, list(loaded.feature_names_in_)) == (4, list("abcd"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "another"}, "not saved by skem"),
        ({"settings": np.array([{}], dtype=object)}, "not saved by skem"),
        ({"version": 2}, "version 2 of the format; this skem reads version 1"),
        ({"means": np.full((3, 4), np.nan)}, "means_ must be finite"),
        (
            {"weights": np.ones(4) / 4},
            r"means_ must have shape .*, got \(3, 4\); n_components=4 from weights_",
        ),
        ({"params": {"covariance_type": "diag"}}, r"covariances_ must have shape \(3, 4\)"),
        ({"params": {"kernel": 1}}, "kernel"),
        ({"scale": np.zeros(4)}, "_scale must be from 2.23e-308"),
        ({"scale": np.full(4, 1e-200)}, "covariances_ are too large, or _scale too small"),
        ({"shift": np.zeros(3)}, r"_shift must have shape \(n_features\), got \(3,\)"),
    ],
)
def test_a_file_that_is_no_mixture_is_named(tmp_path, changes, words):
    (tmp_path / "bad.npz").write_bytes(older_archive(**changes))
    with pytest.raises(ValueError, match=f"bad.npz: no GaussianMixture: .*{words}"):
        GaussianMixture.load(tmp_path / "bad.npz")


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
