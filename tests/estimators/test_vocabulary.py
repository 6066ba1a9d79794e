"""Parameters, values and attributes that mean the same in every class, and their documentation."""

import ast
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import skem
from skem.engine.seeds import SEEDS
from skem.estimators import _docstrings
from skem.estimators._components import INITIALISATIONS
from skem.estimators._samples import HeldOutSamples

CLASSIFIERS = [skem.SKEMClassifier, skem.PSKEMClassifier, skem.MDAClassifier, skem.PRBFClassifier]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)
every_mixture = pytest.mark.parametrize("Estimator", [*CLASSIFIERS, skem.GaussianMixture])
EVERYTHING = [getattr(skem, name) for name in skem.__all__ if hasattr(getattr(skem, name), "fit")]

X, y = load_iris(return_X_y=True)


# Initialisation


@every_mixture
def test_values_of_init(Estimator):
    """Each class accepts the documented values, which all classes draw from one list."""
    documented = set(re.findall(r'"([\w+-]+)"', re.search(r"init : \{(.*)\}", Estimator.__doc__)[1]))
    values = {*INITIALISATIONS, *(SEEDS if Estimator is skem.GaussianMixture else ())}
    assert documented <= values
    for value in [*values, "random_from_data"]:
        model = Estimator(3, init=value, max_iter=2, tol=0, random_state=0)
        if value in documented:
            assert np.isfinite(model.fit(X, y).objective_).all()
        else:
            with pytest.raises(ValueError, match="The 'init' parameter of"):
                model.fit(X, y)


def test_classifiers_and_mixtures_draw_the_same_samples():
    options = {"standardize": False, "max_iter": 1, "tol": 0, "random_state": 3, "init": "sample"}
    mixture = skem.GaussianMixture(4, reg_covar=0.1, **options).fit(X)
    # A second class with one sample of negligible weight.
    labels, weights = np.r_[np.zeros(len(X)), 1], np.r_[np.ones(len(X)), 1e-25]
    model = skem.SKEMClassifier(4, reg_covar=0.1, **options)
    model.fit(np.concatenate([X, X[:1]]), labels, weights)
    assert_allclose(model.weights_[:, 0], mixture.weights_, rtol=1e-6)
    assert_allclose(model.means_, mixture.means_, rtol=1e-6)


def test_kmeans_plusplus_on_few_samples():
    with pytest.raises(ValueError, match=r'init="k-means\+\+" draws 20 components from 9 samples'):
        skem.SKEMClassifier(init="k-means++").fit(X[::17], y[::17])


# Several initialisations


@every_classifier
def test_best_of_several_initialisations(Classifier):
    options = {"init": "sample", "max_iter": 6, "tol": 0, "random_state": 5}
    one = Classifier(5, **options).fit(X, y)
    model = Classifier(5, n_init=4, **options)
    ends = [each.objective_[-1] for each in model.fit_passes(X, y) if each.n_iter_ == 6]
    assert len(set(ends)) == 4
    assert ends[0] == one.objective_[-1]
    assert model.objective_[-1] == max(ends)
    assert len(model.objective_) == model.n_iter_ == 6
    log_likelihood = model.class_log_density(X)[np.arange(len(X)), y].mean()
    assert_allclose(model.log_likelihood_[-1], log_likelihood)


@every_classifier
def test_fit_passes_of_several_initialisations(Classifier):
    options = {"init": "sample", "n_init": 3, "max_iter": 4, "tol": 0, "random_state": 5}
    model = Classifier(5, **options)
    passes = model.fit_passes(X, y)
    assert [each.n_iter_ for each in passes] == [1, 2, 3, 4] * 3
    passes = model.fit_passes(X, y)
    ends = [next(passes).objective_[-1] for _ in range(6)]
    with pytest.raises(StopIteration):
        passes.send(True)
    assert model.objective_[-1] == max(ends[3], ends[5])


def test_arrays_and_warm_starts_count_as_one_initialisation():
    model = skem.SKEMClassifier(5, n_init=3, init="sample", max_iter=3, warm_start=True, random_state=0).fit(
        X, y
    )
    assert len(list(model.fit_passes(X, y))) == 3
    given = skem.SKEMClassifier(init=(model.weights_, model.means_, model.covariances_), n_init=3, max_iter=3)
    assert len(list(given.fit_passes(X, y))) == 3


