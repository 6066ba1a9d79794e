"""The settings of Sanderson and Curtin (2017): ``config/sanderson2017.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.validation import Count, DataSetName, Distinct, Strict, Text, unknown


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


_AtLeast2 = Annotated[int, Field(ge=2)]
_Positive = Annotated[float, Field(gt=0)]
_ByName = dict[str, Count]


class Size(Strict):
    """The extent of a run.

    Attributes
    ----------
    runs : dict
        By data set, fits of each method; data sets that are not named are not fitted.
    other_runs : dict
        By data set, fits of the methods `OTHER`.
    rows : dict
        By data set that is drawn, or "figure2", the number of samples; without it all.
    timed : list of str
        Data sets whose fits are timed.
    timed_passes : dict
        By data set, iterations that are timed to estimate a whole fit's time.
    rounds : int
        Repetitions of timed work.
    timed_rows : dict
        By data set that is drawn, the number of timed samples where it differs from ``rows``.
    """

    runs: _ByName
    other_runs: _ByName
    rows: _ByName
    timed_rows: _ByName = Field(default_factory=dict)
    timed: Distinct[str]
    timed_passes: dict[str, _AtLeast2]
    rounds: _AtLeast2


class DataSet(TypedDict):
    """A data set of Table 1; exactly one of source, drawn (poker hands) and not_available is given."""

    title: Text
    source: NotRequired[str]
    drawn: NotRequired[Count]
    missing: NotRequired[Literal["zero", "mean", "observed"]]
    with_class: NotRequired[bool]
    n_components: Count
    not_available: NotRequired[str]
    only_timed: NotRequired[str]


class Figure2(TypedDict):
    """Figure 2."""

    n_rows: Count
    n_features: Count
    n_components: Count
    em_iter: _AtLeast2
    threads: Distinct[Count]


class Heldout(TypedDict):
    """Cross-validated likelihoods: by data set, methods."""

    n_folds: _AtLeast2
    data_sets: dict[str, Distinct[Literal[tuple(METHODS)]]]  # type: ignore[valid-type]


class Ridges(TypedDict):
    """Likelihood against the covariance regularisation."""

    data_sets: Distinct[str]
    ridges: Annotated[Distinct[_Positive], Field(min_length=2)]
    runs: Count


class Advice(TypedDict):
    """The paper's advice on iterations and samples."""

    data_sets: Distinct[str]
    most_rows: Count
    runs: _AtLeast2
    ridge: _Positive
    kmeans_iter: Annotated[Distinct[Annotated[int, Field(ge=0)]], Field(min_length=2)]
    em_iter: Distinct[Count]
    rows_per_component: Distinct[Count]
    gain: _Positive


class Starts(TypedDict):
    """Mahalanobis against Euclidean initialisations."""

    data_set: str
    runs: _AtLeast2
    passes: Distinct[Count]


class Settings(Strict):
    """The settings of evaluators, tables and jobs.

    Attributes
    ----------
    kmeans_iter, em_iter : int
    floor : float
        Of variances; of skem, the ridge.
    data_sets : dict
        By name: title, n_components, and source, drawn or not_available; missing, with_class, only_timed.
    size : str
        The size that is run, one of ``sizes``.
    sizes : dict of str to Size
    figure2, heldout, ridges, advice, starts : dict
    """

    title: Text
    kmeans_iter: Count
    em_iter: _AtLeast2
    floor: _Positive
    data_sets: dict[DataSetName, DataSet]
    size: str
    sizes: dict[str, Size]
    figure2: Figure2
    heldout: Heldout
    ridges: Ridges
    advice: Advice
    starts: Starts

    @property
    def trained(self) -> list[str]:
        """Every "data set/method" that may be measured."""
        return [f"{name}/{method}" for name in self.available for method in METHODS]

    @property
    def available(self) -> dict[str, Any]:
        """The data sets that can be had."""
        return {name: entry for name, entry in self.data_sets.items() if "not_available" not in entry}

    def methods(self, dataset: str) -> list[str]:
        """Those that are fitted to a data set."""
        observed = self.data_sets[dataset].get("missing") == "observed"
        return [method for method in METHODS if not observed or method in TAKE_MISSING]

    def starts_of(self, dataset: str, size: Size) -> dict[str, int]:
        """How many starts each method has on a data set."""
        other, runs = size.other_runs.get(dataset, 0), size.runs[dataset]
        return {m: n for m in self.methods(dataset) if (n := other if m in OTHER else runs)}


Stated = Settings


def settings(stated: Settings, experiment: object = None) -> Settings:
    """The settings as ``config/sanderson2017.yaml`` states them; it has no experiments.

    Raises
    ------
    ValueError
        If it names a size or data sets that it does not have, or that are not available.
    """
    named: dict[str, Any] = {
        f"{key}.data_sets": getattr(stated, key)["data_sets"] for key in ("heldout", "ridges", "advice")
    }
    named |= {"starts.data_set": [stated.starts["data_set"]]}
    for name, size in stated.sizes.items():
        named |= {f"sizes.{name}.{key}": getattr(size, key) for key in ("runs", "other_runs", "timed")}
    faults = [fault for where, names in named.items() for fault in unknown(names, stated.available, where)]
    faults += unknown([stated.size], stated.sizes, "size")
    for name, entry in stated.data_sets.items():
        if len({"source", "drawn", "not_available"} & set(entry)) != 1:
            faults.append(f"data_sets.{name} needs one of source, drawn, not_available")
    if faults:
        raise ValueError("; ".join(faults))
    return stated
