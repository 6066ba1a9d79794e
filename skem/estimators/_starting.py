"""Where a classifier's EM starts from: a word, the user's arrays, or the last fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skem.engine import sharing, starts
from skem.engine.given_start import checked_means, checked_start
from skem.engine.missing_em import filled
from skem.engine.parameters import Mixture
from skem.engine.parts import Parts
from skem.engine.rows import Rows
from skem.engine.threads import Workers, single_threaded
from skem.estimators._checking import has_missing
from skem.estimators._units import Units

STARTS = tuple(starts.STARTS)
"""All words that ``init`` may be; each class offers some of them."""


class Starting(Units):
    """For classifiers: the parameters of each block before the first pass."""

    if TYPE_CHECKING:
        n_components: int | Sequence[int] | Mapping[Any, int] | None
        init: Any
        n_init: int
        n_jobs: int | None
        init_spread: float
        init_scale: float
        sharing: ArrayLike | None
        groups: Sequence[Sequence[int]] | None
        warm_start: bool
        classes_: np.ndarray
        n_components_: int
        n_blocks_: int
        block_indices_: list[np.ndarray]
        blocks_: list[Mixture]
        _fitted_with: dict[str, str]

    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "blocks_")

    def _n_starts(self) -> int:
        """Arrays, and the parameters of the last fit, are one start."""
        return self.n_init if isinstance(self.init, str) and not self._goes_on() else 1

    def _per_class(self) -> list[int] | None:
        """The number of components of each class, if ``n_components`` has one for each."""
        if self.n_components is None or isinstance(self.n_components, (int, Integral)):
            return None
        return sharing.components_per_class(self.n_components, self.classes_)

    def _total_components(self) -> int | None:
        """The number of components that the user gave, for all classes together."""
        numbers = self._per_class()
        return self.n_components if numbers is None else sum(numbers)  # type: ignore[return-value]

    def _requested_components(self) -> str:
        """``n_components``, equal for a dictionary, a sequence and NumPy integers that mean the same."""
        return str(self._per_class() or self.n_components or self.n_components_)

    def _refuse_changes(self, n_features: int, classes: np.ndarray) -> None:
        """Raise ValueError where the last fit is none that a warm start can go on from."""
        wanted = {
            "classes": (classes.tolist(), self.classes_.tolist()),
            "the number of features": (n_features, len(self._shift)),
            **{name: (now, self._fitted_with[name]) for name, now in self._structure().items()},
        }
        if self.n_components is not None:
            before = self._fitted_with.get("n_components", str(self.n_components_))
            wanted["n_components"] = self._requested_components(), before
        for name, (now, before) in wanted.items():
            if now != before:
                raise ValueError(
                    f"warm_start: {name} changed from {before} to {now} since the last fit: set it back, or set "
                    "warm_start=False"
                )

    def _structure(self) -> dict[str, str]:
        """What a warm start cannot change, beside the data."""
        return {
            name: str(getattr(self, name))
            for name in ("covariance_type", "n_blocks", "arrangement", "block_size", "groups")
        }

    def _known(self) -> list[Mixture] | None:
        """Parameters of each block that need not be drawn: of the last fit, or the user's arrays.

        The arrays say how many components there are.
        """
        if self._goes_on():
            return self.blocks_
        if isinstance(self.init, str):
            return None
        if isinstance(self.init, dict):
            self.n_components_ = len(self._given_means())
            return None
        mixtures = [
            checked_start(
                self.init,
                block=r,
                n_blocks=self.n_blocks_,
                sizes=(self._total_components(), len(columns), len(self.classes_)),
                covariance_type=self._covariance_type,
            )
            for r, columns in enumerate(self.block_indices_)
        ]
        self.n_components_ = len(mixtures[-1].means)
        return mixtures

    def _given_means(self) -> np.ndarray:
        """The means of ``init``, shape (K, n_features), in input units."""
        if self.init.keys() != {"means"}:
            raise ValueError(
                f'init: a dictionary must hold "means" alone, got the keys {sorted(map(str, self.init))}; give '
                "(weights, means, covariances) as a tuple"
            )
        return checked_means(self.init["means"], self._total_components(), len(self._shift))

    def _start_from_means(self, columns: np.ndarray) -> starts.Start:
        return starts.from_means(
            (self._given_means()[:, columns] - self._shift[columns]) / self._scale[columns]
        )

    def _reserve(self, parts: Parts) -> list[np.ndarray] | None:
        """The components of each class, where they are not equal groups; sets ``n_components_``.

        ``n_components`` has their numbers, but no class gets more components than it has distinct samples, where ``init`` draws
        them from these.
        """
        if self._goes_on():
            return getattr(self, "groups_", None)
        numbers, K, L = self._per_class(), self.n_components_, len(self.classes_)
        by_class = isinstance(self.init, str) and starts.STARTS[self.init].by_class and 1 < L <= K
        given = None if numbers is None else sharing.consecutive_groups(numbers)
        if not by_class or self.groups is not None:
            return given
        if not isinstance(parts.whole.features.X, np.ndarray):
            return given
        sizes = numbers or [len(group) for group in np.array_split(np.arange(K), L)]
        filled = [_n_distinct(parts.whole, c, size) for c, size in enumerate(sizes)]
        if filled == sizes:
            return given
        if self.n_components is not None:
            c = int(np.argmax(np.subtract(sizes, filled)))
            warnings.warn(
                f"n_components={self.n_components} reserves {sizes[c]} components for class "
                f"{self.classes_.tolist()[c]!r}, which has {filled[c]} distinct training samples; {sum(filled)} components are "
                "fitted in all. "
                'Set a smaller n_components, or init="sample" to draw from all classes together',
                UserWarning,
                stacklevel=2,
            )
        self.n_components_ = sum(filled)
        return sharing.consecutive_groups(filled)

    def _log_sharing(self, groups: list[np.ndarray] | None) -> np.ndarray | None:
        """log lambda of each component in each class, shape (K, L); sets ``groups_``, the components of each class.

        ``groups`` are those components, where they are neither given by ``self.groups`` nor equal in number.
        """
        self.__dict__.pop("groups_", None)
        numbers = self._per_class()
        if numbers is not None and self.groups is not None:
            raise ValueError(
                "n_components has a number for each class, and so have groups: give one of the two"
            )
        if groups is not None:
            self.groups_ = groups
        if self.sharing is None:
            if self.groups is not None:
                raise ValueError("groups say whose a component is, which counts with sharing only: give both")
            if numbers is not None and not (isinstance(self.init, str) and starts.STARTS[self.init].by_class):
                start = f"init={self.init!r} does" if isinstance(self.init, str) else "the arrays of init do"
                raise ValueError(
                    f"n_components={self.n_components!r} reserves components for each class, which {start} not: "
                    'set init="class" or "class_kmeans", or sharing, or give one number for all classes together'
                )
            return None
        lambdas = sharing.check_lambdas(self.sharing, len(self.classes_))
        if self.groups is None:
            if groups is None:
                self.groups_ = sharing.equal_groups(self.n_components_, len(self.classes_))
        else:
            named = self.n_components is not None or not isinstance(self.init, str)
            K = self.n_components_ if named else None
            self.groups_ = sharing.check_groups(self.groups, K, self.classes_)
            self.n_components_ = sum(map(len, self.groups_))
        return sharing.log_sharing(lambdas, self.groups_)

    def _start(
        self, parts: Parts, known: list[Mixture] | None, random_state: np.random.RandomState
    ) -> list[Mixture]:
        """A mixture for each block, in the engine's units: what is ``known``, in input units, else drawn."""
        if known is None:
            return [self._drawn(parts, columns, random_state) for columns in self.block_indices_]
        return [
            self._to_internal(mixture, columns)
            for mixture, columns in zip(known, self.block_indices_, strict=True)
        ]

    def _drawn(self, parts: Parts, columns: np.ndarray, random_state: np.random.RandomState) -> Mixture:
        unit = 1.0 if self.standardize else self._scale[0]
        groups = getattr(self, "groups_", None)
        given = self.n_components is not None or self.groups is not None
        start = starts.STARTS[self.init] if isinstance(self.init, str) else self._start_from_means(columns)
        with Workers(self.n_jobs) as workers, single_threaded():
            request = starts.Request(
                rows=filled(parts.whole) if has_missing(parts.whole.features.X) else parts.whole,
                columns=columns,
                n_components=self.n_components_,
                covariance_type=self._covariance_type,
                spread=self.init_spread / unit,
                width=self.init_scale / unit,
                centre=np.zeros(len(columns)) if self.standardize else -self._shift[columns] / unit,
                ridge=self._internal_ridge(),
                strict=given or self.init == "k-means++",  # which cannot draw a row twice
                random_state=random_state,
                workers=workers,
                groups=groups,
                labels=self.classes_.tolist(),
            )
            mixture = start(request)
        if self.sharing is None or groups is None or not start.by_class:
            return mixture
        return sharing.opened(mixture, groups)


def _n_distinct(rows: Rows, code: int, most: int) -> int:
    """The number of distinct samples of a class, counted up to ``most``."""
    n, numbers = 0, np.arange(rows.borders[code], rows.borders[code + 1])
    for some in (numbers[: 4 * most], numbers):  # the first ones are usually enough
        n = min(len(np.unique(rows.features.original(some), axis=0)), most)
        if n == most:
            break
    return n
