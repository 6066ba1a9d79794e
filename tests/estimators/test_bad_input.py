"""Error messages for invalid parameters and samples: the problem, the value received, and the fix."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from reference import equal_classes, unchanged
from sklearn.base import clone

import skem

X, y = equal_classes()
NAMES = np.array(["cat", "dog"])[y]
EYE = np.eye(4)
SKEM, PSKEM = skem.SKEMClassifier(4), skem.PSKEMClassifier(4)
MIXTURE, SDGM = skem.GaussianMixture(3), skem.SDGMClassifier()
INIT = np.full((3, 2), 1 / 3), np.arange(12.0).reshape(3, 4), np.tile(EYE, (3, 1, 1))


def with_value(value, place=(3, 1)):
    changed = X.copy()
    changed[place] = value
    return changed


def init(position, array, shape=INIT):
    """Initial arrays of which one is wrong."""
    return tuple(np.asarray(array) if i == position else a for i, a in enumerate(shape))


def refused(message, model, X=X, y=y, sample_weight=None):
    """The fit ends in this error and leaves the estimator as it was."""
    model, errors = clone(model), (ValueError, TypeError)
    with unchanged(model), np.errstate(all="ignore"), pytest.raises(errors, match=message):
        model.fit(X, y, sample_weight)


SAMPLES = [
    (SKEM, {"X": with_value(np.inf)}, "contains 0 NaN and 1 infinity values, of 240"),
    (MIXTURE, {"X": X * np.nan}, "60 rows have no value at all, the first is row 0"),
    (PSKEM, {"X": np.where(np.arange(60)[:, None] == 7, np.nan, X)}, "1 rows have no value at all, .* row 7"),
    *((model, {"X": np.c_[X, X[:, 0] * np.nan]}, "feature 4 has no value at all: leave it out") for model in (PSKEM, MIXTURE)),
    (SKEM, {"y": y * 0}, "two classes, and the samples with a weight are of one class only: 0$"),
    (SKEM, {"y": NAMES, "sample_weight": y}, "one class only: 'dog'$"),
    (skem.DensityOutlierDetector(SKEM), {"y": None}, "requires y"),
    *(
        (model, {"sample_weight": np.where(np.arange(60) == 5, weight, 1.0)}, words)
        for model in (SKEM, MIXTURE, skem.KMeans(3))
        for weight, words in ((-1.0, "[Nn]egative"), (np.nan, "sample.?weight"), (np.inf, "sample.?weight"))
    ),
    (MIXTURE, {"sample_weight": np.zeros(60)}, "sample_weight is zero for all of"),
    (MIXTURE, {"sample_weight": np.eye(60)[0]}, "n_components=3 exceeds the n_samples=1 samples"),
    (SKEM, {"sample_weight": np.where(y == 0, 1.0, 1e-40)}, "one class only: 0$"),
    *((PSKEM, {"X": X * [1, 1, 1, f]}, "feature 3, .* multiply it") for f in (1e200, 1e-200)),
    (MIXTURE, {"X": X * [1, 1, 1e160, 1]}, "feature 2, from .* to .*, spreads too far.*multiply it"),
    (skem.GaussianMixture(standardize=True), {"X": X * [1, 1, 1e-200, 1]}, "feature 2, .* spreads too little"),
    (skem.KMeans(3), {"X": X * [1, 1e160, 1, 1]}, "feature 1, .* spreads too far"),
    (SDGM, {"X": X * 1e-200}, "feature 0, from .* spreads too little for its square in float64"),
    (skem.SDGMClassifier(standardize=False), {"X": X * 1e120}, "features are too large .* set standardize=True"),
    (SDGM, {"sample_weight": np.full(60, 1e300)}, "too large for float64 beside the features"),
    *((model, {"X": np.c_[X, X[:, 0] * 0 + 0.1]}, 'feature 4 is constant: leave it out, or set metric="eu')
      for model in (skem.KMeans(3, metric="mahalanobis"), skem.GaussianMixture(3, metric="mahalanobis"))),
    *((model, {"y": np.arange(60) % 3}, "n_components=2 is less than the number of classes, 3; use at least 3")
      for model in (skem.MDAClassifier(2, init_params="class"), skem.SKEMClassifier(2, init_params="class_kmeans"))),
    (
        skem.DiscriminativePSKEMClassifierCV(n_components=2, n_blocks=1, reg_covar=0.1, cv=2),
        {"y": np.arange(60) % 3},
        "none of the .* candidates can be fitted in every split; .*less than the number of classes, 3",
    ),
    (
        skem.DiscriminativePSKEMClassifierCV(),
        {"X": [[0.0], [1.0]], "y": [0, 1]},
        "2 samples, one of each class: none can be held out",
    ),
    (skem.KMeans(5), {"X": X[[0, 30, 59] * 9], "y": None}, "5 clusters exceed the 3 distinct samples"),
    (skem.KMeans(5, init="static_spread"), {"X": X[[0, 9] * 9], "y": None}, "exceed the 2 distinct samples"),
]  # fmt: skip

PARAMETERS = [
    # Numbers of components
    (skem.SKEMClassifier(61, init_params="sample"), r"61 components from 60 samples, .* smaller n_components\.$"),
    (skem.SKEMClassifier({0: 1}), r"lacks class 1; give a number for each of the classes \[0, 1\]"),
    (skem.SKEMClassifier({0: 1, 1: 2, 9: 1}), "n_components has the unknown class 9"),
    (skem.SKEMClassifier([1, 2, 3]), r"shape \(3,\); give one number for each of the 2 classes"),
    (skem.SKEMClassifier([1, 0]), "n_components of class 1 must be an integer from 1 to 2147483647; got 0"),
    (skem.SKEMClassifier([1, 3], init_params="kmeans"), "which init_params='kmeans' does not"),
    (skem.KMeans(61), "n_clusters=61 exceeds .* n_samples=60 .*: set n_clusters to 60"),
    (skem.SDGMClassifier(31), "are 62 components, more than the 60 samples .*: set n_components to 30 or less"),
    # Feature blocks
    *((skem.MDAClassifier(4, arrangement=blocks), message) for blocks, message in (
        ([[0, 1], []], r"block 1 must be a list of feature indices \(integers\), got \[\]"),
        ([[0, 1], [2, 2]], "block 1 repeats feature 2"),
        ([[0], [4]], "block 1 names feature 4, but there are 4: use 0 to 3"),
        ([], "arrangement is an empty list"),
        ([[True, False]], r"block 0 .*integers.*\[True, False\]"),
        ([0, 1], "block 0 must be a list of feature indices .*, got 0"),
        ([[[0], [1, 2]]], "block 0 must be a list of feature indices"),
    )),
    (skem.PSKEMClassifier(4, arrangement="random", options={"block_size": 5}), "block_size=5 exceeds the 4 features; use at"),
    (skem.PSKEMClassifier(4, options={"block_size": 2}), 'block_size=2 requires arrangement="random"'),
    (skem.PSKEMClassifier(4, arrangement=[[0]], options={"block_size": 2}), 'block_size=2 requires arrangement="random"'),
    (skem.PSKEMClassifier(4, n_blocks=5), "n_blocks=5 exceeds the 4 features; use at most 4"),
    # Given arrays
    *((skem.SKEMClassifier(init_params=init(*change)), message) for *change, message in (
        (0, np.full((3, 3), 1 / 3), r"init_params: weights must have shape \(3, 2\), got \(3, 3\)"),
        (0, np.full((3, 2), 0.4), r"weights must sum to 1 in each column \(class\); column 0 sums to 1\.2"),
        (0, [[1.5, 1], [-0.5, 0], [0, 0]], "weights must be non-negative, got -0.5"),
        (1, np.zeros((3, 2)), r"init_params: means must have shape \(K, 4\), got \(3, 2\)"),
        (1, np.full((3, 4), np.inf), "means must be finite, got inf"),
        (2, np.tile(EYE, (2, 1, 1)), r"covariances must have shape \(3, 4, 4\), got \(2, 4, 4\)"),
        (2, np.tile(np.diag([1.0, 1, 1, -1]), (3, 1, 1)), "covariances must be symmetric and positive def"),
    )),
    (skem.SKEMClassifier(covariance_type="diag", init_params=init(2, np.ones((3, 4)) - np.eye(3, 4))), "covariances"),
    (skem.SKEMClassifier(5, init_params=INIT), r"means must have shape \(5, 4\), got \(3, 4\)"),
    (skem.SKEMClassifier(init_params=INIT[:2]), "got a tuple of length 2"),
    (skem.SKEMClassifier(init_params=[INIT] * 2), r"init_params must be a tuple \(weights.*; got a list of length 2"),
    (skem.SKEMClassifier(init_params={"labels": y}), 'a dictionary must hold "means" alone'),
    (skem.PSKEMClassifier(n_blocks=2, init_params=[INIT] * 2), r"init_params: means of block 0 must have shape \(K, 2\)"),
    (skem.PSKEMClassifier(n_blocks=2, init_params=[INIT]), "init_params must be a list of 2 tuples .*; got a list of length 1"),
    (skem.GaussianMixture(3, init_params=INIT), r"init_params: weights must have shape \(3,\), got \(3, 2\)"),
    *((skem.GaussianMixture(3, init_params=init), message) for init, message in (
        ({"labels": np.arange(60) % 3 - 1}, r"from 0 to 2 for n_components=3, got \[-1, 0, 1\]"),
        ({"labels": np.arange(60) % 2}, "no sample has label 2"),
        ({"labels": [0, 1, 2]}, r"labels must have shape \(60,\)"),
        ({"means": X[:2]}, r"means must have shape \(3, 4\), got \(2, 4\)"),
        ({"means": [*X[:2], [99] * 4]}, "no sample is nearest to mean number 2"),
        ({"means": "centre"}, "means must be an array of numbers"),
        ({"means": X[:3], "labels": np.zeros(60)}, 'either "means" or "labels"'),
    )),
    (skem.KMeans(3, init=X[:2]), r"centres must have shape \(3, 4\), got \(2, 4\)"),
    (skem.KMeans(3, init=X[:3] * np.nan), "centres must be finite, got nan"),
    # Priors and sharing
    *((skem.SKEMClassifier(4, priors=prior), message) for prior, message in (
        ({0: 0.5, 1: 0.5, 7: 0.0}, r"probabilities for \[0, 1, 7\]: give one for each of the classes \[0, 1\]"),
        ({0: 0.5, 1: 0.6}, "2 non-negative numbers that sum to one, one for each label"),
        ([0.2, 0.3, 0.5], "priors"),
    )),
    (skem.DiscriminativePSKEMClassifier(4, priors=[1, 0]), "priors of class 1 is zero.* set discrim"),
    *((skem.PRBFClassifier(**params), message) for params, message in (
        ({"sharing": -0.1}, r"sharing: lambda must lie in \[0, 1\]; got -0\.1"),
        ({"sharing": [[1.0]]}, r"sharing must be a number or have shape \(2, 2\)"),
        ({"sharing": np.full((2, 2), 0.5)}, "sharing must have ones on the diagonal"),
        ({"sharing": 0.0, "init_params": init(0, [[0, 1.0], [1, 0], [0, 0]]), "n_components": [1, 2]},
         "lambda is 0 for all components with a weight in class 0"),
    )),
    (skem.SKEMClassifier(options={"spread": 1.0}), "options of SKEMClassifier has no 'spread'; it may hold sharing, block_size"),
    (skem.PSKEMClassifier(options={"init_scale": 0.0}), "'init_scale' parameter of PSKEMClassifier.options. must be"),
    # Kernels of the sparse mixture
    (skem.SDGMClassifier(solver="lowrank", kernel="rbf"), 'solver="lowrank" needs form="dual" and kernel="poly2"'),
    (skem.SDGMClassifier(form="primal", kernel="rbf"), 'form="primal" has the features of kernel="poly2" only'),
    (skem.SDGMClassifier(kernel=lambda X, Y: X @ Y.T + np.arange(len(X))[:, None]), "must be symmetric"),
    (skem.SDGMClassifier(kernel=lambda X, Y: np.log(X @ Y.T * 0)), r"kernel\(X, Y\) must be finite"),
    (skem.SDGMClassifier(kernel=lambda X, Y: X), r"kernel\(X, Y\) must have shape \(60, 60\), got \(60, 4\)"),
    # Searches and ensembles
    (skem.DiscriminativePSKEMClassifierCV(n_components=[]), "n_components is empty: give at least one value"),
    (skem.DiscriminativePSKEMClassifierCV(n_components=[3, 0]), r"n_components contains 0: each value must be an int in the ra"),
    (skem.DiscriminativePSKEMClassifierCV(reg_covar=[np.nan]), "reg_covar contains nan"),
    (skem.DiscriminativePSKEMClassifierCV(skem.DiscriminativePSKEMClassifier(options={"sharing": 0.5})), "sharing must be None, got 0.5"),
    (skem.DiscriminativePSKEMClassifierCV(skem.DiscriminativePSKEMClassifier(init_params=(1, 2, 3))), "init_params of .* must be a string, got a tup"),
    (skem.DiscriminativePSKEMClassifierCV(skem.DiscriminativePSKEMClassifier(priors=[0, 1])), "priors of class 0 is zero"),
    (skem.GaussianMixturePath(covariance_types=[]), "covariance_types is empty"),
    (skem.GaussianMixturePath(covariance_types=["round"]), "covariance_types contains 'round': each value must "),
    (skem.GaussianMixturePath(criterion="held_out", validation_fraction=0.97, n_components=[3, 4]),
     "validation_fraction=0.97 leaves 2 of 60 samples, too few for 3 components"),
    (skem.GaussianMixturePath(skem.GaussianMixture(init_params={"means": X[:2]})), "init_params of GaussianMixture must be a string"),
    (skem.GaussianMixturePath(n_components=[200]),
     "none of the 4 mixtures can be fitted; .*n_components=200 exceeds the n_samples=60 samples"),
    (skem.GaussianMixturePath(n_components=[59], covariance_types=["tied"]), "none of the 1 mixtures is admissib"),
    (skem.GaussianMixturePath(skem.GaussianMixture(max_iter=1, tol=1e-9)),
     "none of the 24 mixtures converged in max_iter=1 iterations: increase"),
    (skem.GaussianMixture(3, init_params=(INIT[0][:, 0], INIT[1] * 1e20, INIT[2])),
     "init_params: a mean is .*e[+]2. spreads of the samples away .* set standardize"),
    (skem.DensityOutlierDetector(skem.KMeans()), "'estimator' .* 'score_samples'"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "samples", "message"), SAMPLES)
def test_invalid_samples(model, samples, message):
    refused(message, model, **samples)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("model", "message"), PARAMETERS)
def test_invalid_parameters(model, message):
    refused(message, model)


def named(X):
    return pd.DataFrame(X, columns=[*"abcd"])


@pytest.mark.parametrize(
    ("convert", "column"),
    [
        (lambda X: named(X)[[*"acbd"]], r"column 'b' \(index 2\)"),
        (lambda X: named(X).astype({"b": "category"}), r"column 'b' \(index 1\)"),
        (np.ndarray.tolist, "column with index 1"),
        (lambda X: X.astype(str), "column with index 1"),
    ],
)
def test_columns_of_text(convert, column):
    numeric, text = X.astype(object), X.astype(object)
    text[:, 1] = np.array(["1.5", "red"])[y]
    message = f"The {column} of X holds text such as 'red'; encode it as numbers"
    refused(message, SKEM, convert(text))
    # Numbers as text are numbers.
    model = skem.SKEMClassifier(4, max_iter=1, random_state=0).fit(convert(numeric), y)
    with pytest.raises(ValueError, match=message):
        model.predict(convert(text))


@pytest.mark.parametrize("model", [SKEM, MIXTURE], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.date_range("2020", periods=60), "Timestamp"),
        ([{"a": 1}] * 60, "dict"),
    ],
)
def test_columns_that_are_no_numbers(model, values, kind):
    message = rf"The column 'b' \(index {{}}\) of X holds {kind} objects such as .*; encode it as numbers, or leave it"
    table = named(X).assign(b=values)
    refused(message.format(1), model, table)
    refused(message.format(0), model, table[["b"]])  # pandas would convert dates alone to nanoseconds


def test_columns_of_polars_and_arrow_that_are_no_numbers():
    dates = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 2, 29))
    for name, values in {"date": dates, "list": pl.Series([[1, 2]] * 60)}.items():
        message = rf"The column '{name}' \(index 4\) of X holds {name} objects such as "
        table = pl.DataFrame(X).with_columns(values.alias(name))
        for each in (table, table.to_arrow()):
            refused(message, MIXTURE, each)
            refused(message.replace("4", "0"), MIXTURE, each.select([name]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("samples", [pl.DataFrame(X).lazy(), dict(enumerate(X)), "table.csv", None])
def test_samples_that_are_no_table(samples):
    refused(f"X is a {type(samples).__name__}; give an array or a DataFrame of shape", SKEM, samples)


@pytest.mark.parametrize("model", [SKEM, MIXTURE, PSKEM], ids=lambda model: type(model).__name__)
def test_invalid_samples_to_predict(model):
    model = clone(model).set_params(max_iter=1, tol=0).fit(X, y)
    for samples, message in (
        (with_value(np.inf), "contains 0 NaN and 1 infinity values, of 240"),
        (with_value(1e200), "feature 1 is .* too far"),
        (X[:, :2], r"X has 2 features, but .* is expecting 4"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(samples)
    for n_samples, error, message in (
        (0, ValueError, "n_samples must be at least 1, got 0"),
        (1.5, TypeError, "n_samples must be a whole number, got 1.5"),
        (True, TypeError, "n_samples must be a whole number, got True"),
    ):
        with pytest.raises(error, match=message):
            model.sample(n_samples)


@pytest.mark.parametrize(("init", "value"), [("class", np.nan), ("class_kmeans", 1.0)])
def test_no_more_components_than_distinct_samples(init, value):
    X, y = equal_classes(n=12)
    labels = np.array(["cat", "dog"])[y]
    labels[1:7] = "cat"
    X[-2, 0] = value
    X[labels == "dog"] = X[-2:][np.arange((labels == "dog").sum()) % 2]
    message = "n_components=7 reserves 3 components for class 'dog', which has 2 distinct training samples; 6 components"
    model = skem.SKEMClassifier(7, init_params=init, max_iter=1, warm_start=True, random_state=0)
    with pytest.warns(UserWarning, match=message):
        model.fit(X, labels)
    assert_array_equal((model.weights_ > 0).sum(axis=0), [4, 2])
    assert model.fit(X, labels).n_components_ == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert skem.SKEMClassifier(init_params=init, max_iter=1).fit(X, labels).n_components_ < 20
        skem.SKEMClassifier(6, init_params="sample", max_iter=1).fit(X, labels)


@pytest.mark.parametrize(
    "model",
    [skem.PSKEMClassifier(early_stopping=True), skem.DiscriminativePSKEMClassifier(strength="auto")],
    ids=["early_stopping", "auto"],
)
def test_only_sample_of_a_class_is_not_held_out(model):
    X, y = equal_classes(n=40)
    labels = np.where(y == 0, "setosa", "versicolor").astype(object)
    labels[-1] = "virginica"
    X[-1] = 100.0
    assert clone(model).fit(X, labels).predict(X[-1:]) == ["virginica"]
    message = r"validation_fraction=0.01 of 39 samples of 3 classes cannot be held out"
    refused(message, clone(model).set_params(options={"validation_fraction": 0.01}), X, labels)
