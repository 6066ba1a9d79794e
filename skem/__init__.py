"""Shared-kernel Gaussian mixture classifiers: SKEM, PSKEM and MDA, as scikit-learn estimators.

Pulford, G. W. (2022). Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
Partitioning.
"""

from importlib.metadata import PackageNotFoundError, version

from skem.classifiers import MDAClassifier, PSKEMClassifier, SKEMClassifier
from skem.mixture import GaussianMixture

try:
    __version__ = version("pskem")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "0+unknown"

__all__ = ["GaussianMixture", "MDAClassifier", "PSKEMClassifier", "SKEMClassifier", "__version__"]
