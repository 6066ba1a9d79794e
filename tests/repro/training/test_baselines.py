import pkgutil
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from skem.repro.training import baselines, classifiers
from skem.repro.training.baselines import evaluate, fit_selected, stratified_rows
from skem.repro.training.classifiers import find, log_proba, make
from skem.repro.training.classifiers.baselines import ENTRIES, REPORTED
from skem.repro.training.gaussian_mixtures import GaussianMixtureClassifier
from skem.repro.training.svm import KernelSVC

SVMS = ("svm_linear", "svm_quadratic", "svm_rbf")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    # Without the constant columns, on which quadratic discriminants are not defined.
    X = X[:, X.std(axis=0) > 1]
    X, X_test, y, y_test = train_test_split(X, y, test_size=400, stratify=y, random_state=0)
    X, X_val, y, y_val = train_test_split(X, y, test_size=300, stratify=y, random_state=0)
    return X, y, X_val, y_val, X_test, y_test


def shape(table):
    return [(row["stage"], row["params"], row["n_train"]) for row in table]


def test_names_have_one_meaning_and_make_classifiers():
    families = [module.name for module in pkgutil.iter_modules(classifiers.__path__)]
    assert sum(len(classifiers.entries(family)) for family in families) == len(classifiers.entries())
    for name in (*classifiers.entries(), "skem.PSKEMClassifier"):
        assert is_classifier(make(name, random_state=0))
    with pytest.raises(ValueError, match="no classifier 'svm'; there are logistic_regression, "):
        make("svm")


@pytest.mark.parametrize("name", ENTRIES)
def test_first_grid_point_is_the_default(name):
    for point in find(name).points()[:1]:
        assert repr(make(name, **point)) == repr(make(name))
    assert find(name).points(n_features=5)[: len(find(name).points())] == [
        {**point, "gamma": "scale"} if name == "svm_rbf" else point for point in find(name).points()
    ]


def test_a_caller_cannot_change_the_grid():
    find("svm_rbf").points()[0]["C"] = -1
    assert find("svm_rbf").points()[0] == {"C": 1.0}


@pytest.mark.parametrize("name", ENTRIES)
def test_accuracy_on_digits(name, digits):
    X, y, X_val, y_val, X_test, y_test = digits
    estimator, params, table = fit_selected(name, X, y, X_val, y_val, select_rows=600, random_state=0)
    got = evaluate(estimator, X_test, y_test)
    assert got["accuracy"] > (0.94 if name in ("logistic_regression", "lda") else 0.95)
    assert (log_proba(estimator, X_test) is None) == (name in SVMS)
    assert np.isnan(got["log_loss"]) == np.isnan(got["brier"]) == (name in SVMS)
    points = find(name).points(n_features=X.shape[1])
    expected = [("select", point, 600) for point in points] + [("refit", params, len(X))]
    assert shape(table) == expected
    assert table[-1]["validation_accuracy"] == evaluate(estimator, X_val, y_val)["accuracy"]
    if points:
        accuracies = [row["validation_accuracy"] for row in table[:-1]]
        assert params == points[int(np.argmax(accuracies))]


@pytest.mark.parametrize("name", ["svm_rbf", "bagged_trees", "gmm_per_class"])
def test_a_seed_fixes_the_result(name, digits):
    X, y, X_val, y_val, X_test, _ = digits
    runs = []
    for seed in (3, 3, 4):
        options = {"max_rows": 500, "select_rows": 200, "random_state": seed}
        estimator, _, table = fit_selected(name, X, y, X_val, y_val, **options)
        decision = estimator.decision_function(X_test) if name in SVMS else log_proba(estimator, X_test)
        runs.append((decision, [row["validation_accuracy"] for row in table]))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    assert runs[0][1] == runs[1][1]
    assert not np.array_equal(runs[0][0], runs[2][0])


def test_ties_go_to_the_first_point_and_rows_are_limited():
    X, y = load_iris(return_X_y=True)
    points = [{"n_neighbors": 1, "algorithm": a} for a in ("kd_tree", "brute", "ball_tree")]
    limits = {"select_rows": 60, "max_rows": 90}
    _, params, table = fit_selected("knn_5", X, y, X, y, grid=points, random_state=0, **limits)
    assert params == points[0]
    assert shape(table) == [("select", p, 60) for p in points] + [("refit", points[0], 90)]


def test_without_a_choice_no_validation_rows_are_needed():
    X, y = load_iris(return_X_y=True)
    for options in (
        {"name": "lda"},
        {"name": "qda", "grid": []},
        {"name": "qda", "grid": [{"reg_param": 0.5}]},
    ):
        _, params, table = fit_selected(X=X, y=y, **options)
        assert params == dict(*options.get("grid", []))
        assert shape(table) == [("refit", params, 150)]
        assert np.isnan(table[0]["validation_accuracy"])
    with pytest.raises(ValueError, match="qda: choosing among 4 settings needs validation rows"):
        fit_selected("qda", X, y)


