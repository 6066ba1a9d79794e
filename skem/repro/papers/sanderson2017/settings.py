"""The configuration of Sanderson and Curtin (2017): ``config/sanderson2017.yaml``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from skem.repro.config.validation import Count, DataSetName, Distinct, Strict, Text, unknown


class Method(NamedTuple):
    """An engine of `skem.repro.papers.sanderson2017.engines`, and the bound of its covariances; {floor} is that of the configuration."""

    title: str
    bound: str


METHODS = {
    "armadillo_diag": Method("Armadillo, diagonal", "floor {floor:g}"),
    "mlpack_full": Method("mlpack, full", "condition at most 1e5"),
    "mlpack_full_unclamped": Method("mlpack, full, without bound", "none"),
    "skem_diag": Method("skem, diagonal", "reg_covar {floor:g}"),
    "skem_full": Method("skem, full", "reg_covar {floor:g}"),
}
"""Methods in the order of tables."""

OTHER = ("mlpack_full_unclamped",)
"""Methods that the paper's table lacks, and that take as long as mlpack."""

TAKE_MISSING = ("skem_diag", "skem_full")
"""Methods that take missing values."""

TIMED = ("armadillo_diag", "mlpack_full", "skem_diag", "skem_full")
FIGURE2 = ("armadillo_diag", "skem_diag")
"""Methods that are timed on Table 1's data sets and on the samples of Figure 2."""

SYNTHETIC = "synthetic-1m"
"""The samples of Figure 2."""

_AtLeast2 = Annotated[int, Field(ge=2)]
_Positive = Annotated[float, Field(gt=0)]
_ByName = dict[str, Count]


class Size(Strict):
    """The extent of a run: numbers of fits and of drawn samples by data set, and the data sets that are timed.

    ``other_runs`` is for the methods `OTHER`, ``timed_rows`` for times (default ``rows``). The time of a whole fit is extrapolated
    from ``timed_iterations``; ``rounds`` are repetitions of timed work, ``more_rounds`` those of data sets whose times vary by the seed.
    """

    runs: _ByName
    other_runs: _ByName
    rows: _ByName
    timed_rows: _ByName = Field(default_factory=dict)
    timed: Distinct[str]
    timed_iterations: dict[str, _AtLeast2]
    rounds: _AtLeast2
    more_rounds: _ByName = Field(default_factory=dict)


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
    n_rows: Count
    n_features: Count
    n_components: Count
    em_iter: _AtLeast2
    threads: Distinct[Count]


class Heldout(TypedDict):
    n_folds: _AtLeast2
    data_sets: dict[str, Distinct[Literal[tuple(METHODS)]]]  # type: ignore[valid-type]


class Repeated(TypedDict):
    """Fits from several initialisations to samples of some data sets."""

    data_sets: Distinct[str]
    most_rows: Count
    runs: _AtLeast2


class Advice(Repeated):
    reg_covar: _Positive
    kmeans_iter: Annotated[Distinct[Annotated[int, Field(ge=0)]], Field(min_length=2)]
    em_iter: Distinct[Count]
    rows_per_component: Distinct[Count]
    tol: _Positive


class Floors(Repeated):
    """Likelihood against the variance floor of the paper's program; 0 is none."""

    em_iter: Count
    floors: Annotated[Distinct[Annotated[float, Field(ge=0)]], Field(min_length=2)]


class Seeds(Repeated):
    kmeans_iter: Count


class Starts(TypedDict):
    data_set: str
    runs: _AtLeast2
    em_iter: Distinct[Count]


class Settings(Strict):
    """The configuration of claims, tables and jobs.

    ``floor`` is the variance floor, of skem the covariance regularisation; ``size`` is the one of ``sizes`` that is run.
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
    advice: Advice
    floors: Floors
    seeds: Seeds
    starts: Starts

    @model_validator(mode="after")
    def _check(self) -> Settings:
        named: dict[str, Any] = {
            f"{key}.data_sets": getattr(self, key)["data_sets"]
            for key in ("heldout", "advice", "floors", "seeds")
        }
        named |= {"starts.data_set": [self.starts["data_set"]]}
        for name, size in self.sizes.items():
            named |= {f"sizes.{name}.{key}": getattr(size, key) for key in ("runs", "other_runs", "timed")}
        faults = [fault for where, names in named.items() for fault in unknown(names, self.available, where)]
        faults += unknown([self.size], self.sizes, "size")
        for name, entry in self.data_sets.items():
            if len({"source", "drawn", "not_available"} & set(entry)) != 1:
                faults.append(f"data_sets.{name} needs one of source, drawn, not_available")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def available(self) -> dict[str, Any]:
        """The data sets that are available."""
        return {name: entry for name, entry in self.data_sets.items() if "not_available" not in entry}

    @property
    def of_table1(self) -> list[str]:
        """The data sets of the paper's Table 1, each once."""
        return [name for name in self.data_sets if name not in ("ozone_mean", "ozone_observed")]

    def name(self, dataset: str) -> str:
        """Return the name of a data set in remarks and figures."""
        return self.data_sets[dataset]["title"].partition(",")[0]

    def methods(self, dataset: str) -> list[str]:
        """List the methods that are fitted to a data set."""
        observed = self.data_sets[dataset].get("missing") == "observed"
        return [method for method in METHODS if not observed or method in TAKE_MISSING]

    def runs_of(self, dataset: str) -> dict[str, int]:
        """Count the fits of each method on a data set."""
        size = self.sizes[self.size]
        other, runs = size.other_runs.get(dataset, 0), size.runs[dataset]
        return {m: n for m in self.methods(dataset) if (n := other if m in OTHER else runs)}
