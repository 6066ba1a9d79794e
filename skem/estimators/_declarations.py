"""Declarations of fitted attributes: the shape, kind and range that each must have in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

LARGEST = float(np.finfo(np.float64).max)
POSITIVE = float(np.finfo(np.float64).tiny)
"""Smallest number that is positive and not subnormal."""

KINDS = {
    "float32 or float64": "f",
    "integers": "iu",
    "booleans": "b",
    "words": "U",
    "numbers, booleans or words": "biufSUmM",
}
"""Kinds of NumPy dtypes by the name that an error message gives them."""


Sizes = dict[str, tuple[int, str]]
"""Sizes by name, each with the attribute that it was first read from."""


class Declaration(Protocol):
    """Description of one attribute."""

    def check(self, name: str, value: Any, sizes: Sizes, index: int = 0) -> None:
        """Raise ValueError if ``value`` is not what is declared.

        Parameters
        ----------
        name : str
            Name of the value in error messages.
        value : object
        sizes : dict
            Known sizes; a size that is new is added.
        index : int
            Number that replaces "*" in the names of sizes.
        """


@dataclass(frozen=True)
class Array:
    """An array, or without ``shape`` a single value.

    Attributes
    ----------
    shape : str
        Names of sizes, separated by commas; "1+name" is one more than ``name``, and "..." is any shape.
    kind : str
        Key of ``KINDS``. A single number may be an integer.
    least, most : float or str
        Bounds of numbers; a bound given as a name is that size less one. Infinity is allowed where a bound is infinite,
        NaN where both are.
    shortest : int
        Least length of the first axis.
    size : str or None
        Name of the size that the value itself is.
    words : tuple of str
        Allowed words, or none for any.
    total : float or None
        Sum along the first axis.
    distinct : bool
        True if the elements must be distinct and in increasing order.
    optional : bool
        True if a fitted model may lack the attribute.
    """

    shape: str = ""
    kind: str = "float32 or float64"
    least: float = -LARGEST
    most: float | str = LARGEST
    shortest: int = 1
    size: str | None = None
    words: tuple[str, ...] = ()
    total: float | None = None
    distinct: bool = False
    optional: bool = False

    def check(self, name: str, value: Any, sizes: Sizes, index: int = 0) -> None:
        array = np.asarray(value)
        if isinstance(value, np.ndarray) != bool(self.shape) or not self._is_kind(array):
            what = "an array of" if self.shape else "one value of"
            got = array.dtype if isinstance(value, np.ndarray) else type(value).__name__
            raise ValueError(f"{name} must be {what} {self.kind}, got {got}")
        self._check_shape(name, array, sizes, index)
        most = sizes[self.most][0] - 1 if isinstance(self.most, str) else self.most
        if array.dtype.kind in "iuf" and array.size and (self.least, most) != (-np.inf, np.inf):
            low, high = array.min(), array.max()
            if not (self.least <= low and high <= most):  # NaN compares as false
                bounds = f"from {self.least:.3g} to {most:.3g}"
                allowed = "finite" if (self.least, most) == (-LARGEST, LARGEST) else bounds
                raise ValueError(f"{name} must be {allowed}, got values from {low:.3g} to {high:.3g}")
        if self.words and str(array) not in self.words:
            raise ValueError(f"{name} must be one of {', '.join(self.words)}, got {str(array)!r:.60}")
        if self.total is not None and not np.allclose(array.sum(axis=0), self.total):
            raise ValueError(f"{name} must sum to {self.total:g}, got {array.sum(axis=0)}")
        if self.distinct and not np.array_equal(np.unique(array), array):
            raise ValueError(f"{name} must be distinct and in increasing order, got {array.tolist()!r:.60}")
        if self.size is not None:
            sizes[self.size] = int(array), name

    def _is_kind(self, array: np.ndarray) -> bool:
        kinds = KINDS[self.kind]
        if array.dtype.kind == "O" and array.ndim:
            return "U" in kinds and all(isinstance(element, str) for element in array.flat)
        if self.kind == "float32 or float64" and not self.shape:
            kinds += "iu"
        return array.dtype.kind in kinds and (array.dtype.kind != "f" or array.dtype.itemsize in (4, 8))

    def _check_shape(self, name: str, array: np.ndarray, sizes: Sizes, index: int) -> None:
        axes = self.shape.replace("*", str(index)).split(", ") if self.shape else []
        if axes == ["..."]:
            return
        wanted = []
        for axis, length in zip(axes, array.shape, strict=False):
            more, _, of = axis.rpartition("+")
            wanted.append(sizes.setdefault(of, (length, name))[0] + int(more or 0))
        if array.ndim != len(axes) or list(array.shape) != wanted:
            known = {of: sizes[of] for of in (axis.rpartition("+")[2] for axis in axes) if of in sizes}
            where = [f"{of}={n} from {source}" for of, (n, source) in known.items() if source != name]
            raise ValueError(
                f"{name} must have shape ({', '.join(axes)}), got {array.shape}; {', '.join(where)}".removesuffix(
                    "; "
                )
            )
        if axes and len(array) < self.shortest:
            raise ValueError(f"{name} must have {self.shortest} elements or more, got {len(array)}")


def size(name: str) -> Array:
    """A positive integer that is the size called ``name``."""
    return Array(kind="integers", least=1, size=name)


def count(size: str | None = None, optional: bool = False) -> Array:
    """A non-negative integer, which may be a size."""
    return Array(kind="integers", least=0, size=size, optional=optional)


def flag(optional: bool = False) -> Array:
    """True or False."""
    return Array(kind="booleans", optional=optional)


def word(*words: str, optional: bool = False) -> Array:
    """One of some words, or any word."""
    return Array(kind="words", words=words, optional=optional)


def curve(axis: str, optional: bool = False) -> Array:
    """A number after each iteration, possibly infinite or NaN."""
    return Array(axis, least=-np.inf, most=np.inf, shortest=0, optional=optional)


@dataclass(frozen=True)
class Each:
    """A list of values that are declared alike; "*" in a size's name is replaced by the place in the list."""

    length: str
    of: Declaration
    optional: bool = False

    def check(self, name: str, value: Any, sizes: Sizes, index: int = 0) -> None:
        if not isinstance(value, list):
            raise ValueError(f"{name} must be a list, got {type(value).__name__}")
        n, _ = sizes.setdefault(self.length, (len(value), name))
        if len(value) != n:
            raise ValueError(f"{name} must have {self.length}={n} elements, got {len(value)}")
        for i, element in enumerate(value):
            self.of.check(f"{name}.{i}", element, sizes, i)


@dataclass(frozen=True)
class Record:
    """An instance of a class, or a mapping, with declared parts."""

    type: type
    parts: Mapping[str, Declaration]
    optional: bool = False

    def check(self, name: str, value: Any, sizes: Sizes, index: int = 0) -> None:
        if not isinstance(value, self.type):
            raise ValueError(f"{name} must be a {self.type.__name__}, got {type(value).__name__}")
        values = value if isinstance(value, Mapping) else vars(value)
        for part, declaration in self.parts.items():
            if part in values:
                declaration.check(f"{name}.{part}", values[part], sizes, index)
            elif not getattr(declaration, "optional", False):
                raise ValueError(f"{name}.{part} is missing")


def check_declared(declared: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Raise ValueError unless all values are declared, and are what is declared; none may be missing but optional ones."""
    for name in values:
        if name not in declared:
            raise ValueError(f"{name} is no attribute of the model")
    sizes: Sizes = {}
    for name, declaration in declared.items():
        if name in values:
            declaration.check(name, values[name], sizes)
        elif not declaration.optional:
            raise ValueError(f"{name} is missing")
