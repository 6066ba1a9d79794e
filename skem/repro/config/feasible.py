"""What a configuration asks for, held against what there is: features, rows, classes, blocks and passes."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from math import prod
from typing import Any

from skem import datasets
from skem.repro.training.settings import Setting

NOT_FOR: dict[str, set[str]] = {
    "skem": {"n_blocks", "arrangement", "sharing"},
    "pskem": set(),
    "mda": {"covariance_type", "sharing"},
}
"""By model trained in passes, the parameters of the schema that it does not have."""


def faults_of_data_sets(described: dict[str, dict[str, Any]]) -> list[str]:
    """What in ``datasets.yaml`` contradicts itself: names and labels of classes, features and rows, by their number."""
    faults = []
    for name, data in described.items():
        n_classes, (n_rows, *size), n_train = data["n_classes"], data["shape"], data["n_train"]
        counts = {"target_names": n_classes, "labels": n_classes}
        if len(size) == 1:
            counts["feature_names"] = size[0]
        for key, count in counts.items():
            if len(data.get(key, range(count))) != count:
                of = "columns in shape" if key == "feature_names" else "n_classes"
                faults.append(f"{name}.{key} has {len(data[key])} names; {of}: {count}")
        if n_classes > n_rows:
            faults.append(f"{name}.n_classes is {n_classes}; shape has {n_rows} rows")
        if n_train is not None and not n_classes <= n_train < n_rows:
            faults.append(
                f"{name}.n_train is {n_train}; of {n_rows} rows in shape, {n_classes} classes need at least {n_classes} "
                "to train on, and some are left to test on; null where no training set is published"
            )
    return faults


def faults_of_names(where: str, names: Collection[str], known: Collection[str]) -> list[str]:
    """Names of data sets that no ``features`` describe."""
    return [
        f"{where} names {name!r}, no data set under features; allowed: {', '.join(known)}"
        for name in names
        if name not in known
    ]


def rows_trained(spec: dict[str, Any], rows: str) -> int:
    """Training rows of a ``features`` entry, at least: "all", or the "part" left once validation rows are set aside."""
    data = datasets.describe(spec["source"])
    n_rows = data["shape"][0]
    n_train = (
        n_rows - -(-n_rows // spec["n_folds"]) if "n_folds" in spec else spec.get("n_train", data["n_train"])
    )
    return n_train - (round(spec.get("validation_fraction", 0) * n_train) if rows == "part" else 0)


def faults_of_features(spec: dict[str, Any]) -> list[tuple[str, str]]:
    """Keys of a ``features`` entry that ask for what its source does not have, and why they do."""
    source = spec["source"]
    if source not in datasets.names():
        return [("source", f"is {source!r}; config/datasets.yaml has {', '.join(datasets.names())}")]
    data = datasets.describe(source)
    shape, n_train = data["shape"], data["n_train"]
    kind = "table" if len(shape) == 2 else "images"
    if kind != spec["recipe"]:
        return [("recipe", f"is {spec['recipe']!r}; {source} needs {kind!r}")]
    faults = []
    if kind == "table":
        beyond = [str(column) for column in spec.get("columns", []) if column >= shape[1]]
        if beyond:
            faults.append(("columns", f"names {', '.join(beyond)}; {source} has columns 0 to {shape[1] - 1}"))
        if wrong := _fault_of_folds(spec, data):
            faults.append(("n_folds", wrong))
            return faults
        return faults + _faults_of_validation(spec, rows_trained(spec, "all"), data["n_classes"])
    if n_train is None:
        return [("source", f"is {source!r}, which has no published training set as images need")]
    if spec["deskew"] and len(shape) > 3:
        faults.append(("deskew", f"is True; {source} has colours, only grey images are deskewed"))
    size = prod(shape[1:]) // (4 if spec["half"] else 1)
    if spec["n_components"] > size:
        what = "an image of half size" if spec["half"] else "an image"
        faults.append(("n_components", f"is {spec['n_components']}; {what} of {source} has {size} values"))
    drawn = spec.get("n_train", n_train)
    if drawn < data["n_classes"]:
        faults.append(
            ("n_train", f"is {drawn}; {source} has {data['n_classes']} classes, which need one image each")
        )
    if spec["n_components"] > (least := rows_trained(spec, "part")):
        faults.append(("n_components", f"is {spec['n_components']}; it trains on {least} images"))
    faults += _faults_of_validation(spec, drawn, data["n_classes"])
    wanted = drawn + spec.get("n_validation", 0)
    if wanted > n_train:
        faults.append(
            (
                "n_train",
                f"is {drawn}, with n_validation that is {wanted}; {source} has {n_train} training images",
            )
        )
    return faults


def _fault_of_folds(spec: dict[str, Any], data: Mapping[str, Any]) -> str:
    """What is wrong with the number of folds, or nothing."""
    n_rows, n_classes = data["shape"][0], data["n_classes"]
    most = n_rows // n_classes if spec["folds"] == "stratified" else n_rows
    if spec["n_folds"] <= most:
        return ""
    each = f" of {n_classes} classes, of which each stratified fold needs one" if most < n_rows else ""
    return f"is {spec['n_folds']}; {spec['source']} has {n_rows} rows{each}: at most {most} are allowed"


def _faults_of_validation(spec: dict[str, Any], n_train: int, n_classes: int) -> list[tuple[str, str]]:
    """Held-out rows, and those left to train on, that are too few to have one of every class."""
    if "validation_fraction" not in spec:
        return []
    held = round(spec["validation_fraction"] * n_train)
    if n_classes <= held <= n_train - n_classes:
        return []
    low, high = n_classes / n_train, 1 - n_classes / n_train
    return [
        (
            "validation_fraction",
            f"is {spec['validation_fraction']}: {held} of {n_train} training rows; each part needs one of each of the "
            f"{n_classes} classes, so allowed is {low:.3g} to {high:.3g}",
        )
    ]


def n_features_of(spec: dict[str, Any], data: Mapping[str, Any]) -> int:
    """How many features a ``features`` entry makes of its source."""
    if spec["recipe"] == "images":
        return spec["n_components"]
    return len(spec["columns"]) if "columns" in spec else data["shape"][1]


def faults_of_setting(where: str, setting: Setting, spec: dict[str, Any] | None) -> list[str]:
    """What is wrong with a setting; without a known data set, what is wrong whatever the data."""
    faults, params = [], setting.params
    if params.get("n_blocks", 1) > setting.n_features:
        faults.append(
            f"{where}: {params['n_blocks']} blocks of {setting.n_features} features: at most one per feature"
        )
    if params.get("max_iter", 1) is None:
        faults.append(f"{where}: no max_iter, neither here nor for the data set")
    unknown = sorted(NOT_FOR.get(setting.model, set(params)) & set(params)) if setting.model else []
    if unknown:
        faults.append(f"{where}: {setting.model} has no parameter {unknown[0]!r}")
    if not spec or spec["source"] not in datasets.names():
        return faults
    data = datasets.describe(spec["source"])
    available, n_classes = n_features_of(spec, data), data["n_classes"]
    if setting.n_features > available:
        faults.append(f"{where}.n_features is {setting.n_features}, {setting.dataset} has {available}")
    init = params.get("init", "class") if setting.model in NOT_FOR else "none"
    if init in ("class", "class_kmeans") and 1 < params.get("n_components", n_classes) < n_classes:
        faults.append(
            f"{where}: n_components is {params['n_components']}; init {init!r} needs one for each of "
            f"the {n_classes} classes"
        )
    tables = {"folds", "scale"} if spec["recipe"] != "table" else set()
    if tables & set(setting.features):
        faults.append(f"{where}: {setting.dataset} is not a table: no {', '.join(sorted(tables))}")
    if tables & set(setting.features) or faults_of_features(spec):
        return faults  # Those of the features are told with the configuration.
    if init not in ("none", "uniform"):
        rows = min(rows_trained(spec, kind) for kind in setting.rows)
        if params.get("n_components", 1) > rows:
            faults.append(
                f"{where}: n_components is {params['n_components']}; init {init!r} draws as many rows, and it trains on "
                f"{rows}"
            )
    if "folds" in setting.features and (wrong := _fault_of_folds(spec | setting.features, data)):
        faults.append(
            f"{where}: {setting.features['folds']} folds: features.{setting.dataset}.n_folds {wrong}"
        )
    return faults


def faults_of_grid(where: str, how: dict[str, Any], partitions: list[str]) -> list[str]:
    """What is wrong with a grid, whose partitions and those of its neighbours are given."""
    grid, faults = how.get("grid", {}), []
    if "n_blocks" in NOT_FOR.get(how.get("model", ""), ()):
        faults += [
            f"{where}.partition has {partition}; allowed: 1x{{features}}, {how['model']} has one block"
            for partition in grid.get("partition", [])
            if not partition.startswith("1x")
        ]
    allowed = ", ".join(dict.fromkeys(partitions))
    return faults + [
        f"{where}.{key} names partition {partition!r}; allowed: {allowed}"
        for key in ("max_iter", "runs")
        for partition in grid.get(key, {})
        if partition not in partitions
    ]


def faults_of_paper(
    where: str, paper: dict[str, Any], methods: dict[str, Any], numbers: Collection[str] | None
) -> list[str]:
    """What is wrong with a ``paper`` entry; ``numbers`` are the ids it may name, where they are known."""
    faults = []
    # Passes are timed of a setting that is written out: the points of a grid share their jobs.
    labels = {label for how in methods.values() for label in how.get("settings", {})}
    if "setting" in paper and paper["setting"] not in labels:
        faults.append(f"{where}.setting is {paper['setting']!r}; allowed: {', '.join(sorted(labels))}")
    for key in ("accuracy", "seconds_per_pass", "best"):
        if key in paper and numbers is not None and paper[key] not in numbers:
            close = difflib.get_close_matches(paper[key], numbers, n=1, cutoff=0.8)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            faults.append(
                f"{where}.{key} is {paper[key]!r}; allowed: ids of numbers in config/claims.csv{hint}"
            )
    return faults
