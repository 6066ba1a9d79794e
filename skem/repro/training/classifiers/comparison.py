"""Classifiers of the comparison that Table 1 does not have."""

from skem.repro.training.classifiers import Classifier

ENTRIES = {
    "chosen_svm_rbf": Classifier("skem.repro.frontier.machines:ChosenSVC"),
    "hist_gradient_boosting": Classifier(
        "sklearn.ensemble:HistGradientBoostingClassifier", standardize=False
    ),
    "mlp": Classifier("sklearn.neural_network:MLPClassifier", standardize=True),
    "stacked_blocks": Classifier("skem.repro.frontier.stacking:StackedBlocks"),
    "chosen_discriminative": Classifier("skem.repro.frontier.stacking:ChosenDiscriminative"),
}
