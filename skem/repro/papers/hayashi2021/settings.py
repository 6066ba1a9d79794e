"""The configuration of Hayashi and Uchida (2021): ``config/hayashi2021.yaml``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.validation import Count, DataSetName, Distinct, Strict, Text

METHODS = {
    "sdgm": "SDGM",
    "sdgm_files": "SDGM, features as in the files",
    "primal": "SDGM, primal",
    "gp": "GP",
    "gp_files": "GP, features as in the files",
    "mgp": "MGP",
    "mgp_files": "MGP, features as in the files",
    "rvm": "RVM",
    "rvm_files": "RVM, features as in the files",
    "softmax": "softmax regression",
    "svm_rbf": "RBF SVM",
    "logistic": "logistic regression on phi",
    "skem": "SKEM",
}
"""Titles of the methods trained on each split; without suffix, features are divided by sqrt(D) standard deviations where this matters."""

NETWORKS = {
    "softmax": "softmax",
    "softmax_l1": "softmax, L1 penalty",
    "large_margin_softmax": "large-margin softmax",
    "dgmm": "discriminative mixture",
    "sdgm": "SDGM",
}
"""Titles of the last layers of Table 2."""

_Positive = Annotated[float, Field(gt=0)]
_AtLeast2 = Annotated[int, Field(ge=2)]


class Source(TypedDict):
    """A data set of Table 1.

    Without ``n_train`` its split is the published one. ``splits`` replaces the number for all data sets. ``unit_variance``: the
    paper's file has features of unit variance, and ours has not. ``generated``: the samples are another draw than the paper's.
    """

    source: str
    title: Text
    n_train: NotRequired[Count]
    splits: NotRequired[_AtLeast2]
    unit_variance: NotRequired[bool]
    generated: NotRequired[bool]


class Synthetic(TypedDict):
    n_components: Annotated[Distinct[Count], Field(min_length=2)]
    repetitions: _AtLeast2
    n_train: Annotated[int, Field(ge=32)]
    n_test: Annotated[int, Field(ge=16)]
    deviation: _Positive


class Boundaries(TypedDict):
    snapshots: Distinct[Count]
    n_components: Distinct[Count]
    grid: Annotated[int, Field(ge=10)]


class Network(TypedDict):
    """The network below the last layers; ``n_components`` per class."""

    widths: Annotated[list[Count], Field(min_length=1, max_length=5)]
    n_components: Count
    epochs: Count
    batch_size: _AtLeast2
    learning_rate: _Positive


class Choice(TypedDict):
    n_train: NotRequired[Count]
    n_validation: Count
    epochs: Count
    l1: Distinct[Annotated[float, Field(ge=0)]]
    ramp: Distinct[Annotated[float, Field(gt=0, le=1)]]


class ImageSource(TypedDict):
    """A column of Table 2: 28 x 28 images, and D features."""

    source: Literal["mnist", "fashion_mnist"]
    title: Text
    n_features: Count


class Images(TypedDict):
    """Table 2 and Figure 5; ``left_out`` gives the reasons for columns that are not run."""

    seeds: Count
    network: Network
    choice: Choice
    drawn: Count
    data_sets: dict[Literal["mnist_d2", "mnist_d10", "fashion_mnist"], ImageSource]
    left_out: dict[Literal["cifar10", "cifar100", "imagenet"], Text]


class Settings(Strict):
    """The configuration of claims, tables and jobs; ``model`` has parameters of ``SDGMClassifier``."""

    title: Text
    splits: _AtLeast2
    splits_per_job: Count
    model: dict[str, Any]
    data_sets: dict[DataSetName, Source]
    synthetic: Synthetic
    boundaries: Boundaries
    images: Images

    def n_splits(self, name: str) -> int:
        """Splits of a data set."""
        return self.data_sets[name].get("splits", self.splits)
