"""``config/experiments/*.yaml``: models, and the settings that an experiment trains."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from skem import datasets
from skem.repro.config.documents import ConfigurationError, read_mapping, refuse
from skem.repro.config.models import Folds, Scale, n_features
from skem.repro.config.validation import Count, Distinct, Name, Strict, Text, parsed, suggestion, unknown
from skem.repro.training.classifiers import entries
from skem.repro.training.settings import PARTS_OF_NAMES, Setting, blocks_of, setting_name

MODELS = entries("shared_kernel")
"""Models trained in iterations."""

MaxIter = Annotated[int, Field(ge=1, le=1_000_000)]
Number = Annotated[float, Field(ge=0)]
Rows = Distinct[Literal["all", "part"]]


class Params(TypedDict, total=False):
    """Parameters of the estimators; the pipeline decides on the others."""

    n_components: Count
    n_blocks: Count
    arrangement: Literal["sequential", "interleaved", "random"]
    covariance_type: Literal["full", "tied", "diag", "spherical"]
    init: Literal["uniform", "sample", "kmeans", "em", "class", "class_kmeans"]
    init_spread: Number
    init_scale: Annotated[float, Field(gt=0)]
    sharing: Annotated[float, Field(ge=0, le=1)]
    standardize: bool
    reg_covar: Number
    class_prior: Literal["uniform", "empirical"]
    tol: Number


class OwnFeatures(TypedDict, total=False):
    """Deviations from the features of the configuration."""

    folds: Folds
    scale: Scale
    rotate: Literal["whiten", "ica"]
    recombine: bool


class Grid(TypedDict):
    """Lists whose every combination is a setting; ``max_iter`` and ``runs`` of partitions."""

    partition: Distinct[Annotated[str, Field(pattern="^[1-9][0-9]{0,5}x[1-9][0-9]{0,5}$")]]
    n_components: NotRequired[Distinct[Count]]
    reg_covar: NotRequired[Distinct[Number]]
    folds: NotRequired[Distinct[Folds]]
    scale: NotRequired[Distinct[Scale]]
    rows: Rows
    max_iter: NotRequired[dict[str, MaxIter]]
    runs: NotRequired[dict[str, Count]]


class WrittenOut(TypedDict):
    """A setting with a name of its own."""

    n_features: Count
    params: Params
    rows: Rows
    features: NotRequired[OwnFeatures]
    max_iter: NotRequired[MaxIter]
    runs: NotRequired[Count]


class Method(TypedDict):
    """A model with its settings, written out or as a grid."""

    model: Literal[tuple(MODELS | entries("baselines"))]  # type: ignore[valid-type]
    params: Params
    features: NotRequired[OwnFeatures]
    max_iter: NotRequired[MaxIter]
    runs: NotRequired[Count]
    grid: NotRequired[Grid]
    settings: NotRequired[Annotated[dict[Name, WrittenOut], Field(min_length=1)]]


class InPaper(TypedDict):
    """The paper's numbers for a data set: ids of claims."""

    setting: Name
    accuracy: str
    seconds_per_pass: str
    best: str
    best_method: str


class Entry(TypedDict):
    """One data set of an experiment."""

    max_iter: NotRequired[MaxIter]
    paper: NotRequired[InPaper]
    methods: Annotated[dict[Name, Method], Field(min_length=1)]


class Experiment(Strict):
    """``config/experiments/<name>.yaml``."""

    title: Text
    params: Params | None = None
    data_sets: Annotated[dict[str, Entry], Field(min_length=1)]


def read(name: str, folder: str | Path) -> dict[str, Any]:
    """Read and check the file of an experiment.

    Raises
    ------
    ConfigurationError
        If the file is missing or has faults.
    """
    path = Path(folder) / f"{name}.yaml"
    if not path.exists():
        known = sorted(p.stem for p in Path(folder).glob("*.yaml"))
        raise ConfigurationError(f"experiments: there is no {path}; {suggestion(name, known)}")
    document = read_mapping(path)
    parsed(Experiment, document, [path])
    return document


def settings(
    where: str,
    experiment: Mapping[str, Any],
    features: Mapping[str, Any],
    runs: Mapping[str, int],
    *,
    ends: bool = False,
    numbers: Collection[str] | None = None,
) -> list[Setting]:
    """The settings that an experiment trains; data sets without runs are left out.

    Parameters
    ----------
    where : str
        Name of the experiment's file in messages.
    experiment : mapping
        Content of the file.
    features : mapping
        By data set, the recipe of its features.
    runs : mapping
        By data set, the number of runs.
    ends : bool
        Use only the first and the last value of each list of a grid.
    numbers : collection of str, optional
        Ids that a ``paper`` entry may name.

    Raises
    ------
    ConfigurationError
        If the experiment asks for data sets, features, blocks or claims that do not exist.
    """
    entries = experiment["data_sets"]
    faults = unknown(entries, runs, f"{where}: data_sets")
    without = [dataset for dataset, entry in entries.items() if "paper" not in entry]
    if 0 < len(without) < len(entries):
        faults.append(
            f"{where}: data_sets.{without[0]} has no entry 'paper' as the others do; "
            "put a data set of your own into an experiment of its own"
        )
    found = []
    for dataset, entry in entries.items():
        place = f"{where}: data_sets.{dataset}"
        faults += _faults_of_paper(f"{place}.paper", entry, numbers)
        # A grid that shares keys with another keeps the max_iter of partitions that it leaves out.
        partitions = {
            p: 0 for how in entry["methods"].values() for p in how.get("grid", {}).get("partition", ())
        }
        for method, how in entry["methods"].items():
            if not {"grid", "settings"} & set(how):
                faults.append(f"{place}.methods.{method} needs settings or a grid")
            for key in ("max_iter", "runs"):
                faults += unknown(
                    how.get("grid", {}).get(key, ()), partitions, f"{place}.methods.{method}.grid.{key}"
                )
            for setting in _expanded(dataset, method, how, entry.get("max_iter"), runs.get(dataset, 0), ends):
                at = f"{place}.methods.{method}.settings.{setting.name}"
                faults += [f"{at}: {fault}" for fault in _faults_of(setting, features.get(dataset))]
                if setting.runs:
                    found.append(setting)
    refuse(faults)
    return found


