"""A fit that fails or is interrupted ends its threads, raises one exception, and leaves the estimator as it was."""

import builtins
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import dask
import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference import unchanged
from sklearn.base import clone
from threadpoolctl import threadpool_info

from skem import GaussianMixture, KMeans, SKEMClassifier
from skem.datasets import ParquetRows
from skem.engine.expectation import Expectation
from skem.engine.missing_em import _ClassMixture

N = 20_000
OPTIONS = {"max_iter": 5, "tol": 0.0, "n_jobs": 2, "random_state": 0}
MIXTURE, CLASSIFIER = GaussianMixture(2, **OPTIONS), SKEMClassifier(4, **OPTIONS)
ERRORS = pytest.mark.parametrize("Error", [KeyboardInterrupt, MemoryError])


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture
def collections(X, tmp_path):
    """The same samples in memory, with missing values, in a Parquet file, and in a Dask array."""
    pq.write_table(pa.table(dict(zip("abc", X.T, strict=True))), tmp_path / "X.parquet", row_group_size=3000)
    with ThreadPoolExecutor(1) as pool, dask.config.set(scheduler="threads", pool=pool):
        yield {
            "memory": X,
            "missing": np.where(X > 2, np.nan, X),
            "parquet": ParquetRows(tmp_path / "X.parquet"),
            "dask": da.from_array(X, chunks=(3000, 3)),
        }


def failing(function, error):
    """The function, with an error in its second call."""
    calls = count(1)

    def call(*arguments, **options):
        if next(calls) == 2:
            raise error
        return function(*arguments, **options)

    return call


def fails(model, data, error, break_it, method="fit"):
    """Fit a model, break something, and fit again: this ends in the error and in nothing else."""
    y = None if isinstance(model, (GaussianMixture, KMeans)) else np.arange(len(data)) % 2
    getattr(model, method)(data, y)
    threads, libraries, caught = threading.enumerate(), threadpool_info(), []
    break_it()

    def fit():
        try:
            getattr(model, method)(data, y)
        except BaseException as raised:
            caught.append(raised)

    thread = threading.Thread(target=fit, daemon=True)
    with unchanged(model):
        thread.start()
        thread.join(20)
    assert not thread.is_alive(), "the fit hangs"
    assert caught == [error]  # Its traceback keeps the frames of the fit alive.
    assert set(threading.enumerate()) <= set(threads)
    assert threadpool_info() == libraries


@ERRORS
@pytest.mark.parametrize(
    ("model", "name"),
    [
        (MIXTURE, "memory"),
        (CLASSIFIER, "memory"),
        (MIXTURE, "missing"),
        (MIXTURE, "parquet"),
        (MIXTURE, "dask"),
    ],
)
def test_errors_of_an_e_step(model, name, Error, collections, monkeypatch):
    error = Error("no")
    step, method = (_ClassMixture, "expect") if name == "missing" else (Expectation, "of_chunk")
    broken = failing(getattr(step, method), error)
    fails(model, collections[name], error, lambda: monkeypatch.setattr(step, method, broken))


@ERRORS
@pytest.mark.parametrize("model", [MIXTURE, CLASSIFIER])
def test_errors_of_a_batch(model, Error, X, monkeypatch):
    error = Error("no")
    broken = failing(Expectation.of_chunk, error)
    fails(clone(model), X, error, lambda: monkeypatch.setattr(Expectation, "of_chunk", broken), "partial_fit")


class Callback:
    """Fails after the second iteration."""

    error = None

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if getattr(estimator, "n_iter_", 0) == 2 and self.error is not None:
            raise self.error


def test_errors_of_callbacks_and_of_progress(X, monkeypatch):
    error, callback = ValueError("no"), Callback()
    model = SKEMClassifier(4, **OPTIONS).set_callbacks(callback)
    fails(model, X, error, lambda: setattr(callback, "error", error))
    error = BrokenPipeError("no")
    model = GaussianMixture(2, verbose=True, **OPTIONS)
    fails(model, X, error, lambda: monkeypatch.setattr(builtins, "print", failing(print, error)))
