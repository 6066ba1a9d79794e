"""Entries that only the comparison uses: searches, ensembles and baselines that Table 1 does not have."""

from skem.repro.training.classifiers import Classifier

SVM = "skem.repro.training.svm_search:SVMSearch"
DISCRIMINATIVE = "skem.repro.training.discriminative:DiscriminativeSearch"

ENTRIES = {
    "discriminative_pskem": Classifier("skem.estimators.discriminative_pskem:DiscriminativePSKEMClassifier"),
    "stacked_blocks": Classifier("skem.repro.training.discriminative:StackedBlocks"),
    "isolation_forest": Classifier("sklearn.ensemble:IsolationForest", "isolation forest"),
    "auto": Classifier(
        "skem.estimators.pskem_cv:PSKEMClassifierCV", "SKEM, chosen by log-loss", comparison={}
    ),
    "discriminative": Classifier(
        *(DISCRIMINATIVE, "SKEM, discriminative training"),
        params={"choose_mixture": False},
        comparison={},
    ),
    "auto_discriminative": Classifier(DISCRIMINATIVE, "SKEM, chosen, discriminative training", comparison={}),
    "svm_rbf_search": Classifier(
        *(SVM, "RBF SVM, C and width chosen"),
        comparison={"C": [1.0, 5.0, 25.0], "width": [0.3, 1.0, 3.0], "select_rows": 4000},
    ),
    "svm_rbf_calibrated": Classifier(SVM, "RBF SVM, C = 1", comparison={}),
    "random_forest": Classifier(
        "sklearn.ensemble:RandomForestClassifier", "random forest", standardize=False, comparison={}
    ),
    "hist_gradient_boosting": Classifier(
        "sklearn.ensemble:HistGradientBoostingClassifier",
        "gradient boosting",
        standardize=False,
        comparison={},
    ),
    "mlp": Classifier(
        "sklearn.neural_network:MLPClassifier", "MLP", standardize=True, comparison={"max_iter": 500}
    ),
}
