"""Titles of data sets, baselines and configurations in tables, figures and the report."""

from __future__ import annotations

from collections.abc import Iterable

from skem.repro.training.classifiers.baselines import ENTRIES, REPORTED

DATA_SETS = {
    "rice": "Rice",
    "ionosphere": "Ionosphere",
    "mnist": "MNIST",
    "mnist_half": "half-size MNIST",
    "mnist_half_image": "half-size MNIST, each image standardised by itself",
    "fashion_mnist": "Fashion-MNIST",
    "cifar10": "CIFAR-10",
    "cifar10_moved": "CIFAR-10, test images moved",
}
NAMES = DATA_SETS | {name: entry.title for name, entry in ENTRIES.items()} | REPORTED
METHODS = {
    "pskem": "PSKEM",
    "skem": "SKEM",
    "mda": "MDA",
    "grid": "as in the paper",
    "unpartitioned": "one feature block",
    "sequential": "sequential feature blocks",
    "interleaved": "interleaved feature blocks",
    "random": "random feature blocks",
    "longer": "more iterations",
    "wider": "more components",
    "unregularised": "reg_covar = 0",
    "spread-8": "features divided by four",
    "in_order": "folds in the order of the file",
    "uniform": "the paper's initialisation",
    "sample": "initialised at samples",
    "kmeans": "initialised by k-means",
    "class": "initialised at samples of each class",
    "class_shared": "initialised at samples of each class, components shared",
    "class_kmeans": "initialised by k-means of each class",
}
"""Titles of the methods of experiments; `method_title` has those of their variants."""


def method_title(method: str) -> str:
    """Title of a method of an experiment: "PSKEM, reg_covar = 1e-6" of "pskem-reg_covar-1e-6"."""
    if method in METHODS:
        return METHODS[method]
    base, _, reg_covar = method.partition("reg_covar-")
    names = [METHODS.get(part) or NAMES.get(part, part) for part in base.split("-") if part]
    return ", ".join([*names, f"reg_covar = {reg_covar}"] if reg_covar else names)


def configuration_title(configuration: str) -> str:
    """Title of a configuration: "1x7, K = 14" of "1x7-K14"."""
    return configuration.replace("-K", ", K = ")


def with_configurations(configurations: Iterable[str]) -> dict[str, str]:
    """`NAMES`, and titles of these configurations."""
    return NAMES | {name: configuration_title(name) for name in configurations}