def test_warnings_are_recorded_and_not_shown(digits):
    X, y, X_val, y_val, *_ = digits
    points = [{"max_iter": 1}, {"max_iter": 1000}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, params, table = fit_selected("logistic_regression", X, y, X_val, y_val, grid=points)
    assert params == {"max_iter": 1000}
    assert [len(row["warnings"]) for row in table] == [1, 0, 0]
    assert table[0]["warnings"][0].startswith(ConvergenceWarning.__name__)


def test_make_passes_parameters_on():
    scaled = make("svm_rbf", C=2.0, gamma=1 / 5.7**2, random_state=5)
    assert scaled[-1].get_params()["gamma"] == 1 / 5.7**2
    assert scaled[-1].get_params()["C"] == 2.0
    assert make("logistic_regression", random_state=5)[-1].get_params()["random_state"] == 5
    assert isinstance(make("svm_rbf", standardize=False), KernelSVC)
    with pytest.raises(TypeError):
        make("lda", C=1)


def test_scale_is_the_papers_kernel_scale():
    X, y = make_classification(200, n_features=32, n_informative=8, random_state=0)
    papers, ours = make("svm_rbf", gamma=1 / 32).fit(X, y), make("svm_rbf").fit(X, y)
    np.testing.assert_allclose(papers.decision_function(X), ours.decision_function(X), rtol=1e-10)


def test_log_proba_of_zero_votes():
    X, y = load_iris(return_X_y=True)
    estimator = make("knn_1").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior = log_proba(estimator, X)
    np.testing.assert_array_equal(np.exp(posterior), np.eye(3)[y])
    assert evaluate(estimator, X, y) == {"accuracy": 1.0, "log_loss": 0.0, "brier": 0.0}
    assert 740 < evaluate(estimator, X[:1], y[:1] + 1)["log_loss"] < 745


@pytest.mark.parametrize("name", ["lda", "knn_5", "svm_rbf"])
def test_evaluate_takes_any_labels(name):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["virginica", "setosa", "versicolor"])
    plain, named = make(name).fit(X, y), make(name).fit(X, labels[y])
    assert evaluate(named, X, labels[y])["accuracy"] == evaluate(plain, X, y)["accuracy"] > 0.9


def test_evaluate_refuses_labels_it_has_not_seen():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="not in the training data"):
        evaluate(make("lda").fit(X[y < 2], y[y < 2]), X, y)


def test_stratified_rows():
    y = np.repeat([2, 0, 1], [600, 390, 10])
    small, large = stratified_rows(y, 100, 0), stratified_rows(y, 500, 0)
    assert np.bincount(y[small]).tolist() == [39, 1, 60]
    assert np.bincount(y[large]).tolist() == [195, 5, 300]
    assert set(small) < set(large)
    assert (np.diff(large) > 0).all()
    assert set(y[stratified_rows(y, 3, 0)]) == {0, 1, 2}
    assert not np.array_equal(small, stratified_rows(y, 100, 1))
    for size in (None, 1000, 2000):
        np.testing.assert_array_equal(stratified_rows(y, size, 0), np.arange(1000))


def test_rows_of_a_class_are_drawn_evenly():
    y = np.repeat([0, 1], [30, 10])
    drawn = np.zeros(40)
    for seed in range(2000):
        drawn[stratified_rows(y, 20, seed)] += 1
    np.testing.assert_allclose(drawn / 2000, 0.5, atol=0.06)


def test_one_component_is_a_quadratic_discriminant():
    X, y = load_iris(return_X_y=True)
    X, y = X[:130], y[:130]
    ours = GaussianMixtureClassifier(n_components=1, reg_covar=0.0, class_prior="empirical").fit(X, y)
    # scikit-learn's discriminant divides by n_c - 1, its mixture by n_c: agreement is to 1/n_c.
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.class_prior_, theirs.priors_)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.02)
    uniform = GaussianMixtureClassifier(n_components=1, reg_covar=0.0).fit(X, y)
    shift = uniform.predict_log_proba(X) - ours.predict_log_proba(X) + np.log(theirs.priors_)
    np.testing.assert_allclose(shift - shift[:, :1], 0, atol=1e-9)


def test_gmm_refuses():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="class_prior must be"):
        GaussianMixtureClassifier(class_prior="flat").fit(X, y)
    with pytest.raises(ValueError, match=r"class .*1.* has one sample"):
        GaussianMixtureClassifier().fit(X[:51], y[:51])
    assert len(GaussianMixtureClassifier(n_components=5).fit(X[:52], y[:52]).mixtures_[1].weights_) == 2


def test_the_first_fifty_trees_are_a_forest_of_fifty(digits):
    X, y, _, _, X_test, _ = digits
    hundred = make("bagged_trees", random_state=5).fit(X, y)
    parts = dict(baselines.fitted("bagged_trees", hundred))
    fifty = RandomForestClassifier(50, random_state=5).fit(X, y)
    assert list(parts) == ["bagged_trees_50", "bagged_trees_100"]
    np.testing.assert_allclose(
        parts["bagged_trees_50"].predict_proba(X_test), fifty.predict_proba(X_test), rtol=1e-12
    )
    np.testing.assert_array_equal(parts["bagged_trees_100"].predict(X_test), hundred.predict(X_test))
    assert baselines.fitted("lda", hundred) == [("lda", hundred)]
    assert set(parts) <= set(REPORTED)
