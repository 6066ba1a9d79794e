"""SKEM: one mixture whose components all classes share (Pulford 2022, section 2.2)."""

from __future__ import annotations

from skem.estimators._base import SharedKernelClassifier


class SKEMClassifier(SharedKernelClassifier):
    """Gaussian mixture classifier whose classes share components (Pulford 2022, section 2.2).

    Each class c has the density p(x|c) = sum_k pi_kc N(x; mu_k, P_k) over one set of K components, trained by supervised
    EM. Shared components need fewer parameters than separate mixtures. They suit classes that overlap or have few samples.

    With ``init_params="class"`` (the default) or "class_kmeans", and without ``sharing``, each component stays with one class.
    The other initialisations let all classes share all components.

    Parameters
    ----------
    n_components, n_blocks, arrangement, covariance_type, init_params, n_init, standardize, reg_covar, priors, max_iter, tol, early_stopping, warm_start, options, n_jobs, random_state
        As for ``PSKEMClassifier``.

    Attributes
    ----------
    classes_, class_count_, priors_, n_components_, groups_, n_blocks_, block_indices_, blocks_, log_likelihood_, objective_, n_iter_, best_iter_, converged_, dtype_used_, validation_scores_, best_validation_score_, n_features_in_, feature_names_in_
        As for ``PSKEMClassifier``.
    weights_ : ndarray of shape (n_components, n_classes)
        Weights pi_kc; each column sums to one.
    means_ : ndarray of shape (n_components, n_features)
        Means mu_k.
    covariances_ : ndarray
        Covariances P_k: (K, m, m) if full, (m, m) if tied, (K, m) if diag, and (K,) if spherical; with ``standardize``,
        spherical ones are (K, m).

    Notes
    -----
    The notes on unusual data and the references of ``PSKEMClassifier`` apply.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import SKEMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SKEMClassifier(random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(3)
    array([[1., 0., 0.]])
    """
