"""The initial parameters of a mixture without classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.engine import starts
from skem.engine.clusters import mixture_of_clusters
from skem.engine.given_start import checked_array, checked_init, checked_labels, raise_if_any_empty
from skem.engine.kmeans import assign, lloyd
from skem.engine.parameters import Mixture
from skem.engine.rows import Rows
from skem.engine.samples import Samples
from skem.engine.seeds import SEEDS
from skem.engine.threads import Workers
from skem.estimators._array_api import to_numpy
from skem.estimators._checking import weighted_samples
from skem.estimators._training import Training
from skem.estimators._units import metric_units

CLUSTERINGS = {"kmeans": "random_subset"} | {name: name for name in SEEDS}
"""Seeds of each initialisation by k-means."""


def given_labels(model: Any, X: Any, sample_weight: ArrayLike | None) -> np.ndarray | None:
    """The component of each sample with a weight, if ``init_params`` holds labels; ``X`` is None for samples outside memory."""
    init = to_numpy(model.init_params)
    if not isinstance(init, dict):
        return None
    if len(init) != 1 or not init.keys() <= {"means", "labels"}:
        raise ValueError(
            f'init_params: a dictionary holds either "means" or "labels", got the keys {sorted(map(str, init))}; '
            "give (weights, means, covariances) as a tuple"
        )
    if "means" in init:
        return None
    if X is None:
        raise ValueError("init_params: labels need X as an array in memory; give means instead")
    labels = checked_labels(init["labels"], model.n_components, np.shape(to_numpy(X))[0])
    used, _ = weighted_samples(labels, to_numpy(sample_weight))
    labels = labels[used]
    raise_if_any_empty(labels, model.n_components, "no sample has label")
    return labels


def initial_mixture(model: Any, training: Training, random_state: np.random.RandomState) -> Mixture:
    """Initial parameters in the engine's units: given by ``init_params``, or drawn from samples."""
    units, covariance_type, K = training.units, training.covariance_type, model.n_components
    columns, init, labels, means = training.columns[0], to_numpy(model.init_params), training.labels, None
    if isinstance(init, tuple):
        (given,) = checked_init(init, K, [len(columns)], None, covariance_type)
        return units.to_engine(given, columns, covariance_type)
    with Workers(model.n_jobs) as workers:
        if init == "sample":
            return starts.INITIALISATIONS["sample"](
                starts.Request(
                    rows=training.rows,
                    columns=columns,
                    n_components=K,
                    covariance_type=covariance_type,
                    random_state=random_state,
                    workers=workers,
                    ridge=training.ridge,
                )
            )
        samples = Samples(training.rows, training.rows.weights, workers)
        if labels is None:
            if isinstance(init, dict):
                means = checked_array("init_params: means", init["means"], (K, len(columns)))
            labels = _clusters(model, samples, means, random_state)
        start = mixture_of_clusters(samples, labels, K, covariance_type, training.ridge)
    return start if means is None else replace(start, means=(means - units.shift) / units.scale)


def _clusters(
    model: Any, samples: Samples, means: np.ndarray | None, random_state: np.random.RandomState
) -> np.ndarray:
    """Cluster of each sample, (n,): after a few iterations of k-means, or by the nearest of the given means."""
    if model.metric == "mahalanobis":
        X = samples.features.X
        shift, scale, _ = metric_units(X, samples.weights, model.metric)
        samples = replace(samples, features=Rows(X, None, shift, scale, keep=True))
    if means is not None:
        labels = assign(samples, (means - samples.shift) / samples.scale)
        raise_if_any_empty(labels, model.n_components, "no sample is nearest to mean number")
        return labels
    centres = SEEDS[CLUSTERINGS[model.init_params]](samples, model.n_components, random_state)
    return lloyd(samples, centres, max_iter=model.kmeans_iter).labels
