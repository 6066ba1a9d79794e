"""Masked arrays and missing labels."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

import skem
from skem.datasets import ParquetRows
from skem.images import Deskew, Reshape

X, y = load_iris(return_X_y=True)
HOLES = np.random.default_rng(0).random(X.shape) < 0.1
HOLES[:, 0] = False  # Each sample needs a value.
MASKED = np.ma.array(np.where(HOLES, 999.0, X), mask=HOLES)
WITH_NAN = np.where(HOLES, np.nan, X)
QUICK = {"max_iter": 2, "tol": 0, "random_state": 0}

CLASSIFIERS = [
    skem.SKEMClassifier(6, **QUICK),
    skem.PSKEMClassifier(6, n_blocks=2, **QUICK),
    skem.DiscriminativePSKEMClassifier(6, discriminative_iter=1, **QUICK),
    skem.PRBFEnsemble(skem.PRBFClassifier(6, **QUICK), sharings=(0, 1)),
    skem.PRBFClassifierCV(skem.PRBFClassifier(6, **QUICK), sharings=(0, 1), cv=2),
    skem.PSKEMClassifierCV(n_components=3, n_blocks=1, reg_covar=0.1, max_iter=2, cv=2, random_state=0),
]
WITHOUT_MISSING_VALUES = [
    skem.SDGMClassifier(1, max_iter=1),
    skem.KMeans(3),
    skem.GaussianKernels(3),
    skem.DensityOutlierDetector(),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_classifiers_read_masked_entries_as_missing(model):
    model.fit(MASKED, y)
    expected = type(model)(**model.get_params(deep=False)).fit(WITH_NAN, y)
    for method in ("predict", "predict_proba", "decision_function", "score_samples"):
        answer = getattr(expected, method)(WITH_NAN)
        assert_array_equal(getattr(model, method)(MASKED), answer)
        assert_array_equal(getattr(model, method)([*MASKED]), answer)


def test_mixtures_read_masked_entries_as_missing():
    mixture, expected = (
        skem.GaussianMixture(2, **QUICK).fit(rows, sample_weight=np.ma.array(np.ones(150)))
        for rows in (MASKED, WITH_NAN)
    )
    for method in ("predict", "predict_proba", "score_samples", "impute", "bic"):
        assert_array_equal(getattr(mixture, method)(MASKED), getattr(expected, method)(WITH_NAN))
    path = skem.GaussianMixturePath(skem.GaussianMixture(tol=0), n_components=2, covariance_types=["diag"])
    assert path.fit(MASKED).score(MASKED) == path.fit(WITH_NAN).score(WITH_NAN)
    # Integers hold no NaN.
    whole = np.ma.masked_equal([[1, 2], [3, 999], [0, 1]], 999)
    assert mixture.fit(whole).impute(whole)[1, 1] < 3
    with pytest.raises(ValueError, match="values must be 2 finite numbers"):
        expected.condition([0, 1], np.ma.array([5.0, 3.0], mask=[False, True]))


@pytest.mark.parametrize("model", WITHOUT_MISSING_VALUES, ids=lambda model: type(model).__name__)
def test_masked_features(model):
    message = rf"Input X of \w+ has {HOLES.sum()} masked entries, of 600, .*fill them in"
    with pytest.raises(ValueError, match=message):
        model.fit(MASKED, y)
    model.fit(np.ma.array(X), y)  # A mask without masked entries.
    with pytest.raises(ValueError, match=message):
        getattr(model, "predict" if hasattr(model, "predict") else "transform")(MASKED)


def test_masked_batches_and_images():
    with pytest.raises(ValueError, match="masked entries"):
        skem.GaussianMixture(2).partial_fit(MASKED)
    for transformer in (Deskew(), Reshape()):
        with pytest.raises(ValueError, match=f"{type(transformer).__name__}: X has .* masked entries"):
            transformer.fit_transform(MASKED.reshape(-1, 2, 2))


@pytest.mark.parametrize(
    "model", [*CLASSIFIERS, WITHOUT_MISSING_VALUES[0]], ids=lambda model: type(model).__name__
)
def test_masked_labels_and_weights(model):
    with pytest.raises(ValueError, match="y has 50 masked entries, of 150"):
        model.fit(X, np.ma.masked_equal(y, 2))
    with pytest.raises(ValueError, match="sample_weight has 50 masked entries, of 150"):
        model.fit(X, y, np.ma.array(np.ones(150), mask=y == 2))


@pytest.mark.parametrize("model", [skem.GaussianMixture(2), skem.KMeans(2)])
def test_masked_weights_without_classes(model):
    weights = np.ma.array(np.ones(150), mask=y == 2)
    with pytest.raises(ValueError, match="sample_weight has 50 masked entries"):
        model.fit(X, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight has 50 masked entries"):
        model.fit(X).score(X, sample_weight=weights)


INIT = [np.full(3, 1 / 3), X[::50], np.tile(np.eye(4), (3, 1, 1))]


@pytest.mark.parametrize(
    "model",
    [
        skem.GaussianMixture(3, init={"means": MASKED[::50]}),
        skem.GaussianMixture(3, init={"labels": np.ma.masked_equal(y, 2)}),
        skem.GaussianMixture(3, init=(np.ma.masked_less(INIT[0], 1), *INIT[1:])),
        skem.SKEMClassifier(3, init={"means": MASKED[::50]}),
        skem.KMeans(3, init=MASKED[::50]),
        skem.SKEMClassifier(6, class_prior=np.ma.masked_less(INIT[0], 1)),
        skem.SKEMClassifier(6, sharing=np.ma.masked_equal(np.eye(3), 0)),
    ],
    ids=["means", "labels", "tuple", "means of classes", "centres", "class_prior", "sharing"],
)
def test_masked_parameters(model):
    with pytest.raises(ValueError, match="masked entries"):
        model.fit(X, y)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels(missing):
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    labels[[7, 9]] = missing
    message = "y contains 2 missing labels .*, of 150, the first in row 7: leave these samples out"
    for model in (CLASSIFIERS[0], CLASSIFIERS[-1], WITHOUT_MISSING_VALUES[0]):
        with pytest.raises(ValueError, match=message):
            model.fit(X, labels)
    with pytest.raises(ValueError, match=message):
        CLASSIFIERS[0].fit(X, y).responsibilities(X, labels)


@pytest.mark.parametrize("kind", ["string", "dictionary", "integer", "boolean"])
def test_null_labels_in_a_file(tmp_path, kind):
    labels = [
        None if n == 70 else bool(label) if kind == "boolean" else int(label) for n, label in enumerate(y)
    ]
    column = pa.array([label if label is None else f"class {label}" for label in labels])
    if kind in ("integer", "boolean"):
        column = pa.array(labels)
    table = pa.table(
        {"a": X[:, 0], "b": X[:, 1], "y": column.dictionary_encode() if kind == "dictionary" else column}
    )
    pq.write_table(table, tmp_path / "iris.parquet", row_group_size=50)
    rows, classes = (ParquetRows(tmp_path / "iris.parquet", names) for names in (["a", "b"], "y"))
    with pytest.raises(ValueError, match=r"part 1 .*y contains 1 missing labels .* first in row 70"):
        skem.SKEMClassifier(3).fit(rows, classes)


def test_masked_dask_arrays():
    da = pytest.importorskip("dask.array")
    rows, labels = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    masked = da.from_array(MASKED, chunks=(50, -1))
    with pytest.raises(ValueError, match=f"part 0 .*{HOLES.sum()} NaN"):
        skem.SKEMClassifier(3).fit(masked, labels)
    with pytest.raises(ValueError, match=r"part 0 .*y has 50 masked entries"):
        skem.SKEMClassifier(3).fit(rows, da.ma.masked_equal(labels, 2))
    with pytest.raises(ValueError, match="sample_weight nan in row 100"):
        skem.SKEMClassifier(3).fit(rows, labels, da.ma.masked_array(da.ones(150), labels == 2))
    model = skem.SKEMClassifier(6, **QUICK).fit(X, y)
    assert_allclose(model.score_samples(masked).compute(), model.score_samples(WITH_NAN))
