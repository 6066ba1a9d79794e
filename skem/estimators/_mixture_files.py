"""Mixtures from given parameters, and from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.given_start import checked_mixture
from skem.engine.masked import with_nan
from skem.engine.missing import Regression
from skem.estimators._armadillo import read_armadillo
from skem.estimators._array_api import answers_in_namespace
from skem.estimators._declarations import Array, count, curve, flag, word
from skem.estimators._files import File
from skem.estimators._mixture_densities import MixtureDensities
from skem.estimators._saving import Saving
from skem.estimators._units import UNITS, common_scale, refuse_extreme


class MixtureFiles(Saving, MixtureDensities):
    """A fitted mixture without rows."""

    _saved: ClassVar[Mapping[str, Any]] = {
        **Saving._saved,
        "weights_": Array("n_components", least=0),
        "means_": Array("n_components, n_features"),
        "covariances_": Array("..."),
        **UNITS,
        "_mean_variance": Array(least=0, optional=True),
        "n_iter_": count("n_iter", optional=True),
        "log_likelihood_": curve("n_iter", optional=True),
        "objective_": curve("n_iter", optional=True),
        "lower_bound_": Array(least=-np.inf, most=np.inf, optional=True),
        "converged_": flag(optional=True),
        "dtype_used_": word("float32", "float64", optional=True),
        "n_samples_seen_": count(optional=True),
        "_in_batches": flag(optional=True),
    }

    if TYPE_CHECKING:
        n_components: int

    @classmethod
    def from_parameters(
        cls,
        weights: ArrayLike,
        means: ArrayLike,
        covariances: ArrayLike,
        *,
        covariance_type: str = "full",
        **params: Any,
    ) -> Self:
        """A mixture with given parameters, ready to score, predict and sample; no rows are needed.

        Parameters
        ----------
        weights : array-like of shape (n_components,)
        means : array-like of shape (n_components, n_features)
        covariances : array-like
            (K, m, m) full, (m, m) tied, (K, m) diag or (K,) spherical.
        covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        **params
            Other parameters of the class.

        Returns
        -------
        GaussianMixture
            Without what only a fit leaves, as ``objective_``.

        Raises
        ------
        ValueError
            Arrays of the wrong shape, NaN, weights that do not sum to one, a covariance that is not positive definite, or a
            feature that spreads too far or too little for its square.
        """
        model = cls(np.size(weights), covariance_type=covariance_type, **params)
        model._validate_params()
        model._take(weights, means, covariances)
        return model

    def _take(self, weights: ArrayLike, means: ArrayLike, covariances: ArrayLike) -> None:
        """Become the mixture with these parameters."""
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != np.shape(means)[:1]:
            raise ValueError(
                f"weights must have shape {np.shape(means)[:1]}, one per mean, got {weights.shape}"
            )
        covariance_type = COVARIANCE_TYPES[self.covariance_type]
        mixture = checked_mixture((weights[:, None], means, covariances), (None, None, 1), covariance_type)
        self._fitted_type, (K, m) = self.covariance_type, mixture.means.shape
        self.n_components, self.n_features_in_ = K, m
        self.weights_, self.means_ = mixture.weights[:, 0], mixture.means
        self.covariances_ = mixture.covariances
        with np.errstate(over="ignore", invalid="ignore"):
            self._shift, self._scale = self.weights_ @ self.means_, np.ones(m)
            variances = self._variances()
        refuse_extreme(variances, lambda: (self.means_.min(axis=0), self.means_.max(axis=0)))
        spread = np.sqrt(variances)
        if self.covariance_type == "spherical":
            # Balls, or where features were standardised boxes, all of the same shape.
            boxes = mixture.covariances.reshape(K, -1) / mixture.covariances[0]
            if not np.allclose(boxes, boxes[:, :1]) or (
                np.ndim(self.covariances_) > 1 and not self.standardize
            ):
                raise ValueError("covariances must be balls, or with standardize=True boxes of one shape")
            spread = np.sqrt(np.broadcast_to(mixture.covariances[0], m))
        self._scale = spread if self.standardize else common_scale(spread)
        self._mean_variance = float(np.mean(self._variances() / self._scale**2))

    @answers_in_namespace
    def marginal(self, features: ArrayLike) -> Self:
        """The mixture of some of the features alone: p(x_i) for indices i of shape (n,), in their order.

        Returns
        -------
        GaussianMixture
            As from ``from_parameters``, with the same parameters as this one.

        Raises
        ------
        ValueError
            Indices that are no features, or that come twice.
        """
        kept = self._indices(features)
        _, means, covariances = self._dense()
        return self._like(self.weights_, means[:, kept], covariances[:, kept][:, :, kept])

    @answers_in_namespace
    def condition(self, features: ArrayLike, values: ArrayLike) -> Self:
        """The mixture of the other features given values of some: p(x_h | x_o = values).

        Parameters
        ----------
        features : array-like of int, shape (n,)
            o, the features that are known; the others keep their order.
        values : array-like of shape (n,)

        Returns
        -------
        GaussianMixture
            As from ``from_parameters``, with the same parameters as this one.

        Raises
        ------
        ValueError
            Indices that are no features, that come twice or that leave none, or values that are not finite, not as many, or so far
            out that every component's density is zero.
        """
        known = self._indices(features)
        given = np.asarray(with_nan(values), dtype=np.float64)
        if given.shape != known.shape or not np.isfinite(given).all():
            raise ValueError(
                f"condition: values must be {len(known)} finite numbers, one per feature, got {values!r}"
            )
        if len(known) == self.n_features_in_:
            raise ValueError("condition: no feature is left")
        shift, means, covariances = self._dense()
        row = np.full((1, self.n_features_in_), np.nan)
        row[0, known] = given - shift[known]
        observed = ~np.isnan(row[0])
        regression = Regression(means - shift, covariances, observed)
        with np.errstate(over="ignore"):
            log_density, deviations = regression(row)
        if not np.isfinite(log_density).any():
            raise ValueError(f"condition: values are too far from the mixture, got {values!r}")
        with np.errstate(divide="ignore"):
            weights = softmax(np.log(self.weights_) + log_density[:, 0])
        return self._like(weights, (means + deviations[:, 0])[:, ~observed], regression.covariances)

    def _indices(self, features: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        indices = np.asarray(features)
        m = self.n_features_in_
        if indices.ndim != 1 or not len(indices) or indices.dtype.kind not in "iu":
            raise ValueError(f"features must be a list of indices from 0 to {m - 1}, got {features!r}")
        if not ((indices >= 0) & (indices < m)).all() or len(np.unique(indices)) < len(indices):
            raise ValueError(f"features must be distinct indices from 0 to {m - 1}, got {indices.tolist()}")
        return indices

    def _dense(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean of the mixture, and means and covariance matrices of components, in input units."""
        internal = self._block().mixture
        matrices = self._covariance_type.dense(internal.covariances, *internal.means.shape)
        return self._shift, self.means_, matrices * np.outer(self._scale, self._scale)

    def _like(self, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> Self:
        """A mixture of this type, from covariance matrices."""
        params = {
            name: value for name, value in self.get_params().items() if name not in ("n_components", "init")
        }
        params["covariance_type"] = self._fitted_type
        if self._fitted_type == "tied":
            covariances = covariances[0]
        elif self._fitted_type != "full":
            covariances = np.diagonal(covariances, axis1=1, axis2=2)
            if self._fitted_type == "spherical" and not self.standardize:
                covariances = covariances[:, 0]
        return self.from_parameters(weights, means, covariances, **params)

    @classmethod
    def load(cls, file: File) -> Self:
        """Read the mixture of a file that ``save`` wrote, to the bit, or of one that Armadillo saved as binary.

        Parameters
        ----------
        file : str, path-like or binary file object
            A file object is read from its position to its end.

        Raises
        ------
        OSError
            A file that cannot be opened.
        ValueError
            Any other fault: content that is neither, that is cut off or damaged, of a later version, or arrays that make no
            mixture. Each array is checked for its type, its shape against the others, and its range.
        """
        return super().load(file)

    @classmethod
    def _content(cls, stream: BinaryIO) -> tuple[dict[str, Any], dict[str, Any]]:
        armadillo = read_armadillo(stream)
        if armadillo is not None:
            model = cls.from_parameters(**armadillo)
            return model.get_params(), model._state()
        return super()._content(stream)

    @classmethod
    def _unpacked(
        cls, arrays: dict[str, np.ndarray], settings: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if "attributes" in settings:
            return super()._unpacked(arrays, settings)
        # Older files name some attributes differently, and lack others.
        params: dict[str, Any] = settings["params"]
        names = {name.strip("_"): name for name in ("weights_", "means_", "covariances_", "_shift", "_scale")}
        attributes = {
            names.get(name, name): array if array.ndim else array.item() for name, array in arrays.items()
        }
        attributes |= {
            "n_features_in_": attributes["means_"].shape[1],
            "_fitted_type": params.get("covariance_type", "full"),
        }
        if "feature_names_in_" in attributes:
            attributes["feature_names_in_"] = attributes["feature_names_in_"].astype(object)
        return params, attributes

    def _refuse_impossible(self) -> None:
        self._refuse_mixture(self._mixture(), np.arange(self.n_features_in_), "{}_")
        if not hasattr(self, "_mean_variance"):
            self._mean_variance = float(np.mean(self._variances() / self._scale**2))
