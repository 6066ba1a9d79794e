"""Figures of merit of a classifier, and of a shared-kernel model.

Everything that needs probabilities takes their logarithms, as ``predict_log_proba`` returns them: a
generative classifier in many dimensions is so overconfident that the probability of the true class
underflows, and only its logarithm still shows the size of the mistake.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

LOG_TINY = float(np.log(np.nextafter(0.0, 1.0)))
"""Logarithm of the smallest positive float64, about -744.44 nats: no log-probability counts as less."""

TOLERANCE = 1e-3
"""Largest difference from one of the sum of a sample's probabilities: float16 rounds less, a mistake is larger."""


def scores(y: ArrayLike, log_proba: ArrayLike, *, sample_weight: ArrayLike | None = None) -> dict[str, float]:
    """Accuracy, log-loss and Brier score of a log posterior.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        True classes, as columns of `log_proba`.
    log_proba : array-like of float, shape (n, L)
        Log posterior log p(c|x) in nats, rows normalised. -inf is allowed, NaN is not.
    sample_weight : array-like of float, shape (n,), optional
        Non-negative; a sample of weight two counts as two samples.

    Returns
    -------
    dict
        ``accuracy``, the fraction of rows whose largest entry is that of the true class (a tie goes to the
        first column);
        ``log_loss``, the mean of -log p(y|x) in nats, with log p cut off at `LOG_TINY`: always finite, and at
        most 744.44 a row, which is what an exact zero costs (no vote of any neighbour or tree);
        ``brier``, the mean over rows of sum_c (p(c|x) - [c = y])^2, between 0 and 2 (Brier 1950).

    Raises
    ------
    ValueError
        If the shapes disagree, there are no rows, a class has no column, or an entry is NaN; if the entries are no
        log-probabilities: positive, or with exponentials that do not sum to one in a row; if weights are negative or all zero.
    """
    y, log_proba, weights = _checked(y, log_proba, sample_weight)
    rows = np.arange(len(y))
    true = log_proba[rows, y]
    difference = np.exp(log_proba)
    difference[rows, y] -= 1.0
    return {
        "accuracy": float(np.average(log_proba.argmax(axis=1) == y, weights=weights)),
        "log_loss": float(-np.average(np.maximum(true, LOG_TINY), weights=weights)),
        "brier": float(np.average(np.sum(difference**2, axis=1), weights=weights)),
    }


def expected_calibration_error(
    y: ArrayLike, log_proba: ArrayLike, n_bins: int = 15, *, sample_weight: ArrayLike | None = None
) -> float:
    """Gap between confidence and accuracy, averaged over bins of equal width (Guo et al. 2017, eq. 3).

    Parameters
    ----------
    y : array-like of int, shape (n,)
        True classes, as columns of `log_proba`.
    log_proba : array-like of float, shape (n, L)
        Log posterior in nats.
    n_bins : int, default=15
        Number of bins (a, b] of the confidence max_c p(c|x).
    sample_weight : array-like of float, shape (n,), optional
        As in `scores`.

    Returns
    -------
    float
        sum_b n_b/n |accuracy_b - confidence_b|, between 0 and 1.

    Raises
    ------
    ValueError
        As from `scores`; fewer than one bin.
    """
    if operator.index(n_bins) < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins}")
    y, log_proba, weights = _checked(y, log_proba, sample_weight)
    confidence = np.exp(log_proba.max(axis=1))
    correct = log_proba.argmax(axis=1) == y
    bins = np.clip(np.ceil(confidence * n_bins).astype(int) - 1, 0, n_bins - 1)
    # n_b |accuracy_b - confidence_b| is the size of the sum of the differences in bin b.
    gaps, total = correct - confidence, float(len(y))
    if weights is not None:
        gaps, total = weights * gaps, weights.sum()
    return float(np.abs(np.bincount(bins, weights=gaps)).sum() / total)


def shared_proportion(weights: ArrayLike | Sequence[ArrayLike], threshold: float = 0.01) -> float:
    """Proportion of mixture weights that belong to components shared by classes (Pulford 2022, section 3.3).

    With a_k the number of classes whose weight for component k reaches the threshold tau, N_T = sum_k a_k and
    N_S = sum_k (a_k | a_k > 1); both are summed over blocks before the ratio.

    Parameters
    ----------
    weights : array-like of float, shape (K, L), or a list of such arrays
        Mixture weights pi_kj, one array per block; blocks may differ in K. For several runs average the
        results.
    threshold : float, default=0.01
        tau, the least weight that counts.

    Returns
    -------
    float
        N_S / N_T, between 0 and 1; NaN where no weight reaches the threshold, so nothing can be shared.
    """
    listed: list[ArrayLike] = list(weights)  # type: ignore[arg-type]
    shared = total = 0
    for block in map(np.asarray, [listed] if np.ndim(listed[0]) == 1 else listed):
        if block.ndim != 2:
            raise ValueError(f"weights of a block must have shape (K, L), got {block.shape}")
        a = np.count_nonzero(block >= threshold, axis=1)
        shared += int(a[a > 1].sum())
        total += int(a.sum())
    return shared / total if total else float("nan")


