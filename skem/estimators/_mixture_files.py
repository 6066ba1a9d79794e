"""Mixtures from given parameters, and from files."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

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
from skem.estimators._files import read_archive, write_archive
from skem.estimators._mixture_densities import MixtureDensities
from skem.estimators._units import check_units, common_scale, refuse_extreme

OF_A_FIT = ("log_likelihood_", "objective_", "lower_bound_", "n_iter_", "converged_", "dtype_used_")
"""What a fit leaves beside the parameters."""


class MixtureFiles(MixtureDensities):
    """A fitted mixture without rows."""

    if TYPE_CHECKING:
        n_components: int
        feature_names_in_: np.ndarray

        def __init__(self, *args: Any, **params: Any) -> None: ...
        def _validate_params(self) -> None: ...
        def get_params(self) -> dict[str, Any]: ...

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

    def _take_units(self, shift: np.ndarray, scale: np.ndarray) -> None:
        check_units(shift, scale, self._shift.shape)
        self._shift, self._scale = shift, scale
        self._mean_variance = float(np.mean(self._variances() / scale**2))

    @answers_in_namespace
    def save(self, path: str | PathLike) -> None:
        """Write the fitted mixture to a file, an npz archive in which nothing is pickled.

        Parameters that are arrays or random states are left out. A file of that name is replaced at once or not at all.
        """
        check_is_fitted(self)
        arrays = {"weights": self.weights_, "means": self.means_, "covariances": self.covariances_}
        arrays |= {"shift": self._shift, "scale": self._scale}
        arrays |= {name: getattr(self, name) for name in OF_A_FIT if hasattr(self, name)}
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names_in_"] = self.feature_names_in_.astype(str)
        simple = (str, int, float, bool, type(None))
        params = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params().items()
            if isinstance(value, (*simple, np.generic))
        }
        params["covariance_type"] = self._fitted_type
        write_archive(path, type(self).__name__, arrays, {"params": params})

    @classmethod
    def load(cls, path: str | PathLike) -> Self:
        """The mixture of a file that ``save`` wrote, to the bit, or of one that Armadillo saved as binary.

        Raises
        ------
        ValueError
            A file that is neither, that is cut off, of a later version, or whose parameters make no mixture.
        """
        arrays, settings = read_armadillo(path) or read_archive(path, cls.__name__, ", nor one by Armadillo")
        try:
            model = cls(**settings["params"])
            model._validate_params()
            model._take(arrays["weights"], arrays["means"], arrays["covariances"])
            if "scale" in arrays:
                model._take_units(arrays["shift"], arrays["scale"])
                # They may sum to one but for rounding, and so stay as they were.
                model.weights_ = arrays["weights"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: no mixture: {error}") from error
        for name in OF_A_FIT:
            if name in arrays:
                value = arrays[name]
                setattr(model, name, value if value.ndim else value.item())
        if "feature_names_in_" in arrays:
            model.feature_names_in_ = arrays["feature_names_in_"].astype(object)
        return model
