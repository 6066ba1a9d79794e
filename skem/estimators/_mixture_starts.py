"""The parameters of a mixture before the first iteration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skem.engine import starts
from skem.engine.clusters import mixture_of_clusters
from skem.engine.given_start import checked_labels, checked_means, checked_start, raise_if_any_empty
from skem.engine.kmeans import assign, lloyd
from skem.engine.parameters import Mixture
from skem.engine.rows import Features, Rows
from skem.engine.samples import Samples
from skem.engine.seeds import SEEDS
from skem.engine.threads import Workers, single_threaded
from skem.estimators._checking import weighted_rows
from skem.estimators._metrics import metric_units
from skem.estimators._mixture_files import MixtureFiles

OF_CLUSTERS = {"kmeans": "random_subset"} | {name: name for name in SEEDS}
"""Seeds of each initialisation by k-means."""


class MixtureStarts(MixtureFiles):
    """Initialisation from samples, from arrays or from the last fit."""

    if TYPE_CHECKING:
        init: Any
        kmeans_iter: int
        metric: str

    def _given_labels(self, n_samples: int | None, sample_weight: ArrayLike | None) -> np.ndarray | None:
        """The component of each sample with a weight, if ``init`` has labels; ``n_samples`` is None outside memory."""
        if not isinstance(self.init, dict):
            return None
        if len(self.init) != 1 or not self.init.keys() <= {"means", "labels"}:
            raise ValueError(
                f'init: a dictionary holds either "means" or "labels", got the keys {sorted(map(str, self.init))}; '
                "give (weights, means, covariances) as a tuple"
            )
        if "means" in self.init:
            return None
        if n_samples is None:
            raise ValueError("init: labels need X as an array in memory; give means instead")
        labels = checked_labels(self.init["labels"], self.n_components, n_samples)
        _, labels, _ = weighted_rows(np.empty((n_samples, 1)), labels, sample_weight)
        raise_if_any_empty(labels, self.n_components, "no sample has label")
        return labels

    def _start(
        self,
        rows: Rows | None,
        previous: Mixture | None,
        random_state: np.random.RandomState,
        labels: np.ndarray | None = None,
    ) -> Mixture:
        """Initial parameters: those of the last fit, or those given by ``init``, or drawn from ``rows``."""
        columns = np.arange(len(self._shift))
        if previous is not None:
            return self._to_internal(previous, columns)
        if isinstance(self.init, tuple):
            given = checked_start(
                self.init,
                block=0,
                n_blocks=1,
                sizes=(self.n_components, len(columns), None),
                covariance_type=self._covariance_type,
            )
            return self._to_internal(given, columns)
        assert rows is not None
        ridge = self._internal_ridge()
        with Workers(self.n_jobs) as workers, single_threaded():
            if self.init == "sample":
                request = starts.Request(
                    rows=rows,
                    columns=columns,
                    n_components=self.n_components,
                    covariance_type=self._covariance_type,
                    random_state=random_state,
                    workers=workers,
                    ridge=ridge,
                )
                return starts.STARTS[self.init](request)
            samples = Samples.of(rows, workers)
            if labels is None:
                labels = self._clusters(samples, random_state)
            start = mixture_of_clusters(samples, labels, self.n_components, self._covariance_type, ridge)
        if isinstance(self.init, dict) and "means" in self.init:
            means = checked_means(self.init["means"], self.n_components, len(columns))
            start = replace(start, means=(means - self._shift) / self._scale)
        return start

    def _clusters(self, samples: Samples, random_state: np.random.RandomState) -> np.ndarray:
        """Cluster of each sample, (n,): after a few iterations of k-means, or by the nearest of the given means."""
        X = samples.features.X
        if self.metric == "mahalanobis":
            shift, scale, _ = metric_units(X, samples.weights, self.metric)
            samples = replace(samples, features=Features(X, None, shift, scale))
        if isinstance(self.init, dict):
            means = checked_means(self.init["means"], self.n_components, X.shape[1])
            labels, _ = assign(samples, (means - samples.shift) / samples.scale)
            raise_if_any_empty(labels, self.n_components, "no sample is nearest to mean number")
            return labels
        centres = SEEDS[OF_CLUSTERS[str(self.init)]](samples, self.n_components, random_state)
        return lloyd(samples, centres, max_iter=self.kmeans_iter).labels
