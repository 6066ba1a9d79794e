"""Models trained in iterations, of which every iteration is recorded."""

from skem.repro.training.classifiers import Classifier

ENTRIES = {
    "skem": Classifier("skem.estimators.skem:SKEMClassifier", lacks=("n_blocks", "arrangement", "sharing")),
    "pskem": Classifier("skem.estimators.pskem:PSKEMClassifier"),
    "mda": Classifier("skem.estimators.mda:MDAClassifier", lacks=("covariance_type", "sharing")),
}
