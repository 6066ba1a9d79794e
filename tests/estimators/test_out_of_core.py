"""Fits and predictions on Dask collections and Parquet files: the bits of arrays in memory, and clear errors."""

import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal
from reference import unchanged
from sklearn.base import clone

import skem
from skem.datasets import ParquetRows
from skem.engine import parts
from skem.estimators import _dask

PART_ROWS = 4000
N, M, K = 2 * PART_ROWS + 1234, 4, 4  # The last part is one chunk, and the others have one per class.
NAMES = ["a", "b", "c", "d"]


@pytest.fixture(autouse=True)
def _threads(monkeypatch):
    """Dask computes in threads of this process, unless a test has a cluster; parts are small."""
    monkeypatch.setattr(parts, "PART_ROWS", PART_ROWS)
    monkeypatch.setattr(_dask, "PART_ROWS", PART_ROWS)
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="module")
def data():
    """Samples, labels and weights; the first part has no sample of the last class."""
    rng = np.random.default_rng(0)
    y = np.minimum(rng.integers(0, 3, N), np.arange(N) // PART_ROWS + 1)
    X = (rng.normal(size=(N, M)) * [1.0, 2.0, 0.5, 1.0] + 1.5 * y[:, None]).astype(np.float32)
    return X, y, rng.uniform(0.5, 2.0, N)


@pytest.fixture(scope="module")
def frame(data):
    X, y, w = data
    frame = pd.DataFrame(X, columns=NAMES)
    return frame.assign(label=np.array(["u", "v", "w"])[y], weight=w, text="t")


def given_init(L=3):
    rng = np.random.default_rng(1)
    return np.full((K, L), 1 / K), rng.normal(1.0, 1.0, (K, M)), np.stack([np.eye(M)] * K)


MODELS = {
    "skem": skem.SKEMClassifier(K, init_params=given_init(), max_iter=4, n_jobs=2, priors="empirical"),
    "pskem": skem.PSKEMClassifier(3, n_blocks=2, init_params="uniform", max_iter=2, random_state=0),
    "prbf": skem.PRBFClassifier(K, init_params=given_init(), sharing=0.3, max_iter=2, standardize=False),
}
SKEM = MODELS["skem"]


def parameters(model):
    arrays = [getattr(block, name) for block in model.blocks_ for name in ("weights", "means", "covariances")]
    return [*arrays, model.log_likelihood_, model.objective_, model.priors_]


def assert_same_bits(one, other):
    for a, b in zip(parameters(one), parameters(other), strict=True):
        assert_array_equal(a, b)


def chunked(X, y=None, w=None):
    """The samples as Dask arrays, with chunks of other sizes than each other and the parts."""
    columns = [None if a is None else da.from_array(a, chunks=3001) for a in (y, w)]
    return [da.from_array(X, chunks=(2500, 3)), *columns]


def refused(error, match, model, *samples):
    """Assert that a fit fails with this error, and leaves the estimator as it was."""
    with unchanged(model), pytest.raises(error, match=match):
        model.fit(*samples)


# Fits


@pytest.mark.parametrize("name", MODELS)
def test_dask_has_the_bits_of_an_array_in_memory(data, name):
    X, y, w = data
    w = w if name == "skem" else None
    assert_same_bits(clone(MODELS[name]).fit(*chunked(X, y, w)), clone(MODELS[name]).fit(X, y, w))


def test_cluster_of_processes(data, monkeypatch):
    X, y, _ = data
    model = skem.SKEMClassifier(K, max_iter=5, random_state=0)
    expected = clone(model).fit(*chunked(X, y))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    # Workers start from one process that has imported what all of them need.
    config = {"scheduler": None, "distributed.worker.multiprocessing-method": "forkserver"}
    with dask.config.set(config), LocalCluster(**options) as cluster, Client(cluster) as client:
        # Workers need the same version of the package.
        found = client.get_versions(packages=["pskem"])
        next(iter(found["workers"].values()))["packages"]["pskem"] = None
        with monkeypatch.context() as patch:
            patch.setattr(client, "get_versions", lambda packages: found)
            words = "worker tcp.* has pskem None and this process .*; install"
            refused(RuntimeError, words, clone(SKEM), *chunked(X, y))
        # A worker that is killed during a fit is replaced.
        pids = list(client.run(os.getpid).values())
        for fitted in model.fit_iterations(*chunked(X, y)):
            if fitted.n_iter_ == 2:
                os.kill(pids[0], signal.SIGKILL)
        assert_same_bits(model, expected)


def test_client_that_goes_away(data):
    X, y, _ = data
    model = skem.SKEMClassifier(K, max_iter=3, random_state=0)
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with dask.config.set(scheduler=None), Client(**options) as client:
        iterations = model.fit_iterations(*chunked(X, y))
        next(iterations)
        client.close()
        with pytest.raises(RuntimeError, match="the Dask client went away during the fit"):
            next(iterations)


def test_small_collections_are_initialised_as_in_memory(data):
    X, y, w = (array[-3000:] for array in data)
    model = skem.SKEMClassifier(K, max_iter=2, random_state=0)
    assert_same_bits(clone(model).fit(*chunked(X, y, w)), clone(model).fit(X, y, w))


def test_large_collections_are_initialised_from_a_sample(data):
    X, _, w = data
    model = skem.GaussianMixture(3, random_state=0, tol=1e-4, reg_covar=1e-3)
    fitted = clone(model).fit(chunked(X)[0], sample_weight=w)
    assert fitted.objective_[-1] == pytest.approx(model.fit(X, sample_weight=w).objective_[-1], abs=0.02)


def test_samples_without_weight_are_left_out(data):
    X, y, w = data
    w = np.where((y == 1) | (np.arange(N) < PART_ROWS), 0.0, w)  # a class, and all samples of a part
    model = clone(SKEM).set_params(init_params=given_init(2), reg_covar=0.1).fit(*chunked(X, y, w))
    expected = clone(model).fit(X[w > 0], y[w > 0], w[w > 0])
    assert_array_equal(model.classes_, [0, 2])
    assert_allclose(model.objective_, expected.objective_, rtol=1e-6)
    assert_allclose(model.priors_, expected.priors_)


def test_frames(data, frame):
    features = dd.from_pandas(frame[NAMES], npartitions=3)
    labels, weights = (dd.from_pandas(frame[name], npartitions=4) for name in ("label", "weight"))
    model = clone(SKEM).fit(features, labels, weights)
    assert_same_bits(model, clone(model).fit(data[0], frame["label"], frame["weight"]))
    assert model.feature_names_in_.tolist() == NAMES
    assert model.classes_.tolist() == ["u", "v", "w"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(features[NAMES[::-1]])
    few = dd.from_pandas(frame[:2000], npartitions=2)[NAMES]
    assert_array_equal(model.predict(few).compute(), model.predict(few.compute()))
    X, y, w = frame[NAMES][:2000], frame["label"][:2000], frame["weight"][:2000]
    assert model.score(few, y, w) == model.score(X, y, w)
    assert_array_equal(model.predict(few[few["a"] > few["a"].min()]).compute().shape, [1999])
    assert not len(model.predict_proba(few[few["a"] > np.inf]).compute())
    mixture = skem.GaussianMixture(2, max_iter=1, tol=0, random_state=0).fit(few)
    weights = dd.from_pandas(w, npartitions=2)
    assert mixture.bic(few, weights) == pytest.approx(mixture.bic(X, w), rel=1e-12)
    assert_same_bits(clone(SKEM).fit(features, frame["label"]), clone(SKEM).fit(features, labels))


# Predictions


@pytest.mark.parametrize(
    "model",
    [
        skem.SKEMClassifier(K, max_iter=1),
        skem.DiscriminativePSKEMClassifier(K, max_iter=1, discriminative_iter=1),
        skem.GaussianMixture(K, max_iter=1, tol=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_predictions_are_lazy(data, model):
    X, y, _ = (array[:4000] for array in data)
    methods = "predict", "predict_proba", "predict_log_proba", "score_samples", "class_log_density"
    for method in (name for name in methods if hasattr(model, name)):
        fitted = clone(model).set_params(random_state=0).fit(X, y)
        expected = np.concatenate([getattr(fitted, method)(X[:3000]), getattr(fitted, method)(X[3000:])])
        lazy = getattr(fitted, method)(da.from_array(X, chunks=(3000, 2)))
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        assert lazy.chunks[0] == (3000, 1000)
        fitted.fit(X[::-1] * 2, y)  # A lazy prediction keeps the model of its call.
        assert_array_equal(lazy.compute(scheduler="synchronous"), expected)


# Bad input


def test_errors_name_part_and_row(data):
    X, y, w = data
    model = clone(SKEM)
    bad, negative, labels = X.copy(), w.copy(), y.astype(float)
    bad[PART_ROWS + 7, 2] = np.nan
    bad[PART_ROWS + 9, 1] = np.inf
    negative[3] = -1.0
    labels[N - 5] = np.nan
    where = f"part 1 of the training data, rows {PART_ROWS} to {2 * PART_ROWS - 1}: X contains 1 NaN and 1 infinity"
    for words, *samples in (
        (where, bad, y),
        (r"part 0 .*Negative values in data passed to sample_weight", X, y, negative),
        ("sample_weight is zero for all samples", X, y, 0 * w),
        (f"part 2 .*y contains .* missing labels .* first in row {N - 5}", X, labels),
        ("part 0 .*continuous", X, w),
        ("at least two classes", X, 0 * y),
    ):
        refused(ValueError, words, model, *chunked(*samples))


def test_masked_entries_of_dask_arrays_are_missing_values(data):
    some = [values[::9] for values in data]
    X, y, w = chunked(*some)
    masked_X, masked_w = da.ma.masked_greater(X, 2.0), da.ma.masked_less(w, np.median(some[2]))
    with_nan = np.where(some[0] > 2.0, np.float32(np.nan), some[0])
    words = f"X contains {np.isnan(with_nan).sum()} NaN and 0 infinity values"
    refused(ValueError, words, clone(SKEM), masked_X, y)
    refused(ValueError, "sample_weight contains NaN", clone(SKEM), X, y, masked_w)
    model = clone(SKEM).fit(X, y)
    assert_array_equal(model.predict_proba(masked_X), model.predict_proba(with_nan))


def test_refused_collections(data, frame):
    X, y, w = chunked(*data)
    model = clone(SKEM)
    refused(ValueError, "unknown sizes.*compute_chunk_sizes", model, X[X[:, 0] > 0], y)
    refused(ValueError, rf"X has {N} samples and sample_weight has shape \({N - 1},\)", model, X, y, w[1:])
    refused(ValueError, "X must be a Dask array or data frame, got Delayed", model, dask.delayed(1), y)
    text = dd.from_pandas(frame[["a", "text"]], npartitions=2)
    refused(ValueError, "X must be numeric, got type (object|str)", model, text, y)
    refused(ValueError, "early_stopping", clone(model).set_params(early_stopping=True), X[:900], y[:900])
    for other in (skem.KMeans(), skem.SDGMClassifier(), skem.DiscriminativePSKEMClassifierCV()):
        refused(TypeError, f"{type(other).__name__} takes arrays in memory here", other, X, y)


# Files


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "rows.parquet"
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, path, row_group_size=PART_ROWS)
    return path


def test_files_have_the_bits_of_an_array_in_memory(file, frame):
    model = clone(SKEM)
    X, y, w = ParquetRows(file, NAMES), ParquetRows(file, "label"), ParquetRows(file, "weight")
    assert (X.shape, X.dtype, y.shape) == ((N, M), np.float32, (N,))
    expected = clone(model).fit(frame[NAMES].to_numpy(), frame["label"], frame["weight"])
    assert_same_bits(clone(model).fit(X, y, w), expected)
    assert_same_bits(model.fit(X, frame["label"], w), expected)
    assert model.feature_names_in_.tolist() == NAMES
    assert_array_equal(np.asarray(X), frame[NAMES])


def test_a_folder_of_files_with_other_row_groups(frame, tmp_path):
    few = frame[-5000:].astype({"a": np.float64, "label": "category"})
    for number, rows in enumerate((few[:3000], few[3000:])):
        table = pa.Table.from_pandas(rows, preserve_index=False)
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=1100)
    X, y = ParquetRows(tmp_path, NAMES), ParquetRows(tmp_path, "label")
    assert X.block_sizes == [1100, 1100, 800, 1100, 900]
    assert X.dtype == np.float64
    model = clone(SKEM).fit(X, y)
    expected = clone(model).fit(few[NAMES], few["label"])
    assert_allclose(model.objective_, expected.objective_, rtol=1e-9)
    pq.write_table(pa.table({name: pa.array([0.1], pa.float32()) for name in NAMES}), tmp_path / "0.parquet")
    assert ParquetRows(tmp_path, NAMES).dtype == np.float64
    pq.write_table(pa.table({name: ["x"] for name in NAMES}), tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"1.parquet: column 'a' is of type string, not numeric"):
        ParquetRows(tmp_path, NAMES)
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "0.parquet")
    with pytest.raises(
        ValueError, match=r"1.parquet: column 'a' is of type string, not double as in another"
    ):
        ParquetRows(tmp_path, "a")
    pd.DataFrame({"a": []}).astype(object).to_parquet(tmp_path / "1.parquet")  # without samples
    frame[["a"]][5:9].to_parquet(tmp_path / "2.parquet")
    assert ParquetRows(tmp_path).columns == ["a"]
    assert ParquetRows(tmp_path / "2.parquet").columns == ["a"]  # without the index


def test_refused_files(file, frame, tmp_path):
    X = ParquetRows(file, NAMES)
    with pytest.raises(ValueError, match="has no column 'e'"):
        ParquetRows(file, ["a", "e"])
    with pytest.raises(ValueError, match=r"'label' is of type .*not numeric"):
        ParquetRows(file)
    with pytest.raises(ValueError, match=r"no \*.parquet"):
        ParquetRows(tmp_path / "..")
    model, other = clone(SKEM), tmp_path / "other.parquet"
    pq.write_table(pa.Table.from_pandas(frame[["label"]]), other, row_group_size=2500)
    refused(ValueError, "y has other row groups than X", model, X, ParquetRows(other, "label"))
    labels = pa.array(frame["label"].where(np.arange(N) != 7))
    pq.write_table(pa.table({"label": labels}), other, row_group_size=PART_ROWS)
    refused(ValueError, "y contains 1 missing labels .*first in row 7", model, X, ParquetRows(other, "label"))
    with pytest.raises(TypeError, match="takes arrays in memory here, not ParquetRows"):
        clone(model).fit(frame[NAMES][::70], frame["label"][::70]).predict(X)


@pytest.mark.parametrize("missing", [False, True])
def test_the_memory_layout_does_not_matter(data, tmp_path, missing):
    """A data frame has contiguous columns, and a column of a file too."""
    X, y = data[0][::9].astype(float), data[1][::9]
    X[::7, 1] = np.nan if missing else 0.1
    table = pd.DataFrame(X, columns=NAMES).assign(label=y)
    model = skem.SKEMClassifier(6, random_state=0, max_iter=2)
    expected = clone(model).fit(X, y)
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], table[NAMES]):
        assert_array_equal(clone(model).fit(other, y).means_, expected.means_)
    if not missing:
        table.to_parquet(tmp_path / "table.parquet")
        files = (ParquetRows(tmp_path / "table.parquet", names) for names in (NAMES, "label"))
        assert_array_equal(clone(model).fit(*files).means_, expected.means_)
