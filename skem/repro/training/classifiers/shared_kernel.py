"""Models trained in iterations, of which every iteration is recorded."""

from skem.repro.training.classifiers import Classifier

ENTRIES = {
    "skem": Classifier("skem.estimators.skem:SKEMClassifier", "SKEM", comparison={}),
    "pskem": Classifier("skem.estimators.pskem:PSKEMClassifier", "PSKEM"),
    "mda": Classifier("skem.estimators.mda:MDAClassifier", "MDA"),
}
