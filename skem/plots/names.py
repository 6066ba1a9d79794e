"""How data sets, methods and starts are called in tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


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


STARTS = {
    "uniform": "uniform\n(the paper)",
    "sample": "rows",
    "kmeans": "k-means",
    "class_shared": "rows of\nits class,\nshared",
    "class": "rows of\nits class",
    "class_kmeans": "k-means\nof its\nclass",
}
"""How starts are called in figures, in order: those whose components all classes share, then those with none to share."""
