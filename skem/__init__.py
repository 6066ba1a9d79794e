"""Shared-kernel Gaussian mixture classifiers: SKEM, PSKEM, MDA and lambda-PRBF, as scikit-learn estimators.

``DiscriminativePSKEMClassifier`` is PSKEM trained to decide, ``SDGMClassifier`` the sparse discriminative mixture.
``GaussianMixture`` and ``KMeans`` are the same engine without classes.

Pulford, G. W. (2022). Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
Partitioning.

Titsias, M. K. and Likas, A. C. (2001). Shared kernel models for class conditional density estimation. IEEE Trans.
Neural Networks 12, 987-997.

Hayashi, H. and Uchida, S. (2021). A discriminative Gaussian mixture model with sparsity. ICLR.

Sanderson, C. and Curtin, R. (2017). An open source C++ implementation of multi-threaded Gaussian mixture models,
k-means and expectation maximisation. ICSPCS.
"""

from importlib.metadata import PackageNotFoundError, version

from skem.engine.parameters import Mixture
from skem.estimators.discriminative_pskem import DiscriminativePSKEMClassifier
from skem.estimators.gaussian_mixture import GaussianMixture
from skem.estimators.kmeans import KMeans
from skem.estimators.mda import MDAClassifier
from skem.estimators.mixture_path import GaussianMixturePath
from skem.estimators.prbf import PRBFClassifier
from skem.estimators.prbf_cv import PRBFClassifierCV, sharing_path
from skem.estimators.prbf_ensemble import PRBFEnsemble
from skem.estimators.pskem import PSKEMClassifier
from skem.estimators.pskem_cv import PSKEMClassifierCV
from skem.estimators.rbf import GaussianKernels, rbf_network
from skem.estimators.sdgm import SDGMClassifier
from skem.estimators.skem import SKEMClassifier

try:
    __version__ = version("pskem")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "0+unknown"

__all__ = [
    "DiscriminativePSKEMClassifier",
    "GaussianKernels",
    "GaussianMixture",
    "GaussianMixturePath",
    "KMeans",
    "MDAClassifier",
    "Mixture",
    "PRBFClassifier",
    "PRBFClassifierCV",
    "PRBFEnsemble",
    "PSKEMClassifier",
    "PSKEMClassifierCV",
    "SDGMClassifier",
    "SKEMClassifier",
    "__version__",
    "rbf_network",
    "sharing_path",
]
