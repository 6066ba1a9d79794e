"""Decorators of the methods of fitted estimators, for samples that are not NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skem.engine.rows import Rows
from skem.estimators._array_api import (
    device_of,
    on_device_of_fit,
    raise_missing_on,
    to_numpy,
)
from skem.estimators._checking import is_dask
from skem.estimators._sklearn import check_same_namespace

Method = TypeVar("Method", bound=Callable[..., Any])


def per_sample(method: Method) -> Method:
    """Decorator of a method with a result per sample, which receives checked `Rows`.

    It is lazy for a Dask collection, and runs on the device of ``X``, which has to be the device of the fit.
    """

    @wraps(method)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(X, Rows):
            return method(self, X, *args, **kwargs)
        if is_dask(X):
            from skem.estimators._dask import map_blocks

            return map_blocks(self, method.__name__, X, args, kwargs)
        check_is_fitted(self)
        check_same_namespace(X, self, attribute=self._device_attribute, method=method.__name__)
        device = device_of(X)
        features = self._features(to_numpy(X))
        if device is not None:
            if np.isnan(features.X.min()):
                raise_missing_on(device)
            features = replace(features, device=device)
        return method(self, features, *args, **kwargs)

    return wrapper  # type: ignore[return-value]


def computed_on_host(method: Method) -> Method:
    """Decorator of a method that computes in NumPy; its results move to the namespace and device of the fit."""

    @wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_is_fitted(self)
        keywords = {name: to_numpy(value) for name, value in kwargs.items()}
        return on_device_of_fit(self, method(self, *to_numpy(args), **keywords))

    return wrapper  # type: ignore[return-value]