def test_same_blocks_for_all_initialisations():
    options = {"arrangement": "random", "init": "sample", "max_iter": 2, "random_state": 1}
    one = skem.PSKEMClassifier(4, n_blocks=2, **options).fit(X, y)
    several = skem.PSKEMClassifier(4, n_blocks=2, n_init=3, **options)
    for each in several.fit_passes(X, y):
        for columns, others in zip(one.block_indices_, each.block_indices_, strict=True):
            assert_array_equal(columns, others)


@every_mixture
def test_one_warning_for_several_initialisations(Estimator):
    options = {"init": "sample", "n_init": 3, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="in 2 iterations") as caught:
        Estimator(5, max_iter=2, tol=1e-12, **options).fit(X, y)
    assert len(caught) == 1


# Convergence


@every_mixture
def test_tol_is_the_minimum_gain_of_the_objective(Estimator):
    options = {"init": "sample", "max_iter": 60, "random_state": 0}
    for tol in (1e-1, 1e-2, 1e-3):
        model = Estimator(5, tol=tol, **options).fit(X, y)
        gains = np.diff(model.objective_)
        assert model.converged_
        assert gains[-1] < tol
        assert (gains[:-1] >= tol).all()
    endless = Estimator(5, tol=0, **options).fit(X, y)
    assert (endless.n_iter_, endless.converged_) == (60, False)


@pytest.mark.parametrize("Classifier", CLASSIFIERS[:3])
def test_tol_with_early_stopping(Classifier):
    options = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 100, "random_state": 0}
    model = Classifier(5, init="sample", tol=1e-2, max_iter=50, **options).fit(X, y)
    gains = np.diff(model.objective_)
    assert gains[-1] < 1e-2 <= gains[:-1].min()


# Early stopping


@pytest.mark.parametrize("Classifier", CLASSIFIERS[:3])
def test_best_iter_with_early_stopping(Classifier):
    options = {"init": "uniform", "max_iter": 25, "random_state": 0}
    plain = Classifier(6, **options).fit(X, y)
    assert plain.best_iter_ == plain.n_iter_ == 25
    options |= {"early_stopping": True, "validation_fraction": 0.4, "n_iter_no_change": 3}
    model = Classifier(6, **options)
    passes = [each.class_log_density(X) for each in model.fit_passes(X, y)]
    assert model.best_iter_ < model.n_iter_ == len(passes) == len(model.validation_scores_)
    assert model.best_iter_ == 1 + int(np.argmax(model.validation_scores_))
    assert_array_equal(model.class_log_density(X), passes[model.best_iter_ - 1])


def test_early_stopping_of_several_initialisations(monkeypatch):
    losses, densities = [], []
    log_loss = HeldOutSamples.log_loss

    def spy(held_out, model):
        losses.append(log_loss(held_out, model))
        densities.append(model.class_log_density(X))
        return losses[-1]

    monkeypatch.setattr(HeldOutSamples, "log_loss", spy)
    options = {"early_stopping": True, "validation_fraction": 0.4, "init": "sample", "random_state": 0}
    model = skem.SKEMClassifier(5, n_init=4, max_iter=8, **options)
    model.fit(X, y)
    assert len(losses) == 4
    assert_array_equal(model.class_log_density(X), densities[int(np.argmin(losses))])


# Sharing


@pytest.mark.parametrize("groups", [None, [[3, 0, 5], [1], [2, 4]]])
def test_sharing_and_groups(groups):
    options = {"sharing": 0.3, "groups": groups, "max_iter": 5, "tol": 0, "random_state": 0}
    whole = skem.PRBFClassifier(6, **options).fit(X, y)
    for model in (skem.SKEMClassifier(6, **options), skem.PSKEMClassifier(6, n_blocks=1, **options)):
        assert_array_equal(model.fit(X, y).blocks_[0].means, whole.means_)
        assert_array_equal(model.groups_[0], whole.groups_[0])
    tied = skem.PRBFClassifier(6, covariance_type="tied", **options).fit(X, y)
    assert_array_equal(skem.MDAClassifier(6, **options).fit(X, y).means_, tied.means_)
    for Classifier in (skem.SKEMClassifier, skem.PSKEMClassifier, skem.MDAClassifier):
        separate = Classifier(6, sharing=0.0, max_iter=3, random_state=0).fit(X, y)
        assert all(((block.weights > 0).sum(axis=0) == 2).all() for block in separate.blocks_)


