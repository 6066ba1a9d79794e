"""Little data: passes in compiled code are those of large data, to the last bit."""

import warnings
from unittest.mock import patch

import fuzz
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference import shared_clusters

from skem import GaussianMixture, PSKEMClassifier, SKEMClassifier
from skem.engine import em
from skem.engine.compiled_passes import CompiledPasses


def draw_model(rng, seed):
    """One whose components have a covariance matrix each."""
    common = {
        "standardize": bool(rng.random() < 0.5),
        "reg_covar": float(rng.choice([0.0, 1e-12, 1e-6, 1e-3, 0.1])),
        "max_iter": int(rng.choice([1, 2, 8, 9, 30])),
        "random_state": seed,
    }
    if rng.random() < 0.5:
        tol = float(rng.choice([0.0, 1e-3]))
        return GaussianMixture(int(rng.integers(1, 7)), init="sample", tol=tol, **common)
    init = str(rng.choice(["class", "sample", "uniform"]))
    if rng.random() < 0.3:
        return PSKEMClassifier(int(rng.integers(1, 7)), n_blocks=2, init=init, **common)
    return SKEMClassifier(int(rng.choice([1, 3, 6, 50])), init=init, **common)


def outcome(model, X, y, sample_weight):
    """What was fitted, or why nothing was."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mixture = isinstance(model, GaussianMixture)
            model.fit(X, sample_weight=sample_weight) if mixture else model.fit(X, y, sample_weight)
        except ValueError as error:
            return str(error)
    return [array for mixture in fuzz.fitted_mixtures(model) for array in mixture], model.dtype_used_


@pytest.mark.parametrize("seeds", [range(k, 400, 4) for k in range(4)], ids=str)
def test_hostile_data_has_the_same_bits(seeds):
    done = []
    call = CompiledPasses.__call__
    for seed in seeds:
        rng = np.random.default_rng(seed)
        (X, y, sample_weight), model = fuzz.draw_rows(rng), draw_model(rng, seed)
        with patch.object(CompiledPasses, "__call__", lambda *a: done.append(call(*a)) or done[-1]):
            found = outcome(model, X, y, sample_weight)
        with patch.object(CompiledPasses, "of", lambda problem: None):
            sought = outcome(model, X, y, sample_weight)
        if isinstance(sought, str):
            assert found == sought, seed
            continue
        assert found[1] == sought[1], seed
        for one, other in zip(found[0], sought[0], strict=True):
            assert_array_equal(one, other, err_msg=str(seed))
    # Both ends of it are met: passes that are done, and those that are unusual.
    assert sum(map(len, done)) > 100
    assert min(map(len, done)) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Model", [GaussianMixture, SKEMClassifier, PSKEMClassifier])
def test_what_is_usual_is_compiled(Model, dtype, monkeypatch):
    """Else little data would be slow again, and nothing would show it."""
    X, y, _ = shared_clusters(n=300, m=4)
    steps, e_step = [], em._EStep
    monkeypatch.setattr(em, "_EStep", lambda *a, **options: steps.append(a) or e_step(*a, **options))
    model = Model(6, max_iter=20, tol=0.0, reg_covar=1e-3, random_state=0).fit(X.astype(dtype), y)
    assert model.n_iter_ == 20
    assert len(steps) == len(getattr(model, "blocks_", [model]))  # that of the start


def test_a_pass_goes_by_the_type_that_the_one_before_was_in():
    """With narrow components float32 suffices in some passes only, and where it does not float64 takes over."""
    X, y, _ = shared_clusters(n=400, m=5, width=0.2)
    X = X.astype(np.float32)
    model = SKEMClassifier(8, init="uniform", init_scale=100.0, reg_covar=0.0, max_iter=40, random_state=3)
    dtypes = [fitted.dtype_used_ for fitted in model.fit_passes(X, y)]
    with patch.object(CompiledPasses, "of", lambda problem: None):
        assert dtypes == [fitted.dtype_used_ for fitted in model.fit_passes(X, y)]
    assert {"float32", "float64"} == set(dtypes)


def test_after_an_unusual_pass_the_next_are_not_tried():
    X, y, start = shared_clusters(n=300, m=3)
    weights, means, covariances = start
    # A component far off, that no row is of: it is dropped in the first pass, and never comes back.
    start = weights, np.vstack([means[:-1], means[-1:] + 1e6]), covariances
    with patch.object(CompiledPasses, "_done", side_effect=lambda *a: []) as done:
        SKEMClassifier(len(means), init=start, max_iter=40).fit(X, y)
    assert done.call_count == len([0, 2, 5, 10, 19, 36])  # passes 1, 2, 4, 8 and 16 lie between them
    with patch.object(CompiledPasses, "_done", autospec=True, side_effect=CompiledPasses._done) as done:
        clf = SKEMClassifier(len(means), init=start, max_iter=40).fit(X, y)
    assert done.call_count < 10
    assert_array_equal(clf.blocks_[0].weights[-1], 0.0)
