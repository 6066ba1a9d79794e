"""PSKEM: a shared-kernel mixture for each feature block (Pulford 2022, section 2.3)."""

from __future__ import annotations

from skem.estimators._base import SharedKernelClassifier


class PSKEMClassifier(SharedKernelClassifier):
    """Shared-kernel mixture classifier with one mixture per feature block (Pulford 2022, section 2.3).

    Partitioned SKEM multiplies the densities of R feature blocks, which are taken as independent given the class (eq. 36):
    log p(x|c) = sum_r log sum_k pi_kc^(r) N(x_r; mu_k^(r), P_k^(r)). Small blocks need fewer parameters and less time, and
    suit data with many features. If blocks are dependent given the class, the product is overconfident: trust its
    decisions more than its probabilities.

    Parameters
    ----------
    n_components : int, sequence of n_classes int, dict or None, default=None
        Number of components K. None chooses max(20, 3 * n_classes), or that of the arrays in ``init_params``. A sequence, in the
        order of ``classes_``, or a dictionary {label: number} reserves components for each class. Without the option ``sharing``, it
        requires an ``init_params`` by class.
    n_blocks : int, default=1
        Number of feature blocks R, at most the number of features unless the option ``block_size`` is set. Ignored if ``arrangement`` is
        a list of index lists. Each block has ``n_components`` components.
        Arrays in ``init_params`` are a list of one tuple per block if there are several.
    arrangement : {"sequential", "interleaved", "random"} or list of index lists, default="sequential"
        Assignment of features to feature blocks. "sequential" keeps neighbouring features together, "interleaved" puts them
        into different blocks, and "random" draws a partition. Index lists may overlap or leave features out.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Structure of the covariances:

        - "full": one matrix per component
        - "tied": one matrix for all components
        - "diag": one variance per component and feature
        - "spherical": one variance per component

        Structures with fewer parameters need fewer samples.
    init_params : {"class", "class_kmeans", "sample", "kmeans", "k-means++", "uniform"}, dict or arrays, default="class"
        Initialisation of EM:

        - "class" and "class_kmeans" reserve n_components / n_classes components for each class. Their means are samples, or
          k-means centres, of that class. The first classes get one component more; no class gets more than it has distinct
          samples. Weights of zero stay zero, so no component is ever shared. With the option ``sharing``, however, all classes start with
          the same weights. Fewer components than classes are an error, except one component, which all classes share.
        - "sample", "kmeans" and "k-means++" (its seeds only) draw means from the samples of all classes, with equal weights.
          Choose one of these to share components between all classes.
        - "uniform" is the initialisation of Pulford (2022, section 3.1): means uniform on [-init_spread, init_spread],
          covariances init_scale^2 I, weights 1/K.
        - ``{"means": array (K, n_features)}`` sets the means. Weights are equal, and the covariance is that of the samples
          about the nearest mean.

        Arrays are a tuple (weights (K, L), means (K, m), covariances) in input units.
    n_init : int, default=1
        Number of initialisations. The fit with the best final ``objective_`` is kept. Arrays, and a warm start, count as one
        initialisation. Increase it if fits from different seeds differ much.
    standardize : bool or "robust", default=True
        True measures ``reg_covar`` in squared units of each feature's standard deviation in the training data, False in squared
        input units. "robust" first replaces values more than three robust standard deviations from the median by that limit, in
        training as well as in predictions and ``predict_joint_log_proba`` of classifiers. The robust standard
        deviation is the 90% quantile of the distances from the median that are not zero, divided by 1.645. Of more than 10,000
        samples, 10,000 random ones determine the limits. Choose "robust" for features with gross outliers or heavy tails; without
        values beyond the limits it equals True. An array, or a ``numpy.memmap``, with such values is copied into memory.
        Fitted parameters and densities are in input units in any case.
    reg_covar : float, default=0.1
        Covariance regularisation r, added to the diagonal of each covariance. Training replaces log N(x; mu, P) by
        log N(x; mu, P) - r/2 tr(P^-1), whose exact M-step adds r. Increase it if there are few samples per component.
        If the covariance of all samples is singular nevertheless, training warns and uses 1e-6 of the features' mean variance.
        Reasons are features that are constant, are linear combinations of others, or outnumber the samples.
    priors : {"uniform", "empirical"}, dict or array-like of shape (n_classes,), default="empirical"
        Class prior p(c): equal for all classes ("uniform"), or the share of each class in the sample weights ("empirical"). A
        dictionary gives it by label, an array in the order of ``classes_``. Pulford (2022, section 2.3) assumes "uniform",
        Titsias and Likas (2001, eq. 10) use "empirical".
    max_iter : int, default=30
        Maximum number of EM iterations.
    tol : float, default=0.0
        Minimum gain of ``objective_`` per iteration, in nats per sample; training stops below it. 0 disables this criterion,
        its convergence warning and ``converged_``.
    early_stopping : bool, default=False
        Hold out a tenth of the samples, stratified. Training stops when their accuracy stays below its best for
        more than five consecutive iterations, and returns to the best iteration. Among
        several initialisations, training keeps the one whose best iteration has the lowest log-loss on these samples.
    warm_start : bool, default=False
        Continue from the parameters of the last fit. ``tol`` counts from their objective, so that a loop of short fits ends.
    options : dict or None, default=None
        Rarely needed parameters by name, where they are not parameters of their own:

        - ``sharing`` (None): factor lambda in [0, 1] on the weights of components that are reserved for other classes, in training;
          see ``PRBFClassifier``. None reserves no components: ``init_params`` determines which ones are shared.
        - ``block_size`` (None): number of features per block for ``arrangement="random"``. Blocks overlap if n_blocks * block_size
          exceeds the number of features. The numbers of blocks that hold two features then differ by at most one.
        - ``init_spread``, ``init_scale`` (2): half-width of the interval of the means, and standard deviation of each component, for
          ``init_params="uniform"``, in each feature's standard deviation with ``standardize``, else in input units.
        - ``validation_fraction`` (0.1), ``n_iter_no_change`` (5): share of the samples that are held out, and number of
          consecutive iterations below the best that ``early_stopping`` allows.
    n_jobs : int or None, default=None
        Number of threads, without effect on results. None is one thread, -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices. Set an int for reproducible results.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels. A class needs one sample of positive weight; other classes are left out.
    class_count_ : ndarray of shape (n_classes,)
        Number of training samples of each class, weighted, of ``fit`` and of ``partial_fit`` since. Weights have a mean of one.
    priors_ : ndarray of shape (n_classes,)
        Class prior p(c).
    n_components_ : int
        Number of components K. It is less than ``n_components`` if ``init_params`` reserves components for classes and a class has
        too few distinct samples.
    groups_ : list of ndarray
        Indices of the components of each class. Set with ``sharing``, with a number of components for each class, or if a class has
        too few distinct samples for its share.
    n_blocks_ : int
        Number of feature blocks.
    block_indices_ : tuple of ndarray
        Indices of the features of each block.
    blocks_ : tuple of Mixture
        Parameters of each feature block: ``weights`` (K, L), ``means`` (K, m) and ``covariances``, shaped as in ``SKEMClassifier``.
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean of log p(x|c) over the samples, in nats, summed over feature blocks. Element t - 1 belongs to iteration t.
        ``objective_`` includes the penalties of ``reg_covar`` and ``sharing``. It decreases only by rounding: by less than
        1e-4 nats per iteration (2e-3 for float32 samples), plus 2e-16 times the largest condition number of a covariance.
    n_iter_ : int
        Number of iterations of the fit that was kept.
    best_iter_ : int
        Iteration of the fitted parameters: the best one with early stopping, else ``n_iter_``.
    converged_ : bool
        True if ``tol``, or early stopping, ended the fit. It exists after iterations of ``fit`` with ``tol`` > 0 only: with
        ``tol=0`` there is no criterion to fulfil.
    dtype_used_ : str
        Precision of the last iteration: "float32" if the input was float32 and that precision sufficed in every block, else
        "float64". Single components that need more precision are first centred on their means, without effect on this value.
    validation_scores_, best_validation_score_ : ndarray of shape (n_iter_,), float
        Accuracy on the held-out samples after each iteration, and its maximum. Set with early stopping.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if the input has them.

    Notes
    -----
    A component that loses all its samples keeps its place with weight zero. A covariance that becomes singular keeps its
    last value. If only rounding cancels the covariance regularisation, training raises the latter as little as it can, and
    keeps the result if it is better.

    Constant features and duplicate samples are harmless with reg_covar > 0. Samples may lie far from zero, and narrow
    components far apart: only digits that the input lacks are lost. Samples of weight zero are left out. A fit that is
    interrupted or fails leaves the estimator as it was.

    References
    ----------
    G. W. Pulford, "Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space Partitioning", 2022.

    M. K. Titsias and A. C. Likas, "Shared kernel models for class conditional density estimation", IEEE Trans. Neural
    Networks 12, 987-997, 2001.
    """
