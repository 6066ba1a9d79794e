"""Shared-kernel Gaussian mixture classifiers: SKEM, PSKEM, MDA and lambda-PRBF, as scikit-learn estimators.

``DiscriminativePSKEMClassifier`` is PSKEM with discriminative training, ``SDGMClassifier`` the sparse discriminative mixture.
``GaussianMixture`` and ``KMeans`` are the same engine without classes.

Pulford, G. W. (2022). Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
Partitioning.

Titsias, M. K. and Likas, A. C. (2001). Shared kernel models for class conditional density estimation. IEEE Trans.
Neural Networks 12, 987-997.

Hayashi, H. and Uchida, S. (2021). A discriminative Gaussian mixture model with sparsity. ICLR.

Sanderson, C. and Curtin, R. (2017). An open source C++ implementation of multi-threaded Gaussian mixture models,
k-means and expectation maximisation. ICSPCS.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skem.engine.parameters import Mixture as Mixture
    from skem.estimators.discriminative_pskem import (
        DiscriminativePSKEMClassifier as DiscriminativePSKEMClassifier,
    )
    from skem.estimators.discriminative_pskem_cv import (
        DiscriminativePSKEMClassifierCV as DiscriminativePSKEMClassifierCV,
    )
    from skem.estimators.gaussian_mixture import GaussianMixture as GaussianMixture
    from skem.estimators.kmeans import KMeans as KMeans
    from skem.estimators.mda import MDAClassifier as MDAClassifier
    from skem.estimators.mixture_path import GaussianMixturePath as GaussianMixturePath
    from skem.estimators.outliers import DensityOutlierDetector as DensityOutlierDetector
    from skem.estimators.prbf import PRBFClassifier as PRBFClassifier
    from skem.estimators.pskem import PSKEMClassifier as PSKEMClassifier
    from skem.estimators.skem import SKEMClassifier as SKEMClassifier
    from skem.sdgm.classifier import SDGMClassifier as SDGMClassifier

    __version__: str

_MODULES = {
    "DensityOutlierDetector": "skem.estimators.outliers",
    "DiscriminativePSKEMClassifier": "skem.estimators.discriminative_pskem",
    "DiscriminativePSKEMClassifierCV": "skem.estimators.discriminative_pskem_cv",
    "GaussianMixture": "skem.estimators.gaussian_mixture",
    "GaussianMixturePath": "skem.estimators.mixture_path",
    "KMeans": "skem.estimators.kmeans",
    "MDAClassifier": "skem.estimators.mda",
    "Mixture": "skem.engine.parameters",
    "PRBFClassifier": "skem.estimators.prbf",
    "PSKEMClassifier": "skem.estimators.pskem",
    "SDGMClassifier": "skem.sdgm.classifier",
    "SKEMClassifier": "skem.estimators.skem",
}
__all__ = [*_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use: SciPy and scikit-learn take most of a second."""
    if name == "__version__":
        found = _version()
    elif name in _MODULES:
        found = getattr(import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pskem")
    except PackageNotFoundError:  # a checkout on the path, not installed
        return "0+unknown"
