"""One vocabulary: the same words, parameters and attributes mean the same in every class, and are documented once."""

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
from skem.estimators._starting import STARTS
from skem.estimators._training import EarlyStopping

CLASSIFIERS = [skem.SKEMClassifier, skem.PSKEMClassifier, skem.MDAClassifier, skem.PRBFClassifier]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)
every_mixture = pytest.mark.parametrize("Estimator", [*CLASSIFIERS, skem.GaussianMixture])
EVERYTHING = [getattr(skem, name) for name in skem.__all__ if hasattr(getattr(skem, name), "fit")]

X, y = load_iris(return_X_y=True)


# Starts


@every_mixture
def test_words_for_starts(Estimator):
    """A word that a class does not offer is refused by name, and no class has words of its own."""
    offered = set(re.findall(r'"([\w+-]+)"', re.search(r"init : \{(.*)\}", Estimator.__doc__)[1]))
    words = {*STARTS, *(SEEDS if Estimator is skem.GaussianMixture else ())}
    assert offered <= words
    for word in [*words, "random_from_data"]:
        model = Estimator(3, init=word, max_iter=2, tol=0, random_state=0)
        if word in offered:
            assert np.isfinite(model.fit(X, y).objective_).all()
        else:
            with pytest.raises(ValueError, match="The 'init' parameter of"):
                model.fit(X, y)


def test_the_same_word_is_the_same_start():
    """Of one class apart from labels: all rows, equal weights, and the same draw."""
    options = {
        "init": "sample",
        "standardize": False,
        "reg_covar": 0.1,
        "max_iter": 1,
        "tol": 0,
        "random_state": 3,
    }
    mixture = skem.GaussianMixture(4, **options).fit(X)
    # With one row in the second class, which has next to no weight, the classifier sees the mixture's rows.
    labels = np.r_[np.zeros(len(X)), 1]
    weights = np.r_[np.ones(len(X)), 1e-25]
    model = skem.SKEMClassifier(4, **options).fit(np.concatenate([X, X[:1]]), labels, weights)
    assert_allclose(model.weights_[:, 0], mixture.weights_, rtol=1e-6)
    assert_allclose(model.means_, mixture.means_, rtol=1e-6)


def test_a_start_that_cannot_draw_a_row_twice_says_so():
    with pytest.raises(ValueError, match=r'init="k-means\+\+" draws 20 components from 9 rows'):
        skem.SKEMClassifier(init="k-means++").fit(X[::17], y[::17])


# Several starts


@every_classifier
def test_several_starts_keep_the_best(Classifier):
    options = {"init": "sample", "max_iter": 6, "tol": 0, "random_state": 5}
    one = Classifier(5, **options).fit(X, y)
    model = Classifier(5, n_init=4, **options)
    ends = [each.objective_[-1] for each in model.fit_passes(X, y) if each.n_iter_ == 6]
    assert len(set(ends)) == 4
    assert ends[0] == one.objective_[-1]
    assert model.objective_[-1] == max(ends)
    assert len(model.objective_) == model.n_iter_ == 6
    assert_allclose(model.log_likelihood_[-1], log_likelihood(model))
    again = Classifier(5, n_init=4, **options).fit(X, y)
    assert_array_equal(again.class_log_density(X), model.class_log_density(X))


def log_likelihood(model):
    return model.class_log_density(X)[np.arange(len(X)), y].mean()


@every_classifier
def test_passes_of_several_starts_come_in_turn(Classifier):
    options = {"init": "sample", "n_init": 3, "max_iter": 4, "tol": 0, "random_state": 5}
    model = Classifier(5, **options)
    passes = model.fit_passes(X, y)
    assert [each.n_iter_ for each in passes] == [1, 2, 3, 4] * 3
    passes = model.fit_passes(X, y)
    ends = [next(passes).objective_[-1] for _ in range(6)]
    with pytest.raises(StopIteration):
        passes.send(True)
    assert model.objective_[-1] == max(ends[3], ends[5])


def test_arrays_and_warm_starts_are_one_start():
    model = skem.SKEMClassifier(5, n_init=3, init="sample", max_iter=3, warm_start=True, random_state=0).fit(
        X, y
    )
    assert len(list(model.fit_passes(X, y))) == 3
    given = skem.SKEMClassifier(init=(model.weights_, model.means_, model.covariances_), n_init=3, max_iter=3)
    assert len(list(given.fit_passes(X, y))) == 3


