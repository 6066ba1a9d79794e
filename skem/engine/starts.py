"""Initial parameters that samples determine: a registry of initialisations.

Random choices are weighted by the sample weights and do not depend on the order of the samples. A sample of weight two
equals two samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skem.engine.clusters import VARIANCE_FLOOR, mean_square, pooled_covariance
from skem.engine.covariances import CovarianceType
from skem.engine.kmeans import assign, lloyd
from skem.engine.parameters import SINGULAR, Mixture
from skem.engine.rows import Rows
from skem.engine.samples import Samples
from skem.engine.seeds import kmeans_plusplus, random_subset
from skem.engine.sharing import equal_groups
from skem.engine.threads import Workers

MAX_ITER, TOL = 300, 1e-4
"""Maximum number of k-means iterations, and minimum sum of squared moves relative to the mean variance: the defaults of
scikit-learn's ``KMeans``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """Data and options of the initialisation of one feature block.

    Attributes
    ----------
    rows : Rows
        Training samples.
    columns : ndarray of int, shape (m,)
        Features of the block.
    n_components : int
        K.
    covariance_type : CovarianceType
    random_state : RandomState
    workers : Workers
    ridge : float
        Covariance regularisation, added to the variances of samples.
    strict : bool
        True if fewer samples than components are an error. Otherwise some components are duplicates.
    groups : list of ndarray of int, optional
        Components of each class, for an initialisation by class. The default is `equal_groups`.
    labels : list, optional
        Class labels, for error messages.
    """

    rows: Rows
    columns: np.ndarray
    n_components: int
    covariance_type: CovarianceType
    random_state: np.random.RandomState
    workers: Workers
    ridge: float = 0.0
    strict: bool = True
    groups: list[np.ndarray] | None = None
    labels: list | None = None

    def samples(self, begin: int, stop: int) -> Samples:
        """Return the samples from ``begin`` to ``stop``, with the features of the block."""
        rows = self.rows
        return Samples(rows, rows.weights[begin:stop], self.workers, self.columns, begin)


@dataclass(frozen=True)
class FromSamples:
    """Initialisation that draws means from all samples, or from those of each class, and estimates covariances.

    Attributes
    ----------
    name : str
    draw : callable
        Function of samples, number of means k and random state that returns means (k, m) and, if it assigns samples to them, the
        index of each sample's mean (n,).
    by_class : bool
        True if components are reserved for classes.
    """

    name: str
    draw: Callable[[Samples, int, np.random.RandomState], tuple[np.ndarray, np.ndarray | None]]
    by_class: bool = False

    def __call__(self, request: Request) -> Mixture:
        """Return the initial parameters.

        Raises
        ------
        ValueError
            Too few components for the classes, or too few samples for the components.
        """
        K, m, borders = request.n_components, len(request.columns), request.rows.borders
        L = len(borders) - 1
        # All classes share a single component.
        by_class = self.by_class and K > 1
        groups = (request.groups or equal_groups(K, L)) if by_class else [np.arange(K)]
        edges = borders.tolist() if by_class else [0, borders[-1]]
        weights = np.full((K, L), 0.0 if by_class and L > 1 else 1.0 / K)
        means, group_of, covariance_type = np.empty((K, m)), np.empty(K, dtype=int), request.covariance_type
        covariances = np.empty((len(groups), *covariance_type.identity(m).shape))
        for number, components in enumerate(groups):
            samples = request.samples(edges[number], edges[number + 1])
            self._check(request, len(samples.weights), len(components), number if by_class else None)
            centres, labels = self.draw(samples, len(components), request.random_state)
            means[components], group_of[components] = centres, number
            covariances[number], shares = pooled_covariance(samples, centres, labels, covariance_type)
            if len(groups) > 1:
                weights[components, number] = 1.0 / len(components) if labels is None else shares
        return Mixture(
            weights, means, covariance_type.of_groups(_regularised(covariances, request), group_of)
        )

    def _check(self, request: Request, n: int, k: int, code: int | None) -> None:
        """Raise ValueError if there are fewer samples than components and ``strict`` is set."""
        if not request.strict or n >= k:
            return
        of_class = alternative = ""
        if request.labels and code is not None:
            of_class = f" of class {request.labels[code]!r}"
            alternative = ', or init_params="sample", which draws from all classes'
        raise ValueError(
            f'init_params="{self.name}" draws {k} components from {n} samples{of_class}, which are too few; use a smaller n_components'
            f"{alternative}."
        )


def _regularised(covariances: np.ndarray, request: Request) -> np.ndarray:
    """Enlarge the diagonals of covariances (G, m, m), or variances (G, m), so that they are regular."""
    m = len(request.columns)
    overall = mean_square(request.samples(0, request.rows.borders[-1]))
    # Constant features have no variance.
    floor = max(request.ridge, VARIANCE_FLOOR * (overall or 1.0))
    largest = request.covariance_type.variances(covariances).max(axis=1)
    # Samples of a class of little weight may be far apart, and rounding then cancels a small floor.
    floors = np.maximum(floor, 4 * m * SINGULAR * largest)
    return covariances + np.multiply.outer(floors, request.covariance_type.identity(m))


def _sample(samples: Samples, size: int, random_state: np.random.RandomState) -> tuple[np.ndarray, None]:
    return random_subset(samples, size, random_state), None


def _kmeans(
    samples: Samples, size: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Run k-means from the samples of `_sample`."""
    centres = random_subset(samples, size, random_state)
    if len(np.unique(centres, axis=0)) < size:  # Fewer distinct samples than components.
        return centres, assign(samples, centres)
    clusters = lloyd(samples, centres, max_iter=MAX_ITER, tol=TOL * mean_square(samples))
    return clusters.centres, clusters.labels


INITIALISATIONS: dict[str, FromSamples] = {
    "sample": FromSamples("sample", _sample),
    "class": FromSamples("class", _sample, by_class=True),
    "kmeans": FromSamples("kmeans", _kmeans),
    "class_kmeans": FromSamples("class_kmeans", _kmeans, by_class=True),
    "k-means++": FromSamples("k-means++", lambda *arguments: (kmeans_plusplus(*arguments), None)),
}
"""By their public names."""


def from_means(means: np.ndarray) -> FromSamples:
    """Return the initialisation with these means (K, m), equal weights, and the covariance about the nearest mean."""
    return FromSamples("means", lambda samples, *_: (means, assign(samples, means)))