def test_groups_without_sharing():
    with pytest.raises(
        ValueError, match="groups say which class a component is reserved for, which needs sharing"
    ):
        skem.SKEMClassifier(3, groups=[[0], [1], [2]]).fit(X, y)


# Components per class


@every_classifier
def test_components_per_class(Classifier, tmp_path):
    options = {"max_iter": 3, "tol": 0, "random_state": 0}
    model = Classifier({1: 3, 0: 1, 2: 2}, **options).fit(X, y)
    assert [len(group) for group in model.groups_] == [1, 3, 2]
    block = model.blocks_[0]
    if Classifier is skem.PRBFClassifier:
        grouped = Classifier(groups=[[0], [1, 2, 3], [4, 5]], **options).fit(X, y)
        assert_array_equal(block.means, grouped.means_)
    else:
        for c, group in enumerate(model.groups_):
            assert_array_equal(np.flatnonzero(block.weights[:, c]), group)
    assert_array_equal(Classifier([1, 3, 2], **options).fit(X, y).blocks_[0].means, block.means)
    model.save(tmp_path / "model.npz")
    assert Classifier.load(tmp_path / "model.npz").n_components == model.n_components
    even = Classifier([2, 2, 2], **options).fit(X, y)
    assert_array_equal(even.blocks_[0].means, Classifier(6, **options).fit(X, y).blocks_[0].means)


@pytest.mark.parametrize(
    ("n_components", "options", "message"),
    [
        ({"a": 1, "b": 2}, {}, r"lacks class 'c'; give a number for each of the classes \['a', 'b', 'c'\]"),
        ({"a": 1, "b": 2, "c": 1, "d": 1}, {}, "n_components has the unknown class 'd'"),
        ([1, 2], {}, r"shape \(2,\); give one number for each of the 3 classes"),
        ([1, 0, 2], {}, "n_components of class 'b' must be an integer of at least 1; got 0"),
        ([1, 3, 2], {"init": "kmeans"}, "which init='kmeans' does not"),
        ([1, 3, 2], {"groups": [[0], [1], [2]], "sharing": 0.5}, "give one of the two"),
    ],
)
def test_invalid_components_per_class(n_components, options, message):
    with pytest.raises(ValueError, match=message):
        skem.SKEMClassifier(n_components, **options).fit(X, np.array(["a", "b", "c"])[y])


def test_warm_start_with_components_per_class():
    model = skem.SKEMClassifier([1, 3, 2], warm_start=True, max_iter=2, random_state=0).fit(X, y)
    assert [len(group) for group in model.fit(X, y).groups_] == [1, 3, 2]
    with pytest.raises(ValueError, match=r"n_components changed from \[1, 3, 2\] to \[3, 1, 2\]"):
        model.set_params(n_components=[3, 1, 2]).fit(X, y)


# Initial means


@every_classifier
def test_initial_means(Classifier):
    means = X[::15]
    model = Classifier(init={"means": means}, max_iter=1, tol=0).fit(X, y)
    nearest = means[cdist(X / X.std(axis=0), means / X.std(axis=0)).argmin(axis=1)]
    covariance = (X - nearest).T @ (X - nearest) / len(X) + 0.1 * np.diag(X.var(axis=0))
    covariances = covariance if model.covariance_type == "tied" else np.tile(covariance, (10, 1, 1))
    expected = Classifier(init=(np.full((10, 3), 0.1), means, covariances), max_iter=1, tol=0).fit(X, y)
    assert_allclose(model.blocks_[0].means, expected.blocks_[0].means, rtol=1e-8)
    assert model.n_components_ == 10
    with pytest.raises(ValueError, match='a dictionary must hold "means" alone'):
        Classifier(init={"labels": y}).fit(X, y)