def operation_count(n_passes: int, n_components: int, n_train: int, dims: int | Sequence[int]) -> int:
    """Operations that training takes (Pulford 2022, section 2.2 and Fig. 1).

    Parameters
    ----------
    n_passes, n_components, n_train : int
        N_P, K (of one block) and N.
    dims : int or sequence of int
        M, the dimension of the one block, or of each block.

    Returns
    -------
    int
        N_P K N (2 + M + M^2 + g(M)), summed over blocks, with g(M) = M^3 for the quadratic form. The paper
        says only that g is O(M^3), so the constant is ours.
    """
    sizes = [operator.index(m) for m in ([dims] if np.ndim(dims) == 0 else dims)]  # type: ignore
    # Python's integers: the count of one training passes 2^31, and a study's 2^53.
    per_pair = sum(2 + m + m**2 + m**3 for m in sizes)
    return operator.index(n_passes) * operator.index(n_components) * operator.index(n_train) * per_pair


def mcnemar(y: ArrayLike, pred_a: ArrayLike, pred_b: ArrayLike) -> tuple[int, int, float]:
    """Exact McNemar test that two classifiers err equally often on the same test set (McNemar 1947).

    Parameters
    ----------
    y, pred_a, pred_b : array-like, shape (n,)
        True labels, and what the classifiers predict for the same rows.

    Returns
    -------
    n01, n10 : int
        Rows that only b has right, and rows that only a has right.
    p_value : float
        Two-sided, from n10 ~ Binomial(n01 + n10, 1/2); 1 where both are right on the same rows.
    """
    from scipy.stats import binomtest

    y, pred_a, pred_b = np.asarray(y), np.asarray(pred_a), np.asarray(pred_b)
    if not (y.ndim == 1 and y.shape == pred_a.shape == pred_b.shape):
        raise ValueError(f"one label per row each, got shapes {y.shape}, {pred_a.shape} and {pred_b.shape}")
    right_a, right_b = pred_a == y, pred_b == y
    n01 = int(np.count_nonzero(~right_a & right_b))
    n10 = int(np.count_nonzero(right_a & ~right_b))
    return n01, n10, float(binomtest(n10, n01 + n10).pvalue) if n01 + n10 else 1.0


def _checked(
    y: ArrayLike, log_proba: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64] | None]:
    for name, array in (("y", y), ("log_proba", log_proba), ("sample_weight", sample_weight)):
        if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
            raise ValueError(f"{name} has masked entries: leave these samples out")
    y, log_proba = np.asarray(y), np.asarray(log_proba, dtype=np.float64)
    if log_proba.ndim != 2 or y.shape != log_proba.shape[:1] or not len(y):
        shapes = f"{y.shape} and {log_proba.shape}"
        raise ValueError(f"y must have shape (n,) and log_proba (n, L), n > 0; got {shapes}")
    if not np.issubdtype(y.dtype, np.integer) or y.min() < 0 or y.max() >= log_proba.shape[1]:
        raise ValueError(
            f"y must hold columns of log_proba, integers from 0 to {log_proba.shape[1] - 1}: give "
            "np.searchsorted(model.classes_, y) for other labels"
        )
    if np.isnan(log_proba).any():
        raise ValueError("log_proba holds NaN")
    largest = log_proba.max()
    if largest > TOLERANCE:
        fix = "np.log(p)" if log_proba.min() >= 0 and largest <= 1 else "predict_log_proba(X)"
        raise ValueError(
            f"log_proba holds {largest:.3g}, but logarithms of probabilities are at most 0: pass {fix}"
        )
    sums = np.exp(log_proba).sum(axis=1)
    worst = np.abs(sums - 1.0).argmax()
    if not abs(sums[worst] - 1.0) <= TOLERANCE:
        raise ValueError(
            f"the probabilities exp(log_proba) of row {worst} sum to {sums[worst]:.6g} instead of 1: pass "
            "log-probabilities of all classes, as predict_log_proba(X) or np.log(p)"
        )
    if sample_weight is None:
        return y.astype(np.intp), log_proba, None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != y.shape or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"sample_weight must be {len(y)} finite non-negative numbers, not all zero, got shape {weights.shape}"
        )
    return y.astype(np.intp), log_proba, weights
