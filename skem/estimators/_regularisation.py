"""Covariance regularisation of training samples whose covariance is singular."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skem.engine import em
from skem.engine.clusters import VARIANCE_FLOOR
from skem.engine.covariances import CovarianceType
from skem.engine.linalg import linearly_dependent
from skem.engine.parameters import SINGULAR, Mixture
from skem.engine.parts import Parts
from skem.engine.problem import Problem
from skem.engine.threads import Workers
from skem.engine.warn import warn
from skem.estimators._units import Units

MEASURED_SAMPLES = 1000
"""Samples, beyond the number of features, that show if these are linearly dependent."""


def effective_ridge(
    model: Any, parts: Parts, columns: Sequence[np.ndarray], units: Units, covariance_type: CovarianceType
) -> float:
    """``reg_covar`` in the engine's units; raised, with a warning, if the covariance of all samples is singular in a block.

    Otherwise each component would keep its first covariance.
    """
    ridge, floor = units.ridge(model.reg_covar), model.variance_floor * units.mean_variance
    largest_variance = units.mean_variance * len(units.scale)
    with Workers(model.n_jobs) as workers:
        for block in columns:
            m = len(block)
            # A pivot is no less than either.
            if max(ridge, floor) > m * SINGULAR * (largest_variance + ridge):
                continue
            ball = covariance_type.of_groups(covariance_type.identity(m)[None], np.zeros(1, dtype=int))
            start = Mixture(np.ones((1, parts.n_classes)), np.zeros((1, m)), ball)
            problem = Problem(
                parts, block, start, covariance_type, workers, ridge=ridge, variance_floor=floor
            )
            if em.is_singular(problem) and _has_dependent_features(parts, block, units):
                break
        else:
            return ridge
    raised = VARIANCE_FLOOR * (units.mean_variance or 1.0)
    used = raised if units.standardized else raised * units.scale[0] ** 2
    warn(
        f"{type(model).__name__}: the covariance of the samples is singular with reg_covar={model.reg_covar:g}: features are "
        "constant or linear combinations of others, or more than there are samples. EM goes on with "
        f"reg_covar={used:.3g}, which is {VARIANCE_FLOOR:g} of the mean variance: leave such features out, or set reg_covar",
    )
    return max(ridge, raised)


def _has_dependent_features(parts: Parts, columns: np.ndarray, units: Units) -> bool:
    """True if features are linear combinations of others, as far as some of the samples show."""
    samples = parts.whole
    n = min(samples.n_samples, len(columns) + MEASURED_SAMPLES)
    x = samples.read(columns, np.arange(n) * samples.n_samples // n)
    shift = (units.shift / units.scale)[columns, None]
    return linearly_dependent(x, np.finfo(parts.dtype).eps * np.abs(x + shift).max(axis=1))