def _expanded(
    dataset: str, method: str, how: Any, max_iter: int | None, most: int, ends: bool
) -> Iterator[Setting]:
    """The settings of a method: those written out, and those of its grid, named after their values."""
    model = how["model"]

    def setting(name: str, unit: str, own: dict[str, Any]) -> Setting:
        params = how["params"] | own["params"]
        if model in MODELS:
            params["max_iter"] = own.get("max_iter", how.get("max_iter", max_iter))
        runs = list(range(min(most, own.get("runs", how.get("runs", most)))))
        features = how.get("features", {}) | own.get("features", {})
        n_blocks = own.get("n_blocks", params.get("n_blocks", 1))
        return Setting(
            *(dataset, method, name, unit, model, params),
            *(own["n_features"], n_blocks, own["rows"], runs, features),
        )

    for name, written in how.get("settings", {}).items():
        yield setting(name, name, written)
    if "grid" not in how:
        return
    grid = how["grid"]
    lists = {key: grid[key] for key in PARTS_OF_NAMES if key in grid}
    if ends:
        lists = {key: list(dict.fromkeys([values[0], values[-1]])) for key, values in lists.items()}
    large = len(lists["partition"]) > 1 and not ends
    for values in product(*lists.values()):
        point = dict(zip(lists, values, strict=True))
        partition = point["partition"]
        n_blocks, size = blocks_of(partition)
        own: dict[str, Any] = {"n_features": n_blocks * size, "n_blocks": n_blocks, "rows": grid["rows"]}
        own |= {"params": {}, "features": {key: point[key] for key in ("folds", "scale") if key in point}}
        if partition in grid.get("max_iter", {}):
            own["max_iter"] = grid["max_iter"][partition]
        if model in MODELS and "n_blocks" not in MODELS[model].lacks:
            own["params"]["n_blocks"] = n_blocks
        own["params"] |= {key: point[key] for key in ("n_components", "reg_covar") if key in point}
        if large and partition in grid.get("runs", {}):  # the settings of a unit have the same runs
            own["runs"] = grid["runs"][partition]
        yield setting(setting_name(**point), partition if large else "grid", own)


def _faults_of(setting: Setting, spec: Any) -> Iterator[str]:
    """Faults of a setting that would otherwise end its jobs."""
    params, model = setting.params, setting.model
    if setting.n_blocks > setting.n_features:
        yield f"{setting.n_blocks} blocks of {setting.n_features} features; at most one block per feature"
    if model == "skem" and setting.n_blocks > 1:
        yield f"{setting.n_blocks} blocks; skem has one block, as in partition 1x{setting.n_features}"
    if model in MODELS and params["max_iter"] is None:
        yield "max_iter is missing, here and for the data set"
    for key in sorted(set(params) & set(MODELS[model].lacks if model in MODELS else params)):
        yield f"{model} has no parameter {key!r}"
    if spec is None:
        return
    if setting.n_features > n_features(spec):
        yield f"n_features is {setting.n_features}; {setting.dataset} has {n_features(spec)}"
    init, n_classes = params.get("init", "class"), datasets.describe(spec["source"])["n_classes"]
    if model in MODELS and init.startswith("class") and 1 < params.get("n_components", n_classes) < n_classes:
        yield f"n_components is {params['n_components']}; init {init!r} needs one for each of {n_classes} classes"
    if spec["recipe"] != "table" and (keys := {"folds", "scale"} & set(setting.features)):
        yield f"{setting.dataset} is no table; leave out {', '.join(sorted(keys))}"


def _faults_of_paper(where: str, entry: Any, numbers: Collection[str] | None) -> Iterator[str]:
    """Faults of a ``paper`` entry."""
    paper = entry.get("paper", {})
    # Iterations are timed of a setting that is written out: the points of a grid share their jobs.
    labels = list(
        dict.fromkeys(label for how in entry["methods"].values() for label in how.get("settings", {}))
    )
    if paper and paper["setting"] not in labels:
        yield f"{where}.setting is {paper['setting']!r}; {suggestion(paper['setting'], labels)}"
    for key in ("accuracy", "seconds_per_pass", "best"):
        if paper and numbers is not None and paper[key] not in numbers:
            close = difflib.get_close_matches(paper[key], numbers, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            yield f"{where}.{key} is {paper[key]!r}, no id of a number in config/claims.csv{hint}"
