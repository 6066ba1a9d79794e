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


def configuration_title(configuration: str) -> str:
    """Title of a configuration: "1x7, K = 14" of "1x7-K14"."""
    return configuration.replace("-K", ", K = ")


def with_configurations(configurations: Iterable[str]) -> dict[str, str]:
    """`NAMES`, and titles of these configurations."""
    return NAMES | {name: configuration_title(name) for name in configurations}
