"""The settings of Hayashi and Uchida (2021): ``config/hayashi2021.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

METHODS = {
    "sdgm": "SDGM",
    "sdgm_raw": "SDGM, features as they are",
    "primal": "SDGM, primal",
    "gp": "GP",
    "mgp": "MGP",
    "rvm": "RVM",
    "rvm_raw": "RVM, features as they are",
    "svm_rbf": "RBF SVM",
    "logistic": "logistic regression on phi",
    "skem": "SKEM",
}
"""What is trained on each split, as tables print it."""

NETWORKS = {
    "softmax": "softmax",
    "softmax_l1": "softmax, L1 penalty",
    "large_margin_softmax": "large-margin softmax",
    "dgmm": "discriminative mixture",
    "sdgm": "SDGM",
}
"""Last layers of the networks of Table 2, as tables print them."""


@dataclass(frozen=True)
class Settings:
    """What judges, tables and jobs look up.

    Attributes
    ----------
    splits : int
        Of each data set; of one with a published split, starts.
    splits_per_job : int
    model : dict
        Parameters of ``SDGMClassifier``.
    data_sets : dict
        By name: source, title; n_train where the split is not published.
    synthetic : dict
        Appendix B.
    boundaries : dict
        Figures 1, 3 and 6.
    images : dict
        Table 2 and Figure 5.
    """

    splits: int
    splits_per_job: int
    model: Mapping[str, Any]
    data_sets: Mapping[str, Mapping[str, Any]]
    synthetic: Mapping[str, Any]
    boundaries: Mapping[str, Any]
    images: Mapping[str, Any]

    @property
    def sources(self) -> list[str]:
        """Their data sets."""
        return [entry["source"] for entry in self.data_sets.values()]

    @property
    def trained(self) -> list[str]:
        """Every "data set/method" that is measured."""
        return [f"{name}/{method}" for name in self.data_sets for method in METHODS]


def settings(stated: dict[str, Any], experiment: object = None) -> Settings:
    """The settings as ``config/hayashi2021.yaml`` states them; it has no experiments."""
    keys = ("splits", "splits_per_job", "model", "data_sets", "synthetic", "boundaries", "images")
    return Settings(**{key: stated[key] for key in keys})
