"""The fitted model behind every estimator that EM trains: mixtures of feature blocks, their units and covariance type."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import NotFittedError

from skem.engine import missing
from skem.engine.covariances import CovarianceType
from skem.engine.density import Block, class_log_density, fill_log_density
from skem.engine.given_start import checked_mixture
from skem.engine.linalg import weighted_sum
from skem.engine.parameters import Mixture
from skem.engine.rows import Rows, sorting_order
from skem.engine.threads import Workers, single_threaded
from skem.estimators._array_api import namespace_of
from skem.estimators._units import Units, common_scale, refuse_extreme, winsorised


@dataclass(frozen=True, eq=False)
class FittedMixture:
    """One shared-kernel mixture per feature block, of classes or without them, in input units; ``columns`` are features of each block.

    Arrays are read-only, so factors of covariances are computed once and stay valid. They are not part of pickles.
    """

    mixtures: tuple[Mixture, ...]
    columns: tuple[np.ndarray, ...]
    units: Units
    covariance_type: CovarianceType

    def __post_init__(self) -> None:
        object.__setattr__(self, "mixtures", tuple(map(_read_only_mixture, self.mixtures)))
        object.__setattr__(self, "columns", tuple(map(read_only, self.columns)))

    @classmethod
    def of_engine(
        cls,
        mixtures: Sequence[Mixture],
        columns: Sequence[np.ndarray],
        units: Units,
        covariance_type: CovarianceType,
    ) -> Self:
        """Convert the mixtures of a fit, which are in the engine's units."""
        converted = (units.to_input(*pair, covariance_type) for pair in zip(mixtures, columns, strict=True))
        return cls(tuple(converted), tuple(columns), units, covariance_type)

    @classmethod
    def of_parameters(
        cls, mixture: Mixture, covariance_type: CovarianceType, standardize: bool | str
    ) -> Self:
        """A mixture without classes from given parameters in input units; the units follow from its moments."""
        m, P = mixture.means.shape[1], mixture.covariances
        with np.errstate(over="ignore", invalid="ignore"):
            shift = weighted_sum(mixture.weights[:, 0], mixture.means)
            units = Units(shift, np.ones(m), bool(standardize), 1.0)
            variances = cls((mixture,), (np.arange(m),), units, covariance_type).variances
        refuse_extreme(variances, lambda: (mixture.means.min(axis=0), mixture.means.max(axis=0)))
        spread = np.sqrt(variances)
        if covariance_type.name == "spherical":
            # Balls, or boxes of one shape if features were standardised.
            boxes = P.reshape(len(P), -1) / P[0]
            if not np.allclose(boxes, boxes[:, :1]) or (P.ndim > 1 and not standardize):
                raise ValueError("covariances must be balls, or with standardize=True boxes of one shape")
            spread = np.sqrt(np.broadcast_to(P[0], m))
        units = replace(units, scale=spread if standardize else common_scale(spread))
        model = cls((mixture,), (np.arange(m),), units, covariance_type)
        mean_variance = float(np.mean(model.variances / units.scale**2))
        return replace(model, units=replace(units, mean_variance=mean_variance))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "blocks"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def internal(self) -> list[Mixture]:
        return [
            self.units.to_engine(*pair, self.covariance_type)
            for pair in zip(self.mixtures, self.columns, strict=True)
        ]

    def enlarged(self, enlarge: Callable[..., Mixture], *arguments: Any) -> Self:
        """A model with more components per block, by a function such as `split_components`."""
        mixtures = [enlarge(mixture, self.covariance_type.name, *arguments) for mixture in self.internal()]
        return self.of_engine(mixtures, self.columns, self.units, self.covariance_type)

    @property
    def n_parameters(self) -> int:
        total = 0
        for mixture in self.mixtures:
            (K, m), L = mixture.means.shape, mixture.weights.shape[1]
            total += (K - 1) * L + K * m + self.covariance_type.n_parameters(K, m)
        return total

    # Densities

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks in the engine's units; the factors of their covariances are made once."""
        return [
            Block(columns, mixture, self.covariance_type)
            for columns, mixture in zip(self.columns, self.internal(), strict=True)
        ]

    def features(self, X: np.ndarray, keep: bool = False) -> Rows:
        """Samples (n, M) in the engine's units; ``keep`` if they are read many times."""
        return Rows(X, None, self.units.shift, self.units.scale, keep)

    def in_units(self, features: Any) -> Any:
        """Samples of a fit in other units, such as those of a later one, in the units of this one."""
        shift, scale = self.units.shift, self.units.scale
        same = features.shift is shift and features.scale is scale
        return features if same else replace(features, shift=shift, scale=scale, _blocks={})

    def winsorised(self, features: Any) -> Any:
        """The samples with their values between the limits of the units."""
        X = winsorised(features.X, self.units.limits)
        return features if X is features.X else replace(features, X=X, _blocks={})

    def class_log_density(self, features: Any, n_jobs: int | None) -> Any:
        """log p(x|c), summed over blocks, in nats per unit of volume in input units, (n, L); on a device if the samples are there."""
        if features.device is not None:
            volumes = [self.units.log_volume(columns) for columns in self.columns]
            return features.device.class_log_density(features, self.blocks, volumes)
        # One limit for all that follows: setting one takes an eighth of the time of a sample.
        with Workers(n_jobs) as workers, single_threaded():
            return class_log_density(features, self.blocks, workers)

    def component_log_density(self, features: Any, n_jobs: int | None) -> Any:
        """log N(x; mu_k, P_k) of the first block, in nats per unit of volume in input units, (n, K)."""
        block = self.blocks[0]
        if features.device is not None:
            volume = self.units.log_volume(block.columns)
            return features.device.component_log_density(features, block) - volume
        result = np.empty((len(features.X), len(self.mixtures[0].means)))
        self.fill(
            result, features, lambda density, chunk: (density - block.log_volume(features, chunk)).T, n_jobs
        )
        return result

    def responsibilities(
        self,
        features: Rows,
        weights: Callable[[slice], np.ndarray],
        n_jobs: int | None,
        *,
        block: int = 0,
    ) -> np.ndarray:
        """Pr(z = k | x) in a feature block, in proportion to weights times N(x; mu_k, P_k) (Pulford 2022, eq. 15).

        ``weights`` returns weights (K, n) or (K, 1) for a slice of the samples.
        """

        def of_chunk(log_density: np.ndarray, chunk: slice) -> np.ndarray:
            with np.errstate(divide="ignore"):
                joint = log_density.astype(np.float64) + np.log(weights(chunk))
            return softmax(possible(joint, axis=0), axis=0).T

        result = np.empty((len(features.X), len(self.mixtures[block].means)))
        self.fill(result, features, of_chunk, n_jobs, block)
        return result

    def fill(
        self,
        result: np.ndarray,
        features: Rows,
        function: Callable[[np.ndarray, slice], np.ndarray],
        n_jobs: int | None,
        block: int = 0,
    ) -> None:
        """Fill ``result`` (n, ...) with a function of log N(x; mu_k, P_k), (K, n) in the engine's units, chunk by chunk."""
        with single_threaded(), Workers(n_jobs) as workers:
            fill_log_density(result, function, features, self.blocks[block], workers)

    # Samples, marginals and conditionals

    def sample(self, components: np.ndarray, block: int, rng: np.random.RandomState) -> np.ndarray:
        """Draw a sample from each of these components of a block, (n, m) in input units."""
        columns, mixture = self.columns[block], self.blocks[block].mixture
        factors = self.covariance_type.factors(self._component_covariances(block))
        drawn = rng.standard_normal((len(components), len(columns)))
        if factors.ndim == 2:
            drawn *= factors.take(components, axis=0)
        else:
            borders = np.cumsum(np.bincount(components, minlength=len(factors)))
            members = np.split(sorting_order(components), borders[:-1])
            for factor, of_component in zip(factors, members, strict=True):
                drawn[of_component] = drawn.take(of_component, axis=0) @ factor.T
        drawn += mixture.means.take(components, axis=0)  # an index takes ten times as long
        drawn *= self.units.scale[columns]
        drawn += self.units.shift[columns]
        return drawn

    def _component_covariances(self, block: int) -> np.ndarray:
        """Covariances of all components in the engine's units, (K, m, m), or variances (K, m) of a diagonal type."""
        mixture = self.blocks[block].mixture
        return self.covariance_type.of_components(mixture.covariances, *mixture.means.shape)

    @property
    def component_covariances(self) -> np.ndarray:
        """Covariances of the first block in input units, (K, m, m), or variances (K, m) of a diagonal type."""
        return self.covariance_type.rescaled(self._component_covariances(0), self.units.scale)

    @property
    def variances(self) -> np.ndarray:
        """Variance of each feature under the mixture without classes, (m,)."""
        mixture, weights = self.blocks[0].mixture, self.mixtures[0].weights[:, 0]
        within = self.covariance_type.variances(mixture.covariances)
        between = mixture.means - weighted_sum(weights, mixture.means)
        return weighted_sum(weights, within + between**2) * self.units.scale**2

    def compressed(self, covariances: np.ndarray) -> np.ndarray:
        """Covariances of all components, as of `component_covariances`, in the form of ``covariances_`` for this type."""
        name = self.covariance_type.name
        if name == "tied":
            return covariances[0]
        return covariances[:, 0] if name == "spherical" and not self.units.standardized else covariances

    def conditional(self, known: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, means and covariances (or variances) of the other features given ``values`` of the features ``known``, both (n,)."""
        shift, mixture = self.units.shift, self.mixtures[0]
        x = np.full((1, len(shift)), np.nan)
        x[0, known] = values - shift[known]
        observed = ~np.isnan(x[0])
        regression = missing.regression(mixture.means - shift, self.component_covariances, observed)
        with np.errstate(over="ignore", divide="ignore"):
            log_density, offsets = regression(x)
            log_weights = np.log(mixture.weights[:, 0])
        if not np.isfinite(log_density).any():
            raise ValueError(
                f"condition: values={values.tolist()} are too far from the mixture: give values nearer to its means"
            )
        weights = softmax(log_weights + log_density[:, 0])
        return weights, (mixture.means + offsets[:, 0])[:, ~observed], regression.covariances

    def imputed(self, features: Rows, n_jobs: int | None) -> np.ndarray:
        """Samples with the mean of each missing value given the observed ones, (n, M) in input units."""
        with Workers(n_jobs) as workers, single_threaded():
            mean = missing.imputed(
                features, self.columns[0], self.blocks[0].mixture, self.covariance_type, workers
            )
        return np.where(np.isnan(features.X), mean * self.units.scale + self.units.shift, features.X)


def possible(log_joint: Any, axis: int) -> Any:
    """``log_joint`` itself, or ValueError for a sample with a density of zero under all classes or components on ``axis``."""
    xp = namespace_of(log_joint)
    if not bool(xp.all(xp.max(log_joint, axis=axis) > -xp.inf)):
        raise ValueError(
            "a sample has no probabilities: its density under every class or component is zero in float64. Leave out samples "
            "so far away, or use wider covariances."
        )
    return log_joint


def checked_replacement(fitted: FittedMixture, **changes: Any) -> FittedMixture:
    """A model with other mixtures or features of its blocks, or ValueError unless these could be an initialisation.

    Arrays of different shapes may still change one by one; see `Units.to_engine`.
    """
    changed = replace(fitted, **changes)
    for mixture in changed.mixtures:
        arrays = mixture.weights, mixture.means, mixture.covariances
        K, m = np.shape(mixture.means)
        if np.shape(mixture.covariances) in changed.covariance_type.shapes(K, m) and len(arrays[0]) == K:
            checked_mixture(arrays, (K, m, arrays[0].shape[1]), changed.covariance_type, "{}_")
    return changed


def require_fitted(model: Any, name: str) -> FittedMixture:
    """The fitted mixture of a model; NotFittedError names the attribute that was asked for."""
    if not hasattr(model, "_fitted"):
        raise NotFittedError(f"{type(model).__name__} is not fitted: {name} is known after fit")
    return model._fitted


def _read_only_mixture(mixture: Mixture) -> Mixture:
    arrays = mixture.weights, mixture.means, mixture.covariances
    new = tuple(map(read_only, arrays))
    return mixture if all(map(operator.is_, new, arrays)) else Mixture(*new)


def read_only(array: Any) -> np.ndarray:
    """An array that cannot be edited: itself, or a copy of one that can be."""
    array = np.asarray(array)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array
