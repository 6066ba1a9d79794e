"""The settings of Sanderson and Curtin (2017): ``config/sanderson2017.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Method:
    """What is fitted.

    Attributes
    ----------
    title : str
    engine : str
        A name of `skem.repro.peers.from_kmeans`.
    covariance : {"diag", "full"}
    guard : str
        What keeps covariances from turning singular; "{floor}" is that of the settings.
    standardised : bool
        Whether rows are standardised first; the likelihood is in input units all the same.
    """

    title: str
    engine: str
    covariance: str
    guard: str
    standardised: bool = False


_CLAMP = "condition at most 1e5"
METHODS = {
    "armadillo_diag": Method("Armadillo, diagonal", "armadillo_diag", "diag", "floor {floor:g}"),
    "mlpack_full": Method("mlpack, full", "mlpack_full", "full", _CLAMP),
    "mlpack_full_unclamped": Method("mlpack, full, no clamp", "mlpack_full_unclamped", "full", "none"),
    "mlpack_full_standardised": Method(
        "mlpack, full, standardised rows", "mlpack_full", "full", _CLAMP, standardised=True
    ),
    "skem_diag": Method("skem, diagonal", "skem_diag", "diag", "ridge {floor:g}"),
    "skem_full": Method("skem, full", "skem_full", "full", "ridge {floor:g}"),
}
"""By name, in the order of tables."""

OTHER = ("mlpack_full_unclamped", "mlpack_full_standardised")
"""Methods that the paper's table does not have, and that repeat mlpack's time."""

TAKE_MISSING = ("skem_diag", "skem_full")
"""Methods that take missing values."""

TIMED = ("armadillo_diag", "mlpack_full", "skem_diag", "skem_full")
"""Methods that are timed."""


@dataclass(frozen=True)
class Size:
    """How much of it a run does.

    Attributes
    ----------
    runs : dict
        By data set, fits of each method; data sets that are not named are not fitted.
    other_runs : dict
        By data set, fits of the methods `OTHER`.
    rows : dict
        By data set that is drawn, or "figure2", how many rows; without it all.
    timed : list of str
        Data sets whose fits are timed.
    timed_passes : dict
        By data set, passes that are timed to tell a whole fit's time.
    rounds : int
        Of what is timed.
    timed_rows : dict
        By data set that is drawn, how many rows are timed where those are not as many as are fitted.
    """

    runs: Mapping[str, int]
    other_runs: Mapping[str, int]
    rows: Mapping[str, int]
    timed: list[str]
    timed_passes: Mapping[str, int]
    rounds: int
    timed_rows: Mapping[str, int]


@dataclass(frozen=True)
class Settings:
    """What judges, tables and jobs look up.

    Attributes
    ----------
    kmeans_iter, em_iter : int
    floor : float
        Of variances; of skem, the ridge.
    data_sets : dict
        By name: title, n_components, and source, drawn or not_available; missing, with_class, only_timed.
    sizes : dict of str to Size
    figure2, heldout, ridges, advice, starts : dict
    """

    kmeans_iter: int
    em_iter: int
    floor: float
    data_sets: Mapping[str, Mapping[str, Any]]
    sizes: Mapping[str, Size]
    figure2: Mapping[str, Any]
    heldout: Mapping[str, Any]
    ridges: Mapping[str, Any]
    advice: Mapping[str, Any]
    starts: Mapping[str, Any]

    @property
    def trained(self) -> list[str]:
        """Every "data set/method" that may be measured."""
        return [f"{name}/{method}" for name in self.available for method in METHODS]

    @property
    def available(self) -> dict[str, Mapping[str, Any]]:
        """The data sets that can be had."""
        return {name: entry for name, entry in self.data_sets.items() if "not_available" not in entry}

    def size(self, name: str) -> Size:
        """How much a run does, by its name.

        Raises
        ------
        ValueError
            If there is no such size.
        """
        if name not in self.sizes:
            raise ValueError(
                f"sizes.sanderson2017 is {name!r}; config/sanderson2017.yaml has {', '.join(self.sizes)}"
            )
        return self.sizes[name]

    def methods(self, dataset: str) -> list[str]:
        """Those that are fitted to a data set."""
        observed = self.data_sets[dataset].get("missing") == "observed"
        return [method for method in METHODS if not observed or method in TAKE_MISSING]

    def starts_of(self, dataset: str, size: Size) -> dict[str, int]:
        """How many starts each method has on a data set."""
        other, runs = size.other_runs.get(dataset, 0), size.runs[dataset]
        return {m: n for m in self.methods(dataset) if (n := other if m in OTHER else runs)}


def settings(stated: dict[str, Any], experiment: object = None) -> Settings:
    """The settings as ``config/sanderson2017.yaml`` states them; it has no experiments.

    Raises
    ------
    ValueError
        If it names data sets that it does not have, or that are not available.
    """
    keys = [key for key in Settings.__dataclass_fields__ if key != "sizes"]
    sizes = {name: Size(**{"timed_rows": {}, **size}) for name, size in stated["sizes"].items()}
    found = Settings(**{key: stated[key] for key in keys}, sizes=sizes)
    named = {f"sizes.{name}.runs": list(size.runs) for name, size in sizes.items()}
    named |= {f"sizes.{name}.timed": size.timed for name, size in sizes.items()}
    named |= {f"sizes.{name}.other_runs": list(size.other_runs) for name, size in sizes.items()}
    named |= {"heldout.data_sets": list(found.heldout["data_sets"])}
    named |= {f"{key}.data_sets": stated[key]["data_sets"] for key in ("ridges", "advice")}
    named |= {"starts.data_set": [found.starts["data_set"]]}
    for where, names in named.items():
        for name in names:
            if name not in found.available:
                raise ValueError(f"{where} names {name!r}; available: {', '.join(found.available)}")
    return found
