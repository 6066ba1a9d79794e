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

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

    __version__: str

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

_MODULES = {
    "DiscriminativePSKEMClassifier": "skem.estimators.discriminative_pskem",
    "GaussianKernels": "skem.estimators.rbf",
    "GaussianMixture": "skem.estimators.gaussian_mixture",
    "GaussianMixturePath": "skem.estimators.mixture_path",
    "KMeans": "skem.estimators.kmeans",
    "MDAClassifier": "skem.estimators.mda",
    "Mixture": "skem.engine.parameters",
    "PRBFClassifier": "skem.estimators.prbf",
    "PRBFClassifierCV": "skem.estimators.prbf_cv",
    "PRBFEnsemble": "skem.estimators.prbf_ensemble",
    "PSKEMClassifier": "skem.estimators.pskem",
    "PSKEMClassifierCV": "skem.estimators.pskem_cv",
    "SDGMClassifier": "skem.estimators.sdgm",
    "SKEMClassifier": "skem.estimators.skem",
    "rbf_network": "skem.estimators.rbf",
    "sharing_path": "skem.estimators.prbf_cv",
}
_PACKAGES = ("datasets", "images", "metrics", "plots")


def __getattr__(name: str) -> Any:
    """What is public, imported when it is first asked for: SciPy and scikit-learn take most of a second."""
    # Not importlib's function: to what hashes the code of a job that would be all modules there are, see above.
    if name in _MODULES:
        found = getattr(__import__(_MODULES[name], fromlist=[name]), name)
    elif name in _PACKAGES:
        found = __import__(f"skem.{name}", fromlist=[name])
    elif name == "__version__":
        found = _version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pskem")
    except PackageNotFoundError:  # a checkout on the path, not installed
        return "0+unknown"
