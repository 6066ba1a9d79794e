"""Claims in the words of a reader: what a number is of, and for the others a sentence of ``config/sentences.yaml``."""

from __future__ import annotations

from collections.abc import Mapping

from skem.repro.ledger.estimates import Claim
from skem.repro.ledger.stated_claims import setting_of
from skem.repro.names import NAMES

QUANTITIES = {
    "accuracy_pct": "accuracy, %",
    "accuracy_fraction": "accuracy",
    "accuracy_std_pct": "standard deviation of the accuracy, %",
    "accuracy_gain_pct": "gain in accuracy, %",
    "accuracy_loss_pct": "loss of accuracy, %",
    "best_n_components_max": "best number of components, at most",
    "best_n_components_min": "best number of components, at least",
    "em_iter_max": "iterations of EM, at most",
    "em_iter_min": "iterations of EM, at least",
    "error_pct": "error, %",
    "fit_seconds": "seconds to train",
    "image_side": "side of an image, pixels",
    "km_iter": "iterations of k-means",
    "kmeans_share_pct": "share of k-means in the time, %",
    "log_likelihood": "log-likelihood",
    "megabytes": "size, MB",
    "n_classes": "classes",
    "n_comparisons": "comparisons",
    "n_components": "components",
    "n_components_per_class": "components per class",
    "n_components_per_class_initial": "components per class at first",
    "n_components_removed": "components removed",
    "n_components_removed_per_class": "components removed per class",
    "n_features": "features",
    "n_features_used": "features used",
    "n_nonzero_weights": "weights that are not zero",
    "n_samples": "rows",
    "n_splits": "splits",
    "n_test": "test rows",
    "n_train": "training rows",
    "n_validation": "validation rows",
    "normalized_mean_error_pct": "error as a multiple of SDGM's, mean over data sets",
    "normalized_mean_n_nonzero_weights": "weights as a multiple of SDGM's, mean over data sets",
    "operations_ratio": "ratio of operations",
    "peak_pass": "pass of the best accuracy",
    "peak_pass_max": "pass of the best accuracy, at most",
    "peak_pass_min": "pass of the best accuracy, at least",
    "ratio": "ratio of times",
    "samples_per_component": "rows per component",
    "seconds_per_pass": "seconds per pass",
    "shared_proportion_reduction_pct": "components shared less, %",
    "trials": "repetitions",
    "weight_reduction_pct": "weights removed, %",
    "weight_reduction_pct_max": "weights removed, %, at most",
    "weight_reduction_pct_min": "weights removed, %, at least",
}
"""What the claims' numbers are."""

METHODS = {
    **{name: NAMES[name] for name in ("lda", "svm_linear", "svm_quadratic", "svm_rbf", "bagged_trees")},
    "dgmm": "discriminative GMM",
    "external": "another method",
    "gmm_diag": "gmm_diag",
    "gp": "GP",
    "kda": "kernel discriminant analysis",
    "knn": "k-NN",
    "large_margin_softmax": "large-margin softmax",
    "logistic": NAMES["logistic_regression"],
    "mda": "MDA",
    "mgp": "MGP",
    "mlpack_gmm": "mlpack",
    "prbf_average": "averaging over λ",
    "prbf_lambda": "λ-PRBF",
    "pskem": "PSKEM",
    "rbf_two_stage": "RBF",
    "rvm": "RVM",
    "sdgm": "SDGM",
    "skem": "SKEM",
    "softmax": "softmax",
    "softmax_l1": "softmax with L1",
}


DATA_SETS = NAMES | {
    "banana": "banana",
    "birch3": "BIRCH 3",
    "breast_cancer": "breast cancer",
    "cifar100": "CIFAR-100",
    "clouds": "Clouds",
    "covertype": "cover types",
    "imagenet": "ImageNet",
    "mnist-half": NAMES["mnist_half"],
    "mnist_d10": "MNIST, ten dimensions",
    "mnist_d2": "MNIST, two dimensions",
    "pima": "Pima",
    "pokerhand": "poker hands",
    "ripley": "Ripley's data",
    "satimage": "Satimage",
    "synthetic-1m": "a million rows drawn",
    "synthetic-8": "the checkerboard of Gaussians",
    "synthetic-fig3": "Figure 3's data",
    "synthetic-fig4": "Figure 4's data",
    "synthetic-fig5": "Figure 5's data",
    "titanic": "Titanic",
    "winequality": "wine quality",
}


def sentence(claim: Claim, sentences: Mapping[str, str]) -> str:
    """What a claim is about: a number's quantity, method, data and setting, or the sentence that is written down."""
    if claim["kind"] != "number":
        return sentences.get(claim["id"], claim["expression"])
    # An end of a range says so in its quantity.
    what = QUANTITIES[claim["quantity"]].partition(",")[0]
    data = DATA_SETS.get(claim["dataset"], claim["dataset"])
    of = "" if claim["method"] == "data" else f" of {METHODS[claim['method']]}"
    on = "" if claim["dataset"] == "any" else f" {'on' if of else 'of'} {data}"
    settings = setting_of(claim)
    told = []
    if {"n_blocks", "block_size"} <= settings.keys():
        told.append(f"{settings['n_blocks']}x{settings['block_size']}")
    told += [f"K = {settings['n_components']}"] if "n_components" in settings and of else []
    told += [f"λ = {settings['lambda']}"] if claim["method"] == "prbf_lambda" and "lambda" in settings else []
    told += (
        [f"D = {settings['n_features']}"]
        if claim["paper"] == "hayashi2021" and "n_features" in settings
        else []
    )
    told += [f"{settings['n_trees']} trees"] if "n_trees" in settings else []
    told += [f"k = {settings['n_neighbors']}"] if "n_neighbors" in settings else []
    told += [f"{settings['n_threads']} threads"] if "n_threads" in settings else []
    text = f"{what}{of}{on}" + (f" ({', '.join(told)})" if told else "")
    return text[0].upper() + text[1:]
