"""Entries that only the comparison uses: searches, ensembles, detectors, and baselines that Table 1 does not have."""

from collections.abc import Sequence
from typing import Any

from skem.repro.training.classifiers import TABLES, Classifier

SEARCH = "skem.repro.training.grid_search:GridSearch"
FOREST = "sklearn.ensemble:RandomForestClassifier"
SVM = "skem.repro.training.svm:KernelSVC"


LATER = ("test", "categories")
"""Tables of baselines that were added when the results of the others were known."""


def _search(
    title: str, estimator: str, standardize: bool = False, tables: Sequence[str] = TABLES, **params: Any
) -> Classifier:
    """Baseline whose parameters the common search chooses."""
    params |= {"estimator": estimator}
    params |= {"scaler": "sklearn.preprocessing:StandardScaler"} if standardize else {}
    return Classifier(SEARCH, title, params=params, comparison={}, tables=tables)


ENTRIES = {
    "discriminative_pskem": Classifier(
        "skem.estimators.discriminative_pskem:DiscriminativePSKEMClassifier",
        "DiscriminativePSKEMClassifier",
        comparison={},
    ),
    "discriminative_pskem_cv": Classifier(
        "skem.estimators.discriminative_pskem_cv:DiscriminativePSKEMClassifierCV",
        "DiscriminativePSKEMClassifierCV",
        comparison={},
    ),
    "svm_rbf_search": _search(
        "RBF SVM, C and width chosen",
        *(SVM, True),
        params={"break_ties": True},
        grid={"C": [0.3, 1.0, 3.0, 10.0, 30.0, 100.0], "width": [0.1, 0.3, 1.0, 3.0]},
        scoring="accuracy",
    ),
    "svm_rbf_held_out": Classifier(
        SEARCH,
        params={
            "estimator": SVM,
            "scaler": "skem.repro.training.svm:UnitVariance",
            "params": {"break_ties": True},
            "scoring": "accuracy",
        },
    ),
    "svm_rbf_calibrated": _search(
        "RBF SVM, C = 1", SVM, True, params={"break_ties": True, "width": 1.0}, scoring="accuracy"
    ),
    "logistic_search": _search(
        "logistic regression, C chosen",
        *("sklearn.linear_model:LogisticRegression", True),
        params={"max_iter": 1000},
        grid={"C": [0.01, 0.1, 1.0, 10.0, 100.0]},
    ),
    "knn_search": _search(
        "k-NN, k chosen",
        *("sklearn.neighbors:KNeighborsClassifier", True),
        grid={"n_neighbors": [1, 3, 5, 9, 15, 25, 40]},
    ),
    "random_forest_search": _search(
        "random forest, chosen",
        FOREST,
        grid={"max_features": ["sqrt", 0.5], "min_samples_leaf": [1, 3, 10]},
    ),
    "lightgbm_search": _search(
        "LightGBM, chosen",
        "lightgbm:LGBMClassifier",
        params={"n_jobs": 1, "verbose": -1},
        grid={"learning_rate": [0.05, 0.1], "num_leaves": [7, 31], "n_estimators": [100, 200]},
    ),
    "xgboost_search": _search(
        "XGBoost, chosen",
        "xgboost:XGBClassifier",
        tables=LATER,
        params={"n_jobs": 1},
        grid={"learning_rate": [0.05, 0.1], "max_depth": [3, 6], "n_estimators": [100, 200]},
    ),
    # With the default of 1,000 trees, and with a search, it takes too long. Its learning rate follows from their number.
    "catboost": _search(
        "CatBoost, 500 trees",
        "catboost:CatBoostClassifier",
        tables=LATER,
        # CatBoost has the parameters that it is given.
        params={
            "iterations": 500,
            "random_state": 0,
            "thread_count": 1,
            "verbose": False,
            "allow_writing_files": False,
        },
    ),
    "random_forest": Classifier(FOREST, "random forest", standardize=False, comparison={}),
    "hist_gradient_boosting": Classifier(
        "sklearn.ensemble:HistGradientBoostingClassifier",
        "gradient boosting",
        standardize=False,
        comparison={},
    ),
    "mlp": Classifier(
        "sklearn.neural_network:MLPClassifier", "MLP", standardize=True, comparison={"max_iter": 500}
    ),
    "mlp_search": _search(
        "MLP, chosen",
        *("sklearn.neural_network:MLPClassifier", True),
        tables=LATER,
        params={"learning_rate_init": 0.003, "max_iter": 100},
        grid={
            "hidden_layer_sizes": [(50,), (50, 50)],
            "alpha": [0.1, 1.0],
            "early_stopping": [False, True],
        },
    ),
    "gaussian_process": Classifier(
        "skem.repro.training.gaussian_process:GaussianProcess",
        *("Gaussian process", True),
        comparison={},
        tables=LATER,
    ),
    "isolation_forest": Classifier("sklearn.ensemble:IsolationForest", "isolation forest"),
    "local_outlier_factor": Classifier(
        "sklearn.neighbors:LocalOutlierFactor",
        *("local outlier factor", True),
        params={"novelty": True},
    ),
    "one_class_svm": Classifier("sklearn.svm:OneClassSVM", "one-class SVM", standardize=True),
    "gaussian": Classifier("sklearn.mixture:GaussianMixture", "one Gaussian", standardize=True),
    "gaussian_mixture_20": Classifier(
        "sklearn.mixture:GaussianMixture",
        *("Gaussian mixture, 20 components", True),
        params={"n_components": 20},
    ),
    "gaussian_mixture_bic": Classifier(
        "skem.repro.training.detectors:GaussianMixtureByBIC", "Gaussian mixture, chosen by BIC", True
    ),
    "class_mixtures": Classifier(
        "skem.repro.training.gaussian_mixtures:GaussianMixtureClassifier",
        *("Gaussian mixtures, two components per class", True),
        params={"class_prior": "empirical"},
    ),
    "neighbor_distance": Classifier(
        "skem.repro.training.detectors:NeighborDistance", "distance to the fifth neighbour", True
    ),
}
