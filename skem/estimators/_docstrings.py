"""Shared documentation of parameters, attributes and references.

The decorator `documented` builds the sections "Parameters" and "Attributes" of a class docstring from the entries below:

- "Parameters" has the parameters of the signature, in its order and with its defaults. A class docstring describes only
  those that differ.
- "Attributes" has the attributes that the class docstring names, in its order.
- An entry of the class docstring with a type ("name : type") replaces the shared entry. An entry without a type is the
  shared entry; its text, if any, follows the shared text.

It also replaces ``%(name)s`` by the text of an entry without a type, such as a reference.

Parameters
----------
covariance_type : {"full", "tied", "diag", "spherical"}
    Structure of the covariances:

    - "full": one matrix per component
    - "tied": one matrix for all components
    - "diag": one variance per component and feature
    - "spherical": one variance per component

    Structures with fewer parameters need fewer samples.
n_components : int, sequence of n_classes int, dict or None
    Number of components K. None chooses max(20, 3 * n_classes). A sequence, in the order of ``classes_``, or a dictionary
    {label: number} reserves components for each class. Without ``sharing``, it requires an ``init`` by class.
n_blocks : int
    Number of feature blocks R, at most the number of features unless ``block_size`` is set. Ignored if ``arrangement`` is
    a list of index lists. Each block has ``n_components`` components. All blocks have the same ``sharing`` and ``groups``.
    Arrays in ``init`` are a list of one tuple per block if there are several.
arrangement : {"sequential", "interleaved", "random"} or list of index lists
    Assignment of features to feature blocks. "sequential" keeps neighbouring features together, "interleaved" puts them
    into different blocks, and "random" draws a partition. Index lists may overlap or leave features out.
block_size : int or None
    Number of features per block, for ``arrangement="random"`` only. Blocks overlap if n_blocks * block_size exceeds the
    number of features. The numbers of blocks that hold two features then differ by at most one. None partitions the features.
sharing : float or array-like of shape (n_classes, n_classes)
    Factor lambda in [0, 1] on the weights of components that are reserved for other classes (Titsias and Likas 2001). It
    applies in training only: 0 keeps the classes separate, 1 lets them share all components. A matrix holds lambda of the
    components of each class (row) in each class (column), with ones on the diagonal. None reserves no components:
    ``init`` determines which ones are shared.
groups : sequence of n_classes lists of int, or None
    Indices of the components of each class, in the order of ``classes_``; requires ``sharing``. None forms consecutive
    groups of equal size, of which the first K mod L have one component more.
init : {"class", "class_kmeans", "sample", "kmeans", "k-means++", "uniform"}, dict or arrays
    Initialisation of EM:

    - "class" and "class_kmeans" reserve n_components / n_classes components for each class. Their means are samples, or
      k-means centres, of that class. The first classes get one component more; no class gets more than it has distinct
      samples. Weights of zero stay zero, so no component is ever shared. With ``sharing``, however, all classes start with
      the same weights. Fewer components than classes are an error, except one component, which all classes share.
    - "sample", "kmeans" and "k-means++" (its seeds only) draw means from the samples of all classes, with equal weights.
      Choose one of these to share components between all classes.
    - "uniform" is the initialisation of Pulford (2022, section 3.1): means uniform on [-init_spread, init_spread],
      covariances init_scale^2 I, weights 1/K.
    - ``{"means": array (K, n_features)}`` sets the means. Weights are equal, and the covariance is that of the samples
      about the nearest mean.

    Arrays are a tuple (weights (K, L), means (K, m), covariances) in input units.
n_init : int
    Number of initialisations. The fit with the best final ``objective_`` is kept. Arrays, and a warm start, count as one
    initialisation. Increase it if fits from different seeds differ much.
init_spread, init_scale : float
    Half-width of the interval of the means, and standard deviation of each component, for ``init="uniform"``. The unit is
    each feature's standard deviation with ``standardize``, else the input unit.
standardize : bool or "robust"
    True measures ``reg_covar`` in squared units of each feature's standard deviation in the training data, False in squared
    input units. "robust" first replaces values more than three robust standard deviations from the median by that limit, in
    training as well as in predictions and ``predict_joint_log_proba`` of classifiers. The robust standard
    deviation is the 90% quantile of the distances from the median that are not zero, divided by 1.645. Of more than 10,000
    samples, 10,000 random ones determine the limits. Choose "robust" for features with gross outliers or heavy tails; without
    values beyond the limits it equals True. An array, or a ``numpy.memmap``, with such values is copied into memory.
    Fitted parameters and densities are in input units in any case.
reg_covar : float
    Covariance regularisation r, added to the diagonal of each covariance. Training replaces log N(x; mu, P) by
    log N(x; mu, P) - r/2 tr(P^-1), whose exact M-step adds r. Increase it if there are few samples per component.
    If the covariance of all samples is singular nevertheless, training warns and uses 1e-6 of the features' mean variance.
    Reasons are features that are constant, are linear combinations of others, or outnumber the samples.
variance_floor : float
    Minimum variance of a component in any direction, relative to the mean variance of the features (1 with
    ``standardize``). It has no effect if ``reg_covar`` is larger. With neither, a component may collapse onto a sample.
class_prior : {"uniform", "empirical"}, dict or array-like of shape (n_classes,)
    Class prior p(c): equal for all classes ("uniform"), or the share of each class in the sample weights ("empirical"). A
    dictionary gives it by label, an array in the order of ``classes_``. Pulford (2022, section 2.3) assumes "uniform",
    Titsias and Likas (2001, eq. 10) use "empirical".
max_iter : int
    Maximum number of EM iterations.
tol : float
    Minimum gain of ``objective_`` per iteration, in nats per sample; training stops below it. 0 disables this criterion,
    its convergence warning and ``converged_``.
early_stopping : bool
    Hold out ``validation_fraction`` of the samples, stratified. Training stops when their accuracy stays below its best for
    more than ``n_iter_no_change`` consecutive iterations, and returns to the best iteration. Among
    several initialisations, training keeps the one whose best iteration has the lowest log-loss on these samples.
validation_fraction : float
    Fraction of the training samples to hold out for ``early_stopping``.
n_iter_no_change : int
    Number of consecutive iterations without improvement that ``early_stopping`` allows.
warm_start : bool
    Continue from the parameters of the last fit. ``tol`` counts from their objective, so that a loop of short fits ends.
n_jobs : int or None
    Number of threads, without effect on results. None is one thread, -1 is one per core.
random_state : int, RandomState instance or None
    Seed of all random choices. Set an int for reproducible results.

Attributes
----------
classes_ : ndarray of shape (n_classes,)
    Class labels. A class needs one sample of positive weight; other classes are left out.
class_prior_ : ndarray of shape (n_classes,)
    Class prior p(c).
n_components_ : int
    Number of components K. It is less than ``n_components`` if ``init`` reserves components for classes and a class has
    too few distinct samples.
n_blocks_ : int
    Number of feature blocks.
block_indices_ : tuple of ndarray
    Indices of the features of each block.
blocks_ : tuple of Mixture
    Parameters of each feature block: ``weights`` (K, L), ``means`` (K, m) and ``covariances``.
weights_ : ndarray of shape (n_components, n_classes)
    Weights pi_kc; each column sums to one.
means_ : ndarray of shape (n_components, n_features)
    Means mu_k.
covariances_ : ndarray
    Covariances P_k: (K, m, m) if full, (m, m) if tied, (K, m) if diag, and (K,) if spherical; with ``standardize``,
    spherical ones are (K, m).
groups_ : list of ndarray
    Indices of the components of each class. Set with ``sharing``, or with a number of components for each class.
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

Notes and references
----------
unusual_data
    A component that loses all its samples keeps its place with weight zero. A covariance that becomes singular keeps its
    last value. If only rounding cancels the covariance regularisation, training raises the latter as little as it can, and
    keeps the result if it is better.

    Constant features and duplicate samples are harmless with reg_covar > 0. Samples may lie far from zero, and narrow
    components far apart: only digits that the input lacks are lost. Samples of weight zero are left out. A fit that is
    interrupted or fails leaves the estimator as it was.
pulford2022
    G. W. Pulford, "Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space Partitioning", 2022.
titsias2001
    M. K. Titsias and A. C. Likas, "Shared kernel models for class conditional density estimation", IEEE Trans. Neural
    Networks 12, 987-997, 2001.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from typing import TypeVar

Class = TypeVar("Class", bound=type)

ENTRY = re.compile(r"^(\w.*)((?:\n+ +.*)*)", re.MULTILINE)
HEADING = re.compile(r"\n\n(\w.*)\n-+\n")
PLACE = re.compile(r"%\((\w+)\)s")


def _entries(section: str) -> dict[str, tuple[str, str]]:
    """Head and text of the entry of each name in a section."""
    entries = ENTRY.findall(section)
    return {name: (head, text) for head, text in entries for name in head.split(" : ")[0].split(", ")}


SHARED = _entries("\n".join(HEADING.split(__doc__ or "")[2::2]))


def documented(cls: Class) -> Class:
    """Complete a class docstring from the shared entries; without docstrings (``python -OO``) do nothing.

    Raises
    ------
    KeyError
        A parameter or attribute that neither the class docstring nor a shared entry describes.
    """
    if not cls.__doc__:
        return cls
    summary, *rest = HEADING.split(inspect.cleandoc(cls.__doc__))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    parameters = inspect.signature(cls).parameters

    def section(title: str, *names: str) -> str:
        own, built = _entries(sections.pop(title, "")), []
        for name in dict.fromkeys([*names, *own]):
            head, text = own.get(name, (name, ""))
            if " : " not in head:
                head, text = SHARED[name][0], SHARED[name][1] + text
            if name in parameters:
                default = parameters[name].default
                head += f", default={json.dumps(default) if isinstance(default, str) else default}"
            built.append(head + text)
        return "\n".join(dict.fromkeys(built))  # names with a common entry

    shared = {"Parameters": section("Parameters", *parameters), "Attributes": section("Attributes")}
    texts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in {**shared, **sections}.items()]
    text = "\n\n".join([summary, *texts])
    cls.__doc__ = PLACE.sub(lambda place: textwrap.dedent(SHARED[place[1]][1]).strip(), text)
    return cls