# Samples


@every_mixture
def test_random_state_of_samples(Estimator):
    model = Estimator(3, max_iter=2, tol=0, random_state=7).fit(X, y)
    same = [model.sample(5), model.sample(5), model.sample(5, random_state=7)]
    for rows, labels in same[1:]:
        assert_array_equal(rows, same[0][0])
        assert_array_equal(labels, same[0][1])
    other = model.sample(5, random_state=8)[0]
    assert (other != same[0][0]).any()
    stream = np.random.RandomState(7)
    assert_array_equal(model.sample(5, random_state=stream)[0], same[0][0])
    assert (model.sample(5, random_state=stream)[0] != same[0][0]).any()
    assert model.random_state == 7


# Widths


@pytest.mark.parametrize("widths", ["farthest", "mixture"])
def test_widths_in_input_units(widths):
    small, large = (
        skem.GaussianKernels(4, widths=widths, tol=0, reg_covar=0, random_state=0).fit(factor * X)
        for factor in (1, 8)
    )
    assert_allclose(large.widths_, 8 * small.widths_)
    squares = ((X[:, None] - small.means_) ** 2).sum(axis=2)
    assert_allclose(small.transform(X), np.exp(-squares / (2 * small.widths_**2)), rtol=1e-7)


# Interrupted fits


@pytest.mark.parametrize("Estimator", [skem.PRBFClassifierCV, skem.PRBFEnsemble])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_interrupted_search_or_ensemble_stays_unchanged(monkeypatch, Estimator, error):
    model = Estimator(skem.PRBFClassifier(3, max_iter=2, tol=0), sharings=(0.0, 1.0), random_state=0).fit(
        X, y
    )
    before = dict(vars(model))
    fit, calls = skem.PRBFClassifier.fit, iter(range(100))

    def interrupted_fit(*arguments):
        if next(calls) == 1:
            raise error
        return fit(*arguments)

    monkeypatch.setattr(skem.PRBFClassifier, "fit", interrupted_fit)
    with pytest.raises(error):
        model.fit(X[:, :3], y)
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())


# Docstrings


def entries(section, text):
    """Return the names that a section of a docstring describes, in order."""
    pattern = re.compile(rf"^{section}\n-+\n(.*?)(?=\n\n\S|\Z)", re.MULTILINE | re.DOTALL)
    body = pattern.search(inspect.cleandoc(text))[1]
    heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", body, re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


@pytest.mark.parametrize("Estimator", EVERYTHING)
def test_documented_parameters(Estimator):
    parameters = inspect.signature(Estimator).parameters
    assert entries("Parameters", Estimator.__doc__) == list(parameters)
    assert "%(" not in Estimator.__doc__
    defaults = re.findall(r"^(\w[\w, ]*) : .*, default=(.+)$", inspect.getdoc(Estimator), re.MULTILINE)
    described = {name: ast.literal_eval(text) for names, text in defaults for name in names.split(", ")}
    assert described == {name: parameter.default for name, parameter in parameters.items()}


@pytest.mark.parametrize("Estimator", [each for each in EVERYTHING if each is not skem.GaussianKernels])
def test_documented_attributes(Estimator):
    quick = {"max_iter": 2} if Estimator is skem.SDGMClassifier else {}
    model = Estimator(**quick).fit(X, y)
    names = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    # Models with one feature block have these attributes of the family, but need not document them.
    names -= {"blocks_", "block_indices_", "n_blocks_"}
    assert names <= set(entries("Attributes", Estimator.__doc__))


def test_undocumented_parameters_are_errors():
    class Model:
        """Model."""

        def __init__(self, tol=0.5, undocumented=1):
            pass

    with pytest.raises(KeyError, match="undocumented"):
        _docstrings.documented(Model)


def test_python_without_docstrings():
    code = "import skem; assert skem.SKEMClassifier.__doc__ is None; skem.SKEMClassifier(2)"
    assert subprocess.run([sys.executable, "-OO", "-c", code], check=False).returncode == 0
