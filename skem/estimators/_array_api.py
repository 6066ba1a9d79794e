"""Arrays of other libraries than NumPy, as scikit-learn takes them under ``array_api_dispatch``.

A fit is that of a twin of the estimator whose arrays are NumPy's; its E-step runs where ``X`` is, and what it has fitted then
becomes that of the estimator, in the namespace and on the device of ``X``. Methods of a fitted estimator ask such a twin too.
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
from skem.engine.device_em import EStep
from skem.engine.parameters import Mixture
from skem.engine.rows import Features

Method = TypeVar("Method", bound=Callable[..., Any])


def device_of(X: object) -> Device | None:
    """Where ``X`` is, if it is no array of NumPy's and scikit-learn is to know of others."""
    if isinstance(X, Features):
        return None
    xp, of_array_api, device = get_namespace_and_device(X)
    if not of_array_api or _is_numpy_namespace(xp):
        return None
    has_float64 = _max_precision_float_dtype(xp, device) == xp.float64
    return Device(xp, device, _place(xp, device), has_float64, to_numpy)


def _place(xp: Any, device: Any) -> str:
    """A namespace and a device in words."""
    # The name of the namespace of a compatibility layer has that of the library last.
    return f"{xp.__name__.rsplit('.', 1)[-1]} on {device}"


def to_numpy(value: Any) -> Any:
    """Arrays of any namespace, in lists, tuples and mixtures too, as NumPy's; what else there is as it is."""
    return _moved(value, _array_to_numpy)


def _array_to_numpy(array: Any) -> Any:
    if isinstance(array, np.ndarray):  # the context is refused where SciPy was not told of other arrays
        return array
    with config_context(array_api_dispatch=True):
        return move_to(array, xp=np, device="cpu")


def namespace_of(array: Any) -> Any:
    """The array namespace of an array."""
    return get_namespace(array)[0]


def labels_of(classes: np.ndarray, codes: Any) -> Any:
    """The classes, which are NumPy's, of codes in any namespace: there if they are numbers, else NumPy's too."""
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
    """What an estimator has fitted, arrays moved; classes stay NumPy's, since they may be words."""
    parameters = estimator.get_params(deep=False)
    return {
        name: value if name == "classes_" else _moved(value, move)
        for name, value in vars(estimator).items()
        if name not in parameters
    }


def on_host(estimator: Any) -> Any:
    """The estimator, or a twin of it whose fitted arrays are NumPy's."""
    if isinstance(getattr(estimator, estimator._in_namespace_of_X, np.empty(0)), np.ndarray):
        return estimator
    twin = copy.copy(estimator)
    twin.__dict__.update(_with_arrays(estimator, to_numpy))
    return twin


def _refuse_foreign(init: Any, X: Any) -> None:
    """Raise ValueError where the arrays of ``init`` are not where ``X`` is."""
    if isinstance(init, (list, tuple, dict)):
        for element in init.values() if isinstance(init, dict) else init:
            _refuse_foreign(element, X)
    elif hasattr(init, "__dlpack__"):
        where = [get_namespace_and_device(array)[::2] for array in (X, init)]
        if where[0] != where[1] and not all(_is_numpy_namespace(xp) for xp, _ in where):
            of_X, of_init = (_place(*place) for place in where)
            raise ValueError(f"init: its arrays must be where X is, but X is of {of_X} and init of {of_init}")


def fits_in_namespace(fit: Method) -> Method:
    """For ``fit``: rows of any namespace. As in scikit-learn everything follows ``X``."""

    @wraps(fit)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        device = device_of(X)
        _refuse_foreign(getattr(self, "init", None), X)
        if device is None and on_host(self) is self:
            return fit(self, X, *args, **kwargs)
        twin = copy.copy(on_host(self))
        twin.init, twin._device = to_numpy(self.init), device
        fit(twin, to_numpy(X), *to_numpy(args), **{name: to_numpy(value) for name, value in kwargs.items()})
        del twin._device
        move = (
            (lambda array: array) if device is None else partial(move_to, xp=device.xp, device=device.device)
        )
        fitted = _with_arrays(twin, move)
        parameters = {
            name: value for name, value in vars(self).items() if name in self.get_params(deep=False)
        }
        self.__dict__.clear()
        self.__dict__.update(parameters | fitted)
        return self

    return wrapper  # type: ignore[return-value]


def e_step_of(estimator: Any) -> EStep | None:
    """What does the E-step of a fit to rows that are on a device."""
    device = vars(estimator).get("_device")
    return None if device is None else EStep(device)


def computes_in_namespace(method: Method) -> Method:
    """For methods of the rows ``X``: computed, and answered, where ``X`` is, which has to be where the fit was."""

    @wraps(method)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(X, Features):
            return method(self, X, *args, **kwargs)
        check_is_fitted(self)
        check_same_namespace(X, self, attribute=self._in_namespace_of_X, method=method.__name__)
        device, twin = device_of(X), on_host(self)
        if device is None:
            return method(twin, X, *args, **kwargs)
        features = twin._features(to_numpy(X))
        return method(twin, _on_device(features, device), *args, **kwargs)

    return wrapper  # type: ignore[return-value]


def _on_device(features: Features, device: Device) -> DeviceFeatures:
    if np.isnan(features.X.min()):
        raise ValueError("X has missing values (NaN), which are taken in NumPy arrays only")
    return DeviceFeatures(features.X, None, features.shift, features.scale, device=device)


def answers_in_namespace(method: Method) -> Method:
    """For methods that compute in NumPy whatever they are given: answered where the fit was."""

    @wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        twin = on_host(self)
        if twin is self:
            return method(self, *args, **kwargs)
        keywords = {name: to_numpy(value) for name, value in kwargs.items()}
        result = method(twin, *to_numpy(args), **keywords)
        with config_context(array_api_dispatch=True):
            xp, _, device = get_namespace_and_device(getattr(self, self._in_namespace_of_X))
            return _moved(result, partial(move_to, xp=xp, device=device))

    return wrapper  # type: ignore[return-value]
