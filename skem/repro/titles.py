"""Titles of data sets and settings in figures."""

from __future__ import annotations

from collections.abc import Iterable

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


def with_settings(settings: Iterable[str]) -> dict[str, str]:
    """`DATA_SETS`, and titles of settings: "1x7, K = 14" of "1x7-K14"."""
    return DATA_SETS | {setting: setting.replace("-K", ", K = ") for setting in settings}
