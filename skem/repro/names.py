"""How data sets, methods and settings are called in tables, figures and the report."""

from __future__ import annotations

from collections.abc import Iterable

NAMES = {
    "rice": "Rice",
    "ionosphere": "Ionosphere",
    "mnist": "MNIST",
    "mnist_half": "half-size MNIST",
    "mnist_half_image": "half-size MNIST, each image standardised by itself",
    "fashion_mnist": "Fashion-MNIST",
    "cifar10": "CIFAR-10",
    "cifar10_moved": "CIFAR-10, test images moved",
    "logistic_regression": "logistic regression",
    "lda": "LDA",
    "qda": "QDA",
    "svm_linear": "linear SVM",
    "svm_quadratic": "quadratic SVM",
    "svm_rbf": "RBF SVM",
    "knn_1": "k-NN, k = 1",
    "knn_5": "k-NN, k = 5",
    "knn_9": "k-NN, k = 9",
    "gmm_per_class": "a Gaussian mixture per class",
    "bagged_trees": "bagged trees",
    "bagged_trees_50": "50 bagged trees",
    "bagged_trees_100": "100 bagged trees",
}


def with_settings(settings: Iterable[str]) -> dict[str, str]:
    """`NAMES`, and how settings are called in titles: "1x7-K14" is "1x7, K = 14"."""
    return NAMES | {setting: setting.replace("-K", ", K = ") for setting in settings}
