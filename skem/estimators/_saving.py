"""``save`` and ``load`` of estimators that say which of their attributes make the fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skem.estimators._files import read_archive, write_archive

NUMBERS_AND_WORDS = "biufcSUmM"
"""Kinds of arrays that are written as they are."""


class Saving:
    """For estimators that a file can hold."""

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **params: Any) -> None: ...
        def _validate_params(self) -> None: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    # The attributes of a fitted model, as far as it has them; a subclass with more of them adds their names.
    _saved: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")

    # The dataclasses that they may consist of.
    _records: ClassVar[tuple[type, ...]] = ()

    def save(self, path: str | PathLike) -> None:
        """Write the fitted model to a file, an npz archive in which nothing is pickled.

        Parameters that are random states or functions are left out. A file of that name is replaced at once or not at all.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        ValueError
            What no file holds without pickling it: class labels that are neither numbers nor strings nor booleans, or a
            function that the fitted model needs.
        """
        check_is_fitted(self)
        packing = _Packing()
        params = {}
        for name, value in self.get_params(deep=False).items():
            try:
                params[name] = packing.packed(value, f"params.{name}")
            except _CannotPack:
                continue
        try:
            attributes = {
                name: packing.packed(getattr(self, name), name) for name in self._saved if hasattr(self, name)
            }
        except _CannotPack as error:
            raise ValueError(
                f"{type(self).__name__} cannot be saved: {error}, and nothing is pickled"
            ) from error
        write_archive(path, type(self).__name__, packing.arrays, {"params": params, "attributes": attributes})

    @classmethod
    def load(cls, path: str | PathLike) -> Self:
        """The model of a file that ``save`` wrote, to the bit.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        estimator
            Fitted; parameters that were left out are those of the class.

        Raises
        ------
        ValueError
            A file that is none, that is cut off, of another class or a later version, or whose arrays make no model.
        """
        arrays, settings = read_archive(path, cls.__name__)
        try:
            unpack = _Unpacking(arrays, cls._records)
            model = cls(**{name: unpack(value) for name, value in settings["params"].items()})
            model._validate_params()
            for name, value in settings["attributes"].items():
                if name not in cls._saved:
                    raise ValueError(f"an attribute {name!r}")
                setattr(model, name, unpack(value))
            model._refuse_impossible()
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ValueError(f"{path}: no {cls.__name__}: {error}") from error
        return model

    def _refuse_impossible(self) -> None:
        """Raise an error where the attributes of a file make no model."""


class _CannotPack(Exception):
    """Says what there is no place for in an archive."""


class _Packing:
    """What JSON holds of values; ``arrays`` collects what it does not hold.

    Numbers, words, None and lists stay as they are. What else there is becomes a dictionary with one key, its kind: an
    array by its name in the archive, an array of objects by its elements, a tuple, or a dataclass.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def packed(self, value: Any, name: str) -> Any:
        """The value called ``name``, of which the parts are called ``name.part``."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        if isinstance(value, (list, tuple)):
            elements = [self.packed(element, f"{name}.{i}") for i, element in enumerate(value)]
            return elements if isinstance(value, list) else {"tuple": elements}
        if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
            # JSON has no other keys than text, and class labels may be numbers.
            return {"pairs": [self.packed(list(pair), f"{name}.{i}") for i, pair in enumerate(value.items())]}
        if isinstance(value, Mapping):
            return {"mapping": {key: self.packed(element, f"{name}.{key}") for key, element in value.items()}}
        if isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS_AND_WORDS:
            self.arrays[name] = value
            return {"array": name}
        if isinstance(value, np.ndarray):
            return {"objects": [self.packed(element, f"an element of {name}") for element in value.tolist()]}
        if is_dataclass(value):
            values = {field.name: getattr(value, field.name) for field in fields(value)}
            parts = {part: self.packed(element, f"{name}.{part}") for part, element in values.items()}
            return {type(value).__name__: parts}
        raise _CannotPack(f"{name} is a {type(value).__name__}")


class _Unpacking:
    """The values that ``_Packing`` packed."""

    def __init__(self, arrays: Mapping[str, np.ndarray], records: tuple[type, ...]) -> None:
        self._arrays = arrays
        self._records = {record.__name__: record for record in records}

    def __call__(self, packed: Any) -> Any:
        if isinstance(packed, list):
            return [self(element) for element in packed]
        if not isinstance(packed, dict):
            return packed
        ((kind, content),) = packed.items()
        if kind == "array":
            return self._arrays[content]
        if kind == "tuple":
            return tuple(self(element) for element in content)
        if kind == "pairs":
            return dict(self(pair) for pair in content)
        if kind == "objects":
            objects = np.empty(len(content), dtype=object)
            objects[:] = [self(element) for element in content]
            return objects
        values = {name: self(element) for name, element in content.items()}
        return values if kind == "mapping" else self._records[kind](**values)