def test_blocks_stay_the_same_from_start_to_start():
    options = {"arrangement": "random", "init": "sample", "max_iter": 2, "random_state": 1}
    one = skem.PSKEMClassifier(4, n_blocks=2, **options).fit(X, y)
    several = skem.PSKEMClassifier(4, n_blocks=2, n_init=3, **options)
    for each in several.fit_passes(X, y):
        for columns, others in zip(one.block_indices_, each.block_indices_, strict=True):
            assert_array_equal(columns, others)


@every_mixture
def test_several_starts_warn_once_and_only_of_the_one_that_is_kept(Estimator):
    options = {"init": "sample", "n_init": 3, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="in 2 passes") as caught:
        Estimator(5, max_iter=2, tol=1e-12, **options).fit(X, y)
    assert len(caught) == 1


# Convergence


@every_mixture
def test_tol_is_the_least_gain_of_the_objective_in_a_pass(Estimator):
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
def test_tol_is_none_of_the_accuracy(Classifier):
    """With early stopping too it is of the objective, so it ends the fit at the same pass."""
    options = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 100, "random_state": 0}
    model = Classifier(5, init="sample", tol=1e-2, max_iter=50, **options).fit(X, y)
    gains = np.diff(model.objective_)
    assert gains[-1] < 1e-2 <= gains[:-1].min()


# Early stopping


@pytest.mark.parametrize("Classifier", CLASSIFIERS[:3])
def test_best_iter_is_the_pass_that_was_kept(Classifier):
    options = {"init": "uniform", "max_iter": 25, "random_state": 0}
    plain = Classifier(6, **options).fit(X, y)
    assert plain.best_iter_ == plain.n_iter_ == 25
    options |= {"early_stopping": True, "validation_fraction": 0.4, "n_iter_no_change": 3}
    model = Classifier(6, **options)
    passes = [each.class_log_density(X) for each in model.fit_passes(X, y)]
    assert model.best_iter_ < model.n_iter_ == len(passes) == len(model.validation_scores_)
    assert model.best_iter_ == 1 + int(np.argmax(model.validation_scores_))
    assert_array_equal(model.class_log_density(X), passes[model.best_iter_ - 1])


def test_of_several_starts_the_least_log_loss_on_rows_held_out_is_kept(monkeypatch):
    losses, densities = [], []
    go_back = EarlyStopping.go_back

    def spy(stopping):
        losses.append(go_back(stopping))
        densities.append(model.class_log_density(X))
        return losses[-1]

    monkeypatch.setattr(EarlyStopping, "go_back", spy)
    options = {"early_stopping": True, "validation_fraction": 0.4, "init": "sample", "random_state": 0}
    model = skem.SKEMClassifier(5, n_init=4, max_iter=8, **options)
    model.fit(X, y)
    assert len(losses) == 4
    assert_array_equal(model.class_log_density(X), densities[int(np.argmin(losses))])


# Sharing


@pytest.mark.parametrize("groups", [None, [[3, 0, 5], [1], [2, 4]]])
def test_sharing_and_groups_mean_the_same_in_every_class(groups):
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


def test_groups_without_sharing_are_refused():
    with pytest.raises(ValueError, match="groups say whose a component is, which counts with sharing only"):
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
        (
            {"a": 1, "b": 2},
            {},
            r"no number for class 'c': give one for each of the classes \['a', 'b', 'c'\]",
        ),
        ({"a": 1, "b": 2, "c": 1, "d": 1}, {}, "a number for 'd', which is no class"),
        ([1, 2], {}, r"shape \(2,\): give one number for each of the 3 classes"),
        ([1, 0, 2], {}, "n_components of class 'b' must be a whole number, at least 1; got 0"),
        ([1, 3, 2], {"init": "kmeans"}, "which init='kmeans' does not"),
        ([1, 3, 2], {"groups": [[0], [1], [2]], "sharing": 0.5}, "give one of the two"),
    ],
)
def test_components_per_class_that_cannot_be(n_components, options, message):
    with pytest.raises(ValueError, match=message):
        skem.SKEMClassifier(n_components, **options).fit(X, np.array(["a", "b", "c"])[y])


def test_a_warm_start_keeps_the_components_of_each_class():
    model = skem.SKEMClassifier([1, 3, 2], warm_start=True, max_iter=2, random_state=0).fit(X, y)
    assert [len(group) for group in model.fit(X, y).groups_] == [1, 3, 2]
    with pytest.raises(ValueError, match=r"n_components changed from \[1, 3, 2\] to \[3, 1, 2\]"):
        model.set_params(n_components=[3, 1, 2]).fit(X, y)


# Means as a start


