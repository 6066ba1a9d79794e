"""What parameters and attributes mean that several classes have, written once.

A line ``%(name)s`` in the docstring of a class that is ``documented`` becomes the entry of that name below; a parameter's
default is that of the class. Lines after it, further in, go on with what holds for this class alone.

Parameters
----------
covariance_type : {"full", "tied", "diag", "spherical"}
    One covariance per component; one for all; one variance per component and feature; one per component.
n_components : int, sequence of n_classes int, dict or None
    K, the number of components; None is max(20, 3 per class). A sequence, in the order of ``classes_``, or a dictionary
    {label: number} reserves that many for each class: without ``sharing`` it needs an ``init`` by class.
n_blocks : int
    R; without ``block_size`` at most one per feature, see ``n_blocks_``.
arrangement : {"sequential", "interleaved", "random"} or list of index lists
    Which feature goes to which block. Index lists may overlap or leave features out, and make ``n_blocks`` unused.
block_size : int or None
    With arrangement="random": features of each block. Blocks overlap where ``n_blocks`` times as many are more than there
    are, each feature being in as many blocks as any other, or one more. None is a partition.
sharing : float, array-like of shape (n_classes, n_classes) or None
    lambda in [0, 1] of Titsias and Likas (2001): in training, how far a class may use the components reserved for the
    others. As a matrix, lambda of the components of each class (row) in each class (column), with ones on the diagonal.
groups : sequence of n_classes lists of int, or None
    With ``sharing``, the components of each class, in the order of ``classes_``. None is groups of equal size,
    consecutive (the first K mod L get one more).
init : {"class", "class_kmeans", "sample", "kmeans", "k-means++", "uniform"}, dict or arrays
    Where EM starts. "class" and "class_kmeans" reserve n_components / n_classes components for each class (the first ones
    get one more, and no class more than it has distinct samples) and start them from rows, or k-means, of that class; a
    weight that starts at zero stays zero, so no component is ever shared (with ``sharing``, all classes start with the same
    weights). Fewer components than classes are an error, but for a single one, which all classes share. "sample", "kmeans"
    and "k-means++" (its seeds alone) start all classes from all rows with equal weights. "uniform" is the paper's: means
    uniform on [-init_spread, init_spread], covariances init_scale^2 I, weights 1/K (section 3.1). Arrays are a tuple
    (weights (K, L), means (K, m), covariances) in input units. ``{"means": array (K, n_features)}`` has these means, equal
    weights, and the covariance of samples about the nearest mean.
n_init : int
    Fits from that many starts; the one with the best ``objective_`` at its end is kept. Arrays, and a warm start, are one
    start.
init_spread, init_scale : float
    For the uniform start; with ``standardize`` in units of each feature's standard deviation, else in input units.
standardize : bool
    Whether reg_covar is in squared units of each feature's standard deviation in the training data, else in squared input
    units. Fitted parameters and densities are in input units either way.
reg_covar : float
    Ridge r added to each covariance's diagonal; training maximises the likelihood of
    log N(x; mu, P) - r/2 tr(P^-1), which this ridge is the exact M-step of.
    If the covariance of all samples is singular even so, because features are constant, are linear combinations of others
    or outnumber the samples, training warns and uses 1e-6 of the features' mean variance.
class_prior : {"uniform", "empirical"}, dict or array-like of shape (n_classes,)
    p(c): the same for all classes, or their shares of the weighted rows, or given: by label in a dict, or in the order of
    ``classes_``.
max_iter : int
    Passes.
tol : float
    Stop when ``objective_`` gains less than this in a pass, in nats per row; 0 never stops, and never warns.
early_stopping : bool
    Hold out ``validation_fraction`` of the rows, stratified; stop when their accuracy has been below its best for more
    than ``n_iter_no_change`` passes on end, and go back to the best pass. Of several starts, the one is kept whose best
    pass has the least log-loss on these rows.
validation_fraction : float
    Of the rows, for ``early_stopping``.
n_iter_no_change : int
    Passes, for ``early_stopping``.
warm_start : bool
    Go on from the parameters of the last fit; ``tol`` counts from their objective, so that a loop of short fits ends.
n_jobs : int or None
    Threads; the result does not depend on it. None is one, -1 one per core.
random_state : int, RandomState instance or None
    Of all that is drawn: starts, splits and samples.

Attributes
----------
classes_ : ndarray of shape (n_classes,)
class_prior_ : ndarray of shape (n_classes,)
n_components_ : int
    Fewer than ``n_components`` where ``init`` reserves components for classes and a class has too few distinct samples.
n_blocks_ : int
block_indices_ : list of ndarray
    The features of each block.
blocks_ : list of Mixture
    ``weights`` (K, L), ``means`` (K, m) and ``covariances`` of each block.
groups_ : list of ndarray
    With ``sharing``, or a number of components for each class: the components of each class.
log_likelihood_, objective_ : ndarray of shape (n_iter_,)
    Mean over rows of log p(x|c), plain and with the penalties of the ridge and of ``sharing``, in nats, summed over
    blocks; element p - 1 belongs to the parameters after pass p. ``objective_`` falls by rounding only, by less than
    1e-4 nats in a pass, 2e-3 where rows are float32, and beyond that by 2e-16 times the largest condition of a covariance.
n_iter_ : int
    Passes of the fit that was kept.
best_iter_ : int
    The pass whose parameters were kept: the best one with early stopping, else ``n_iter_``.
converged_ : bool
    Whether ``tol`` or early stopping ended the fit.
dtype_used_ : str
    "float32" where the input was and its precision sufficed in every block in the last pass, else "float64". Single
    components that it does not suffice for do not change it: they are centred on their own means first.
validation_scores_, best_validation_score_
    With early stopping: accuracy after each pass, and the best one.
n_features_in_, feature_names_in_
    As in scikit-learn.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from typing import TypeVar

Class = TypeVar("Class", bound=type)

ENTRY = re.compile(r"^(\w+)(.*)((?:\n +.*)*)", re.MULTILINE)
PLACE = re.compile(r"^( *)%\((\w+)\)s$", re.MULTILINE)


def documented(cls: Class) -> Class:
    """Fill the places of a class's docstring with the entries of this module's.

    Under ``python -OO`` there are neither, and nothing is done.
    """
    if not (__doc__ and cls.__doc__):
        return cls
    entries = {
        match[1]: match[0]
        for section in __doc__.split("----------\n")[1:]
        for match in ENTRY.finditer(section)
    }
    parameters = inspect.signature(cls).parameters

    def fill(place: re.Match[str]) -> str:
        indent, name = place.groups()
        head, *text = entries[name].split("\n")
        if name in parameters:
            default = parameters[name].default
            head += f", default={json.dumps(default) if isinstance(default, str) else default}"
        return textwrap.indent("\n".join([head, *text]), indent)

    cls.__doc__ = PLACE.sub(fill, cls.__doc__)
    return cls
