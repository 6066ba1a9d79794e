"""Densities and predictions of a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, logsumexp
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skem.engine import device, missing
from skem.engine.density import class_log_density, fill_log_density
from skem.engine.parameters import Mixture
from skem.engine.threads import Workers, single_threaded
from skem.estimators._array_api import (
    answers_in_namespace,
    computes_in_namespace,
    labels_of,
    like,
    namespace_of,
)
from skem.estimators._checking import check_n_samples, has_missing, refuse_missing_labels
from skem.estimators._log_odds import LogOdds
from skem.estimators._out_of_core import by_blocks
from skem.estimators._units import Units


class Posteriors(LogOdds):
    """From class densities to posterior probabilities and decisions."""

    if TYPE_CHECKING:
        classes_: np.ndarray
        class_prior_: np.ndarray

        def class_log_density(self, X: ArrayLike) -> np.ndarray: ...

    _in_namespace_of_X = "class_prior_"

    decision_function = by_blocks(computes_in_namespace(LogOdds.decision_function))

    def _know_what(self, fitted: Posteriors) -> None:
        """Take over what another model knows of the training data."""
        for name in ("classes_", "class_prior_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    @by_blocks
    @computes_in_namespace
    def predict_joint_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(x, c) = log p(x|c) + log of the class prior, shape (n_samples, n_classes)."""
        log_density = self.class_log_density(X)
        with np.errstate(divide="ignore"):
            return log_density + like(np.log(self.class_prior_), log_density)

    @by_blocks
    @computes_in_namespace
    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x), shape (n_samples,)."""
        return logsumexp(self.predict_joint_log_proba(X), axis=1)

    @by_blocks
    @computes_in_namespace
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x), shape (n_samples, n_classes)."""
        return log_softmax(self.predict_joint_log_proba(X), axis=1)

    @by_blocks
    @computes_in_namespace
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """p(c|x), shape (n_samples, n_classes). A product over dependent blocks is overconfident."""
        log_proba = self.predict_log_proba(X)
        return namespace_of(log_proba).exp(log_proba)

    @by_blocks
    @computes_in_namespace
    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of largest posterior (Pulford 2022, eqs. 33 and 34), shape (n_samples,)."""
        joint = self.predict_joint_log_proba(X)
        return labels_of(self.classes_, namespace_of(joint).argmax(joint, axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags


class Densities(Posteriors, Units):
    """What can be asked of a fitted shared-kernel model; everything public is in input units."""

    # What the fit leaves.
    if TYPE_CHECKING:
        blocks_: list[Mixture]
        block_indices_: list[np.ndarray]
        n_features_in_: int
        n_jobs: int | None
        random_state: int | np.random.RandomState | None

    _takes_missing = _takes_empty_rows = True

    # Whether what there is one of per block comes as a list even from a model with one block.
    _always_lists = False

    # Fitted parameters of a model with one block

    def _only_block(self, name: str) -> Mixture:
        if "blocks_" not in vars(self):
            raise NotFittedError(f"{type(self).__name__} is not fitted: {name} is known after fit")
        if len(self.blocks_) != 1:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}: see blocks_")
        return self.blocks_[0]

    @property
    def weights_(self) -> np.ndarray:
        """pi_kc, shape (n_components, n_classes); for a model with one block."""
        return self._only_block("weights_").weights

    @property
    def means_(self) -> np.ndarray:
        """mu_k, shape (n_components, n_features), in input units; for a model with one block."""
        return self._only_block("means_").means

    @property
    def covariances_(self) -> np.ndarray:
        """P_k in input units, shaped by the covariance type; for a model with one block."""
        return self._only_block("covariances_").covariances

    @by_blocks
    @computes_in_namespace
    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """log p(x|c), summed over blocks (Pulford 2022, eqs. 1 and 36).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is a missing value: the density is then that of the others, by the marginals of each block. A row without
            any value has zeros.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In nats, per unit of volume in input units.
        """
        features = self._features(X)
        blocks = self._blocks_of(self.blocks_, self.block_indices_)
        log_volumes = [float(np.log(self._scale[columns]).sum()) for columns in self.block_indices_]
        with Workers(self.n_jobs) as workers:
            if isinstance(features, device.DeviceFeatures):
                return device.class_log_density(features, blocks, log_volumes)
            if has_missing(features.X):
                return missing.class_log_density(features, blocks, workers)
            return class_log_density(features, blocks, workers, log_volumes)

    @answers_in_namespace
    def responsibilities(self, X: ArrayLike, y: ArrayLike | None = None) -> np.ndarray | list[np.ndarray]:
        """Which component a row came from, Pr(z = k | x, c) (Pulford 2022, eq. 15).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,), optional
            Classes of the rows; without them Pr(z = k | x), with the class prior in place of the class.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to one. From PSKEMClassifier, and from MDAClassifier with several blocks, a list of
            such arrays, one per block.
        """
        per_block = self._block_responsibilities(X, y)
        return per_block if self._always_lists or len(per_block) > 1 else per_block[0]

    def _block_responsibilities(self, X: ArrayLike, y: ArrayLike | None) -> list[np.ndarray]:
        features = self._features(X)
        codes = None if y is None else self._encode(y, len(features.X))
        result = []
        with single_threaded(), Workers(self.n_jobs) as workers:
            for block, mixture in zip(
                self._blocks_of(self.blocks_, self.block_indices_), self.blocks_, strict=True
            ):
                if has_missing(features.X):
                    log_density = missing.log_densities(features, block, workers).T
                else:
                    log_density = np.empty((len(mixture.means), len(features.X)))
                    fill_log_density(log_density.T, np.transpose, features, block, workers)
                weights = (
                    mixture.weights @ self.class_prior_[:, None]
                    if codes is None
                    else mixture.weights[:, codes]
                )
                with np.errstate(divide="ignore"):
                    log_density += np.log(weights)
                result.append(np.exp(log_density - logsumexp(log_density, axis=0)).T)
        return result

    def _encode(self, y: ArrayLike, n: int) -> np.ndarray:
        refuse_missing_labels(y)
        y = np.asarray(y)
        if y.shape != (n,):
            raise ValueError(f"y must have shape ({n},), got {y.shape}")
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y contains classes that were not in the training data: {unknown.tolist()}")
        return np.searchsorted(self.classes_, y)

    @answers_in_namespace
    def sample(
        self,
        n_samples: int = 1,
        y: ArrayLike | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the model; blocks are independent given the class (Pulford 2022, eq. 35).

        Parameters
        ----------
        n_samples : int
        y : array-like of shape (n_samples,) or one label, optional
            The classes to draw from; without them they are drawn from the class prior. With several
            labels ``n_samples`` is not used.
        random_state : int, RandomState instance or None, default=None
            None is the estimator's own. Two calls with the same number draw the same rows, whichever of the two it is.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)

        Raises
        ------
        TypeError, ValueError
            A number of rows that is not whole, or less than one; blocks that overlap or leave features out: such a model does not
            say how to draw a row.
        """
        check_is_fitted(self)
        features = np.concatenate(self.block_indices_)
        if len(features) != self.n_features_in_ or len(np.unique(features)) != self.n_features_in_:
            raise ValueError("sample: the blocks must hold every feature exactly once")
        rng = check_random_state(self.random_state if random_state is None else random_state)
        if y is None or np.ndim(y) == 0:
            check_n_samples(n_samples)
        if y is None:
            codes = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_)
        else:
            labels: Any = np.full(n_samples, y) if np.ndim(y) == 0 else y
            codes = self._encode(labels, len(labels))
        X = np.empty((len(codes), self.n_features_in_))
        for columns, mixture in zip(self.block_indices_, self.blocks_, strict=True):
            edges = np.cumsum(mixture.weights, axis=0)
            edges /= edges[-1]
            components = (rng.uniform(size=len(codes)) >= edges[:, codes]).sum(axis=0)
            X[:, columns] = self._rows_of(components, mixture, columns, rng)
        return X, self.classes_[codes]