@every_classifier
def test_classifiers_start_from_means(Classifier):
    means = X[::15]
    model = Classifier(init={"means": means}, max_iter=1, tol=0).fit(X, y)
    nearest = means[cdist(X / X.std(axis=0), means / X.std(axis=0)).argmin(axis=1)]
    deviations = X - nearest
    ridge = 0.1 * np.diag(X.var(axis=0))
    covariance = deviations.T @ deviations / len(X) + ridge
    type_ = model.covariance_type
    covariances = covariance if type_ == "tied" else np.tile(covariance, (10, 1, 1))
    given = (np.full((10, 3), 0.1), means, covariances)
    same = Classifier(init=given, max_iter=1, tol=0).fit(X, y)
    assert_allclose(model.blocks_[0].means, same.blocks_[0].means, rtol=1e-8)
    assert model.n_components_ == 10
    with pytest.raises(ValueError, match='a dictionary must hold "means" alone'):
        Classifier(init={"labels": y}).fit(X, y)


# Samples


@every_mixture
def test_samples_follow_from_a_random_state(Estimator):
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
def test_widths_are_lengths_in_input_units(widths):
    small, large = (
        skem.GaussianKernels(4, widths=widths, tol=0, reg_covar=0, random_state=0).fit(factor * X)
        for factor in (1, 8)
    )
    assert_allclose(large.widths_, 8 * small.widths_)
    squares = ((X[:, None] - small.means_) ** 2).sum(axis=2)
    assert_allclose(small.transform(X), np.exp(-squares / (2 * small.widths_**2)), rtol=1e-7)


# Fits that break off


@pytest.mark.parametrize("Estimator", [skem.PRBFClassifierCV, skem.PRBFEnsemble])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_choice_or_an_average_that_breaks_off_stays_as_it_was(monkeypatch, Estimator, error):
    model = Estimator(skem.PRBFClassifier(3, max_iter=2, tol=0), sharings=(0.0, 1.0), random_state=0).fit(
        X, y
    )
    before = dict(vars(model))
    fit, calls = skem.PRBFClassifier.fit, iter(range(100))

    def breaks(*given):
        if next(calls) == 1:
            raise error
        return fit(*given)

    monkeypatch.setattr(skem.PRBFClassifier, "fit", breaks)
    with pytest.raises(error):
        model.fit(X[:, :3], y)
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())


def test_a_choice_that_breaks_off_at_the_last_fit_stays_as_it_was(monkeypatch):
    model = skem.PRBFClassifierCV(
        skem.PRBFClassifier(3, max_iter=2, tol=0), sharings=(0.0, 1.0), cv=2, random_state=0
    )
    model.fit(X, y)
    before = dict(vars(model))
    calls = iter(range(100))

    def breaks(*given):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return skem.sharing_path(*given)

    monkeypatch.setattr("skem.estimators.prbf_cv.sharing_path", breaks)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:100], y[:100])
    assert all(value is before[name] for name, value in vars(model).items())


# Docstrings


def entries(section, text):
    """The names that a section of a docstring has entries for, in order."""
    body = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n|\Z)", inspect.cleandoc(text), re.MULTILINE | re.DOTALL)[
        1
    ]
    heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", body, re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


@pytest.mark.parametrize("Estimator", EVERYTHING)
def test_every_parameter_is_documented_once_in_the_order_of_the_signature(Estimator):
    parameters = inspect.signature(Estimator).parameters
    assert entries("Parameters", Estimator.__doc__) == list(parameters)
    assert "%(" not in Estimator.__doc__
    for name, default in re.findall(r"^ +(\w+) : .*, default=(.+)$", Estimator.__doc__, re.MULTILINE):
        if name not in ("sharings", "variance_floor"):
            assert ast.literal_eval(default) == parameters[name].default


@pytest.mark.parametrize("Estimator", [each for each in EVERYTHING if each is not skem.GaussianKernels])
def test_every_fitted_attribute_is_documented(Estimator):
    quick = {"max_iter": 2} if Estimator is skem.SDGMClassifier else {}
    model = Estimator(**quick).fit(X, y)
    names = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    # What a model of one block has as well, for its blocks are attributes of the family.
    names -= {"blocks_", "block_indices_", "n_blocks_"}
    assert names <= set(entries("Attributes", Estimator.__doc__))


def test_python_without_docstrings():
    code = "import skem; assert skem.SKEMClassifier.__doc__ is None; skem.SKEMClassifier(2)"
    assert subprocess.run([sys.executable, "-OO", "-c", code], check=False).returncode == 0
