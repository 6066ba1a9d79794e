"""Arrays of other libraries than NumPy, as scikit-learn takes them under ``array_api_dispatch``.

A copy of the estimator with NumPy arrays is fitted; its E-step runs on the device of ``X``. The fitted arrays then move to the
namespace and the device of ``X``. Methods of a fitted estimator compute with such a copy, too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from sklearn import config_context
from sklearn.utils._array_api import (
    _is_numpy_namespace,
    _max_precision_float_dtype,
    check_same_namespace,
    get_namespace,
    get_namespace_and_device,
    move_to,
)
from sklearn.utils.validation import check_is_fitted

from skem.engine.device import Device, DeviceFeatures
from skem.engine.parameters import Mixture
from skem.engine.rows import Features

Method = TypeVar("Method", bound=Callable[..., Any])


def device_of(X: object) -> Device | None:
    """The device of ``X``, if it is an array of another library than NumPy under ``array_api_dispatch``."""
    if isinstance(X, Features):
        return None
    xp, of_array_api, device = get_namespace_and_device(X)
    if not of_array_api or _is_numpy_namespace(xp):
        return None
    has_float64 = _max_precision_float_dtype(xp, device) == xp.float64
    return Device(xp, device, _place(xp, device), has_float64, to_numpy)


def _place(xp: Any, device: Any) -> str:
    """A namespace and a device in words."""
    # The namespace of a compatibility layer ends with the name of its library.
    return f"{xp.__name__.rsplit('.', 1)[-1]} on {device}"


def to_numpy(value: Any) -> Any:
    """Convert arrays to NumPy's, also within lists, tuples, dictionaries and mixtures; return other values unchanged."""
    return _moved(value, _array_to_numpy)


def _array_to_numpy(array: Any) -> Any:
    if isinstance(array, np.ndarray):  # Without SCIPY_ARRAY_API scikit-learn refuses the context.
        return array
    with config_context(array_api_dispatch=True):
        return move_to(array, xp=np, device="cpu")


def to_host(X: Any, *others: Any) -> tuple[tuple[Any, ...], Device | None]:
    """Training data as NumPy arrays, if ``X`` is on a device; and that device."""
    device = device_of(X)
    return ((X, *others) if device is None else to_numpy((X, *others))), device


def refuse_missing_on(device: Device | None) -> None:
    """Raise ValueError for missing values on a device."""
    if device is not None:
        raise ValueError("X has missing values (NaN), which are taken in NumPy arrays only")


def namespace_of(array: Any) -> Any:
    """The array namespace of an array."""
    return get_namespace(array)[0]


def labels_of(classes: np.ndarray, codes: Any) -> Any:
    """The classes of codes, in the namespace of the codes if classes are numbers, else in NumPy's."""
    if isinstance(codes, np.ndarray) or classes.dtype.kind not in "fiub":
        return classes[to_numpy(codes)]
    return namespace_of(codes).take(like(classes, codes), codes)


def like(array: np.ndarray, other: Any) -> Any:
    """A NumPy array in the namespace and on the device of another array."""
    if isinstance(other, np.ndarray):
        return array
    xp, _, device = get_namespace_and_device(other)
    return move_to(array, xp=xp, device=device)


def _moved(value: Any, move: Callable[[Any], Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_moved(element, move) for element in value)
    if type(value) is dict:
        return {key: _moved(element, move) for key, element in value.items()}
    if isinstance(value, Mixture):
        return Mixture(*(move(getattr(value, field.name)) for field in fields(value)))
    numbers = not isinstance(value, np.ndarray) or value.dtype.kind in "fiub"
    return move(value) if hasattr(value, "__dlpack__") and numbers else value


def _with_arrays(estimator: Any, move: Callable[[Any], Any]) -> dict[str, Any]:
    """Fitted attributes, with arrays moved; classes stay in NumPy, since they may be words."""
    parameters = estimator.get_params(deep=False)
    return {
        name: value if name == "classes_" else _moved(value, move)
        for name, value in vars(estimator).items()
        if name not in parameters
    }


def on_host(estimator: Any) -> Any:
    """The estimator, or a copy with NumPy arrays if its fitted arrays are of another library."""
    if isinstance(getattr(estimator, estimator._in_namespace_of_X, np.empty(0)), np.ndarray):
        return estimator
    model = copy.copy(estimator)
    model.__dict__.update(_with_arrays(estimator, to_numpy))
    return model


def _refuse_foreign(init: Any, X: Any) -> None:
    """Raise ValueError if arrays of ``init`` have another namespace or device than ``X``."""
    if isinstance(init, (list, tuple, dict)):
        for element in init.values() if isinstance(init, dict) else init:
            _refuse_foreign(element, X)
    elif hasattr(init, "__dlpack__"):
        where = [get_namespace_and_device(array)[::2] for array in (X, init)]
        if where[0] != where[1] and not all(_is_numpy_namespace(xp) for xp, _ in where):
            of_X, of_init = (_place(*place) for place in where)
            raise ValueError(f"init: its arrays must be where X is, but X is of {of_X} and init of {of_init}")


def fits_in_namespace(fit: Method) -> Method:
    """Decorator of ``fit`` for samples of any namespace. As in scikit-learn everything follows ``X``."""

    @wraps(fit)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        device = device_of(X)
        _refuse_foreign(getattr(self, "init", None), X)
        if device is None and on_host(self) is self:
            return fit(self, X, *args, **kwargs)
        model = copy.copy(on_host(self))
        model.init = to_numpy(self.init)
        fit(model, X, *args, **kwargs)
        move = (
            (lambda array: array) if device is None else partial(move_to, xp=device.xp, device=device.device)
        )
        fitted = _with_arrays(model, move)
        parameters = {
            name: value for name, value in vars(self).items() if name in self.get_params(deep=False)
        }
        self.__dict__.clear()
        self.__dict__.update(parameters | fitted)
        return self

    return wrapper  # type: ignore[return-value]


def computes_in_namespace(method: Method) -> Method:
    """Decorator of methods of samples ``X``, which run on its device and require the namespace and device of the fit."""

    @wraps(method)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(X, Features):
            return method(self, X, *args, **kwargs)
        check_is_fitted(self)
        check_same_namespace(X, self, attribute=self._in_namespace_of_X, method=method.__name__)
        device, model = device_of(X), on_host(self)
        if device is None:
            return method(model, X, *args, **kwargs)
        features = model._features(to_numpy(X))
        return method(model, _on_device(features, device), *args, **kwargs)

    return wrapper  # type: ignore[return-value]


def _on_device(features: Features, device: Device) -> DeviceFeatures:
    if np.isnan(features.X.min()):
        refuse_missing_on(device)
    return DeviceFeatures(features.X, None, features.shift, features.scale, device=device)


def answers_in_namespace(method: Method) -> Method:
    """Decorator of methods that compute in NumPy; their results have the namespace and device of the fit."""

    @wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        model = on_host(self)
        if model is self:
            return method(self, *args, **kwargs)
        keywords = {name: to_numpy(value) for name, value in kwargs.items()}
        result = method(model, *to_numpy(args), **keywords)
        with config_context(array_api_dispatch=True):
            xp, _, device = get_namespace_and_device(getattr(self, self._in_namespace_of_X))
            return _moved(result, partial(move_to, xp=xp, device=device))

    return wrapper  # type: ignore[return-value]
