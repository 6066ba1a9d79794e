"""``save`` and ``load`` of estimators that declare which of their attributes make the fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skem.estimators._array_api import on_host
from skem.estimators._declarations import Array, check_declared, size
from skem.estimators._files import File, read_archive, reading, write_archive

NUMBERS_AND_WORDS = "biufcSUmM"
"""Kinds of arrays that are written as they are."""


class Saving:
    """Estimators that a file can hold."""

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **params: Any) -> None: ...
        def _validate_params(self) -> None: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    # Declarations of the attributes of a fitted model; a subclass with more of them adds theirs. The order counts: a bound
    # or a list refers to a size that an attribute before it has.
    _saved: ClassVar[Mapping[str, Any]] = {
        "n_features_in_": size("n_features"),
        "feature_names_in_": Array("n_features", kind="words", optional=True),
    }

    # The dataclasses that they may consist of.
    _records: ClassVar[tuple[type, ...]] = ()

    def save(self, file: File) -> None:
        """Write the fitted model to a file, an npz archive in which nothing is pickled.

        Parameters that are random states or functions are left out. A file of that name is replaced at once or not at all;
        what a killed save leaves beside it is removed by the next one.

        Parameters
        ----------
        file : str, path-like or binary file object

        Raises
        ------
        ValueError
            What no file holds without pickling it: class labels that are neither numbers nor strings nor booleans, or a
            function that the fitted model needs. Assigned attributes that do not fit together.
        """
        check_is_fitted(self)
        host = on_host(self) if hasattr(self, "_in_namespace_of_X") else self
        state, packing, params = host._state(), _Packing(), {}
        for name, value in self.get_params(deep=False).items():
            with suppress(_CannotPack):
                params[name] = packing.packed(value, f"params.{name}")
        try:
            attributes = {name: packing.packed(value, name) for name, value in state.items()}
            # Assigned attributes may not fit together: no file that load refuses.
            check_declared(self._saved, state)
            host._refuse_impossible()
        except (_CannotPack, ValueError) as error:
            raise ValueError(f"{type(self).__name__} cannot be saved: {error}") from error
        write_archive(file, type(self).__name__, packing.arrays, {"params": params, "attributes": attributes})

    @classmethod
    def load(cls, file: File) -> Self:
        """Read the model of a file that ``save`` wrote, to the bit.

        Parameters
        ----------
        file : str, path-like or binary file object
            A file object is read from its position to its end.

        Returns
        -------
        estimator
            Fitted; parameters that were left out are those of the class.

        Raises
        ------
        OSError
            A file that cannot be opened.
        ValueError
            Any other fault: content that is no archive, that is cut off or damaged, of another class or a later version, or
            arrays that make no model. Each array is checked for its type, its shape against the others, and its range.
        """
        with reading(file, cls.__name__) as stream:
            params, attributes = cls._content(stream)
            model = cls(**params)
            model._validate_params()
            check_declared(cls._saved, attributes)
            vars(model).update(attributes)
            model._refuse_impossible()
        return model

    @classmethod
    def _content(cls, stream: BinaryIO) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters and attributes in a file."""
        return cls._unpacked(*read_archive(stream, cls.__name__))

    @classmethod
    def _unpacked(
        cls, arrays: dict[str, np.ndarray], settings: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters and attributes in the arrays and settings of an archive."""
        unpack = _Unpacking(arrays, cls._records)
        params, attributes = (
            {name: unpack(value) for name, value in settings[part].items()}
            for part in ("params", "attributes")
        )
        return params, attributes

    def _state(self) -> dict[str, Any]:
        """The declared attributes that the model has."""
        return {name: getattr(self, name) for name in self._saved if hasattr(self, name)}

    def _refuse_impossible(self) -> None:
        """Raise ValueError if attributes, each as declared, make no model together."""


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
            return {"pairs": self.packed([list(pair) for pair in value.items()], name)}
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
        raise _CannotPack(f"{name} is a {type(value).__name__}, and nothing is pickled")


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
            return dict(self(content))
        if kind == "objects":
            objects = np.empty(len(content), dtype=object)
            objects[:] = [self(element) for element in content]
            return objects
        values = {name: self(element) for name, element in content.items()}
        return values if kind == "mapping" else self._records[kind](**values)
