"""Arrays of other libraries than NumPy, as scikit-learn takes them under ``array_api_dispatch``.

A fitted model keeps its parameters in NumPy. Its E-step and densities run on the device of ``X``; public arrays and results are
in the namespace and on the device of the ``X`` of ``fit``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from sklearn import config_context, get_config

from skem.engine.parameters import Mixture
from skem.engine.rows import Rows
from skem.estimators._sklearn import get_namespace_and_device, move_to

if TYPE_CHECKING:
    from skem.engine.device import Device


def device_of(X: object) -> Device | None:
    """The device of ``X``, if it is an array of another library than NumPy under ``array_api_dispatch``."""
    if isinstance(X, (Rows, np.ndarray)) or not get_config()["array_api_dispatch"]:
        return None
    xp, _, device = get_namespace_and_device(X)
    if getattr(xp, "ndarray", None) is np.ndarray:  # NumPy, or a layer around it
        return None
    from skem.engine.device import Device

    has_float64 = "float64" in xp.__array_namespace_info__().dtypes(device=device, kind="real floating")
    # The namespace of a compatibility layer ends with the name of its library.
    name = f"{xp.__name__.rsplit('.', 1)[-1]} on {device}"
    return Device(xp, device, name, has_float64, to_numpy)


def to_numpy(value: Any) -> Any:
    """Convert arrays to NumPy's, also within lists, tuples, dictionaries and mixtures; return other values unchanged."""
    return _moved(value, _array_to_numpy)


def _array_to_numpy(array: Any) -> Any:
    # Without SCIPY_ARRAY_API scikit-learn refuses the context. Arrow's arrays have DLPack, but no array API.
    if isinstance(array, np.ndarray) or hasattr(array, "__arrow_c_array__"):
        return array
    with config_context(array_api_dispatch=True):
        return move_to(array, xp=np, device="cpu")


def raise_missing_on(device: Device) -> NoReturn:
    raise ValueError(
        f"X is an array of {device.name} with missing values (NaN), which are allowed in NumPy arrays only: "
        "convert X, or fill them in"
    )


def namespace_of(array: Any) -> Any:
    return np if isinstance(array, np.ndarray) else get_namespace_and_device(array)[0]


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


# Fitted models


def move_to_device_of(estimator: Any, X: Any) -> None:
    """Move the public arrays that ``fit`` stored to where ``X`` is; arrays of a `FittedMixture` follow when they are read."""
    vars(estimator).pop("_anchor", None)
    device = device_of(X)
    if device is not None:
        estimator._anchor = move_to(np.zeros(1, np.float32), xp=device.xp, device=device.device)
        parameters = estimator.get_params(deep=False)
        for name, value in vars(estimator).copy().items():
            if name.endswith("_") and name != "classes_" and name not in parameters:
                setattr(estimator, name, on_device_of_fit(estimator, value))


def on_device_of_fit(estimator: Any, value: Any) -> Any:
    """NumPy arrays, also in lists, tuples and mixtures, in the namespace and on the device of the fit."""
    anchor = vars(estimator).get("_anchor")
    if anchor is None:
        return value
    with config_context(array_api_dispatch=True):
        xp, _, device = get_namespace_and_device(anchor)
        # A copy: other libraries do not share read-only memory.
        return _moved(value, lambda array: move_to(np.array(array), xp=xp, device=device))
