"""Decorators of the methods of fitted estimators, for samples that are not NumPy arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skem.engine.device import DeviceFeatures
from skem.engine.rows import Features
from skem.estimators._array_api import (
    device_of,
    on_device_of_fit,
    raise_missing_on,
    refuse_other_device,
    to_numpy,
)
from skem.estimators._checking import is_dask

if TYPE_CHECKING:
    import dask.array as da

Method = TypeVar("Method", bound=Callable[..., Any])


def per_sample(method: Method) -> Method:
    """Decorator of a method with a result per sample, which receives checked `Features`.

    It is lazy for a Dask collection, and runs on the device of ``X``, which has to be the device of the fit.
    """

    @wraps(method)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(X, Features):
            return method(self, X, *args, **kwargs)
        if is_dask(X):
            return _map_blocks(self, method.__name__, X, args, kwargs)
        check_is_fitted(self)
        refuse_other_device(self, X, method.__name__)
        device = device_of(X)
        features = self._features(to_numpy(X))
        if device is not None:
            if np.isnan(features.X.min()):
                raise_missing_on(device)
            features = DeviceFeatures(features.X, None, features.shift, features.scale, device=device)
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


def _map_blocks(
    estimator: Any, method: str, X: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> da.Array:
    """Apply a method of an estimator, in its present state, to each block of a Dask collection, lazily."""
    import dask.array as da
    from dask import delayed

    model = copy.copy(estimator)
    few = X._meta_nonempty if hasattr(X, "_meta_nonempty") else np.zeros((1, X.shape[1]), X.dtype)
    example = _call_method(few, model, method, args, options)
    call = {"model": delayed(model, traverse=False), "method": method, "args": args, "options": options}
    like: dict[str, Any] = {"dtype": example.dtype, "meta": example[:0]}
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        shape = {"chunks": (X.chunks[0], example.shape[1:])} if example.ndim > 1 else {"drop_axis": 1}
        return X.map_blocks(_call_method, **call, **shape, **like)
    blocks = [delayed(_call_method)(block, **call) for block in X.to_delayed()]
    arrays = [da.from_delayed(block, (np.nan, *example.shape[1:]), **like) for block in blocks]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _call_method(
    X: Any, model: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]
) -> np.ndarray:
    return np.asarray(getattr(model, method)(X, *args, **options))
